"""Words beside others: ratios to chance, rows that follow their words, files, and a second text."""

import copy
import io
import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from densvec import BayesianSkipGram, KeyedDensities
from densvec.datasets import toy_language
from densvec.questions.beside import Beside

NOUNS, VERBS = ["dog", "cat", "car"], ["runs", "sleeps", "stops"]


def language(count, seed=1):
    """Return sentences such as "the dog runs"; some end in "to run", whose verb no noun has before it."""
    rng = np.random.default_rng(seed)
    return [["the", rng.choice(NOUNS), "often", rng.choice(VERBS), "there"] for _ in range(count)]


@pytest.fixture(scope="module")
def wv():
    return BayesianSkipGram(language(600), vector_size=4, min_count=1, workers=1, epochs=1, sample=0).wv


def scores(wv, before, after):
    return dict(zip(wv.index_to_key, wv.beside.scores(wv.beside.place(before, after)), strict=True))


def test_scores_are_smoothed_log_ratios_to_chance(wv):
    found = scores(wv, "the", None)
    counts, total = dict(zip(wv.index_to_key, wv.expandos["count"], strict=True)), 3000
    share = counts["the"] / total
    for noun in NOUNS:
        expected = np.log((counts[noun] + 50 * share) / ((counts[noun] + 50) * share))
        assert found[noun] == pytest.approx(expected, abs=0.1)
    for verb in VERBS:
        assert found[verb] == pytest.approx(np.log(50 / (counts[verb] + 50)), abs=0.1)


def test_words_of_one_kind_fit_the_places_of_one_another(wv):
    usual = wv.beside.scores(wv.beside.usual_places(np.array([wv.get_index("dog")])))[0]
    found = dict(zip(wv.index_to_key, usual, strict=True))
    assert min(found[noun] for noun in NOUNS) > max(found[word] for word in found if word not in NOUNS)


def test_words_that_are_not_frequent_say_nothing(wv):
    assert not np.any(wv.beside.place("unheard", None))


def test_rows_follow_their_words(wv):
    expected = scores(wv, "the", "often")
    kept = wv.restrict(["often", "cat", "sleeps"])
    assert scores(kept, "the", "often") == {word: expected[word] for word in kept.index_to_key}
    grown = copy.deepcopy(wv)
    grown.add_vectors(["wolf"], np.ones((1, 4)), log_variances=[[0.0]])
    assert scores(grown, "the", "often") == {**expected, "wolf": 0}
    grown.set_vecattr("wolf", "count", 10**6)
    grown.sort_by_descending_frequency()
    assert grown.index_to_key[0] == "wolf"
    assert scores(grown, "the", "often") == {**expected, "wolf": 0}


@pytest.mark.parametrize("dtype", [None, "int8", "float16"])
def test_files_keep_it(wv, dtype, tmp_path):
    path = tmp_path / "words.dv"
    wv.save(path, dtype=dtype)
    for mmap in (None, "r"):
        again = KeyedDensities.load(path, mmap=mmap)
        assert scores(again, "the", "often") == scores(wv, "the", "often")
    wv.save(path, ignore=["beside"])
    assert KeyedDensities.load(path).beside is None


@pytest.mark.parametrize(
    ("name", "array"), [("codes", np.zeros((3, 2), np.int8)), ("axes", np.zeros((2, 1, 1), np.float32))]
)
def test_damaged_files_are_refused(wv, name, array):
    tensors = {**wv.beside.arrays(), f"beside.{name}": array}
    with pytest.raises(ValueError, match=rf"beside\.{name}"):
        Beside.restored(tensors, len(wv))


def test_models_keep_it():
    model = BayesianSkipGram(language(600), vector_size=4, min_count=1, workers=1, epochs=1, sample=0)
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    again = BayesianSkipGram.load(file)
    assert scores(again.wv, "the", "often") == scores(model.wv, "the", "often")
    again.train(language(600), total_examples=600, epochs=1)
    assert scores(again.wv, "the", "often") == scores(model.wv, "the", "often")


def test_another_text_adds_what_it_says():
    whole, first = language(2000, seed=2), language(1000, seed=2)
    model = BayesianSkipGram(vector_size=4, min_count=1, workers=1, sample=0)
    model.build_vocab(first)
    model.build_vocab(whole[1000:] + [["the", "wolf", "often"]] * 60, update=True)
    expected = BayesianSkipGram(vector_size=4, min_count=1, workers=1, sample=0)
    expected.build_vocab(whole + [["the", "wolf", "often"]] * 60)
    found, whole = scores(model.wv, "the", "often"), scores(expected.wv, "the", "often")
    for noun in [*NOUNS, "wolf"]:
        assert found[noun] == pytest.approx(whole[noun], abs=0.5)
        assert found[noun] > 1


def test_a_corpus_that_can_be_read_once_is_read_once():
    model = BayesianSkipGram(vector_size=4, min_count=1, workers=1)
    model.build_vocab(sentence for sentence in language(100))
    assert model.wv.beside is None


def test_few_numbers_approximate_the_ratios_of_a_language():
    model = BayesianSkipGram(vector_size=4, workers=1)
    text = list(toy_language(4000))
    model.build_vocab(text)
    wv = model.wv
    share = wv.expandos["count"] / wv.expandos["count"].sum()
    word = next(word for word in wv.index_to_key if 100 < wv.get_vecattr(word, "count") < 500)
    before = wv.index_to_key[0]
    pairs = sum(
        (left, right) == (before, word)
        for sentence in text
        for known in [[w for w in sentence if w in wv]]
        for left, right in itertools.pairwise(known)
    )
    expected = np.log((pairs + 50 * share[0]) / ((wv.get_vecattr(word, "count") + 50) * share[0]))
    assert_allclose(scores(wv, before, None)[word], expected, atol=0.3)
