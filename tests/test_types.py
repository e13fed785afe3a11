"""What editors and mypy know about answers: `make lint` checks the types here, the tests that they are true.

Each `assert_type` fails in mypy if the type of a call is another one, Any included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from conftest import example_densities
from densvec.gaussian import Gaussian
from densvec.keyed import KeyedDensities
from densvec.questions.senses import Senses
from densvec.types import Floats, Found, Integers

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: Any, _: object) -> Any:
        return value


@pytest.fixture
def wv() -> KeyedDensities:
    return example_densities()


def is_found(found: Found) -> bool:
    return isinstance(found, list) and all(isinstance(word, str) and score < 10 for word, score in found)


def test_searches(wv: KeyedDensities) -> None:
    assert is_found(assert_type(wv.most_similar("dog", topn=2), Found))
    assert is_found(assert_type(wv.most_similar("dog", metric="kl", among=["cat"]), Found))
    assert isinstance(assert_type(wv.most_similar("dog", topn=None), Floats), np.ndarray)
    assert all(map(is_found, assert_type(wv.most_similar_batch(["dog", "cat"]), list[Found])))
    assert isinstance(assert_type(wv.most_similar_batch(["dog"], topn=None), Floats), np.ndarray)
    assert is_found(assert_type(wv.most_similar_cosmul(["dog"]), Found))
    assert is_found(assert_type(wv.similar_by_key("dog"), Found))
    assert is_found(assert_type(wv.similar_by_density(wv.density("dog")), Found))
    assert is_found(assert_type(wv.substitutes("dog", "the dog and cat"), Found))
    assert is_found(assert_type(wv.hypernyms("dog"), Found))
    assert is_found(assert_type(wv.hyponyms("animal"), Found))


def test_comparisons_of_two_words_are_numbers(wv: KeyedDensities) -> None:
    assert isinstance(assert_type(wv.similarity("dog", "cat"), float), (float, np.floating))
    assert isinstance(assert_type(wv.distance("dog", "cat", metric="kl"), float), float)
    assert isinstance(assert_type(wv.n_similarity(["dog"], ["cat"]), float), (float, np.floating))
    assert isinstance(assert_type(wv.kl_divergence("dog", "cat"), float), float)
    assert isinstance(assert_type(wv.entailment("dog", "cat"), float), float)
    assert isinstance(assert_type(wv.direction("dog", "cat"), float), float)
    assert isinstance(assert_type(wv.hypernymy("dog", "cat"), float), float)
    assert isinstance(assert_type(wv.generality("dog"), float), float)
    assert isinstance(assert_type(wv.text_similarity("dog cat", "car"), float), float)
    same = wv.similarity_in_context("dog", "the dog", "cat", "a cat")
    assert isinstance(assert_type(same, float), float)
    assert isinstance(assert_type(wv.rank("dog", "cat"), int), int)


def test_comparisons_with_several_words_are_arrays(wv: KeyedDensities) -> None:
    assert isinstance(assert_type(wv.kl_divergence("dog", ["cat", "car"]), Floats), np.ndarray)
    assert isinstance(assert_type(wv.direction(["dog", "cat"], "animal"), Floats), np.ndarray)
    assert isinstance(assert_type(wv.hypernymy("dog", ("cat", "car")), Floats), np.ndarray)
    assert isinstance(assert_type(wv.generality(["dog", "cat"]), Floats), np.ndarray)
    assert isinstance(assert_type(wv.generality(range(3)), Floats), np.ndarray)
    assert isinstance(assert_type(wv.distances("dog"), Floats), np.ndarray)
    assert isinstance(assert_type(wv.get_vector("dog"), Floats), np.ndarray)
    assert isinstance(assert_type(wv["dog"], Floats), np.ndarray)


def test_words_in_context_are_densities(wv: KeyedDensities) -> None:
    assert isinstance(assert_type(wv.density("dog"), Gaussian), Gaussian)
    assert isinstance(assert_type(wv.infer("the [[dog]] and cat"), Gaussian), Gaussian)
    found, places = wv.infer(["dog", "cat"], return_positions=True)
    assert isinstance(assert_type(found, Gaussian), Gaussian)
    assert isinstance(assert_type(places, Integers), np.ndarray)
    [batch] = assert_type(wv.infer_sentences([["dog", "cat"]]), list[Gaussian])
    assert isinstance(batch, Gaussian)
    assert isinstance(assert_type(wv.text_density("dog cat"), Gaussian), Gaussian)


def test_senses_of_one_word_and_of_several(wv: KeyedDensities) -> None:
    corpus = [["the", "dog", "and", "the", "cat"]]
    assert isinstance(assert_type(wv.senses("dog", corpus), Senses), Senses)
    several = assert_type(wv.senses(["dog", "cat"], corpus, max_senses=2), dict[str, Senses])
    assert several.keys() == {"dog", "cat"}
