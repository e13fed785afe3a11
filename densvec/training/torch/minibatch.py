"""Chunks cut into minibatches whose words are numbered from 0, ready for gathering and adding up rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from densvec.training.settings import SCORED

if TYPE_CHECKING:
    from densvec._corpus import Chunk

__all__ = ["Links", "Minibatch", "minibatches"]

#: Turns one kind of array into another, NumPy's into torch's on a device.
Convert = Callable[[Any], Any]


@dataclass
class Links:
    """n links between B centres and U words, also in the order of the centres and in that of the words.

    The links of centre i are ``by_centre[centre_starts[i] : centre_starts[i + 1]]``; so for the words.
    """

    centres: Any  # (n,)
    words: Any  # (n,)
    by_centre: Any  # (n,)
    centre_starts: Any  # (B + 1,)
    by_word: Any  # (n,)
    word_starts: Any  # (U + 1,)

    @classmethod
    def between(cls, centres: NDArray[Any], words: NDArray[Any], sizes: tuple[int, int]) -> Links:
        """Return the links between this many centres and words, in the order given."""
        return cls(centres, words, *_grouped(centres, sizes[0]), *_grouped(words, sizes[1]))

    def to(self, convert: Convert) -> Links:
        """Return the links with other arrays."""
        return Links(*(convert(array) for array in vars(self).values()))


@dataclass
class Minibatch:
    """B centres, all of which have context, and their P pairs.

    Centres and contexts point into ``words``, whose first ``encoded`` entries are the words that the encoder
    reads; the words after them occur as negatives only.
    """

    words: Any  # (U,) distinct vocabulary ids
    encoded: int
    centres: Any  # (B,) the row of each centre's word
    pairs: Links  # of each centre and its context words, P
    uses: Links  # of each centre and every word of its loss: B priors, then P positives, then the negatives
    negative: int  # K; there are B·K negatives if they are shared, P·K if paired
    distances: Any  # (P,) how far the context word of each pair is from its centre
    radii: Any  # (P,) of the windows
    beyond: Any  # (n,) the row of each word just outside of a window
    beyond_of: Any  # (n,) the centre of that window, of 0 … B - 1

    def to(self, convert: Convert) -> Minibatch:
        """Return the minibatch with other arrays."""
        return Minibatch(
            convert(self.words),
            self.encoded,
            convert(self.centres),
            self.pairs.to(convert),
            self.uses.to(convert),
            self.negative,
            convert(self.distances),
            convert(self.radii),
            convert(self.beyond),
            convert(self.beyond_of),
        )


def minibatches(chunk: Chunk, batch_centres: int | None = None) -> Iterator[Minibatch]:
    """Cut a chunk into minibatches of at most ``batch_centres`` centres; None takes the chunk whole.

    Centres without context (sentences of one word) are left out.
    """
    owners, contexts = chunk.centres_and_contexts()
    pairs_of = np.bincount(owners, minlength=len(chunk.tokens))
    centres = np.flatnonzero(pairs_of)
    if not len(centres):
        return
    first_pair = np.concatenate(([0], np.cumsum(pairs_of[centres])))
    pieces = -(-len(centres) // batch_centres) if batch_centres else 1
    bounds = np.linspace(0, len(centres), pieces + 1).astype(np.int64)
    for low, high in pairwise(bounds):
        pairs = slice(first_pair[low], first_pair[high])
        chosen = centres[low:high]
        yield _minibatch(
            chunk,
            chosen,
            np.repeat(np.arange(high - low), pairs_of[chosen]),
            contexts[pairs],
            chunk.negatives[chosen] if chunk.pairing == "shared" else chunk.negatives[pairs],
        )


def _minibatch(
    chunk: Chunk,
    centres: NDArray[np.int64],
    owners: NDArray[np.int64],
    contexts: NDArray[np.int32],
    negatives: NDArray[np.int32],
) -> Minibatch:
    """Number the distinct words of centres and contexts (positions in the chunk) and of negatives (ids)."""
    outside, outside_of = _beyond(chunk, centres)
    start = min(centres[0], contexts.min(), outside.min(initial=centres[0]))
    stop = max(centres[-1], contexts.max(), outside.max(initial=centres[-1])) + 1
    near, near_row = np.unique(chunk.tokens[start:stop], return_inverse=True)
    far, far_row = np.unique(negatives, return_inverse=True)
    slot = np.minimum(np.searchsorted(near, far), len(near) - 1)
    shared = near[slot] == far
    row = np.where(shared, slot, len(near) + np.cumsum(~shared) - 1)
    words = np.concatenate((near, far[~shared])).astype(np.int64)

    numbers = np.arange(len(centres))
    centre_rows, context_rows = near_row[centres - start], near_row[contexts - start]
    contrasted = numbers if len(negatives) == len(centres) else owners
    if len(negatives) not in (len(centres), len(owners)):
        raise ValueError(f"{len(negatives)} rows of negatives fit neither the centres nor the pairs")
    negative = negatives.shape[1]
    used_by = np.concatenate((numbers, owners, np.repeat(contrasted, negative)))
    used = np.concatenate((centre_rows, context_rows, row[far_row.ravel()]))
    return Minibatch(
        words=words,
        encoded=len(near),
        centres=centre_rows,
        pairs=Links.between(owners, context_rows, (len(centres), len(near))),
        uses=Links.between(used_by, used, (len(centres), len(words))),
        negative=negative,
        distances=np.abs(contexts - centres[owners]),
        radii=chunk.radii[centres][owners].astype(np.int64),
        beyond=near_row[outside - start],
        beyond_of=outside_of,
    )


def _beyond(chunk: Chunk, centres: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions just outside of windows that are scored, but in their sentences, and whose they are."""
    sentence = np.searchsorted(chunk.sentences, centres, side="right") - 1
    before, after = centres - chunk.radii[centres] - 1, centres + chunk.radii[centres] + 1
    scored = centres % SCORED == 0
    left = np.flatnonzero(scored & (before >= chunk.sentences[sentence]))
    right = np.flatnonzero(scored & (after < chunk.sentences[sentence + 1]))
    return np.concatenate((before[left], after[right])), np.concatenate((left, right))


def _grouped(numbers: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the order that brings equal numbers together, and where each of 0 … size - 1 then starts."""
    starts = np.concatenate(([0], np.cumsum(np.bincount(numbers, minlength=size))))
    # Small integers are sorted in linear time, in the order in which they came.
    order = np.argsort(numbers.astype(np.uint16 if size <= 1 << 16 else np.int64), kind="stable")
    return order, starts
