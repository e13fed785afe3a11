"""Clustering and how well a clustering agrees with the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from densvec.types import Floats, Indices

_ROUNDS = 100  # of Lloyd's algorithm, which converges long before


def adjusted_rand_index(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Return how far two partitions of the same items agree (Hubert and Arabie 1985).

    1 if they are the same whatever the labels are called, 0 on average if one is random.

    Examples
    --------
    >>> adjusted_rand_index(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    >>> round(adjusted_rand_index([0, 0, 1, 1], [0, 1, 0, 1]), 3)
    -0.5
    """
    number, other = np.size(first), np.size(second)
    if number != other:
        raise ValueError(f"the partitions are of {number} and {other} items; they must be of the same items")
    of_first, of_second, together = (_pairs(sizes).sum() for sizes in _sizes(first, second))
    highest = (of_first + of_second) / 2
    expected = of_first * of_second / max(_pairs(number), 1)
    if highest == expected:  # both are all singletons, or both one cluster
        return 1.0 if number else float("nan")
    return float((together - expected) / (highest - expected))


def _pairs(counts: Any) -> Any:
    """Return how many pairs this many items make."""
    counts = np.asarray(counts, dtype=np.float64)
    return counts * (counts - 1) / 2


def kmeans(points: Floats, clusters: int, *, restarts: int = 10, seed: int = 0) -> Indices:
    """Cluster points, (n, d), by Lloyd's algorithm from several starts of k-means++, and return each one's cluster.

    Of all starts, the one with the smallest sum of squared distances counts.

    Examples
    --------
    >>> import numpy as np
    >>> labels = kmeans(np.array([[0.0], [0.1], [5.0], [5.1]]), 2)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    points = np.asarray(points, dtype=np.float64)
    if not 1 <= clusters <= len(points):
        raise ValueError(f"clusters={clusters} must be between 1 and the number of points, {len(points)}")
    points = points - points.mean(axis=0)  # squared distances are then exact where points lie far from 0
    rng = np.random.default_rng(seed)
    best: Indices = np.zeros(len(points), dtype=np.intp)
    least = np.inf
    for _ in range(max(restarts, 1)):
        labels, inertia = _lloyd(points, _starts(points, clusters, rng))
        if inertia < least:
            best, least = labels, inertia
    return best


def _starts(points: Floats, clusters: int, rng: np.random.Generator) -> Floats:
    """Draw centres, each with a probability that grows with its squared distance from the others."""
    chosen = [int(rng.integers(len(points)))]
    nearest = _squares(points, points[chosen])[:, 0]
    for _ in range(clusters - 1):
        total = nearest.sum()
        # If all points coincide with a centre, any will do.
        probabilities = nearest / total if total > 0 else None
        chosen.append(int(rng.choice(len(points), p=probabilities)))
        nearest = np.minimum(nearest, _squares(points, points[chosen[-1:]])[:, 0])
    return points[chosen]


def _lloyd(points: Floats, centres: Floats) -> tuple[Indices, float]:
    labels = np.full(len(points), -1, dtype=np.intp)
    for _ in range(_ROUNDS):
        squares = _squares(points, centres)
        new = squares.argmin(axis=1)
        if np.array_equal(new, labels):
            break
        labels = new
        for cluster in range(len(centres)):
            members = labels == cluster
            if members.any():  # an empty cluster stays where it is
                centres[cluster] = points[members].mean(axis=0)
    return labels, float(_squares(points, centres).min(axis=1).sum())


def _squares(points: Floats, centres: Floats) -> Floats:
    """Return the squared distances, (points, centres)."""
    products = points @ centres.T
    squares = (points**2).sum(axis=1)[:, None] - 2 * products + (centres**2).sum(axis=1)
    result: Floats = np.maximum(squares, 0)
    return result


def v_measure(truth: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Return the harmonic mean of homogeneity and completeness (Rosenberg and Hirschberg 2007).

    Examples
    --------
    >>> v_measure(["a", "a", "b", "b"], [0, 0, 1, 1]), v_measure(["a", "a", "b", "b"], [0, 0, 0, 0])
    (1.0, 0.0)
    """
    of_truth, of_labels, joint = (_entropy(sizes) for sizes in _sizes(truth, labels))
    shared = of_truth + of_labels - joint
    if min(of_truth, of_labels) <= 0:
        return float(of_truth == of_labels)  # one cluster on a side: all is shared, or nothing
    return float(2 * shared / (of_truth + of_labels))


def paired_f(truth: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """Return the F1 of the pairs of items that share a cluster (Artiles et al. 2009).

    Examples
    --------
    >>> paired_f(["a", "a", "b"], [0, 0, 0])
    0.5
    """
    of_truth, of_labels, joint = (_pairs(sizes).sum() for sizes in _sizes(truth, labels))
    return float(2 * joint / (of_truth + of_labels)) if of_truth + of_labels else 1.0


def _sizes(first: npt.ArrayLike, second: npt.ArrayLike) -> list[Any]:
    """Return the sizes of the parts of two partitions, and of their common refinement."""
    a, b = (np.unique(np.asarray(labels), return_inverse=True)[1] for labels in (first, second))
    together = a * (b.max(initial=0) + 1) + b
    return [np.unique(labels, return_counts=True)[1] for labels in (a, b, together)]


def _entropy(sizes: Any) -> float:
    shares = sizes / max(sizes.sum(), 1)
    return float(-(shares * np.log(shares)).sum())
