"""The laws of searching by inner product: the engine's order is the scan's order, and scores come back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec.distances.pairwise import pairwise
from densvec.gaussian import Gaussian
from densvec.search import Space, features, query, to_distance

SEPARABLE = ["kl", "reverse_kl", "jeffreys", "wasserstein"]
SHAPES = [(False, False), (True, False), (False, True), (True, True)]


def densities(rng, count, dimension, diagonal, spread=0.7):
    means = rng.normal(size=(count, dimension))
    return Gaussian(means, np.exp(spread * rng.normal(size=(count, dimension if diagonal else 1))))


def cosines(q, p):
    return (q.mean @ p.mean.T) / np.outer(np.linalg.norm(q.mean, axis=1), np.linalg.norm(p.mean, axis=1))


@pytest.mark.parametrize("metric", SEPARABLE)
@pytest.mark.parametrize(("diagonal_rows", "diagonal_queries"), SHAPES)
@given(seed=st.integers(0, 2**32 - 1), dimension=st.integers(1, 12))
def test_distances_come_back_exactly(metric, diagonal_rows, diagonal_queries, seed, dimension):
    rng = np.random.default_rng(seed)
    p, q = densities(rng, 30, dimension, diagonal_rows), densities(rng, 4, dimension, diagonal_queries)
    space = Space(metric, dimension, diagonal=diagonal_rows or diagonal_queries)
    scores = space.query(q, np.float64) @ space.features(p, np.float64).T
    expected = pairwise(q, p, metric)
    magnitude = np.abs(space.query(q, np.float64)) @ np.abs(space.features(p, np.float64)).T
    error = np.abs(space.to_distance(scores, q) ** 2 - expected**2 if metric == "wasserstein" else
                   space.to_distance(scores, q) - expected)  # fmt: skip
    assert (error <= 1e-12 * (1 + magnitude)).all()


@pytest.mark.parametrize("metric", [*SEPARABLE, "cosine"])
@pytest.mark.parametrize("diagonal", [False, True])
def test_the_order_is_that_of_the_scan(metric, diagonal):
    rng = np.random.default_rng(7)
    p, q = densities(rng, 500, 20, diagonal), densities(rng, 20, 20, diagonal)
    scores = query(q, metric) @ features(p, metric).T  # in float32, as engines have it
    distances = 1.0 - cosines(q, p) if metric == "cosine" else pairwise(q, p, metric)
    for i in range(len(q)):
        found, expected = np.argsort(-scores[i]), np.argsort(distances[i])
        np.testing.assert_allclose(distances[i][found], distances[i][expected], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(to_distance(scores, q, metric), distances, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("metric", ["kl", "wasserstein"])
def test_spherical_rows_can_be_asked_with_diagonal_queries(metric):
    rng = np.random.default_rng(3)
    p, q = densities(rng, 50, 6, False), densities(rng, 5, 6, True)
    short, long = Space(metric, 6), Space(metric, 6, diagonal=True)
    assert short.size < long.size
    one, other = (
        space.to_distance(space.query(q, np.float64) @ space.features(p, np.float64).T, q)
        for space in (short, long)
    )
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("metric", ["reverse_kl", "jeffreys"])
def test_where_they_cannot_it_says_so(metric):
    rng = np.random.default_rng(3)
    with pytest.raises(ValueError, match="diagonal=True"):
        Space(metric, 6).query(densities(rng, 5, 6, True))


def test_diagonal_rows_need_a_diagonal_space():
    with pytest.raises(ValueError, match="diagonal=True"):
        Space("kl", 6).features(densities(np.random.default_rng(3), 5, 6, True))


# Errors


def test_unknown_metrics_and_wrong_dimensions_are_named():
    with pytest.raises(ValueError, match="'manhattan' is unknown"):
        Space("manhattan", 2)
    with pytest.raises(ValueError, match="expected_likelihood is no inner product"):
        Space("expected_likelihood", 2)
    with pytest.raises(ValueError, match="3 dimensions, those of the index 2"):
        Space("kl", 2).query(Gaussian([0.0, 0.0, 0.0], 1.0))


def test_a_mean_of_zero_has_no_direction():
    assert features(Gaussian([0.0, 0.0], 1.0), "cosine").tolist() == [0.0, 0.0]
