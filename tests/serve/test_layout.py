"""Where words stand in a picture."""

import numpy as np
import pytest

from densvec.serve.views import plane_of_shift, spread


@pytest.mark.parametrize("others", [0, 1, 5])
def test_a_shift_keeps_its_length_and_points_right(others):
    rng = np.random.default_rng(others)
    before, after = rng.normal(size=(2, 8))
    plane = plane_of_shift(before, after, rng.normal(size=(others, 8)))
    assert plane.points(before) == pytest.approx([0, 0], abs=1e-9)
    assert plane.points(after) == pytest.approx([np.linalg.norm(after - before), 0], abs=1e-9)
    assert plane.directions.T @ plane.directions == pytest.approx(np.eye(2), abs=1e-9)


def test_no_shift_and_others_on_one_line():
    point = np.ones(4)
    plane = plane_of_shift(point, point, np.arange(12.0).reshape(3, 4))
    assert plane.points(point) == pytest.approx([0, 0], abs=1e-9)
    line = plane_of_shift(point, 2 * point, np.outer([3.0, 4.0], point))
    assert line.directions.T @ line.directions == pytest.approx(np.eye(2), abs=1e-9)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 50])
def test_any_number_of_words_can_be_mapped(count):
    points = spread(np.random.default_rng(1).normal(size=(count, 10)))
    assert points.shape == (count, 2)
    assert np.isfinite(points).all()


def test_words_that_are_equal_or_zero_can_be_mapped():
    points = spread(np.concatenate([np.ones((10, 5)), np.zeros((3, 5))]))
    assert np.isfinite(points).all()


def test_the_same_words_give_the_same_map_and_groups_stay_together():
    rng = np.random.default_rng(2)
    means = np.repeat(rng.normal(size=(3, 20)), 12, axis=0) + 0.2 * rng.normal(size=(36, 20))
    points = spread(means)
    assert np.array_equal(points, spread(means))
    groups = points.reshape(3, 12, 2)
    centres = groups.mean(axis=1)
    nearest = ((points[:, None] - centres) ** 2).sum(axis=-1).argmin(axis=1)
    assert (nearest == np.repeat(np.arange(3), 12)).mean() > 0.95
