from types import SimpleNamespace

import numpy as np
import pytest

from conftest import example_densities
from densvec.evaluation.occurrences import (
    Occurrence,
    Reader,
    densities_by,
    similarities,
    tokenize,
    usable_readings,
)


def test_tokens_are_those_of_the_corpora():
    assert tokenize("The CAT's 2nd <b>best</b> -- naïve café_au_lait") == [
        "the", "cat's", "2nd", "b", "best", "b", "naïve", "café", "au", "lait",
    ]  # fmt: skip


def test_posteriors_are_those_of_infer():
    wv = example_densities()
    reader = Reader(wv)
    tokens = ["the", "cat", "dog", "unknown", "animal"]
    occurrence = reader.occurrence(tokens, 2)
    found = reader.posteriors([occurrence] * 5000)  # more than are inferred at once
    expected = wv.infer(tokens, position=2)
    assert len(found) == 5000
    np.testing.assert_allclose(found.mean, np.tile(expected.mean, (5000, 1)), rtol=1e-6)
    np.testing.assert_allclose(found.variance[0], expected.variance, rtol=1e-6)


def test_a_lemma_stands_in_for_an_unknown_form():
    reader = Reader(example_densities())
    assert reader.occurrence(["two", "dogs"], 1) is None
    assert reader.occurrence(["cat", "dogs"], 1, "Dog") == Occurrence(1, [2], [])
    assert reader.occurrence(["cat", "Dog"], 1) == Occurrence(1, [2], [])


def test_rows_need_not_be_in_the_order_of_the_words():
    wv = SimpleNamespace(key_to_index={"b": 1, "a": 0}, vectors=np.eye(2))
    assert Reader(wv).keys == ["a", "b"]


def test_the_average_reaches_until_the_weights_fill_the_window():
    wv = SimpleNamespace(
        key_to_index={"the": 0, "near": 1, "far": 2, "word": 3},
        vectors=np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]),
        expandos={"count": np.array([990, 4, 3, 3])},
        window=1,
    )
    reader = Reader(wv, sample=0.005)
    keep = reader.keep[0]  # about .076: "the" does not fill a window, the next word does
    assert 0.05 < keep < 0.1
    (mean,) = reader.context_means([Occurrence(3, [2, 1, 0], [])])
    np.testing.assert_allclose(mean, np.array([keep, 1, 0]) / (1 + keep))
    (alone,) = reader.context_means([Occurrence(3, [], [])])
    np.testing.assert_array_equal(alone, 0)


def test_the_threshold_is_the_models_own_unless_given():
    wv = SimpleNamespace(key_to_index={"a": 0}, vectors=np.ones((1, 2)), expandos={"count": np.array([9])})
    assert Reader(wv).sample == 1e-4
    assert Reader(SimpleNamespace(wv=wv, sample=0.01)).sample == 0.01
    assert Reader(SimpleNamespace(wv=wv, sample=0.01), sample=0).sample == 0
    assert Reader(wv, sample=0).keep.tolist() == [1]


def test_metrics_agree_with_the_library():
    wv = example_densities()
    reader = Reader(wv)
    words = ["dog", "cat", "car"]
    first = [Occurrence(reader.lexicon.index(word), [], []) for word in words]
    second = first[1:] + first[:1]
    densities = [densities_by("out_of_context", reader, each) for each in (first, second)]
    for metric in ("cosine", "kl", "reverse_kl", "jeffreys", "expected_likelihood", "wasserstein"):
        expected = [
            wv.similarity(a, b, metric=metric) for a, b in zip(words, words[1:] + words[:1], strict=True)
        ]
        assert similarities(*densities, metric) == pytest.approx(expected, rel=1e-6)


def test_plain_vectors_have_no_encoder():
    wv = SimpleNamespace(key_to_index={"a": 0}, vectors=np.ones((1, 2)))
    assert usable_readings(Reader(wv)) == ["average", "out_of_context"]
    assert usable_readings(Reader(example_densities())) == ["encoder", "average", "out_of_context"]
