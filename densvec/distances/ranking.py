"""The best of many scores: of one query, and of many queries whose scores arrive in blocks."""

from __future__ import annotations

import numpy as np

from densvec.types import Floats, Indices

_GROUP = 64
"""How many scores form a group, of which only the highest is looked at to find a first limit."""


def best(scores: Floats, count: int) -> Indices:
    """Return where the `count` highest scores are, highest first; NaNs come last.

    Examples
    --------
    >>> best(np.array([0.1, 0.9, 0.5]), 2)
    array([1, 2])
    """
    negative = -scores
    if count >= len(scores):
        return np.argsort(negative)
    top = np.argpartition(negative, count)[:count]
    return top[np.argsort(negative[top])]


class BestOfBlocks:
    """The `count` highest scores of each of several queries, the rows of blocks that are added one after another.

    Only scores that may still be among the best are kept, so memory does not grow with the number of columns.

    Examples
    --------
    >>> found = BestOfBlocks(queries=1, count=2)
    >>> found.add(0, np.array([[0.1, 0.9]]))
    >>> found.add(2, np.array([[0.5, 0.8]]))
    >>> columns, scores = found.result()[0]
    >>> columns
    array([1, 3])
    """

    def __init__(self, queries: int, count: int) -> None:
        self.count = count
        self._limits = np.full(queries, -np.inf)  # a score below it is not among the best of its query
        self._kept = np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)  # queries, columns, scores
        self._new: list[tuple[Indices, Indices, Floats]] = []
        self._waiting = 0

    def add(self, first_column: int, scores: Floats) -> None:
        """Take the scores of a block of columns, (queries, columns)."""
        width = scores.shape[1]
        if width > self.count and not len(self._kept[0]) and not self._new:
            # The first block itself shows which scores are too low.
            self._limits = _reached(scores, self.count).astype(np.float64)
        limits = self._limits.astype(
            scores.dtype
        )  # rounded down, a limit still admits the score it came from
        hits = np.flatnonzero(scores >= limits[:, None])
        queries, columns = np.divmod(hits, width)
        self._new.append((queries, first_column + columns, scores.ravel()[hits].astype(np.float64)))
        self._waiting += len(hits)
        if self._waiting > 4 * self.count * len(self._limits):
            self._settle()

    def result(self) -> list[tuple[Indices, Floats]]:
        """Return columns and scores of each query, highest first, the lower column first among equals."""
        self._settle()
        queries, columns, scores = self._kept
        ends = np.searchsorted(queries, np.arange(1, len(self._limits)))
        return list(zip(np.split(columns, ends), np.split(scores, ends), strict=True))

    def _settle(self) -> None:
        """Sort the new scores, drop those that are not among the best, and raise the limits."""
        queries, columns, scores = (
            np.concatenate(parts) for parts in zip(self._kept, *self._new, strict=True)
        )
        order = np.lexsort((columns, -scores, queries))
        queries = queries[order]
        starts = np.searchsorted(queries, np.arange(len(self._limits)))
        place = np.arange(len(queries)) - starts[queries]
        keep = place < self.count
        last = place == self.count - 1
        self._kept = queries[keep], columns[order][keep], scores[order][keep]
        self._limits[queries[last]] = scores[order][last]
        self._new, self._waiting = [], 0


def _reached(scores: Floats, count: int) -> Floats:
    """Return for each row a limit that its `count` highest scores reach, and few others.

    It is the lowest of the `count` highest maxima of groups of scores: finding these takes a fifth of the time
    that finding the score itself would.

    Examples
    --------
    >>> _reached(np.arange(1000.0)[None], 2)
    array([895.])
    """
    width = scores.shape[1]
    whole = width - width % _GROUP
    if whole // _GROUP > count:
        scores = scores[:, :whole].reshape(len(scores), -1, _GROUP).max(axis=2)
        width = scores.shape[1]
    limits: Floats = np.partition(scores, width - count, axis=1)[:, width - count]
    return limits
