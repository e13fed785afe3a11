"""Chunks cut or gathered into minibatches: the sampler's ids, and the few sizes that only the host can know."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from densvec.training.settings import SCORED

if TYPE_CHECKING:
    from densvec._corpus import Chunk

__all__ = ["Minibatch", "Minibatches", "Sizes"]

Ids = NDArray[np.int32]


class Sizes(NamedTuple):
    """What the host counts, so that no device has to be asked: every shape of a step follows from these."""

    words: int  # distinct words of the minibatch
    tokens: int  # distinct words of its text, without its negatives
    centres: int  # centres that have context
    reach: int  # the largest radius of a window


@dataclass
class Minibatch:
    """A piece of text and its negatives: NumPy arrays of int32, or tensors on a device.

    Every position is a centre. Those with radius 0, which lie around the piece, have no window and are there to be
    read by others; those that are alone in their sentence have no context. Neither counts.
    """

    tokens: Any  # (n,)
    radii: Any  # (n,)
    sentences: Any  # (s,) where sentences begin, or end
    negatives: Any  # (n, K) if they are shared by the window of a centre, (P, K) if each pair has its own
    sizes: Sizes

    def arrays(self) -> tuple[Any, Any, Any, Any]:
        """Return the arrays."""
        return self.tokens, self.radii, self.sentences, self.negatives


class Minibatches:
    """Makes minibatches for a vocabulary of a given size.

    Parameters
    ----------
    words
        Size of the vocabulary.
    most
        Centres of a minibatch, at most; None takes chunks whole.
    """

    def __init__(self, words: int, most: int | None = None) -> None:
        self.most = most
        self._seen = np.zeros(words, dtype=bool)
        self._counting = threading.Lock()  # chunks are prepared in one thread, and measured in another

    def of(self, chunks: Sequence[Chunk]) -> Iterator[Minibatch]:
        """Return the minibatches of chunks that are trained together; none of those without any context."""
        tokens, radii, sentences, negatives = _joined(chunks)
        if not negatives.shape[1]:
            return
        lengths = np.diff(sentences)
        pairs = None
        for start, stop in pairwise(self._bounds(len(tokens))):
            # Windows read, and are scored by, words up to radius + 1 away; a piece starts where a scored one does.
            reach = int(radii[start:stop].max(initial=0))
            first = max(0, start - reach - 1) // SCORED * SCORED
            last = min(len(tokens), stop + reach + 1)
            near = sentences[
                np.searchsorted(sentences, first) : np.searchsorted(sentences, last, side="right")
            ]
            inside = radii[first:last]
            if (first, last) != (start, stop):
                inside = inside.copy()
                inside[: start - first] = inside[stop - first :] = 0
            rows = slice(first, last)
            if chunks[0].pairing == "paired":
                pairs = _first_pairs(radii, sentences) if pairs is None else pairs
                rows = slice(pairs[start], pairs[stop])
            centres = _not_alone(sentences, lengths, start, stop)
            if centres:
                text, drawn = tokens[first:last], negatives[rows]
                sizes = Sizes(*self._distinct(text, drawn), centres, reach)
                yield Minibatch(text, inside, near - np.int32(first), drawn, sizes)

    def _bounds(self, count: int) -> list[int]:
        """Return where minibatches of this many positions begin and end: nearly equal, and where one is scored."""
        pieces = -(-count // self.most) if self.most else 1
        return [count * piece // pieces // SCORED * SCORED for piece in range(pieces)] + [count]

    def _distinct(self, text: Ids, drawn: Ids) -> tuple[int, int]:
        """Return how many words there are in the text and among the negatives, and how many in the text."""
        seen = self._seen
        with self._counting:
            seen[text] = True
            of_text = np.count_nonzero(seen)
            seen[drawn.ravel()] = True
            of_both = np.count_nonzero(seen)
            seen.fill(False)
        return int(of_both), int(of_text)


def _joined(chunks: Sequence[Chunk]) -> tuple[Ids, Ids, Ids, Ids]:
    """Return the arrays of several chunks as those of one."""
    if len(chunks) == 1:
        (chunk,) = chunks
        return chunk.tokens, chunk.radii, chunk.sentences, chunk.negatives
    starts = np.cumsum([0, *(len(chunk.tokens) for chunk in chunks)], dtype=np.int32)
    return (
        np.concatenate([chunk.tokens for chunk in chunks]),
        np.concatenate([chunk.radii for chunk in chunks]),
        np.concatenate([chunk.sentences + start for chunk, start in zip(chunks, starts, strict=False)]),
        np.concatenate([chunk.negatives for chunk in chunks]),
    )


def _not_alone(sentences: Ids, lengths: Ids, start: int, stop: int) -> int:
    """Return how many of the positions from start to stop have another word in their sentence."""
    low, high = np.searchsorted(sentences, start, side="right") - 1, np.searchsorted(sentences, stop)
    alone = np.count_nonzero(lengths[low:high] == 1)
    return int(stop - start - alone)


def _first_pairs(radii: Ids, sentences: Ids) -> NDArray[np.int64]:
    """Return how many pairs there are before each position, and in all."""
    here, starts = np.arange(len(radii)), np.repeat(sentences[:-1], np.diff(sentences))
    stops = np.repeat(sentences[1:], np.diff(sentences))
    pairs = np.minimum(here - starts, radii) + np.minimum(stops - 1 - here, radii)
    return np.concatenate([[0], np.cumsum(pairs)])
