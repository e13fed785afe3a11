"""What stands around the occurrences of a word, as numbers: the encoder's view, averages, and the nearest words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from densvec.questions.learning import neutral_posteriors
from densvec.text.concordance import Occurrence
from densvec.types import Floats, Integers

__all__ = ["Surroundings"]

_REACH = 60
"""Words that are looked at on each side of an occurrence."""

_WIDTH = 50
"""The most numbers that stand for a word: the main directions of the means."""

_WIDE = 4
"""How many times as far as the model's window the wide average reaches."""

_BESIDE = (1, 2, 3)
"""Distances at which the words beside an occurrence are looked at one by one."""


class Surroundings:
    """Describes occurrences by their surroundings alone: the word itself, whatever it is, plays no part.

    An occurrence is described by the posterior of a word without a meaning of its own in its place; by the means of the
    words on its left and on its right, averaged over the window of the model, frequent words counting as little as in
    training; by their average over a window four times as wide; and by the three words on either side, one by
    one, which tell how the word is used in the sentence. A word is described by its mean in its main directions.

    Parameters
    ----------
    wv : KeyedDensities
        With an encoder.

    Examples
    --------
    >>> from densvec.text.concordance import Occurrence
    >>> Surroundings(wv)("dog", [Occurrence(["the", "dog", "and", "the", "cat"], 1)]).shape
    (1, 20)
    """

    def __init__(self, wv: Any) -> None:
        self._wv = wv
        vectors = wv.vectors.astype(np.float64)
        counts = wv.expandos.get("count", np.ones(len(vectors)))
        self._keep: Floats = np.asarray(wv.expandos.get("keep", np.ones(len(vectors))), dtype=np.float64)
        weights = np.asarray(counts, dtype=np.float64) * self._keep
        weights /= weights.sum()
        centred = vectors - weights @ vectors
        axes = np.linalg.eigh((centred * weights[:, None]).T @ centred)[1][:, ::-1][:, :_WIDTH]
        self._centre, self._axes = weights @ vectors, axes
        self._means: Floats = centred @ axes
        directions = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
        self._directions: Floats = (directions - weights @ directions) @ axes

    def __call__(self, word: str, occurrences: Sequence[Occurrence]) -> Floats:
        """Return the description of each occurrence of a word, (n, F)."""
        rows, sides, distances = self._read(word, occurrences)
        known = rows >= 0
        keep = np.where(known, self._keep[rows], 0.0)
        before = np.cumsum(keep) - keep
        starts = np.flatnonzero(distances == 1)
        lengths = np.diff(np.append(starts, len(rows)))
        before = before - np.repeat(before[starts], lengths)  # on the same side, nearer to the word
        count, window, pair = len(occurrences), self._wv.window, 2 * self._means.shape[1]
        near = np.where(before < window, keep, 0.0)
        wide = np.where(before < _WIDE * window, keep, 0.0)
        blocks = [
            self._neutral(word, occurrences),
            _average(near, sides, rows, 2 * count, self._means, 1.0).reshape(count, pair),
            _average(wide, sides // 2, rows, count, self._means, 2.0),
            *(
                _average((distances == at) & known, sides, rows, 2 * count, self._directions, 0.0).reshape(
                    count, pair
                )
                for at in _BESIDE
            ),
        ]
        return np.concatenate(blocks, axis=1)

    def _read(self, word: str, occurrences: Sequence[Occurrence]) -> tuple[Integers, Integers, Integers]:
        """Return the words around, nearest first, the side that each stands on, and its distance.

        A word is a row of the table, −1 if it is unknown or the word itself; the sides of the first occurrence are 0
        and 1, those of the second 2 and 3.
        """
        index = self._wv.key_to_index
        rows: list[int] = []
        lengths: list[int] = []
        for tokens, place in ((each.tokens, each.position) for each in occurrences):
            left = tokens[max(0, place - _REACH) : place][::-1]
            for side in (left, tokens[place + 1 : place + 1 + _REACH]):
                rows += [-1 if token == word else index.get(token, -1) for token in side]
                lengths.append(len(side))
        sizes = np.array(lengths, dtype=np.int64)
        sides = np.repeat(np.arange(len(sizes)), sizes)
        distances = 1 + np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return np.array(rows, dtype=np.int64), sides, distances

    def _neutral(self, word: str, occurrences: Sequence[Occurrence]) -> Floats:
        contexts = [
            (
                [token for token in each.tokens if token != word],
                sum(token != word for token in each.tokens[: each.position]),
            )
            for each in occurrences
        ]
        means: Floats = (neutral_posteriors(self._wv, contexts).mean - self._centre) @ self._axes
        return means


def _average(
    weights: Any, owners: Integers, rows: Integers, count: int, table: Floats, prior: float
) -> Floats:
    """Return weighted averages of rows of a table, one for each owner; `prior` pulls them towards 0."""
    weights = weights.astype(np.float64)
    used = weights > 0
    sums = csr_matrix((weights[used], (owners[used], rows[used])), shape=(count, len(table))) @ table
    totals = np.bincount(owners, weights, minlength=count)
    result: Floats = sums / np.maximum(totals + prior, 1e-12)[:, None]
    return result
