"""Where words go in a picture: planes through the space of the means, and maps of many words."""

from __future__ import annotations

import numpy as np

from densvec.plot import Plane
from densvec.types import Floats

__all__ = ["plane_of_shift", "spread"]

_NEIGHBOURS = 12.0
"""How many neighbours matter to each word of a map: the perplexity."""


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


def spread(means: Floats, iterations: int = 300) -> Floats:
    """Lay out words so that near ones are close: exact t-SNE (van der Maaten and Hinton, 2008) of unit vectors.

    It starts from the first two principal components and draws nothing at random: the same words give the
    same map.

    Parameters
    ----------
    means : numpy.ndarray, shape (n, D)
        Some hundred at most: time and memory grow with the square of n.
    iterations : int, optional
        Steps of gradient descent.

    Returns
    -------
    numpy.ndarray, shape (n, 2)

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> groups = np.repeat(np.eye(3), 20, axis=0) + 0.1 * rng.normal(size=(60, 3))
    >>> points = spread(groups)
    >>> centres = points.reshape(3, 20, 2).mean(axis=1)
    >>> nearest = ((points[:, None] - centres) ** 2).sum(axis=-1).argmin(axis=1)
    >>> bool((nearest == np.repeat([0, 1, 2], 20)).all())
    True
    """
    vectors = np.asarray(means, dtype=np.float64)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    if len(vectors) < 4:
        return Plane.fitted(vectors).points(vectors) if len(vectors) > 1 else np.zeros((len(vectors), 2))
    wanted = _affinities(vectors).astype(
        np.float32
    )  # half the memory to go through, and exact enough to look at
    points = Plane.fitted(vectors).points(vectors)
    points = (points / max(float(points.std()), 1e-12) * 1e-2).astype(np.float32)
    speed, gains = np.zeros_like(points), np.ones_like(points)
    rate = max(len(vectors) / 4, 50.0)
    for step in range(iterations):
        early = step < iterations // 3
        products = points @ points.T
        squares = np.diag(products)
        near = 1.0 / (1.0 + np.maximum(squares[:, None] + squares - 2 * products, 0.0))
        np.fill_diagonal(near, 0.0)
        pull = ((4.0 if early else 1.0) * wanted - near / near.sum()) * near
        gradient = 4.0 * (pull.sum(axis=1)[:, None] * points - pull @ points)
        gains = np.where(np.sign(gradient) == np.sign(speed), gains * 0.8, gains + 0.2).clip(0.01)
        speed = (0.5 if early else 0.8) * speed - rate * gains * gradient
        points = points + speed
        points = points - points.mean(axis=0)
    return points


def _affinities(vectors: Floats) -> Floats:
    """Return how much each pair of words belongs together, summing to 1."""
    products = vectors @ vectors.T
    squares = np.diag(products)
    distances = np.maximum(squares[:, None] + squares - 2 * products, 0.0)
    np.fill_diagonal(distances, np.inf)
    entropy = np.log(min(_NEIGHBOURS, (len(vectors) - 1) / 3))
    low, high = np.zeros(len(vectors)), np.full(len(vectors), np.inf)
    precision = np.ones(len(vectors))
    nearest = distances.min(axis=1, keepdims=True)
    for _ in range(50):  # bisection, of all rows at once
        weights = np.exp(-(distances - nearest) * precision[:, None])
        shares = weights / weights.sum(axis=1, keepdims=True)
        found = -(shares * np.log(np.maximum(shares, 1e-300))).sum(axis=1)
        wide = found > entropy
        low, high = np.where(wide, precision, low), np.where(wide, high, precision)
        precision = np.where(np.isinf(high), precision * 2, (low + np.minimum(high, 1e300)) / 2)
    both: Floats = shares + shares.T
    both /= both.sum()
    return both
