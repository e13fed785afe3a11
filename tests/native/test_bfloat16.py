"""Matrix products of numbers that are rounded to bfloat16, as the kernel has them where the processor does."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from densvec.native._bsg import rounded_matmul

one = np.ones((1, 1), np.float32)
pytestmark = pytest.mark.skipif(
    rounded_matmul(one, one, one) is None, reason="this processor has no AVX-512 BF16"
)

sizes = st.integers(1, 140)


def rounded(array):
    """Return an array's numbers as torch rounds them to bfloat16."""
    return torch.from_numpy(np.ascontiguousarray(array)).bfloat16().double().numpy()


@given(m=sizes, n=sizes, inner=sizes, transposed=st.booleans(), seed=st.integers(0, 100))
def test_a_product_is_that_of_rounded_factors(m, n, inner, transposed, seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(inner, m) if transposed else (m, inner)).astype(np.float32)
    b, start = rng.normal(size=(inner, n)).astype(np.float32), rng.normal(size=(m, n)).astype(np.float32)
    a = a.T if transposed else a
    expected = start + rounded(a) @ rounded(b)
    np.testing.assert_allclose(rounded_matmul(a, b, start), expected, atol=1e-4)


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_stays_so_in_its_row_and_column_alone(odd):
    a, b = np.ones((20, 33), np.float32), np.ones((33, 70), np.float32)
    a[3, 32] = odd
    product = rounded_matmul(a, b, np.zeros((20, 70), np.float32))
    assert not np.isfinite(product[3]).any()
    np.testing.assert_array_equal(np.delete(product, 3, axis=0), 33)
