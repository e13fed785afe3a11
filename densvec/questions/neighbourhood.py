"""How near words are to those around them, and how near these are to theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from densvec.distances.vectors import unit_rows
from densvec.types import Floats, Integers

__all__ = ["NEIGHBOURS", "nearness"]

NEIGHBOURS = (1, 5, 30)
"""How many of the nearest words the nearness of a word is averaged over."""

_AROUND = 5
"""How many of the nearest words are asked how near they are to theirs."""

_FREQUENT = 30_000
"""Only so many words, the first and so the most frequent, are asked: rarer ones lie less surely where they do."""

_BATCH = 256
"""How many words are compared with all others at once."""


def nearness(wv: Any, words: Sequence[str]) -> Floats:
    """Return how near words are to those around them, (words, 4).

    The first three columns are mean cosines to the nearest words: 1, 5 and 30 of them. The last is the mean cosine to
    the 5 nearest of the frequent words, over that of these 5 to theirs. A word that stands for unrelated things lies
    between them, so that the words around it are nearer to each other than it is to them: its last number is low. This
    is known as a local outlier.

    Examples
    --------
    >>> nearness(wv, ["dog"]).shape
    (1, 4)
    """
    vectors = wv.vectors.astype(np.float32)
    vectors = unit_rows(vectors - vectors.mean(axis=0))
    rows = np.array([wv.key_to_index[word] for word in words], dtype=np.int64)
    result = np.zeros((len(rows), len(NEIGHBOURS) + 1))
    around: list[Integers] = []
    own = np.zeros(len(rows))
    for part, cosines in _compared(vectors, rows, len(vectors)):
        highest = _highest(cosines, NEIGHBOURS[-1])
        result[part, :-1] = np.transpose([_mean(highest[:, :count]) for count in NEIGHBOURS])
        frequent = cosines[:, :_FREQUENT]
        own[part] = _mean(_highest(frequent, _AROUND))
        count = _width(frequent, _AROUND)
        around += list(np.argpartition(-frequent, max(count - 1, 0), axis=1)[:, :count])
    if not len(rows) or not len(around[0]):
        return result
    neighbours, places = np.unique(np.array(around), return_inverse=True)
    theirs = np.zeros(len(neighbours))
    for part, cosines in _compared(vectors, neighbours, _FREQUENT):
        theirs[part] = _mean(_highest(cosines, _AROUND))
    usual = np.exp(np.log(np.maximum(theirs, 1e-6))[places.reshape(len(rows), -1)].mean(axis=1))
    result[:, -1] = own / usual
    return result


def _compared(units: Floats, rows: Integers, among: int) -> Iterator[tuple[slice, Floats]]:
    """Yield which rows these are, and their cosines to the first rows of a table, without those to themselves."""
    for first in range(0, len(rows), _BATCH):
        some = rows[first : first + _BATCH]
        cosines = units[some] @ units[:among].T
        inside = np.flatnonzero(some < among)
        cosines[inside, some[inside]] = -np.inf
        yield slice(first, first + len(some)), cosines


def _width(cosines: Floats, count: int) -> int:
    """Return how many of so many nearest words there are at most; a word is not among those nearest to itself."""
    return min(count, int(cosines.shape[1]) - 1)


def _highest(cosines: Floats, count: int) -> Floats:
    """Return the highest cosines of each row, best first."""
    count = _width(cosines, count)
    if not count:
        return np.zeros((len(cosines), 0))
    highest: Floats = -np.sort(-np.partition(cosines, -count, axis=1)[:, -count:], axis=1)
    return highest


def _mean(values: Floats) -> Floats:
    """Return the mean of each row, 0 if there is nothing."""
    if not values.shape[1]:
        return np.zeros(len(values))
    means: Floats = values.mean(axis=1, dtype=np.float64)
    return means
