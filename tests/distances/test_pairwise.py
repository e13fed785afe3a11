"""The matrix forms: the same as element by element, also where float32 products cancel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from densvec import Gaussian
from densvec.distances.metrics import METRICS
from densvec.distances.pairwise import approximate_distances, distances, pairwise
from densvec.distances.table import DensityTable

WIDTHS = [(1, 1), (1, 7), (7, 1), (7, 7)]
LAWFUL = [name for name, metric in METRICS.items() if metric.non_negative]


def random(rng, count, width, dtype):
    mean = rng.normal(size=(count, 7)).astype(dtype)
    return Gaussian(mean, np.exp(rng.normal(size=(count, width))).astype(dtype))


def exact(q, p, metric):
    return METRICS[metric].exact(Gaussian(q.mean[:, None], q.variance[:, None]), p)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("width_q", "width_p"), WIDTHS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_matrix_form_is_the_elementwise_form(metric, width_q, width_p, dtype, tolerance):
    rng = np.random.default_rng(5)
    q, p = random(rng, 9, width_q, dtype), random(rng, 700, width_p, dtype)
    assert_allclose(pairwise(q, p, metric), exact(q, p, metric), rtol=tolerance)


@pytest.mark.parametrize("metric", LAWFUL)
@pytest.mark.parametrize("width", [1, 7])
@pytest.mark.parametrize("offset", [0.0, 1.0, 1000.0])
def test_nearly_equal_densities_in_float32(metric, width, offset):
    # Means far from the origin, differing in their last digits: ‖a‖² + ‖b‖² − 2 a·b is all rounding error.
    rng = np.random.default_rng(6)
    q = random(rng, 4, width, np.float32)
    q = Gaussian(q.mean + np.float32(offset), q.variance)
    steps = rng.integers(-2, 3, size=(300, 7)) * np.spacing(q.mean[0])
    factors = (1 + rng.integers(-1, 2, size=(300, width)) * 2**-23).astype(np.float32)
    p = Gaussian((q.mean[0] + steps).astype(np.float32), q.variance[0] * factors)
    table = pairwise(q, p, metric)
    equal = (p.mean == q.mean[0]).all(axis=1) & (p.variance == q.variance[0]).all(axis=1)
    assert table.min() >= 0
    assert_array_equal(table[0] == 0, equal)
    assert_allclose(table, exact(q, p, metric), rtol=1e-4)
    identical = pairwise(q, q, metric)
    assert_array_equal(identical == 0, np.eye(4, dtype=bool))


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.floats(1e-12, 1.0), st.sampled_from([1, 7]))
def test_laws_hold_at_every_scale(seed, scale, width):
    rng = np.random.default_rng(seed)
    base = random(rng, 1, width, np.float32)
    means = (base.mean + scale * rng.normal(size=(20, 7))).astype(np.float32)
    variances = (base.variance * np.exp(scale * rng.normal(size=(20, width)))).astype(np.float32)
    p = Gaussian(means, variances)
    for metric in LAWFUL:
        table = pairwise(p, p, metric)
        different = (means[:, None] != means).any(-1) | (variances[:, None] != variances).any(-1)
        assert_array_equal(table > 0, different)
        assert_allclose(table, exact(p, p, metric), rtol=1e-3)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("width", [1, 7])
def test_approximation_finds_the_nearest(metric, width):
    rng = np.random.default_rng(7)
    q, p = random(rng, 5, width, np.float32), random(rng, 900, width, np.float32)
    table = DensityTable(p.mean, variances=p.variance)
    blocks = list(approximate_distances(q, table, metric, 10, 800))
    assert blocks[0][0].start == 10
    order = np.concatenate([values for _, values in blocks], axis=1).argsort(axis=1)
    assert_array_equal(order[:, :20], exact(q, p[10:800], metric).argsort(axis=1)[:, :20])


@pytest.mark.parametrize("width", [1, 7])
def test_table_of_log_variances(width):
    rng = np.random.default_rng(8)
    p = random(rng, 50, width, np.float32)
    log_variances = np.log(p.variance)
    table = DensityTable(p.mean, log_variances=log_variances)
    q = Gaussian(p.mean[7], np.exp(log_variances[7]))
    found = distances(q, table, "kl")[0]
    assert found[7] == 0
    assert_allclose(found, exact(Gaussian(q.mean[None], q.variance[None]), p, "kl")[0], rtol=1e-4, atol=1e-9)
    assert_allclose(distances(q, table, "kl", 5, 9)[0], found[5:9], rtol=1e-5)
    assert distances(q, table, "kl", 40, 4000).shape == (1, 10)
    assert distances(q, table, "kl", 9, 5).shape == (1, 0)


def test_nothing_to_compare():
    none, some = Gaussian(np.zeros((0, 3)), np.ones((0, 1))), Gaussian(np.zeros((2, 3)), 1.0)
    assert pairwise(none, some).shape == (0, 2)
    assert pairwise(some, none).shape == (2, 0)


def test_one_density_is_a_batch_of_one():
    one = Gaussian([0.0, 1.0], 2.0)
    assert pairwise(one, one, "wasserstein").tolist() == [[0.0]]


def test_wrong_questions_are_named():
    q = Gaussian(np.zeros((2, 3)), 1.0)
    with pytest.raises(ValueError, match="metric='euclid' is unknown: use one of cosine, kl"):
        pairwise(q, q, "euclid")
    with pytest.raises(ValueError, match="metric=None"):
        pairwise(q, q, None)
    with pytest.raises(ValueError, match="3 and 2"):
        pairwise(q, Gaussian(np.zeros((2, 2)), 1.0))
    with pytest.raises(ValueError, match="at most one axis"):
        pairwise(Gaussian(np.zeros((2, 2, 3)), 1.0), q)
    with pytest.raises(TypeError, match="either"):
        DensityTable(q.mean)
