"""The laws of searching by inner product: the engine's order is the scan's order, and scores come back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec import KeyedDensities
from densvec.distances.metrics import METRICS, Factors, Metric
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


def test_a_new_metric_is_one_entry(monkeypatch):
    """Euclidean distances of the means, which no other module knows."""
    monkeypatch.setitem(
        METRICS,
        "euclidean",
        Metric(
            exact=lambda q, p: np.linalg.norm(q.mean.astype(np.float64) - p.mean, axis=-1),
            spherical=lambda d, variance, terms: (np.ones(1, variance.dtype), np.zeros_like(terms.variance)),
            factors=Factors(
                rows=lambda p: [p.mean, p.squared_norm],
                queries=lambda q: [q.mean, np.full((*q.mean.shape[:-1], 1), -0.5)],
                own=lambda q: q.squared_norm,
            ),
            squared=True,
        ),
    )
    rng = np.random.default_rng(5)
    for diagonal in (False, True):
        p, q = densities(rng, 300, 6, diagonal), densities(rng, 20, 6, diagonal)
        wv = KeyedDensities.from_arrays(
            [f"w{i}" for i in range(300)], p.mean, log_variances=np.log(p.variance)
        )
        expected = np.linalg.norm(q.mean[:, None] - p.mean, axis=-1)
        nearest = [f"w{i}" for i in expected.argmin(axis=1)]
        assert [found[0][0] for found in wv.most_similar_batch(q, 1, metric="euclidean")] == nearest
        assert [wv.most_similar(each, topn=1, metric="euclidean")[0][0] for each in q] == nearest
        assert wv.distance("w1", "w2", metric="euclidean") == pytest.approx(
            np.linalg.norm(p.mean[1] - p.mean[2])
        )
        np.testing.assert_allclose(pairwise(q, p, "euclidean"), expected, rtol=1e-5)
        space = Space("euclidean", 6, diagonal=diagonal)
        scores = space.query(q, np.float64) @ space.features(p, np.float64).T
        np.testing.assert_allclose(space.to_distance(scores, q), expected, rtol=1e-5)
