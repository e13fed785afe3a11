"""The posterior network in NumPy: a word and its context in, a Gaussian's parameters out."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace

import numpy as np
import numpy.typing as npt

from densvec.files.compact import Rows
from densvec.reading import MOST_NARROWING, Reading
from densvec.types import Floats, Integers

LOG_VARIANCE_BOUNDS = (-20.0, 5.0)
"""The posterior's log-variance is clipped to these bounds, in training and in inference."""

_BLOCK_WINDOWS = 512
"""Windows worked on at a time: at H=100 in float32 their rows take 200 KB, which stays in the cache."""

_BLOCKS_WORTH_THREADS, _MOST_THREADS = 8, 8
"""The number of blocks from which on threads share them, and the most threads."""


@dataclass
class Encoder:
    """Weights of the posterior network q(z | word, context).

    For a centre word w with the context words c_1 … c_C, and R the embeddings:
    h = s Σ_j a_j relu(R[c_j]·context_layer + R[w]·centre_layer), mean = h·mean_head + mean_bias, log-variance =
    h·variance_head + variance_bias. If the reading is narrowing, the log-variance is the prior's minus
    log(1 + x/(1 + 2x)), with x = h·|variance_head|/s. Log-variances are clipped to :data:`LOG_VARIANCE_BOUNDS`. The
    weights a_j and the scale s are those of the `reading`, 1 in the paper.

    Parameters
    ----------
    embeddings : numpy.ndarray, shape (V, E)
        The encoder's own word embeddings, for centre and context words alike.
    context_layer, centre_layer : numpy.ndarray, shape (E, H)
        The two halves of the first layer.
    mean_head : numpy.ndarray, shape (H, D)
    mean_bias : numpy.ndarray, shape (D,)
    variance_head : numpy.ndarray, shape (H, 1) or (H, D)
    variance_bias : numpy.ndarray, shape (1,) or (D,)
    residual : bool, optional
        Whether the network computes the shifts of the posterior's mean and log-variance from the prior's instead
        of the mean and log-variance themselves.
    reading : Reading, optional
        How contexts are read; by default as in the paper.

    Examples
    --------
    >>> import numpy as np
    >>> from densvec.encoder import Encoder
    >>> rng = np.random.default_rng(1)
    >>> shapes = dict(embeddings=(4, 3), context_layer=(3, 5), centre_layer=(3, 5), mean_head=(5, 2),
    ...               mean_bias=(2,), variance_head=(5, 1), variance_bias=(1,))
    >>> encoder = Encoder(**{name: rng.normal(size=shape) for name, shape in shapes.items()})
    >>> means, log_variances = encoder.posteriors(centres=[0, 1], contexts=[1, 2, 3], offsets=[0, 1, 3])
    >>> means.shape, log_variances.shape
    ((2, 2), (2, 1))
    """

    embeddings: Rows
    context_layer: Floats
    centre_layer: Floats
    mean_head: Floats
    mean_bias: Floats
    variance_head: Floats
    variance_bias: Floats
    residual: bool = False
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        size, hidden = self.context_layer.shape
        dimension, variances = self.mean_head.shape[-1], self.variance_head.shape[-1]
        expected = {
            "embeddings": (len(self.embeddings), size),
            "centre_layer": (size, hidden),
            "mean_head": (hidden, dimension),
            "mean_bias": (dimension,),
            "variance_head": (hidden, variances),
            "variance_bias": (variances,),
        }
        for name, shape in expected.items():
            if getattr(self, name).shape != shape:
                raise ValueError(
                    f"the encoder's {name} has shape {getattr(self, name).shape}, expected {shape}"
                )
        if variances not in (1, dimension):
            raise ValueError(
                f"the encoder's variance_head gives {variances} numbers; expected 1 (spherical) or "
                f"{dimension} (diagonal)"
            )
        if self.reading.narrowing and not self.residual:
            raise ValueError("only a residual encoder can narrow its priors: give residual=True")

    @property
    def dimension(self) -> int:
        """The size D of the posterior's mean."""
        return int(self.mean_head.shape[1])

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the weights, in the order of the constructor."""
        return tuple(each.name for each in fields(cls) if each.name not in ("residual", "reading"))

    def arrays(self) -> dict[str, Floats]:
        """Return the weights by name, in the order of the constructor."""
        return {name: np.asarray(getattr(self, name)) for name in self.names()}

    def with_rows(self, rows: Integers) -> Encoder:
        """Return an encoder of the given words only, in that order; the layers are shared."""
        return replace(self, embeddings=self.embeddings[rows])

    def with_rows_appended(self, count: int) -> Encoder:
        """Return an encoder with `count` more words, whose embeddings are 0; the layers are shared."""
        added = np.zeros((count, self.embeddings.shape[1]), dtype=self.embeddings.dtype)
        return replace(self, embeddings=np.concatenate([np.asarray(self.embeddings), added]))

    def posteriors(
        self,
        centres: npt.ArrayLike,
        contexts: npt.ArrayLike,
        offsets: npt.ArrayLike,
        priors: tuple[Floats, Floats] | None = None,
        weights: Floats | None = None,
    ) -> tuple[Floats, Floats]:
        """Infer the posteriors of many windows at once.

        Parameters
        ----------
        centres : array_like of int, shape (n,)
            Row of each window's centre word.
        contexts : array_like of int, shape (c,)
            Rows of the context words, window after window.
        offsets : array_like of int, shape (n + 1,)
            Window i has the context words ``contexts[offsets[i]:offsets[i + 1]]``.
        priors : (means, log_variances) of shapes (n, D) and (n, 1) or (n, D), optional
            Those of the centre words; needed by a residual encoder, otherwise ignored.
        weights : array of float, shape (c,), optional
            How much each context word counts, the a_j of the `reading`; 1 by default. A word of weight 0 has no
            effect.

        Returns
        -------
        means : numpy.ndarray, shape (n, D)
        log_variances : numpy.ndarray, shape (n, 1) or (n, D)
        """
        centres, contexts, offsets = (np.asarray(a, dtype=np.int64) for a in (centres, contexts, offsets))
        weights = np.ones(len(contexts)) if weights is None else weights
        totals = np.diff(np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])[offsets])
        scales = self.reading.scale(totals).astype(self.mean_head.dtype)
        hidden = self._hidden(centres, contexts, offsets, weights * np.repeat(scales, np.diff(offsets)))
        if self.reading.narrowing:
            told = hidden @ np.abs(self.variance_head)
            told /= scales[:, None]
            log_variances = -np.log1p(told / (1 + told / MOST_NARROWING))
        else:
            log_variances = hidden @ self.variance_head + self.variance_bias
        means = hidden @ self.mean_head + self.mean_bias
        if self.residual:
            if priors is None:
                raise ValueError("a residual encoder shifts the priors: give priors")
            means += priors[0]
            log_variances += priors[1]
        return means, np.clip(log_variances, *LOG_VARIANCE_BOUNDS)

    def _hidden(self, centres: Integers, contexts: Integers, offsets: Integers, factors: Floats) -> Floats:
        """Return h of every window, (n, H)."""
        centre_rows, centre_of = self._project(centres, self.centre_layer)
        context_rows, context_of = self._project(contexts, self.context_layer)
        hidden = np.zeros((len(centres), self.context_layer.shape[1]), dtype=context_rows.dtype)
        factors = factors.astype(context_rows.dtype, copy=False)
        # Longest windows first: those that have a j-th context word are then a prefix, for every j.
        lengths = np.diff(offsets)
        order = np.argsort(-lengths, kind="stable")

        def fill(first: int) -> None:
            windows = order[first : first + _BLOCK_WINDOWS]
            hidden[windows] = _sum_of_relus(
                centre_rows[centre_of[windows]],
                context_rows,
                context_of,
                factors,
                offsets[windows],
                lengths[windows],
            )

        blocks = range(0, len(order), _BLOCK_WINDOWS)
        if len(blocks) < _BLOCKS_WORTH_THREADS:
            for first in blocks:
                fill(first)
        else:  # NumPy gathers and adds without the GIL
            with ThreadPoolExecutor(min(os.cpu_count() or 1, _MOST_THREADS)) as threads:
                list(threads.map(fill, blocks))
        return hidden

    def _project(self, words: Integers, layer: Floats) -> tuple[Floats, Integers]:
        """Project each distinct word once; return the rows and, for each word, the number of its row."""
        distinct, row_of = _distinct(words, len(self.embeddings))
        return self.embeddings[distinct] @ layer, row_of


def _sum_of_relus(
    centres: Floats,
    context_rows: Floats,
    context_of: Integers,
    factors: Floats,
    starts: Integers,
    lengths: Integers,
) -> Floats:
    """Return Σ_j factor_j relu(context_j + centre) of windows, which come longest first."""
    total = np.zeros_like(centres)
    terms = np.empty_like(centres)
    for j in range(int(lengths[0])):
        count = int(np.searchsorted(-lengths, -j, side="left"))  # windows with more than j context words
        part = terms[:count]
        np.take(context_rows, context_of[starts[:count] + j], axis=0, out=part, mode="clip")
        part += centres[:count]
        np.maximum(part, 0, out=part)
        part *= factors[starts[:count] + j][:, None]
        total[:count] += part
    return total


def _distinct(words: Integers, vocabulary: int) -> tuple[Integers, Integers]:
    """Return what ``np.unique(words, return_inverse=True)`` does, without sorting when there are many words."""
    if len(words) * 16 < vocabulary:
        distinct, row_of = np.unique(words, return_inverse=True)
        return distinct, row_of
    present = np.zeros(vocabulary, dtype=bool)
    present[words] = True
    distinct = np.flatnonzero(present)
    row_of_word = np.cumsum(present) - 1
    return distinct, row_of_word[words]
