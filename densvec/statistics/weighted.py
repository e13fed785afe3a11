"""Statistics as functions of the items' weights, so that a bootstrap can resample the items.

Each function takes values of items and returns a `Statistic`. That takes weights, an array with a row for each resample
and a column for each item, and returns a number for each row; with weights of 1 it is the plain statistic.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from densvec.types import Floats

Statistic = Callable[[Floats], Floats]


def mean(values: npt.ArrayLike, sizes: npt.ArrayLike | None = None) -> Statistic:
    """Return the mean of the values, where an item may count as many times as `sizes` says.

    Examples
    --------
    >>> mean([1.0, 4.0], sizes=[2, 1])(np.ones((1, 2)))
    array([2.])
    """
    numbers = np.asarray(values, dtype=np.float64)
    counts = np.ones(len(numbers)) if sizes is None else np.asarray(sizes, dtype=np.float64)

    def statistic(weights: Floats) -> Floats:
        return _ratio(weights @ (counts * numbers), weights @ counts)

    return statistic


def median(values: npt.ArrayLike) -> Statistic:
    """Return the lower median.

    Examples
    --------
    >>> median([1.0, 50.0, 3.0])(np.ones((1, 3)))
    array([3.])
    """
    numbers = np.sort(np.asarray(values, dtype=np.float64))
    order = np.argsort(values, kind="stable")

    def statistic(weights: Floats) -> Floats:
        if not len(numbers):
            return np.full(len(weights), np.nan)
        below = np.cumsum(weights[:, order], axis=1)
        result: Floats = numbers[np.argmax(below >= below[:, -1:] / 2, axis=1)]
        return result

    return statistic


def pearson(x: npt.ArrayLike, y: npt.ArrayLike) -> Statistic:
    """Return Pearson's correlation.

    Examples
    --------
    >>> pearson([1, 2, 3], [2, 4, 6])(np.ones((1, 3)))
    array([1.])
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (x, y))

    def statistic(weights: Floats) -> Floats:
        shape = (len(weights), 1)
        return _correlation(weights, np.tile(a, shape), np.tile(b, shape))

    return statistic


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> Statistic:
    """Return Spearman's ρ, with ties at their mean rank.

    A resample repeats items, and repeats are ties; so its ranks follow from the weights by a running sum in the order
    of the values, sorted once for all resamples.

    Examples
    --------
    >>> spearman([1, 2, 3], [1, 4, 9])(np.ones((1, 3)))
    array([1.])
    """
    of_x, of_y = _weighted_ranks(np.asarray(x)), _weighted_ranks(np.asarray(y))

    def statistic(weights: Floats) -> Floats:
        return _correlation(weights, of_x(weights), of_y(weights))

    return statistic


def roc_area(scores: npt.ArrayLike, truth: npt.ArrayLike) -> Statistic:
    """Return the area under the ROC curve: how often a true item has a higher score than a false one.

    Examples
    --------
    >>> roc_area([0.9, 0.8, 0.1], [True, False, False])(np.ones((1, 3)))
    array([1.])
    """
    ranks, positive = _weighted_ranks(np.asarray(scores)), np.asarray(truth, dtype=bool)

    def statistic(weights: Floats) -> Floats:
        true = weights * positive
        number = true.sum(axis=1, dtype=np.float64)
        above = (true * ranks(weights)).sum(axis=1) - number * (number + 1) / 2
        return _ratio(above, number * (weights.sum(axis=1, dtype=np.float64) - number))

    return statistic


def best_f1(scores: npt.ArrayLike, truth: npt.ArrayLike) -> Statistic:
    """Return the highest F1 that a threshold on the scores reaches; it is chosen again in each resample.

    Examples
    --------
    >>> best_f1([0.9, 0.8, 0.1], [True, False, True])(np.ones((1, 3)))
    array([0.8])
    """

    def measure(retrieved: Floats, found: Floats) -> Floats:
        result: Floats = _ratio(2 * found, retrieved + found[:, -1:]).max(axis=1)
        return np.where(found[:, -1] > 0, result, np.nan)

    return _by_thresholds(scores, truth, measure)


def average_precision(scores: npt.ArrayLike, truth: npt.ArrayLike) -> Statistic:
    """Return the average precision of a ranking by falling score.

    Examples
    --------
    >>> average_precision([0.9, 0.8, 0.1], [True, False, True])(np.ones((1, 3))).round(3)
    array([0.833])
    """

    def measure(retrieved: Floats, found: Floats) -> Floats:
        gained = np.diff(found, axis=1, prepend=0.0)
        precision = np.divide(found, retrieved, out=np.zeros_like(found), where=retrieved > 0)
        return _ratio(np.einsum("ij,ij->i", gained, precision, dtype=np.float64), found[:, -1])

    return _by_thresholds(scores, truth, measure)


def _by_thresholds(
    scores: npt.ArrayLike, truth: npt.ArrayLike, measure: Callable[[Floats, Floats], Floats]
) -> Statistic:
    """Return a measure of the numbers of items, and of true items, at or above each threshold."""
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-values, kind="stable")  # once for all resamples
    falling, positive = values[order], np.asarray(truth, dtype=np.float32)[order]
    ends = np.flatnonzero(np.r_[falling[1:] != falling[:-1], [True] * bool(len(falling))])

    def statistic(weights: Floats) -> Floats:
        if not len(ends):
            return np.full(len(weights), np.nan)
        ordered = weights[:, order]  # whose sums are exact in float32 below 2**24 items
        return measure(np.cumsum(ordered, axis=1)[:, ends], np.cumsum(ordered * positive, axis=1)[:, ends])

    return statistic


def _correlation(weights: Floats, x: Floats, y: Floats) -> Floats:
    """Return the correlation of weighted values, all of shape (resamples, items)."""
    if weights.shape[1] < 2:
        return np.full(len(weights), np.nan)
    shares = weights / weights.sum(axis=1, keepdims=True, dtype=np.float64)
    x = x - np.einsum("ij,ij->i", shares, x)[:, None]
    y = y - np.einsum("ij,ij->i", shares, y)[:, None]
    weighted = shares * x
    covariance = np.einsum("ij,ij->i", weighted, y)
    spread = np.einsum("ij,ij->i", weighted, x) * np.einsum("ij,ij,ij->i", shares, y, y)
    return _ratio(covariance, np.sqrt(np.maximum(spread, 0)))


def _ratio(above: Floats, below: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Floats = above / below
    return result


def _weighted_ranks(values: Floats) -> Statistic:
    """Return the ranks of values, in their original order, when item i occurs weights[i] times."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(values) else np.zeros(0, int)
    group = np.empty(len(values), dtype=np.intp)  # which run of equal values an item is in
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(values)]))

    def ranks(weights: Floats) -> Floats:
        in_group = np.add.reduceat(weights[:, order], starts, axis=1)
        middle = np.cumsum(in_group, axis=1, dtype=np.float64) - (in_group - 1) / 2
        result: Floats = middle[:, group]
        return result

    return ranks
