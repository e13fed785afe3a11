"""Descriptions of occurrences: what they depend on and what they do not."""

import numpy as np
import pytest

from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.questions.surroundings import Surroundings
from densvec.text.concordance import Occurrence


@pytest.fixture(scope="module")
def wv():
    return BayesianSkipGram(toy_language(3000), vector_size=10, epochs=2, workers=1, seed=1).wv


def at(sentence, word):
    tokens = sentence.split()
    return Occurrence(tokens, tokens.index(word))


def test_the_word_itself_plays_no_part(wv):
    around = Surroundings(wv)
    one = around("owl", [at("the shy owl sniffs the burrow", "owl")])
    assert np.allclose(one, around("trout", [at("the shy trout sniffs the burrow", "trout")]))
    # Nor does another of its occurrences near by, but for the place that it takes.
    assert np.allclose(one, around("owl", [at("the shy owl sniffs the burrow owl", "owl")]))


def test_an_occurrence_is_described_as_it_is_whatever_stands_beside_it_in_the_batch(wv):
    around = Surroundings(wv)
    items = [
        at(text, "owl") for text in ("the owl", "owl", "a shy owl digs and sniffs the forest", "owl digs")
    ]
    together = around("owl", items)
    assert np.isfinite(together).all()
    for row, item in zip(together, items, strict=True):
        assert np.allclose(row, around("owl", [item])[0], atol=1e-5)


def test_sides_and_neighbours_count(wv):
    around = Surroundings(wv)
    texts = ("the shy owl digs", "digs owl the shy", "shy the owl digs")
    first, swapped, other = (around("owl", [at(text, "owl")])[0] for text in texts)
    assert not np.allclose(first, swapped)
    assert not np.allclose(first, other)


def test_no_occurrences_and_no_known_words(wv):
    around = Surroundings(wv)
    assert len(around("owl", [])) == 0
    assert np.isfinite(around("owl", [Occurrence(["zzz", "owl", "qqq"], 1)])).all()
