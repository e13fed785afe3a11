"""Substitutes: Bayes' rule about meaning, neighbours and frequency; what is left out; many at once; warnings."""

import warnings

import numpy as np
import pytest

from densvec import BayesianSkipGram, Gaussian, KeyedDensities
from densvec.datasets import toy_language
from densvec.encoder import Encoder

SENTENCE = "the ripe fuzzy kiwi softens slowly"


@pytest.fixture(scope="module")
def wv():
    model = BayesianSkipGram(toy_language(4000), vector_size=20, alpha=0.05, epochs=5, workers=1, seed=1)
    return model.wv


def by_hand(wv, word, tokens, position, emphasis, usual):
    """The scores of all words, from the formula."""
    row = wv.get_index(word)
    prior, posterior = wv.density(word), wv.infer(tokens, word=word, position=position)
    sought = Gaussian(prior.mean + emphasis * (posterior.mean - prior.mean), posterior.variance)
    share = wv.expandos["count"] / wv.expandos["count"].sum()
    beside = wv.beside.place(tokens[position - 1], tokens[position + 1])
    fit = wv.beside.scores(beside + usual * wv.beside.usual_places(np.array([row]))[0])
    kl = sought.kl(wv.density(wv.index_to_key))
    return dict(zip(wv.index_to_key, np.log(share) + fit - kl, strict=True))


@pytest.mark.parametrize("emphasis", [1, 0, 1.5])
def test_substitutes_are_ranked_by_bayes_rule(wv, emphasis):
    tokens = SENTENCE.split()
    expected = by_hand(wv, "kiwi", tokens, 3, emphasis, usual=4)
    found = wv.substitutes("kiwi", SENTENCE, topn=None, emphasis=emphasis)
    assert dict(found) == pytest.approx({word: expected[word] for word, _ in found}, rel=1e-4, abs=1e-3)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert {word for word, _ in found} >= set(wv.index_to_key) - {"kiwi", *tokens, "kiwis"}


def test_candidates_are_ranked_by_the_posterior_itself_and_all_of_them(wv):
    candidates = ["owl", "plum", "ripe", "kiwi", "unheard"]
    expected = by_hand(wv, "kiwi", SENTENCE.split(), 3, 1.0, usual=0)
    found = dict(wv.substitutes("kiwi", SENTENCE, candidates))
    known = [word for word in ("owl", "plum", "ripe") if word in wv]
    assert found == pytest.approx({word: expected[word] for word in known}, rel=1e-4, abs=1e-3)


def test_words_of_the_context_are_left_out_unless_asked_for(wv):
    without = wv.substitutes("kiwi", SENTENCE, topn=None)
    everything = wv.substitutes("kiwi", SENTENCE, topn=None, exclude_context=False)
    assert not {word for word, _ in without} & set(SENTENCE.split())
    assert without == [pair for pair in everything if pair[0] not in SENTENCE.split()]
    assert wv.substitutes("kiwi", SENTENCE, topn=3) == without[:3]


def test_other_forms_of_the_word_are_left_out_unless_asked_for():
    wv = KeyedDensities(2, covariance="spherical")
    words = ["dog", "dogs", "dogged", "Dog", "cat", "puppy"]
    wv.add_vectors(words, np.random.default_rng(1).normal(size=(6, 2)), log_variances=np.zeros((6, 1)))
    shapes = [(6, 2), (2, 2), (2, 2), (2, 2), (2,), (2, 1), (1,)]
    wv.encoder = Encoder(*(np.ones(shape, dtype=np.float32) for shape in shapes))
    assert {word for word, _ in wv.substitutes("dog", [])} == {"cat", "puppy"}
    assert {word for word, _ in wv.substitutes("dog", [], exclude_inflections=False)} == set(words[1:])
    # Enough are found even when the best are all inflections.
    assert len(wv.substitutes("dog", [], topn=1)) == 1


def test_many_at_once_are_what_one_after_the_other_is(wv):
    words = list(wv.index_to_key[:40])
    pairs = [(word, f"the {word} softens", 1) for word in words]
    together = wv.substitutes_batch(pairs, topn=3)
    for (word, text, position), found in zip(pairs, together, strict=True):
        alone = wv.substitutes(word, text, topn=3, position=position)
        assert [key for key, _ in found] == [key for key, _ in alone]
    assert wv.substitutes_batch([]) == []


def test_a_mark_is_a_position(wv):
    marked = wv.substitutes("kiwi", "the ripe fuzzy [[kiwi]] softens slowly kiwi")
    assert marked == wv.substitutes("kiwi", "the ripe fuzzy kiwi softens slowly kiwi", position=3)


def test_a_string_without_the_word_is_warned_of(wv):
    with pytest.warns(UserWarning, match="'kiwi' does not stand in 'the owl hoots'"):
        wv.substitutes("kiwi", "the owl hoots")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wv.substitutes("kiwi", ["owl", "hoots"])
        wv.substitutes("kiwi", "the owl hoots", position=1)
        wv.substitutes("kiwi", SENTENCE)


def test_what_is_unknown_is_left_out_of_the_score(wv):
    bare = wv.vectors_for_all(wv.index_to_key)
    bare.encoder, bare.expandos, bare.beside = wv.encoder, {"keep": wv.expandos["keep"]}, None
    posterior = bare.infer(SENTENCE, word="kiwi")
    found = dict(bare.substitutes("kiwi", SENTENCE, ["owl", "plum"]))
    assert found == pytest.approx({word: -float(posterior.kl(wv.density(word))) for word in found}, rel=1e-4)


def test_substitutes_follow_counts_that_change(wv):
    changed = wv.vectors_for_all(wv.index_to_key, copy_vecattrs=True)
    before = dict(changed.substitutes("kiwi", SENTENCE, topn=None))
    changed.set_vecattr("plum", "count", int(changed.get_vecattr("plum", "count")) * 1000)
    after = dict(changed.substitutes("kiwi", SENTENCE, topn=None))
    assert after["plum"] > before["plum"]
    assert after["owl"] < before["owl"]


@pytest.mark.parametrize("emphasis", [-0.5, float("inf"), float("nan")])
def test_emphasis_has_bounds(wv, emphasis):
    with pytest.raises(ValueError, match="emphasis"):
        wv.substitutes("kiwi", SENTENCE, emphasis=emphasis)
