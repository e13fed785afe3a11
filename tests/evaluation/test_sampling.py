import numpy as np
import pytest

from conftest import example_densities
from densvec.evaluation.occurrences import Reader
from densvec.evaluation.sampling import Reservoir, thinned_windows


def test_every_item_of_a_stream_is_as_likely_to_stay():
    counts = np.zeros(30)
    for seed in range(3000):
        reservoir = Reservoir(5, np.random.default_rng(seed))
        for start in (0, 7, 14, 15):  # chunks of different size
            reservoir.offer(range(start, {0: 7, 7: 14, 14: 15, 15: 30}[start]), lambda item: item)
        assert len(reservoir.items()) == 5
        assert reservoir.items() == sorted(reservoir.items())
        counts[reservoir.items()] += 1
    # Each is drawn 500 times, with a standard deviation of about 20.
    assert np.abs(counts - 500).max() < 90


def test_a_short_stream_stays_whole():
    reservoir = Reservoir(10, np.random.default_rng(0))
    reservoir.offer(range(4), lambda item: item)
    assert reservoir.items() == [0, 1, 2, 3]
    empty = Reservoir(0, np.random.default_rng(0))
    empty.offer(range(4), lambda item: item)
    assert empty.items() == []
    with pytest.raises(ValueError, match="-1 items"):
        Reservoir(-1, np.random.default_rng(0))


def test_only_what_is_taken_is_made():
    made = []
    reservoir = Reservoir(3, np.random.default_rng(0))
    for start in range(0, 10_000, 100):
        reservoir.offer(range(start, start + 100), lambda item: made.append(item) or item)
    assert len(made) < 100


@pytest.fixture
def reader():
    wv = example_densities()
    wv.window = 2
    return Reader(wv, sample=0)


def test_windows_are_full_and_parts_of_sentences(reader):
    text = [["dog", "cat", "unknown", "car", "animal", "dog", "car"], ["dog", "cat"]]
    windows = thinned_windows(reader, text, 10, seed=0)
    # Without thinning and unknown words: dog cat [car] animal dog, cat car [animal] dog car.
    assert [reader.keys[row] for row in windows.centres] == ["car", "animal"]
    assert [reader.keys[row] for row in windows.contexts[0]] == ["dog", "cat", "animal", "dog"]
    assert windows.seen == 2


@pytest.mark.parametrize("count", range(1, 5))
def test_known_and_unknown_words_make_up_the_window(reader, count):
    windows = thinned_windows(reader, [["dog", "cat", "car", "animal", "dog", "car"]] * 20, 50, seed=1)
    for i, (occurrence, others) in enumerate(zip(windows.known(count), windows.unknown(count), strict=True)):
        assert len(occurrence.before) + len(occurrence.after) == count
        assert sorted([*occurrence.before, *occurrence.after, *others]) == sorted(windows.contexts[i])
        if count == 4:
            assert [*occurrence.before, *occurrence.after] == windows.contexts[i].tolist()
            assert len(occurrence.before) == 2


def test_smaller_sets_are_within_larger_ones(reader):
    windows = thinned_windows(reader, [["dog", "cat", "car", "animal", "dog", "car"]] * 20, 50, seed=1)
    for fewer, more in zip(windows.known(1), windows.known(2), strict=True):
        assert {*fewer.before, *fewer.after} <= {*more.before, *more.after}


def test_text_is_thinned_as_training_does():
    wv = example_densities()
    wv.window = 1
    reader = Reader(wv, sample=0.02)
    text = [["animal"] * 3 + ["car"] * 3] * 500
    windows = thinned_windows(reader, text, 10**6, seed=3)
    share = np.mean(windows.contexts == reader.lexicon.index("animal"))
    keep = reader.keep[reader.lexicon.index("animal")]
    assert keep < 0.5  # of 1000 words, 400 are "animal"
    assert share < 0.45
    chosen = thinned_windows(reader, text, 10**6, seed=3, content_words=True)
    assert all(reader.keep[row] > 0.5 for row in chosen.centres)
