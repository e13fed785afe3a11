"""How near generated words are to those around them: by plain loops, and words between others."""

import numpy as np
import pytest

from densvec import KeyedDensities
from densvec.questions import neighbourhood
from densvec.questions.neighbourhood import NEIGHBOURS, nearness


def named(vectors):
    return KeyedDensities.from_arrays([f"w{i}" for i in range(len(vectors))], vectors.astype(np.float32))


def groups(rng, within=0.5):
    """Return 20 groups of 40 words."""
    return np.repeat(rng.normal(size=(20, 30)), 40, axis=0) + within * rng.normal(size=(800, 30))


def by_loops(vectors, row, frequent):
    units = vectors - vectors.mean(axis=0)
    units /= np.linalg.norm(units, axis=1, keepdims=True)

    def best(one, among):
        found = sorted(((units[one] @ units[i], i) for i in range(among) if i != one), reverse=True)
        return np.array([cosine for cosine, _ in found]), [i for _, i in found]

    cosines, _ = best(row, len(units))
    near, around = best(row, frequent)
    theirs = [best(i, frequent)[0][:5].mean() for i in around[:5]]
    ratio = near[:5].mean() / np.exp(np.mean(np.log(theirs)))
    return [*(cosines[:count].mean() for count in NEIGHBOURS), ratio]


@pytest.mark.parametrize("frequent", [60, 1000])
def test_plain_loops_say_the_same(monkeypatch, frequent):
    monkeypatch.setattr(neighbourhood, "_FREQUENT", frequent)
    monkeypatch.setattr(neighbourhood, "_BATCH", 3)
    vectors = groups(np.random.default_rng(1))[::5]
    rows = [0, 7, 59, 60, 61, 100, 159]
    found = nearness(named(vectors), [f"w{row}" for row in rows])
    expected = [by_loops(vectors, row, min(frequent, len(vectors))) for row in rows]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_word_between_others_is_far_from_all_of_them():
    rng = np.random.default_rng(4)
    vectors = groups(rng)
    wv = named(np.vstack([vectors, (vectors[0] + vectors[100]) / 2]))
    found = nearness(wv, ["w800", *wv.index_to_key[:200]])
    assert (np.diff(found[:, :3], axis=1) <= 0).all()
    assert np.mean(found[0] < found[1:], axis=0).min() > 0.95


def test_a_word_between_close_ones_stands_out_where_others_are_scattered():
    """Nearness alone does not tell it from a word of a loose group; beside that of the words around it does."""
    rng = np.random.default_rng(5)
    tight, loose = groups(rng, within=0.1), groups(rng, within=1.0)
    between = (tight[0] + tight[100]) / 2
    wv = named(np.vstack([tight, loose, between]))
    found = nearness(wv, ["w1600", *(f"w{i}" for i in range(800, 1600))])
    assert np.mean(found[0, 1] > found[1:, 1]) > 0.5
    assert np.mean(found[0, 3] < found[1:, 3]) > 0.9


@pytest.mark.parametrize("count", [1, 2, 4])
def test_few_words_are_no_trouble(count):
    found = nearness(named(np.random.default_rng(6).normal(size=(count, 3))), ["w0"])
    assert found.shape == (1, 4)
    assert np.isfinite(found).all()
    assert count > 1 or not found.any()
