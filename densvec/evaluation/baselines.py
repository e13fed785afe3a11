"""What the baselines use of a model: its means and the counts of its words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from densvec.keyed import KeyedDensities
from densvec.questions.lookup import kept_shares, shares_of
from densvec.text.concordance import Occurrence
from densvec.types import Floats, Indices

_THINNING = 1e-4
"""The threshold whose probabilities of being kept are the weights of words in an average."""


class Means:
    """The means of a model as unit vectors, and how much each word counts in an average.

    Counts are those of `like` if `wv` has none; 1 for all, and `counted` is False, if nobody knows.
    """

    def __init__(self, wv: KeyedDensities, like: KeyedDensities | None = None) -> None:
        self.wv = wv
        self.units: Floats = np.asarray(wv.get_normed_vectors())
        self.counts = _counts(wv, like)  # how often each word occurs
        self.counted = bool(self.counts.max(initial=1) > 1)
        attributes = {"count": self.counts} if self.counted else {}
        self.words = type(wv).from_arrays(
            wv.index_to_key, self.units, attributes=attributes, index=wv.key_to_index
        )
        # The probability that thinning keeps an occurrence of each word.
        self.keep: Floats = kept_shares(self.words, _THINNING)

    def row(self, *forms: str) -> int:
        """Return the row of the first known form, lower-cased or as given; -1 if none is known."""
        rows = self.wv.key_to_index
        for form in forms:
            found = rows.get(form.lower(), rows.get(form, -1))
            if found >= 0:
                return int(found)
        return -1

    def key(self, *forms: str) -> str | None:
        """Return the first known form, as the model spells it; None if none is known."""
        row = self.row(*forms)
        return self.wv.index_to_key[row] if row >= 0 else None

    def rows(self, words: Iterable[str]) -> Indices:
        """Return the rows of words, -1 for unknown ones."""
        return np.fromiter((self.row(word) for word in words), dtype=np.intp)

    def pairs(self, pairs: Iterable[Sequence[Any]]) -> tuple[Indices, Indices, Indices]:
        """Return the rows of both words of each pair of known words, and the indices of these pairs."""
        rows = self.rows(word for pair in pairs for word in pair[:2]).reshape(-1, 2)
        known = np.flatnonzero((rows >= 0).all(axis=1))
        return rows[known, 0], rows[known, 1], known

    def averages(self, texts: Iterable[Iterable[str]], weights: Floats | None = None) -> Floats:
        """Return the weighted mean of each text's words, (texts, dimensions); zeros if none is known."""
        weights = self.keep if weights is None else weights
        rows = [found[found >= 0] for found in map(self.rows, texts)]
        flat = np.concatenate([np.zeros(0, np.intp), *rows])
        shares, used = shares_of(flat, np.cumsum([0, *map(len, rows)]), weights[flat])
        means: Floats = shares @ self.units[used]
        return means

    def around(self, occurrences: Sequence[Occurrence], reach: float = np.inf) -> Floats:
        """Return the weighted mean of the words around each occurrence; see `KeyedDensities.context_means`."""
        questions = [
            (each.word, [self.key(token) or token for token in each.tokens], each.position)
            for each in occurrences
        ]
        return self.words.context_means(questions, sample=_THINNING, reach=reach)


def cosines(first: Floats, second: Floats) -> Floats:
    """Return the cosines of vectors row by row; NaN where one of them is 0."""
    products = np.einsum("ij,ij->i", first, second, dtype=np.float64)
    lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    result: Floats = np.full(len(products), np.nan)
    np.divide(products, lengths, out=result, where=lengths > 1e-20)
    return result


def _counts(wv: KeyedDensities, like: KeyedDensities | None) -> Floats:
    """Return the counts of the words, those of `like` if `wv` has none; 1 for all if nobody knows."""
    for source in (wv, like):
        counts = None if source is None else source.expandos.get("count")
        # The counts of files without any only number the rows.
        if source is None or counts is None or np.array_equal(counts, np.arange(len(counts), 0, -1)):
            continue
        rows = (source.key_to_index.get(key, -1) for key in wv.index_to_key)
        return np.array([counts[row] if row >= 0 else 1 for row in rows], dtype=np.float64)
    return np.ones(len(wv))
