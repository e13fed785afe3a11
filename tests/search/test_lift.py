"""Lifted vectors: the nearest ones are those with the largest inner products, which come back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec.search import Lift


@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, 8))
def test_the_order_of_distances_is_that_of_products(seed, size):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, size)) * np.exp(rng.normal(size=size))
    queries = rng.normal(size=(3, size))
    lift = Lift.fit(rows, queries).with_radius_of([rows[:20], rows[20:]])
    x, y = lift.rows(rows).astype(np.float64), lift.queries(queries).astype(np.float64)
    squares = ((y[:, None] - x) ** 2).sum(axis=2)
    products = queries @ rows.T
    scale = np.abs(products).max() + np.abs(queries @ lift.shift).max() + 1
    np.testing.assert_allclose(lift.scores(squares, queries), products, atol=1e-4 * scale)


def test_all_rows_get_one_length_and_so_do_queries():
    rng = np.random.default_rng(2)
    rows, queries = rng.normal(size=(50, 4)), rng.normal(size=(5, 4))
    lift = Lift.fit(rows, queries).with_radius_of([rows])
    for vectors in (lift.rows(rows), lift.queries(queries)):
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), lift.radius, rtol=1e-5)


@pytest.mark.parametrize("column", [0.0, 3.0])
def test_a_constant_column_does_no_harm(column):
    rng = np.random.default_rng(2)
    rows, queries = rng.normal(size=(50, 4)), rng.normal(size=(5, 4))
    rows[:, 1] = column
    lift = Lift.fit(rows, queries).with_radius_of([rows])
    assert np.isfinite(lift.rows(rows)).all()
    assert np.isfinite(lift.queries(np.zeros((1, 4)))).all()
