"""Chunks cut into minibatches whose words are numbered from 0, ready for gathering and scattering rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from densvec._corpus import Chunk

__all__ = ["Minibatch", "minibatches"]


@dataclass
class Minibatch:
    """Index arrays of B centres, all of which have context, and their P pairs; NumPy arrays or torch tensors.

    ``centres``, ``contexts`` and ``negatives`` point into ``words``, whose first ``encoded`` entries are the
    words that the encoder reads (centres and contexts); the words after them occur as negatives only.
    """

    words: Any  # (U,) distinct vocabulary ids
    encoded: int
    centres: Any  # (B,)
    owners: Any  # (P,) which of the B centres each pair belongs to, ascending
    contexts: Any  # (P,)
    negatives: Any  # (B, K) shared by the pairs of a centre, or (P, K) paired

    def arrays(self) -> dict[str, Any]:
        """Return the index arrays by name."""
        return {name: value for name, value in vars(self).items() if name != "encoded"}


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
            chunk.tokens,
            chosen,
            np.repeat(np.arange(high - low), pairs_of[chosen]),
            contexts[pairs],
            chunk.negatives[chosen] if chunk.pairing == "shared" else chunk.negatives[pairs],
        )


def _minibatch(
    tokens: NDArray[np.int32],
    centres: NDArray[np.int64],
    owners: NDArray[np.int64],
    contexts: NDArray[np.int32],
    negatives: NDArray[np.int32],
) -> Minibatch:
    """Number the distinct words of centres and contexts (positions in tokens) and of negatives (ids)."""
    start = min(centres[0], contexts.min())
    stop = max(centres[-1], contexts.max()) + 1
    near, near_row = np.unique(tokens[start:stop], return_inverse=True)
    far, far_row = np.unique(negatives, return_inverse=True)
    slot = np.minimum(np.searchsorted(near, far), len(near) - 1)
    shared = near[slot] == far
    row = np.where(shared, slot, len(near) + np.cumsum(~shared) - 1)
    return Minibatch(
        words=np.concatenate((near, far[~shared])).astype(np.int64),
        encoded=len(near),
        centres=near_row[centres - start],
        owners=owners,
        contexts=near_row[contexts - start],
        negatives=row[far_row.reshape(negatives.shape)],
    )
