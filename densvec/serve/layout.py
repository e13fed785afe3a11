"""Where words go in a picture: planes through the space of the means, and maps of many words."""

from __future__ import annotations

import numpy as np

from densvec.plot import Plane
from densvec.types import Floats

__all__ = ["plane_of_shift", "spread"]


def plane_of_shift(before: Floats, after: Floats, others: Floats) -> Plane:
    """Return a plane that shows one shift in full length, to the right, and the other points as well as possible.

    Examples
    --------
    >>> plane = plane_of_shift(np.zeros(3), np.array([0.0, 0, 2]), np.array([[0.0, 5, 0], [0, -5, 1]]))
    >>> plane.points(np.array([0.0, 0, 2])).round(6)
    array([2., 0.])
    """
    before, after, others = (np.asarray(means, dtype=np.float64) for means in (before, after, others))
    shift = after - before
    length = np.linalg.norm(shift)
    if length < 1e-9 or len(before) < 2:
        fitted = Plane.fitted(np.concatenate([before[None], others, before[None]]))
        return Plane(before, fitted.directions)
    right = shift / length
    rest = others - before
    rest = rest - np.outer(rest @ right, right)
    spread_out = (
        rest - rest.mean(axis=0) if len(rest) > 1 else rest
    )  # how they differ, not how far away they are
    up = np.linalg.svd(spread_out, full_matrices=False)[2][0] if len(rest) else np.zeros_like(right)
    up = up - (up @ right) * right
    size = np.linalg.norm(up)
    if size < 1e-9:  # everything lies on the line: any other direction will do
        up = np.eye(len(right))[np.argmin(np.abs(right))]
        up = up - (up @ right) * right
        size = np.linalg.norm(up)
    up = up / size
    if len(rest) and (rest @ up)[0] < 0:  # which way is up is arbitrary: the first word goes up
        up = -up
    return Plane(before, np.stack([right, up], axis=1))


def spread(means: Floats) -> Floats:
    """Lay out words on the first two principal components of their directions.

    Parameters
    ----------
    means : numpy.ndarray, shape (n, D)

    Returns
    -------
    numpy.ndarray, shape (n, 2)

    Examples
    --------
    >>> groups = np.repeat(np.eye(3), 20, axis=0)
    >>> points = spread(groups).reshape(3, 20, 2)
    >>> bool(np.allclose(points, points[:, :1]))
    True
    """
    vectors = np.asarray(means, dtype=np.float64)
    if len(vectors) < 2:
        return np.zeros((len(vectors), 2))
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return Plane.fitted(vectors).points(vectors)
