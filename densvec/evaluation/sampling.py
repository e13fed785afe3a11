"""Uniform samples of the words of a text, read once from beginning to end, whatever its length."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Any, Generic, TypeVar

import numpy as np

from densvec.corpora import LineSentence
from densvec.evaluation.lexicon import IntArray
from densvec.evaluation.occurrences import Occurrence, Reader

__all__ = [
    "REACH",
    "Corpus",
    "Reservoir",
    "ThinnedWindows",
    "occurrence_at",
    "rows_of",
    "sentences_of",
    "thinned_windows",
]

T = TypeVar("T")
Corpus = str | os.PathLike[str] | Iterable[Sequence[str]]

REACH = 100
"""Words that an occurrence keeps on each side, far more than any window covers."""


def sentences_of(corpus: Corpus) -> Iterable[Sequence[str]]:
    """Return the sentences of a corpus: of a file with one per line, or of an iterable of token lists."""
    return LineSentence(corpus) if isinstance(corpus, str | os.PathLike) else corpus


class Reservoir(Generic[T]):
    """A uniform sample of at most `size` items of a stream of unknown length.

    Every item gets a random number, and those with the smallest stay.

    Examples
    --------
    >>> import numpy as np
    >>> reservoir = Reservoir(2, np.random.default_rng(0))
    >>> for start in (0, 10, 20):
    ...     reservoir.offer(range(start, start + 10), lambda item: item)
    >>> len(reservoir.items()), reservoir.seen
    (2, 30)
    """

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        if size < 0:
            raise ValueError(f"a sample of {size} items cannot be drawn; give 0 or more")
        self.size = size
        self.seen = 0
        self._rng = rng
        self._heap: list[tuple[float, int, T]] = []  # negated, so that the largest number comes first

    def offer(self, candidates: Sequence[int] | IntArray, make: Callable[[int], T]) -> None:
        """Offer items by their numbers; only those that are taken are made."""
        if not len(candidates):
            return
        numbers = self._rng.random(len(candidates))
        self.seen += len(candidates)
        bound = -self._heap[0][0] if len(self._heap) >= self.size and self._heap else np.inf
        for place in np.flatnonzero(numbers < bound).tolist():
            entry = (-numbers[place], self.seen - len(candidates) + place)
            if len(self._heap) < self.size:
                heapq.heappush(self._heap, (*entry, make(int(candidates[place]))))
            elif self._heap and entry[0] > self._heap[0][0]:
                heapq.heapreplace(self._heap, (*entry, make(int(candidates[place]))))

    def items(self) -> list[T]:
        """Return the sample in the order of the stream."""
        return [item for _, _, item in sorted(self._heap, key=lambda entry: entry[1])]


def rows_of(index: Mapping[str, int], corpus: Corpus) -> Iterator[IntArray]:
    """Yield the known words of each sentence as rows of the vocabulary."""
    for sentence in sentences_of(corpus):
        rows = np.fromiter(map(index.get, sentence, repeat(-1)), dtype=np.intp, count=len(sentence))
        yield rows[rows >= 0]


def occurrence_at(rows: IntArray, position: int) -> Occurrence:
    """Return the word at a position of a sentence with the words around it, as far as anything reaches."""
    before = rows[max(0, position - REACH) : position].tolist()
    return Occurrence(int(rows[position]), before, rows[position + 1 : position + 1 + REACH].tolist())


@dataclass(frozen=True)
class ThinnedWindows:
    """Full windows of thinned text: a word, and as many words on each side as training looks at."""

    centres: IntArray  # (windows,)
    contexts: IntArray  # (windows, 2 window), in the order of the text
    orders: IntArray  # (windows, 2 window), an order in which the context words become known, at random
    seen: int  # how many windows the text has, of which these are a sample

    def __len__(self) -> int:
        return len(self.centres)

    def known(self, count: int) -> list[Occurrence]:
        """Return the words with the first `count` words of each one's context."""
        half = self.contexts.shape[1] // 2
        chosen = np.sort(self.orders[:, :count], axis=1)
        rows = np.take_along_axis(self.contexts, chosen, axis=1)
        split = (chosen < half).sum(axis=1)
        return [
            Occurrence(centre, row[:left], row[left:])
            for centre, row, left in zip(self.centres.tolist(), rows.tolist(), split.tolist(), strict=True)
        ]

    def unknown(self, count: int) -> IntArray:
        """Return all other words of the contexts, (windows, 2 window − count)."""
        rows: IntArray = np.take_along_axis(self.contexts, self.orders[:, count:], axis=1)
        return rows

    def items(self) -> Any:
        """Return what identifies the windows."""
        return np.column_stack([self.centres, self.contexts])


def thinned_windows(
    reader: Reader, corpus: Corpus, size: int, seed: int, *, content_words: bool = False
) -> ThinnedWindows:
    """Thin a text as training does and draw full windows from it.

    Parameters
    ----------
    reader : Reader
        Reads as the model does whose windows and vocabulary are used.
    corpus : path or iterable of token lists
        The text.
    size : int
        The most windows to draw.
    seed : int
        Seeds the thinning and the draw.
    content_words : bool
        Only windows around words that are kept more often than not.
    """
    rng = np.random.default_rng(seed)
    keep, half = reader.keep, reader.window
    reservoir: Reservoir[IntArray] = Reservoir(size, rng)
    for rows in rows_of(reader.lexicon.key_to_index, corpus):
        thinned = rows[rng.random(len(rows)) < keep[rows]]
        centres = np.arange(half, len(thinned) - half)
        if content_words:
            centres = centres[keep[thinned[centres]] > 0.5]
        reservoir.offer(centres, partial(_window, thinned, half))
    found = np.array(reservoir.items(), dtype=np.intp).reshape(-1, 2 * half + 1)
    orders = np.argsort(rng.random((len(found), 2 * half)), axis=1)
    return ThinnedWindows(found[:, half], np.delete(found, half, axis=1), orders, reservoir.seen)


def _window(rows: IntArray, half: int, centre: int) -> IntArray:
    return rows[centre - half : centre + half + 1]
