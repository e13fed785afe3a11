"""One density against a diagonal table in one pass: the same answers as by definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from densvec import Gaussian
from densvec.distances.pairwise import distances
from densvec.distances.table import DensityTable
from densvec.gaussian import kl
from densvec.native._scan import kl_scores


def make(rows, size, seed=1):
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(rows, size)).astype(np.float32)
    return means, rng.normal(scale=2.0, size=(rows, size)).astype(np.float32)


@given(rows=st.integers(1, 40), size=st.integers(1, 40), seed=st.integers(0, 99), spherical=st.booleans())
def test_distances_are_those_of_the_definition(rows, size, seed, spherical):
    means, log_variances = make(rows, size, seed)
    rng = np.random.default_rng(seed + 1000)
    variance = rng.uniform(0.1, 3.0, size=1 if spherical else size).astype(np.float32)
    q = Gaussian(rng.normal(size=size).astype(np.float32), variance)
    found = distances(q, DensityTable(means, log_variances=log_variances), "kl")
    exact = kl(q, Gaussian(means.astype(np.float64), np.exp(log_variances.astype(np.float64))))
    assert_allclose(found[0], exact, rtol=2e-4)


def test_a_density_of_the_table_is_at_distance_zero_from_itself():
    means, log_variances = make(50, 30)
    table = DensityTable(means, log_variances=log_variances)
    found = distances(table.densities(slice(7, 8)), table, "kl")[0]
    assert found[7] == 0
    assert (np.delete(found, 7) > 0).all()


def test_many_rows_are_shared_out_to_threads():
    means, log_variances = make(30_000, 100)
    table = DensityTable(means, log_variances=log_variances)
    found = distances(table.densities(slice(5, 6)), table, "kl", 3, 29_999)[0]
    rows = np.array([0, 2, 12_345, 29_995])
    assert_allclose(found[rows], kl(table.densities(5), table.densities(rows + 3)), rtol=1e-4, atol=1e-6)


def test_arrays_that_do_not_fit_are_refused():
    means, log_variances = make(4, 3)
    scores = np.empty(4, np.float32)
    with pytest.raises(ValueError, match="do not fit"):
        kl_scores(means[0], means[0], means, np.ascontiguousarray(log_variances[:, :2]), scores)
    with pytest.raises(ValueError, match="4 rows need as many scores"):
        kl_scores(means[0], means[0], means, log_variances, scores[:3])
