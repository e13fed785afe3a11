"""Which frequent words stand directly before and after each word: a part of speech, and a place in the sentence."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from densvec._corpus import Block
from densvec.distances.table import row_blocks
from densvec.files.packing import pack_words, unpack_words
from densvec.files.schema import tensor
from densvec.questions.kinds import Kinds
from densvec.tables import forget_derived
from densvec.text._words import WordIndex
from densvec.text.beside import BesideCounter, each_block
from densvec.text.patterns import PatternCounter
from densvec.text.pieces import neighbours
from densvec.types import CorpusFile, Floats, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

logger = logging.getLogger(__name__)

BESIDE = "beside."
"""The prefix of the names of its arrays in a file."""

_MOST = 300
"""So many of the most frequent words are counted: they make up half of a text, and show parts of speech."""

_LEAST = 50
"""Words that occur less often are not counted: it would be more chance than evidence. Others are smoothed by as many
occurrences whose neighbours are those of any word."""

_COLUMNS = 64
"""Numbers of a word. Ratios to chance are well approximated by so few, since words are of few kinds; the first matter
most."""

_LEVELS = 127  # of int8 on either side of 0


@dataclass(frozen=True)
class Beside:
    """How much more often than by chance frequent words stand directly before and after each word.

    The logarithm of the ratio is ``codes[row] @ axes[side, :, column]``: sides are 0, before, and 1, after; a column
    is a frequent word. Where nothing is known of a word, its codes are 0, and so is the logarithm.

    Attributes
    ----------
    words : tuple of str
        The frequent words.
    shares : numpy.ndarray, shape (len(words),)
        The share of the text that each of them is, which is how often it stands beside a word by chance.
    axes : numpy.ndarray, shape (2, R, len(words))
    codes : numpy.ndarray of int8, shape (V, R)

    Examples
    --------
    >>> counts = np.array([[[90, 10], [10, 90]], [[50, 50], [50, 50]]])
    >>> beside = Beside.of(["a", "to"], [0.05, 0.05], counts, [1000, 1000])
    >>> beside.scores(beside.place("a", None)).round(1)  # of "a dog", "a run"
    array([ 0.6, -1.4], dtype=float32)
    """

    words: tuple[str, ...]
    shares: Floats
    axes: Floats
    codes: npt.NDArray[np.int8]

    @classmethod
    def of(
        cls, words: Sequence[str], shares: npt.ArrayLike, counts: Integers, totals: npt.ArrayLike
    ) -> Beside:
        """Return the table of counts: the best approximation of their log ratios by few numbers for each word.

        Errors count in proportion to how often the frequent words occur.

        Parameters
        ----------
        words : sequence of str
            The frequent words.
        shares : array_like
            The share of the text that each of them is.
        counts : numpy.ndarray of int, shape (2, V, len(words))
            How often each stands before and after every word.
        totals : array_like, shape (V,)
            How often every word occurs.
        """
        weights = np.sqrt(np.tile(np.asarray(shares, dtype=np.float64), 2))
        products = np.zeros((len(weights), len(weights)))
        for rows in row_blocks(0, counts.shape[1], len(weights)):
            weighted = _log_ratios(counts[:, rows], totals, rows, shares) * weights.astype(np.float32)
            products += weighted.T @ weighted
        directions = np.linalg.eigh(products)[1][:, : -_COLUMNS - 1 : -1]
        axes = (directions / weights[:, None]).T
        values = _fitted(axes, shares, counts, totals)
        steps = np.maximum(np.abs(values).max(axis=0, initial=0), 1e-30) / _LEVELS
        codes = np.rint(values / steps).astype(np.int8)
        both = (axes * steps[:, None]).astype(np.float32).reshape(len(axes), 2, -1)
        share = np.asarray(shares, dtype=np.float32)
        return cls(tuple(words), share, np.ascontiguousarray(both.swapaxes(0, 1)), codes)

    def recounted(
        self, shares: npt.ArrayLike, counts: Integers, totals: npt.ArrayLike, before: npt.ArrayLike
    ) -> Beside:
        """Return the table with what another text adds: each word's numbers are means over its occurrences.

        The arguments are those of `of`, for the other text; `before` is how often every word occurred before.
        """
        old, new = np.asarray(before, dtype=np.float64), np.asarray(totals, dtype=np.float64)
        axes = np.concatenate(list(self.axes), axis=1).astype(np.float64)
        fresh = _fitted(axes, shares, counts, totals)
        weights = (new / np.maximum(old + new, 1))[:, None]
        values = (1 - weights) * self.codes + weights * fresh
        return replace(self, codes=np.rint(np.clip(values, -_LEVELS, _LEVELS)).astype(np.int8))

    def place(self, before: Any, after: Any) -> Floats:
        """Return the direction of a place between two words, for `scores`.

        A word that is None, or not among the frequent ones, says nothing.
        """
        direction = np.zeros(self.codes.shape[1], dtype=np.float32)
        for side, word in enumerate((before, after)):
            if word in self.words:
                direction += self.axes[side, :, self.words.index(word)]
        return direction

    def usual_places(self, rows: Integers) -> Floats:
        """Return the mean direction of the places where the words of these rows stand, (len(rows), R)."""
        directions = np.zeros((len(rows), self.codes.shape[1]), dtype=np.float32)
        for axes in self.axes:
            directions += (self.shares * np.exp(self.codes[rows] @ axes)) @ axes.T
        return directions

    def scores(self, directions: Floats) -> Floats:
        """Return how much more probable every word makes the neighbours in places, as a logarithm."""
        fit: Floats = directions @ self.codes.T.astype(np.float32)
        return fit

    def likeness(self, row: int) -> Floats:
        """Return the cosine of what stands beside a word with what stands beside every word; 0 if they differ.

        Words of which nothing is known are as likely as any other: 1.
        """
        weighted = (self.axes * np.sqrt(self.shares)).swapaxes(0, 1).reshape(self.codes.shape[1], -1)
        values = self.codes.astype(np.float32)
        products = values @ (weighted @ (weighted.T @ values[row]))
        squares = np.einsum("ij,ij->i", values @ (weighted @ weighted.T), values)
        lengths = np.sqrt(np.maximum(squares * squares[row], 0))
        cosines: Floats = np.divide(products, lengths, out=np.ones_like(products), where=lengths > 0)
        return np.maximum(cosines, 0)

    def with_rows(self, rows: Integers) -> Beside:
        """Return the table of the words in these rows."""
        return replace(self, codes=self.codes[rows])

    def with_rows_appended(self, count: int) -> Beside:
        """Return the table with so many more words, of which nothing is known."""
        return replace(self, codes=np.pad(self.codes, ((0, count), (0, 0))))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, as a file has them."""
        packed = {BESIDE + name: array for name, array in pack_words(list(self.words)).items()}
        own = {BESIDE + name: getattr(self, name) for name in ("shares", "axes", "codes")}
        return {**packed, **own}

    @classmethod
    def restored(cls, tensors: Mapping[str, npt.NDArray[Any]], count: int) -> Beside | None:
        """Return the table that a file of so many words holds, if there is one."""
        if BESIDE + "codes" not in tensors:
            return None
        own = {name.removeprefix(BESIDE): array for name, array in tensors.items() if name.startswith(BESIDE)}
        words = tuple(unpack_words(own))
        codes = tensor(tensors, BESIDE + "codes", "i", (count, None))
        if codes.dtype != np.int8:
            raise ValueError(f"tensor {BESIDE}codes is {codes.dtype}, not int8")
        shares = tensor(tensors, BESIDE + "shares", "f", (len(words),))
        axes = tensor(tensors, BESIDE + "axes", "f", (2, codes.shape[1], len(words)))
        return cls(words, shares, axes, codes)


