"""Chunks gathered into a text, and its centres dealt out to minibatches: ids, and sizes that only the host knows."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from densvec.training.settings import SCORED

if TYPE_CHECKING:
    from densvec._corpus import Chunk

Ids = NDArray[np.int32]


class Sizes(NamedTuple):
    """What the host counts, so that no device has to be asked: every shape of a step follows from these."""

    words: int  # distinct words of the text and of the minibatch's negatives: it may use fewer
    texts: int  # distinct words of the text alone
    centres: int  # centres that have context
    reach: int  # the largest radius of a window


@dataclass
class Minibatch:
    """A text and its negatives, NumPy arrays of int32 or tensors on a device, and which centres are trained at once.

    These are every ``stride``-th position of the text from ``first`` on. Those that are alone in their sentence have
    no context, and do not count. The minibatches of one text share its arrays.
    """

    tokens: Any  # (m,)
    radii: Any  # (m,)
    sentences: Any  # (s,) where sentences begin, or end
    negatives: Any  # (m, K) if they are shared by the window of a centre, (P, K) if each pair has its own
    first: int
    stride: int  # odd
    sizes: Sizes

    def arrays(self) -> tuple[Any, Any, Any, Any]:
        """Return the arrays."""
        return self.tokens, self.radii, self.sentences, self.negatives

    @property
    def scored(self) -> slice:
        """Which of the centres are scored: those whose positions in the text are multiples of `SCORED`."""
        start = next(k for k in range(SCORED) if (self.first + k * self.stride) % SCORED == 0)
        return slice(start, None, SCORED)


class Minibatches:
    """Makes minibatches for a vocabulary of a given size.

    Neighbours are never trained at once. They share their context: what is learnt from one of them answers most of the
    loss of the next. If none saw what the others do, each would answer all of it; words would move much too far, and on
    real text training diverges. Centres whose windows do not meet share few words.

    Parameters
    ----------
    words
        Size of the vocabulary.
    """

    def __init__(self, words: int) -> None:
        self._seen = np.zeros(words, dtype=bool)
        self._counting = threading.Lock()  # chunks are prepared in one thread, and measured in another

    def of(self, chunks: Sequence[Chunk], most: int | None = None) -> list[Minibatch]:
        """Return the minibatches of chunks that are trained together; none of those without any context.

        Each has at most so many centres; None takes all at once, neighbours or not.
        """
        tokens, radii, sentences, negatives = _joined(chunks)
        if not negatives.shape[1]:
            return []
        reach = int(radii.max(initial=0))
        stride = _stride(len(tokens), reach, most)
        alone = sentences[:-1][np.diff(sentences) == 1]
        centres = -np.bincount(alone % stride, minlength=stride)
        centres += (len(tokens) + stride - 1 - np.arange(stride)) // stride
        paired = chunks[0].pairing == "paired"
        words, texts = self._distinct(
            tokens, [negatives] if paired else [negatives[k::stride] for k in range(stride)]
        )
        return [
            Minibatch(
                tokens,
                radii,
                sentences,
                negatives,
                first,
                stride,
                Sizes(words[first % len(words)], texts, count, reach),
            )
            for first, count in enumerate(centres.tolist())
            if count
        ]

    def _distinct(self, text: Ids, drawn: Sequence[Ids]) -> tuple[list[int], int]:
        """Return how many words there are in the text and among each of the negatives, and how many in the text."""
        with self._counting:
            self._seen[text] = True
            of_text = np.count_nonzero(self._seen)
            of_both = []
            for negatives in drawn:
                seen = self._seen.copy()
                seen[negatives.ravel()] = True
                of_both.append(int(np.count_nonzero(seen)))
            self._seen.fill(False)
        return of_both, int(of_text)


def _stride(count: int, reach: int, most: int | None) -> int:
    """Return how far apart the centres of a minibatch are: their windows share nothing, and some are scored."""
    return max(-(-count // most), 2 * reach + 1) | 1 if most else 1


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
