"""What a text says is a kind of what, and how probable that makes it of any other word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from densvec.files.schema import tensor
from densvec.questions.lookup import row_divisors
from densvec.tables import derived
from densvec.text.patterns import singular_row
from densvec.types import Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from densvec.keyed import KeyedDensities

KINDS = "kinds."
"""The prefix of the names of its arrays in a file."""

_NEAREST = 50
"""So many words, of those that the text says something of, tell what a word is: texts say little of any one of them."""

_NEAR = 4
"""They count with this power of their cosine, so that a word of which much is said hardly needs others."""

_TOGETHER = 64
"""Directions whose nearest words are sought in one pass, which bounds the memory for their cosines."""


@dataclass(frozen=True, eq=False)  # tables are the same object or not
class Kinds:
    """How often a text says of words that they are kinds of others (`densvec.text.patterns`).

    Attributes
    ----------
    specific, general : numpy.ndarray of unsigned int, shape (N,)
        The rows of the words of each pair.
    counts : numpy.ndarray of unsigned int, shape (N,)
        How often the text says so.

    Examples
    --------
    >>> kinds = Kinds.of([1, 2], [0, 0], [5, 1])
    >>> kinds.with_rows(np.array([2, 0])).specific
    array([0], dtype=uint8)
    """

    specific: Integers
    general: Integers
    counts: Integers

    @classmethod
    def of(cls, specific: npt.ArrayLike, general: npt.ArrayLike, counts: npt.ArrayLike) -> Kinds:
        """Return the table of counts, in the smallest types that can hold them; those of one pair are added up."""
        pairs, places = np.unique(np.array([specific, general], dtype=np.int64), axis=1, return_inverse=True)
        sums = np.bincount(places.ravel(), np.asarray(counts, dtype=np.float64), pairs.shape[1])
        arrays = *pairs, sums.astype(np.int64)
        return cls(*(each.astype(np.min_scalar_type(each.max(initial=0))) for each in arrays))

    def with_rows(self, rows: Integers) -> Kinds:
        """Return the table of the words in these rows."""
        most = int(max(rows.max(initial=0), self.specific.max(initial=0), self.general.max(initial=0)))
        places = np.full(most + 1, -1)
        places[rows] = np.arange(len(rows))
        pairs = places[self.specific], places[self.general]
        kept = (pairs[0] >= 0) & (pairs[1] >= 0)
        return Kinds.of(pairs[0][kept], pairs[1][kept], self.counts[kept])

    def added(self, other: Kinds) -> Kinds:
        """Return the table of two texts."""
        own, theirs = self.arrays(), other.arrays()
        return Kinds.of(*(np.concatenate([own[name].astype(np.int64), theirs[name]]) for name in own))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, as a file has them."""
        return {KINDS + name: getattr(self, name) for name in ("specific", "general", "counts")}

    @classmethod
    def restored(cls, tensors: Mapping[str, npt.NDArray[Any]], count: int) -> Kinds | None:
        """Return the table that a file of so many words holds, if there is one."""
        if KINDS + "counts" not in tensors:
            return None
        length = len(tensors[KINDS + "counts"])
        specific, general, counts = (
            tensor(tensors, KINDS + name, "u", (length,)) for name in ("specific", "general", "counts")
        )
        for name, rows in (("specific", specific), ("general", general)):
            if rows.max(initial=0) >= max(count, 1):
                raise ValueError(f"tensor {KINDS}{name} names row {rows.max()} of {count} words")
        return cls(specific, general, counts)


class Said(NamedTuple):
    """What a text says, ready to be asked.

    Attributes
    ----------
    known : numpy.ndarray of int, shape (K,)
        The words of which something is said.
    table : csr_array, shape (K, V)
        How often each is said to be a kind of every word.
    shares : numpy.ndarray, shape (V,)
        The share of all that is said which says that something is a kind of each word; none is 0.
    """

    known: Integers
    table: csr_array
    shares: Floats


def said_in(wv: KeyedDensities) -> Said | None:
    """Return what the text of these words says; None if that is unknown, or nothing."""
    return _ready(wv, wv.kinds) if wv.kinds is not None and len(wv.kinds.counts) else None


@derived
def _ready(wv: KeyedDensities, kinds: Kinds) -> Said:
    from scipy.sparse import csr_array

    counts = kinds.counts.astype(np.float64)
    known, places = np.unique(kinds.specific, return_inverse=True)
    table = csr_array((counts, (places, kinds.general.astype(np.int64))), shape=(len(known), len(wv)))
    shares = 1 + np.bincount(kinds.general, counts, len(wv))
    return Said(known.astype(np.int64), table, shares / shares.sum())


def _votes(wv: KeyedDensities, said: Said, units: Floats) -> tuple[csr_array, Floats]:
    """Return how often a text says of words in some directions that they are kinds of each word.

    The nearest words of which it says something have votes.

    Parameters
    ----------
    units : numpy.ndarray, shape (n, D)
        Unit vectors.

    Returns
    -------
    votes : csr_array, shape (n, V)
    totals : numpy.ndarray, shape (n,)
        Of each direction.
    """
    from scipy.sparse import csr_array

    cosines = (units @ wv.vectors[said.known].T) / row_divisors(wv)[said.known]
    number = min(_NEAREST, len(said.known))
    nearest = np.argpartition(-cosines, number - 1, axis=1)[:, :number]
    weights = np.maximum(np.take_along_axis(cosines, nearest, axis=1), 0).astype(np.float64) ** _NEAR
    ends = np.arange(len(units) + 1) * number
    votes = csr_array((weights.ravel(), nearest.ravel(), ends), shape=cosines.shape) @ said.table
    return votes, votes.sum(axis=1)


def probabilities_of(wv: KeyedDensities, said: Said, units: Floats, rows: Integers) -> Floats:
    """Return how probable it is that words in some directions are said to be kinds of others, pair by pair.

    The probability is the share of votes, where one vote more is like all that is said. A plural is asked about as
    its singular.
    """
    found, rows = np.empty(len(rows)), singular_rows(wv, rows)
    directions, places = np.unique(units, axis=0, return_inverse=True)
    for first in range(0, len(directions), _TOGETHER):
        votes, totals = _votes(wv, said, directions[first : first + _TOGETHER])
        asked = np.flatnonzero((places >= first) & (places < first + _TOGETHER))
        own = places[asked] - first
        found[asked] = (votes[own, rows[asked]] + said.shares[rows[asked]]) / (totals[own] + 1)
    return found


def probabilities_of_all(wv: KeyedDensities, said: Said, unit: Floats) -> Floats:
    """Return how probable it is that a word in one direction is said to be a kind of each word, but for plurals."""
    votes, totals = _votes(wv, said, unit[None])
    probabilities: Floats = (votes.toarray()[0] + said.shares) / (totals[0] + 1)
    return probabilities


def kinds_of(said: Said, row: int) -> Integers:
    """Return the words that are said to be kinds of a word."""
    rows: Integers = said.known[said.table[:, [row]].nonzero()[0]]
    return rows


def singular_rows(wv: KeyedDensities, rows: Iterable[int]) -> Integers:
    """Return the rows of the singulars of words."""
    counts = wv.expandos.get("count", np.ones(len(wv)))
    index = wv.key_to_index
    return np.array([singular_row(wv.index_to_key[row], row, index, counts) for row in rows], dtype=np.int64)