def count_beside(
    wv: KeyedDensities,
    sentences: Iterable[Any] | None = None,
    corpus_file: CorpusFile | None = None,
    *,
    workers: int = 1,
    group: Any = None,
) -> None:
    """Count which frequent words stand directly before and after each word of a corpus, into `beside`.

    In the same pass, what an English text says is a kind of what goes into `kinds`, which :meth:`hypernyms` asks.
    Models do this when their vocabulary is built. Called again with another text, it adds what that says: the numbers
    of a word in `beside` are then means over its occurrences.

    Parameters
    ----------
    sentences : iterable of token lists, optional
        The corpus; or
    corpus_file : path or list of paths, optional
        one or more files with one sentence per line.
    workers : int, optional
        Threads that read files.
    group : densvec.distributed.group.Group, optional
        Ranks that count together, each a part of the files, or its own sentences.

    Examples
    --------
    >>> few = wv.vectors_for_all(["dog", "cat", "car"], copy_vecattrs=True)
    >>> few.count_beside([["cat", "dog"], ["car"]] * 50)
    >>> few.beside.scores(few.beside.place("cat", None)).round(1)
    array([ 0..., -0..., -0...], dtype=float32)
    """
    counts = wv.expandos["count"]
    counted = np.flatnonzero(counts >= _LEAST)
    known = None if wv.beside is None else [wv.get_index(word, -1) for word in wv.beside.words]
    frequent = np.array(known) if known else np.argsort(-counts, kind="stable")[:_MOST]
    counter, patterns = BesideCounter(len(wv), counted, frequent), PatternCounter(wv.index_to_key, counts)
    share = (
        (lambda pieces: pieces)
        if group is None
        else lambda pieces: neighbours(pieces, group.size)[group.rank]
    )

    def act(block: Block) -> None:
        counter.add(block)
        patterns.add(block)

    each_block(act, WordIndex(wv.key_to_index), sentences, corpus_file, workers=workers, share=share)
    _add_kinds(wv, patterns, group)
    if not len(counted) or (known and min(known) < 0):
        return
    for array in () if group is None else (counter.counts, counter.totals):
        _add_up(group, array)
    shares = np.maximum(counter.totals[frequent], 1) / max(int(counter.totals.sum()), 1)
    seen = counter.totals[counted]
    if known:
        assert wv.beside is not None
        before = wv.beside.with_rows(counted).recounted(shares, counter.counts, seen, counts[counted] - seen)
        table = replace(wv.beside, codes=wv.beside.codes.copy())
    else:
        before = Beside.of([wv.index_to_key[i] for i in frequent], shares, counter.counts, seen)
        table = before.with_rows(np.zeros(0, dtype=np.intp)).with_rows_appended(len(wv))
    table.codes[counted] = before.codes
    wv.beside = table
    logger.info("counted which of %i frequent words stand beside %i words", len(frequent), len(counted))


