"""The plane keeps distances and covariances."""

import itertools

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
from densvec import Gaussian, plot


def test_the_plane_keeps_distances_of_points_that_lie_in_one():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(6, 2)) @ rng.normal(size=(2, 30)) + 5
    plane = plot.Plane.fitted(points)
    seen = plane.points(points)
    for i, j in itertools.combinations(range(6), 2):
        assert np.linalg.norm(seen[i] - seen[j]) == pytest.approx(np.linalg.norm(points[i] - points[j]))


def test_a_density_in_the_plane_has_the_covariance_of_its_projected_samples():
    rng = np.random.default_rng(3)
    density = Gaussian(rng.normal(size=5), rng.uniform(0.1, 3, size=5))
    plane = plot.Plane.fitted(rng.normal(size=(4, 5)))
    samples = plane.points(density.sample(200_000, seed=4))
    np.testing.assert_allclose(plane.covariance(density), np.cov(samples.T), atol=0.03)
