"""Generality against frequency: how far the size of a word's density only reflects how often it occurs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from densvec.evaluation.lexicon import FloatArray, Lexicon
from densvec.evaluation.results import Result, Row
from densvec.statistics.bootstrap import Bootstrap, Estimate

__all__ = ["GeneralityResult", "generality_frequency"]


@dataclass(frozen=True)
class GeneralityResult(Result):
    """Pearson's correlation of the covariance's log-determinant with log-frequency (the paper's Figure 6)."""

    pearson: Estimate
    words: int

    def rows(self) -> list[Row]:
        """One line."""
        return [
            {"correlation": "generality with log-frequency", "pearson": self.pearson, "words": self.words}
        ]


def generality_frequency(
    wv: Any, *, topn: int | None = None, bootstrap: Bootstrap | None = None
) -> GeneralityResult:
    """Correlate generality (log-determinant of the covariance) with log-frequency.

    Parameters
    ----------
    wv : KeyedDensities or a model of it
        With variances and counts.
    topn : int, optional
        Only this many words, the most frequent ones; by default all that occur.
    bootstrap : Bootstrap, optional
        How to make the interval; by default none, since over a whole vocabulary it has no width.

    Examples
    --------
    >>> import types, numpy as np
    >>> wv = types.SimpleNamespace(
    ...     key_to_index={"the": 0, "dog": 1, "hound": 2},
    ...     vectors=np.zeros((3, 2)),
    ...     log_variances=np.log([[1000.0], [50.0], [3.0]]),
    ...     expandos={"count": np.array([1000, 50, 3])},
    ... )
    >>> print(generality_frequency(wv).pearson)
    1.000
    """
    lexicon = Lexicon.of(wv)
    generality, counts = lexicon.generality(), lexicon.counts()
    if generality is None or counts is None:
        lacking = "log_variances" if generality is None else "counts"
        raise ValueError(f"generality against frequency needs variances and counts; there are no {lacking}")
    rows = np.flatnonzero(counts > 0)
    if topn is not None:
        rows = rows[np.argsort(-counts[rows], kind="stable")[:topn]]
    (estimate,) = (bootstrap or Bootstrap(0)).estimate(_pearson(generality[rows], np.log(counts[rows])), rows)
    return GeneralityResult(estimate, len(rows))


def _pearson(x: FloatArray, y: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Statistic: Pearson's correlation of weighted items."""
    x, y = x - x.mean() if len(x) else x, y - y.mean() if len(y) else y

    def correlation(weights: FloatArray) -> FloatArray:
        weights = weights.astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            weights /= weights.sum(axis=1, keepdims=True)
            mean_x, mean_y = weights @ x, weights @ y
            covariance = weights @ (x * y) - mean_x * mean_y
            spread = np.sqrt((weights @ x**2 - mean_x**2) * (weights @ y**2 - mean_y**2))
            result: FloatArray = (covariance / spread)[:, None]
        return result

    return correlation