def _add_kinds(wv: KeyedDensities, patterns: PatternCounter, group: Any) -> None:
    """Add what has been counted, by all ranks, to the table."""
    pairs = np.array(patterns.pairs(), dtype=np.int64)
    if group is not None:
        parts = [np.frombuffer(part, np.int64).reshape(3, -1) for part in group.gather_bytes(pairs.tobytes())]
        pairs = np.concatenate(parts, axis=1)
    found = Kinds.of(*pairs)
    wv.kinds = found if wv.kinds is None else wv.kinds.added(found)
    forget_derived(wv)


def _add_up(group: Any, array: npt.NDArray[Any]) -> None:
    """Make an array the sum of those of all ranks."""
    total = np.zeros_like(array)
    for rank in range(group.size):  # one after the other: together they could fill the memory
        sent = array.tobytes() if rank == group.rank else None
        total += np.frombuffer(group.broadcast_bytes(sent, rank), array.dtype).reshape(array.shape)
    array[:] = total


def _log_ratios(counts: Integers, totals: npt.ArrayLike, rows: slice, shares: npt.ArrayLike) -> Floats:
    """Return the smoothed log ratios to chance, (rows, 2 sides · columns)."""
    share, total = np.asarray(shares, dtype=np.float32), np.asarray(totals, dtype=np.float32)[rows, None]
    ratios = (counts + _LEAST * share) / ((total + _LEAST) * share)
    result: Floats = np.log(np.concatenate(list(ratios), axis=1))
    return result


def _fitted(axes: Floats, shares: npt.ArrayLike, counts: Integers, totals: npt.ArrayLike) -> Floats:
    """Return the numbers of each word on axes, (R, 2 sides · columns), by weighted least squares."""
    weights = np.sqrt(np.tile(np.asarray(shares, dtype=np.float64), 2))
    inverse = (np.linalg.pinv(axes * weights) * weights[:, None]).astype(np.float32)
    found = np.zeros((counts.shape[1], len(axes)), dtype=np.float32)
    for rows in row_blocks(0, len(found), len(weights)):
        found[rows] = _log_ratios(counts[:, rows], totals, rows, shares) @ inverse
    return found
