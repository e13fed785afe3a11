"""Words learnt from a few sentences of the toy language are near what they are."""

import copy

import numpy as np
import pytest

from densvec import BayesianSkipGram, KeyedDensities
from densvec.datasets import toy_language
from densvec.questions.learning import learnt
from densvec.text.concordance import sample_occurrences


@pytest.fixture(scope="module")
def language():
    return toy_language(20_000)


@pytest.fixture
def wv(language, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "learning.dv"
    if not path.exists():
        model = BayesianSkipGram(
            language, vector_size=20, sample=0.01, alpha=0.05, epochs=10, workers=1, seed=1
        )
        model.wv.save(path)
    return KeyedDensities.load(path)


def hidden(found, new):
    return [[new if token == each.word else token for token in each.tokens] for each in found]


def test_hidden_words_are_found_again(language, wv):
    words = ["owl", "dog", "trout", "apple", "salmon", "penguin"]
    found = sample_occurrences(language, words, 8)
    ranks = []
    for word in words:
        density = wv.learn(f"{word}?", hidden(found[word], f"{word}?"))
        order = np.argsort(-wv.cosine_similarities(density.mean, wv.vectors[: wv.get_index(f"{word}?")]))
        ranks.append(list(order).index(wv.get_index(word)))
    assert np.median(ranks) <= 10  # of 504 words


def test_more_sentences_narrow_the_density(language, wv):
    words = ["owl", "dog", "trout", "apple", "salmon", "penguin"]
    texts = [hidden(each, "wug") for each in sample_occurrences(language, words, 16).values()]
    variances = [
        np.mean([wv.learn("wug", text[:n], replace=True).variance[0] for text in texts]) for n in (1, 4, 16)
    ]
    assert variances[0] > variances[1] > variances[2]


def test_a_learnt_word_is_a_word_like_others(wv):
    before = len(wv)
    density = wv.learn("wug", "the silent wug hoots in the barn")
    assert len(wv) == before + 1
    assert wv.density("wug").mean == pytest.approx(density.mean)
    assert wv.density("wug").variance == pytest.approx(density.variance, rel=1e-5)
    assert wv.most_similar("wug", topn=3)
    assert np.isfinite(wv.kl_divergence("wug", "owl"))


def test_a_learnt_word_can_be_unlearnt(wv, tmp_path):
    before, words = wv.vectors.copy(), list(wv.index_to_key)
    wv.learn("wug", "the silent wug hoots in the barn")
    wv.learn("zib", "a ripe zib tastes sweet")
    last = wv["zib"].copy()
    wv.unlearn("wug")
    assert wv.index_to_key == [*words, "zib"]
    assert np.array_equal(wv["zib"], last)
    assert wv.infer("the zib hoots", word="zib").dimension == wv.vector_size
    wv.unlearn("zib")
    assert np.array_equal(wv.vectors, before)
    assert len(wv.log_variances) == len(wv.encoder.embeddings) == len(wv.expandos["count"]) == len(words)
    wv.save(tmp_path / "again.dv")
    with pytest.raises(ValueError, match="'owl' was not learnt but trained"):
        wv.unlearn("owl")
    with pytest.raises(KeyError, match="wug"):
        wv.unlearn("wug")


def test_where_there_are_only_means(wv):
    sentences = ["the wug hoots and swoops", "a silent wug"]
    points = copy.deepcopy(wv)
    points.log_variances = None
    old, density = points.vectors.copy(), points.learn("wug", sentences)
    assert np.array_equal(
        density.mean, learnt(wv, [each.replace("wug", "").split() for each in sentences]).mean
    )
    assert np.array_equal(points["wug"], density.mean)
    assert np.array_equal(points.vectors[:-1], old)
    assert points.learn("wugs", ["a wugs hoots"]).variance > 0  # one word leaves nothing open


def test_errors_say_what_to_do(wv):
    with pytest.raises(ValueError, match="known already"):
        wv.learn("owl", ["the owl hoots"])
    with pytest.raises(ValueError, match="does not occur in 1 sentence"):
        wv.learn("wug", ["the owl hoots"])
    with pytest.raises(ValueError, match="no sentences"):
        wv.learn("wug", [])
    with pytest.raises(ValueError, match="none of the words around"):
        wv.learn("wug", ["wug xyzzy"])
    assert "wug" not in wv


def test_a_word_that_was_added_can_be_a_substitute():
    model = BayesianSkipGram(
        [["the", "dog", "barks"], ["the", "cat", "purrs"]] * 50, vector_size=4, workers=1
    )
    wv = model.wv
    wv.add_vector("wug", wv["cat"])
    found = dict(wv.substitutes("dog", ["barks"], topn=None))
    assert np.isfinite(found["wug"])
