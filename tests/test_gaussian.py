import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal

from densvec import Gaussian


def normal(density):
    """The same density in torch: independent normals in every dimension."""
    scale = np.sqrt(np.broadcast_to(density.variance, density.mean.shape).astype(np.float64))
    return torch.distributions.Independent(
        torch.distributions.Normal(torch.tensor(density.mean, dtype=torch.float64), torch.tensor(scale)), 1
    )


@pytest.fixture(params=[(1,), (5,)], ids=["spherical", "diagonal"])
def batch(request):
    rng = np.random.default_rng(3)
    return Gaussian(rng.normal(size=(4, 3, 5)), np.exp(rng.normal(size=(4, 3, *request.param))))


def test_entropy_and_log_prob_agree_with_torch(batch):
    assert_allclose(batch.entropy(), normal(batch).entropy(), rtol=1e-12)
    x = np.random.default_rng(1).normal(size=(4, 3, 5))
    assert_allclose(batch.log_prob(x), normal(batch).log_prob(torch.tensor(x)), rtol=1e-12)


def test_log_prob_broadcasts_points(batch):
    assert batch.log_prob(np.zeros(5)).shape == (4, 3)
    assert batch[0].log_prob(np.zeros((7, 1, 5))).shape == (7, 3)
    with pytest.raises(ValueError, match="last axis must have size 5"):
        batch.log_prob(np.zeros(4))


def test_samples_have_the_moments(batch):
    points = batch.sample(20_000, seed=5)
    assert points.shape == (20_000, 4, 3, 5)
    deviation = np.sqrt(np.broadcast_to(batch.variance, batch.mean.shape))
    assert np.all(np.abs(points.mean(axis=0) - batch.mean) < 5 * deviation / 20_000**0.5)
    assert_allclose(points.std(axis=0), deviation, rtol=0.05)
    assert_array_equal(points, batch.sample(20_000, seed=5))
    assert not np.array_equal(points[:5], batch.sample(5, seed=6))


def test_log_determinant(batch):
    covariance = np.broadcast_to(batch.variance, batch.mean.shape)[2, 1] * np.eye(5)
    assert_allclose(batch.log_determinant[2, 1], np.linalg.slogdet(covariance)[1])


def test_one_density():
    density = Gaussian([1, 2, 3], 2)
    assert density.mean.dtype == np.float64
    assert (density.dimension, density.shape, density.is_spherical) == (3, (), True)
    assert density.variance.shape == (1,)
    assert density.entropy().shape == ()
    with pytest.raises(TypeError, match="batch"):
        len(density)
    with pytest.raises(TypeError, match="batch"):
        density[0]
    with pytest.raises(TypeError):
        iter(density).__next__()


def test_single_precision_is_kept():
    density = Gaussian(np.ones(3, np.float32), np.ones(1, np.float32))
    assert density.mean.dtype == density.variance.dtype == density.sample(2, seed=1).dtype == np.float32


def test_indexing_and_iteration(batch):
    assert batch.shape == (4, 3)
    assert len(batch) == 4
    assert batch[1].shape == (3,)
    assert batch[1, 2].shape == ()
    assert batch[1, 2] == Gaussian(batch.mean[1, 2], batch.variance[1, 2])
    assert batch[:2].shape == (2, 3)
    assert batch[..., 0].shape == (4,)
    assert batch[[3, 0]][0] == batch[3]
    assert batch[np.array([True, False, True, False])].shape == (2, 3)
    assert [one == batch[i] for i, one in enumerate(batch)] == [True] * 4
    with pytest.raises(IndexError):
        batch[0, 0, 0]
    with pytest.raises(IndexError):
        batch[4]


def test_equality():
    one = Gaussian([1.0, 2.0], 1.0)
    assert one == Gaussian([1.0, 2.0], [1.0])
    assert one != Gaussian([1.0, 2.0], 2.0)
    assert one != Gaussian([1.0, 2.5], 1.0)
    assert one != "a density"
    with pytest.raises(TypeError):
        hash(one)


def test_repr():
    assert repr(Gaussian([1.0, 2.0], 1.0)) == "Gaussian(mean=[1., 2.], variance=[1.])"
    assert (
        repr(Gaussian(np.zeros((2, 3, 4)), np.ones((2, 3, 4))))
        == "<2 × 3 diagonal Gaussians in 4 dimensions>"
    )
    assert len(repr(Gaussian(np.arange(300.0), 1.0))) < 100


@pytest.mark.parametrize(
    ("mean", "variance", "message"),
    [
        (1.0, 1.0, "at least one axis"),
        ([1.0, 2.0], [1.0, 1.0, 1.0], r"shape \(3,\)"),
        ([[1.0, 2.0]], [1.0, 1.0], r"\(1, 1\) \(spherical\) or \(1, 2\) \(diagonal\)"),
        ([1.0], 0.0, "positive and finite: got 0"),
        ([1.0, 2.0], [1.0, -1.0], "positive and finite: got -1"),
        ([1.0], np.nan, "positive and finite: got nan"),
        ([1.0], np.inf, "positive and finite: got inf"),
    ],
)
def test_wrong_parameters_are_named(mean, variance, message):
    with pytest.raises(ValueError, match=message):
        Gaussian(mean, variance)
