"""Divergences against torch, against integrals, and by their laws."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import integrate, stats

from densvec import Gaussian
from densvec import gaussian as divergences

WIDTHS = [(1, 1), (1, 6), (6, 1), (6, 6)]
NON_NEGATIVE = [divergences.kl, divergences.reverse_kl, divergences.jeffreys, divergences.wasserstein]


def random(rng, batch, width, dtype=np.float64):
    mean = rng.normal(size=(*batch, 6))
    return Gaussian(mean.astype(dtype), np.exp(rng.normal(size=(*batch, width))).astype(dtype))


def torch_kl(q, p):
    def normal(density):
        scale = torch.tensor(
            np.sqrt(np.broadcast_to(density.variance, density.mean.shape).astype(np.float64))
        )
        return torch.distributions.Normal(torch.tensor(density.mean.astype(np.float64)), scale)

    return torch.distributions.kl_divergence(normal(q), normal(p)).sum(-1).numpy()


@pytest.mark.parametrize(("width_q", "width_p"), WIDTHS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kl_agrees_with_torch(width_q, width_p, dtype):
    rng = np.random.default_rng(2)
    q, p = random(rng, (50,), width_q, dtype), random(rng, (50,), width_p, dtype)
    assert_allclose(divergences.kl(q, p), torch_kl(q, p), rtol=1e-6)
    assert_allclose(divergences.reverse_kl(q, p), torch_kl(p, q), rtol=1e-6)
    assert_allclose(divergences.jeffreys(q, p), torch_kl(q, p) + torch_kl(p, q), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_expected_likelihood_agrees_with_torch(dtype):
    # ∫ N(z; a, u) N(z; b, v) dz is the density of N(b, u + v) at a.
    rng = np.random.default_rng(2)
    q, p = random(rng, (50,), 6, dtype), random(rng, (50,), 1, dtype)
    scale = torch.tensor(np.sqrt(q.variance.astype(np.float64) + p.variance))
    sum_of_both = torch.distributions.Normal(torch.tensor(p.mean, dtype=torch.float64), scale)
    expected = sum_of_both.log_prob(torch.tensor(q.mean, dtype=torch.float64)).sum(-1)
    assert_allclose(divergences.expected_likelihood(q, p), expected, rtol=1e-6)


ONE_DIMENSIONAL = [((0.0, 1.0), (1.5, 0.3)), ((-2.0, 4.0), (1.0, 4.0)), ((0.3, 0.2), (0.3, 0.25))]


@pytest.mark.parametrize(("first", "second"), ONE_DIMENSIONAL)
def test_divergences_are_their_integrals_in_one_dimension(first, second):
    (a, u), (b, v) = first, second
    q, p = Gaussian([a], u), Gaussian([b], v)
    f, g = stats.norm(a, u**0.5), stats.norm(b, v**0.5)
    product = integrate.quad(lambda z: f.pdf(z) * g.pdf(z), -30, 30, points=[a, b], epsabs=1e-12)[0]
    assert_allclose(divergences.expected_likelihood(q, p), np.log(product), atol=1e-6)
    # In one dimension, the best plan moves each quantile to the same quantile.
    work = integrate.quad(lambda t: (f.ppf(t) - g.ppf(t)) ** 2, 0, 1, epsabs=1e-10)[0]
    assert_allclose(divergences.wasserstein(q, p), np.sqrt(work), atol=1e-6)
    relative = integrate.quad(lambda z: f.pdf(z) * (f.logpdf(z) - g.logpdf(z)), -30, 30, points=[a, b])[0]
    assert_allclose(divergences.kl(q, p), relative, atol=1e-6)


@pytest.mark.parametrize("divergence", [*NON_NEGATIVE, divergences.expected_likelihood])
def test_batches_broadcast(divergence):
    rng = np.random.default_rng(4)
    q, p = random(rng, (3, 1), 1), random(rng, (4,), 6)
    table = divergence(q, p)
    assert table.shape == (3, 4)
    assert_allclose(table[2, 1], divergence(q[2, 0], p[1]))
    assert divergence(q[0, 0], p[0]).shape == ()


@pytest.mark.parametrize("divergence", [*NON_NEGATIVE, divergences.expected_likelihood])
def test_spherical_is_diagonal_with_equal_variances(divergence):
    rng = np.random.default_rng(4)
    q, p = random(rng, (20,), 1), random(rng, (20,), 1)
    q_full, p_full = (Gaussian(d.mean, np.repeat(d.variance, 6, axis=-1)) for d in (q, p))
    for one, other in [(q_full, p), (q, p_full), (q_full, p_full)]:
        assert_allclose(divergence(one, other), divergence(q, p), rtol=1e-12)


def test_dimensions_must_agree():
    with pytest.raises(ValueError, match="2 and 3"):
        divergences.kl(Gaussian([0.0, 0.0], 1.0), Gaussian([0.0, 0.0, 0.0], 1.0))


def densities(dtype):
    width = 32 if dtype == np.float32 else 64
    finite = st.floats(-1e6, 1e6, width=width)
    variance = st.floats(2**-20, 2**20, width=width)
    return st.tuples(
        arrays(dtype, 3, elements=finite),
        st.one_of(arrays(dtype, 1, elements=variance), arrays(dtype, 3, elements=variance)),
    ).map(lambda parts: Gaussian(*parts))


def same(q, p):
    """Equal as densities: a spherical one may equal a diagonal one."""
    equal_variances = np.array_equal(*(np.broadcast_to(d.variance, 3) for d in (q, p)))
    return np.array_equal(q.mean, p.mean) and equal_variances


@given(densities(np.float32), densities(np.float32))
def test_never_negative_and_zero_only_between_equals(q, p):
    for divergence in NON_NEGATIVE:
        value = divergence(q, p)
        assert value >= 0
        assert (value == 0) == same(q, p)
        assert divergence(q, q) == 0


@given(densities(np.float32), st.integers(0, 5), st.booleans())
def test_the_next_float_is_another_density(q, place, upwards):
    mean, variance = q.mean.copy(), q.variance.copy()
    target = mean if place < 3 else variance
    i = place % len(target)
    target[i] = np.nextafter(target[i], np.float32(np.inf if upwards else -np.inf), dtype=np.float32)
    assume(variance.min() > 0)
    p = Gaussian(mean, variance)
    for divergence in NON_NEGATIVE:
        assert divergence(q, p) > 0


@given(densities(np.float64), densities(np.float64))
def test_symmetric_ones_are_symmetric(q, p):
    for divergence in (divergences.jeffreys, divergences.expected_likelihood, divergences.wasserstein):
        assert_allclose(divergence(q, p), divergence(p, q), rtol=1e-12)
    assert divergences.reverse_kl(q, p) == divergences.kl(p, q)


@given(densities(np.float64), densities(np.float64), densities(np.float64))
def test_wasserstein_obeys_the_triangle_inequality(a, b, c):
    detour = divergences.wasserstein(a, b) + divergences.wasserstein(b, c)
    assert divergences.wasserstein(a, c) <= detour * (1 + 1e-12)
