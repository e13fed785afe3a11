"""Blocks, chunks and the sampler at their edges; the laws of sampling are in test_chunks.py."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare

from densvec._corpus import Block, Chunk, Sampler


def sampler(size=4, **options):
    return Sampler(options.pop("keep", np.ones(size)), options.pop("noise", np.ones(size)), **options)


def test_later_draws_leave_earlier_ones_alone():
    """Who changes the negatives or the windows of an experiment keeps its text."""
    block = Block(np.arange(1000) % 4, [0, 400, 1000])
    base = sampler(keep=[0.5, 0.7, 0.2, 1.0], negative=1).sample(block, 3)
    for options in (
        {"negative": 9},
        {"negative": 1, "pairing": "paired"},
        {"negative": 0},
        {"noise": [9, 1, 1, 1], "negative": 1},
    ):
        other = sampler(keep=[0.5, 0.7, 0.2, 1.0], **options).sample(block, 3)
        np.testing.assert_array_equal(other.tokens, base.tokens)
        np.testing.assert_array_equal(other.radii, base.radii)
    wide = sampler(keep=[0.5, 0.7, 0.2, 1.0], window=50).sample(block, 3)
    np.testing.assert_array_equal(wide.tokens, base.tokens)


def test_a_seed_means_the_same_on_every_machine():
    chunk = sampler(size=100, keep=np.full(100, 0.5), window=5, negative=2, seed=42).sample(
        Block(np.arange(20), [0, 20], number=7), epoch=3
    )
    assert chunk.tokens.tolist() == [0, 1, 2, 6, 7, 10, 13, 18, 19]
    assert chunk.radii.tolist() == [5, 3, 4, 5, 5, 2, 2, 5, 1]
    assert chunk.negatives.ravel()[:10].tolist() == [22, 62, 38, 40, 59, 37, 26, 90, 5, 4]


@pytest.mark.parametrize("change", [{"seed": 2}, {"epoch": 1}, {"number": 1}])
def test_streams_of_seeds_epochs_and_numbers_are_unrelated(change):
    """Neighbouring seeds, epochs and chunks share no more draws than chance allows."""
    settings = {"seed": 1, "epoch": 0, "number": 0}
    drawn = []
    for one in (settings, {**settings, **change}):
        block = Block(np.zeros(5000, int), [0, 5000], number=one["number"])
        chunk = sampler(size=16, negative=1, seed=one["seed"]).sample(block, one["epoch"])
        drawn.append(chunk.negatives.ravel())
    table = np.zeros((16, 16))
    np.add.at(table, tuple(drawn), 1)
    assert chi2_contingency(table).pvalue > 1e-4


def test_any_integer_is_a_seed():
    block = Block([0, 1], [0, 2])
    for seed in (0, -1, 2**64 + 5, np.int64(3)):
        assert len(sampler(seed=seed).sample(block, 0)) == 2


def test_a_word_with_nearly_all_the_weight_is_still_avoided():
    """Rejection alone would try a billion times; the other words keep their proportions."""
    noise = np.array([1e-9, 3e-9, 1.0, 0.0, 2e-9])
    block = Block(np.full(20_000, 2), np.arange(0, 20_001, 2))
    chunk = Sampler(np.ones(5), noise, window=1, negative=1, pairing="paired").sample(block, 0)
    counts = np.bincount(chunk.negatives.ravel(), minlength=5)
    assert counts[[2, 3]].tolist() == [0, 0]
    assert chisquare(counts[[0, 1, 4]], np.array([1, 3, 2]) / 6 * counts.sum()).pvalue > 1e-4


def test_a_single_noise_word_can_be_shared_but_not_paired():
    block = Block([0, 0, 1], [0, 3])
    noise = [1.0, 0.0]
    assert not sampler(2, noise=noise, negative=2).sample(block, 0).negatives.any()
    with pytest.raises(ValueError, match="only word 0"):
        sampler(2, noise=noise, pairing="paired").sample(block, 0)


@settings(max_examples=30, deadline=None)
@given(
    weights=st.lists(st.floats(0, 1e6), min_size=2, max_size=40).filter(lambda w: sum(w) > 1e-3),
)
def test_words_without_weight_are_never_drawn(weights):
    noise = np.array(weights)
    chunk = Sampler(np.ones(len(noise)), noise, negative=5).sample(Block(np.zeros(400, int), [0, 400]), 0)
    assert (noise[chunk.negatives] > 0).all()


def test_rare_words_of_a_large_vocabulary_are_drawn_by_their_weights_and_used_again():
    size, common, centres = 100_000, 16_384, 3_000
    noise = 1 / np.arange(1.0, size + 1)
    noise[common:] *= np.tile([0.0, 1.0, 1.0, 4.0], (size - common) // 4) * 30
    one = Sampler(np.ones(size), noise, negative=20)
    chunks = [
        one.sample(Block(np.zeros(centres, int), [0, centres], number=i), 0).negatives for i in range(40)
    ]
    share = noise / noise.sum()
    for negatives in chunks:
        rare = negatives[negatives >= common]
        assert abs(len(rare) / negatives.size - share[common:].sum()) < 0.01
        assert 3.5 < len(rare) / len(np.unique(rare)) < 6  # a word can also be drawn anew
        assert (noise[rare] > 0).all()
    counts = np.bincount(np.ravel(chunks), minlength=size)
    # each word is drawn as often as its weight says, whether common or rare
    for words in (slice(0, 10), slice(10, 1000), slice(1000, common), slice(common, size)):
        assert counts[words].sum() / counts.sum() == pytest.approx(share[words].sum(), rel=0.02)
    by_weight = [counts[common + first :: 4].sum() for first in range(4)]
    assert by_weight[0] == 0
    np.testing.assert_allclose(by_weight[1:] / sum(by_weight), [1 / 6, 1 / 6, 4 / 6], atol=0.02)


def test_rare_words_of_a_short_chunk_are_all_drawn_anew():
    size, common = 20_000, 16_384
    noise = np.zeros(size)
    noise[common:] = 1
    chunk = Sampler(np.ones(size), noise, negative=20).sample(Block(np.zeros(100, int), [0, 100]), 0)
    expected = (size - common) * (1 - np.exp(-2000 / (size - common)))
    assert len(np.unique(chunk.negatives)) == pytest.approx(expected, rel=0.06)


def test_words_that_are_never_kept_disappear_with_their_sentences():
    block = Block([0, 0, 1, 0, 1], [0, 2, 2, 4, 5])
    chunk = sampler(2, keep=[0.0, 1.0]).sample(block, 0)
    assert chunk.tokens.tolist() == [1, 1]
    assert chunk.sentences.tolist() == [0, 1, 2]
    assert (chunk.words, chunk.examples) == (5, 4)


def test_an_empty_block_is_an_empty_chunk():
    for pairing in ("shared", "paired"):
        chunk = sampler(negative=3, pairing=pairing).sample(Block([], [0]), 0)
        assert (len(chunk), chunk.pairs, chunk.negatives.shape) == (0, 0, (0, 3))
        centres, contexts = chunk.centres_and_contexts()
        assert len(centres) == len(contexts) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": [1, -0.1, 1, 1]}, "probabilities"),
        ({"keep": [1, np.nan, 1, 1]}, "probabilities"),
        ({"noise": [0, 0, 0, 0]}, "zero"),
        ({"noise": [1, -1, 1, 1]}, "non-negative"),
        ({"noise": [1, np.inf, 1, 1]}, "finite"),
    ],
)
def test_a_sampler_checks_its_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        sampler(**options)


def test_ids_beyond_the_vocabulary_are_an_error_not_a_crash():
    with pytest.raises(ValueError, match="word id 4"):
        sampler().sample(Block([1, 4], [0, 2], number=9), 0)


def test_chunks_cannot_be_changed():
    made = Chunk([0, 1], [0, 2], [1, 1], [[2], [3]])
    drawn = sampler().sample(Block([0, 1], [0, 2]), 0)
    for chunk in (made, drawn):
        for name in ("tokens", "sentences", "radii", "negatives"):
            array = getattr(chunk, name)
            assert array.dtype == np.int32
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0
        with pytest.raises(AttributeError):
            chunk.tokens = None


def test_threads_draw_what_one_thread_draws():
    blocks = [Block(np.arange(2000) % 4, [0, 2000], number=i) for i in range(40)]
    shared = sampler(keep=[0.5] * 4, negative=5, pairing="paired")
    expected = [shared.sample(block, 1).negatives.tobytes() for block in blocks]
    results = [None] * len(blocks)

    def work(start):
        for i in range(start, len(blocks), 4):
            results[i] = shared.sample(blocks[i], 1).negatives.tobytes()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == expected
