"""Explained dispersion: how much nearer the rest of a window lies to the posterior than to the prior."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from densvec.evaluation.lexicon import FloatArray
from densvec.evaluation.occurrences import Reader
from densvec.evaluation.results import Result, Row
from densvec.evaluation.sampling import Corpus, ThinnedWindows, thinned_windows
from densvec.statistics.bootstrap import Bootstrap, Estimate

__all__ = [
    "CONTEXT_WORDS",
    "DispersionResult",
    "explained_dispersion",
]

CONTEXT_WORDS = (1, 2, 3, 4, 6, 8)


@dataclass(frozen=True)
class DispersionResult(Result):
    """Mean squared distance of unseen context words from the posterior's mean, over that from the prior's."""

    ratio: dict[int, Estimate]  # by the number of context words that the posterior was inferred from
    windows: int

    def rows(self) -> list[Row]:
        """One line for each number of context words."""
        return [
            {"context words": count, "ratio": ratio, "windows": self.windows}
            for count, ratio in self.ratio.items()
        ]


def explained_dispersion(
    wv: Any,
    corpus: Corpus,
    *,
    context_words: Sequence[int] = CONTEXT_WORDS,
    windows: int = 20_000,
    sample: float | None = None,
    seed: int = 0,
    bootstrap: Bootstrap | None = None,
) -> DispersionResult:
    r"""Measure what a posterior says about the words of a window that it was not inferred from.

    The text is thinned as in training. From each of its full windows n context words are drawn, the posterior
    of the centre word is inferred from them alone, and the means of all *other* context words are compared:
    Σ‖μ_c − μ_q‖² / Σ‖μ_c − μ_w‖², with μ_q the posterior's mean and μ_w the prior's. Below 1 the context has said
    something about what it did not contain; above 1 the posterior went too far, or elsewhere. No benchmark is
    needed, only text.

    Parameters
    ----------
    wv : KeyedDensities, or a model of it
        With an encoder.
    corpus : path or iterable of token lists
        A text, one sentence per line; it is read once, from beginning to end. A text that the model
        was not trained on is the stricter test.
    context_words : sequence of int
        The numbers n of context words. The words for a smaller n are among those for a larger one.
    windows : int
        The most windows to draw from the whole text.
    sample : float, optional
        The threshold for thinning frequent words; by default the model's own, or 1e-4.
    seed : int
        Seeds the thinning and the draw.
    bootstrap : Bootstrap, optional
        How to make the intervals, over windows.

    Examples
    --------
    >>> text = [["dog", "cat", "animal"], ["cat", "dog", "animal"]] * 50
    >>> wv.window = 1
    >>> result = explained_dispersion(wv, text, context_words=[1], sample=0, bootstrap=Bootstrap(0))
    >>> print(result)
    context words  ratio  windows
                1  0.918      100
    """
    reader = Reader(wv, sample)
    if not reader.can_infer:
        raise ValueError(
            "explained dispersion needs a model with an encoder, such as a BayesianSkipGram's wv"
        )
    most = 2 * reader.window - 1
    for count in context_words:
        if not 1 <= count <= most:
            raise ValueError(
                f"context_words has {count}: with window={reader.window} it must be between 1 and {most}, "
                "so that there is a word left to compare"
            )
    found = thinned_windows(reader, corpus, windows, seed)
    columns = [_squares(reader, found, count) for count in context_words]
    to_posterior, to_prior = (
        np.array(part).reshape(len(columns), -1).T for part in zip(*columns, strict=True)
    )
    estimates = (bootstrap or Bootstrap()).estimate(_ratios(to_posterior, to_prior), found.items())
    return DispersionResult(dict(zip(context_words, estimates, strict=True)), len(found))


def _squares(reader: Reader, windows: ThinnedWindows, count: int) -> tuple[FloatArray, FloatArray]:
    """Mean squared distances of each window's other words from the posterior's mean and from the prior's."""
    table = reader.lexicon.means
    others = windows.unknown(count)
    posterior = reader.posteriors(windows.known(count)).mean
    prior = table[windows.centres].astype(np.float64)
    sums = np.zeros((2, len(windows)))
    for column in others.T:
        means = table[column]
        for total, origin in zip(sums, (posterior, prior), strict=True):
            difference = means - origin
            total += np.einsum("ij,ij->i", difference, difference)
    return sums[0] / others.shape[1], sums[1] / others.shape[1]


def _ratios(numerators: FloatArray, denominators: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Statistic: the sum of each column of one array over that of the other's."""

    def ratios(weights: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore", divide="ignore"):
            result: FloatArray = (weights @ numerators) / (weights @ denominators)
        return result

    return ratios
