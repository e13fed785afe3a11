"""Texts as densities: laws, batches, and halves of texts that find each other."""

import numpy as np
import pytest

from densvec import BayesianSkipGram
from densvec.corpora import occurrences
from densvec.datasets import toy_language


@pytest.fixture(scope="module")
def language():
    return toy_language(5000)


@pytest.fixture(scope="module")
def wv(language):
    return BayesianSkipGram(
        language, vector_size=20, sample=0.01, alpha=0.05, epochs=10, workers=1, seed=1
    ).wv


def test_one_word_is_its_own_density(wv):
    assert wv.text_density(["owl"]).mean == pytest.approx(wv["owl"], rel=1e-5)
    assert wv.text_density("owl").variance == pytest.approx(wv.get_variance("owl"), rel=1e-5)


@pytest.mark.parametrize("weights", ["sif", "none"])
def test_a_batch_is_its_texts(wv, weights):
    texts = [["the", "owl", "hoots", "in", "the", "barn"], ["a", "ripe", "apple"]]
    texts = [[token for token in text if token in wv] for text in texts]
    batch = wv.text_density(texts, weights=weights)
    for i, text in enumerate(texts):
        one = wv.text_density(text, weights=weights)
        assert batch[i].mean == pytest.approx(one.mean, rel=1e-4, abs=1e-5)


def test_words_count_with_their_weights(wv):
    weights = np.zeros(len(wv))
    weights[wv.get_index("owl")] = 1.0
    assert wv.text_density("owl dog apple", weights=weights).mean == pytest.approx(wv["owl"], rel=1e-5)
    density = wv.text_density("owl dog", weights="none")
    assert density.mean == pytest.approx(wv[["owl", "dog"]].mean(axis=0), rel=1e-4, abs=1e-5)
    assert density.variance == pytest.approx(wv.get_variance(["owl", "dog"]).mean(axis=0), rel=1e-4)


def test_texts_of_one_subject_find_each_other(language, wv):
    first, second = [], []
    for word in ("bird", "fruit", "vehicle"):
        found = [each.tokens for each in occurrences(language, word, 20)]
        first.append([token for tokens in found[:10] for token in tokens])
        second.append([token for tokens in found[10:] for token in tokens])
    for metric in ("cosine", "kl", "jeffreys", "wasserstein"):
        scores = wv.text_similarity(first, second, metric=metric)
        assert np.array_equal(scores.argmax(axis=1), [0, 1, 2])


def test_similarity_of_two_is_that_of_lists(wv):
    one = wv.text_similarity("owl hoots", "silent owl", metric="kl")
    many = wv.text_similarity([["owl", "hoots"]], [["silent", "owl"]], metric="kl")
    assert many.shape == (1, 1)
    assert many[0, 0] == pytest.approx(one, rel=1e-5)


@pytest.mark.parametrize("metric", ["cosine", "kl", "wasserstein"])
def test_pairs_are_compared_one_by_one(wv, metric):
    pairs = [("owl hoots", ["silent", "owl"]), ("ripe apple", "the owl"), ("owl hoots", "owl hoots")]
    together = wv.text_similarities(pairs, metric=metric)
    assert together == pytest.approx(
        [wv.text_similarity(*pair, metric=metric) for pair in pairs], rel=1e-4, abs=1e-4
    )
    assert together.argmax() == 2
    assert len(wv.text_similarities([], metric=metric)) == 0


def test_errors_say_what_is_wrong(wv):
    with pytest.raises(ValueError, match="no word of the text 'xyzzy'"):
        wv.text_density("xyzzy")
    with pytest.raises(ValueError, match="weights='idf' is unknown"):
        wv.text_density("owl", weights="idf")
    with pytest.raises(ValueError, match="one number for each"):
        wv.text_density("owl", weights=[1.0, 2.0])


class TestEncode:
    TEXTS = ("the owl hoots in the barn", "a ripe apple", "nothing1 known2", "owl", "")

    def test_dot_products_are_the_similarities_of_texts(self, wv):
        texts = ["the owl hoots in the barn", "a ripe apple", "a silent owl"]
        vectors = wv.encode(texts)
        assert vectors @ vectors.T == pytest.approx(wv.text_similarity(texts, texts), abs=1e-5)
        weights = np.linspace(0, 1, len(wv))
        vectors = wv.encode(texts, weights=weights)
        expected = wv.text_similarity(texts, texts, weights=weights)
        assert vectors @ vectors.T == pytest.approx(expected, abs=1e-5)

    @pytest.mark.parametrize("batch_size", [1, 2, 100])
    def test_batches_and_generators_make_no_difference(self, wv, batch_size):
        found = wv.encode((text for text in self.TEXTS), batch_size=batch_size)
        assert found == pytest.approx(wv.encode([text.split() for text in self.TEXTS]), abs=1e-6)
        assert wv.encode(self.TEXTS[0]) == pytest.approx(found[0], abs=1e-6)

    def test_texts_without_a_known_word_are_zero(self, wv):
        lengths = np.linalg.norm(wv.encode(self.TEXTS), axis=1)
        assert lengths == pytest.approx([1, 1, 0, 1, 0])
        assert wv.encode([]).shape == (0, wv.vector_size)

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int16"])
    def test_every_type_has_the_same_directions(self, wv, dtype):
        found, expected = wv.encode(self.TEXTS[:2], dtype=dtype), wv.encode(self.TEXTS[:2], dtype=np.float64)
        assert found.dtype == dtype
        lengths = np.linalg.norm(found.astype(float), axis=1)
        assert (found * expected).sum(axis=1) / lengths == pytest.approx([1, 1], abs=1e-3)

    def test_means_are_enough(self, wv):
        means = type(wv).from_arrays(wv.index_to_key, wv.vectors, attributes={"count": wv.expandos["count"]})
        assert means.encode(self.TEXTS) == pytest.approx(wv.encode(self.TEXTS), abs=1e-6)

    def test_text_that_was_not_decoded_is_refused(self, wv):
        with pytest.raises(TypeError, match="is bytes"):
            wv.encode([b"the owl"])

    def test_progress_is_shown_if_wanted(self, wv, capsys):
        wv.encode(self.TEXTS, show_progress=True)
        assert "5/5" in capsys.readouterr().err
        wv.encode(self.TEXTS)  # not a terminal
        assert capsys.readouterr().err == ""
