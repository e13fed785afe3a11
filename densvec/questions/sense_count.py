"""How many senses a word has: what its occurrences and its mean say, compared with those of other words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import expit

from densvec.questions.neighbourhood import NEIGHBOURS
from densvec.questions.sense_space import Mixture, SenseSpace, mixture
from densvec.statistics.robust import Expectation
from densvec.types import Floats, Integers

__all__ = ["MORE", "SEVERAL", "Usual", "induce", "number_of_senses"]

_COMPARED = 300
"""The most occurrences of a word that are looked at to see how many senses it has."""

_SPLITS = 2
"""Splits, into two and three parts, whose evidence is compared with that of other words."""

_FEWEST = 10
"""A sense has at least this many occurrences."""

_LEAST_WORDS = 20
"""Fewer other words do not show what is usual."""

_MOST_UNUSUAL = 8.0
"""Standard deviations beyond which it no longer matters how unusual something is."""

_LEAST_NEARNESS = 0.01
"""Cosines and ratios of them below this are taken for it, so that they have logarithms."""

SEVERAL = np.array([-2.06, -4.13, -1.7, 0.95, -12.07, 0.42, 0.18])
MORE = np.array([-2.14, -1.75, -10.28, 6.06, -3.89, -0.17, 0.39])
"""Log-odds of more than one sense, and of more than two if there are several: a constant, then the weights of the
word's scores. Fitted to five sets of merged words, to the last two of them by `python -m benchmarks.senses --fit`."""


class Usual:
    """What is usual among other words, and how unusual a word is.

    Parameters
    ----------
    words : sequence of numpy.ndarray, each (n, F)
        Descriptions of the occurrences of other words.
    near : numpy.ndarray, shape (words, 4), optional
        Their :func:`~densvec.questions.neighbourhood.nearness`; without it, it does not matter.
    counts : numpy.ndarray, shape (words,), optional
        How often they occur in the text of the model.
    compared : int, optional
        How many of the words, the first ones, to compare the evidence for several senses with; by default all.
    seed : int, optional
        Seeds the clustering.
    """

    def __init__(
        self,
        words: Sequence[Floats],
        near: Floats | None = None,
        counts: Floats | None = None,
        *,
        compared: int | None = None,
        seed: int = 0,
    ) -> None:
        self._seed = seed
        fit = [place for place, points in enumerate(words) if len(points) >= _FEWEST]
        self.space: SenseSpace | None = None
        if len(fit) < _LEAST_WORDS:
            return
        self.space = SenseSpace([words[place] for place in fit])
        chosen = [place for place in fit[:compared] if len(words[place]) >= 2 * _FEWEST]
        if len(chosen) < _LEAST_WORDS:
            self.space = None
            return
        logs = np.zeros(len(words)) if counts is None else np.log(np.asarray(counts, dtype=np.float64))
        gains = np.array([self._gains(words[place]) for place in chosen])
        sizes = np.log([min(len(words[place]), _COMPARED) for place in chosen])
        self._gain = [Expectation([sizes, logs[chosen]], column) for column in gains.T]
        self._near = None if near is None else [Expectation([logs], column) for column in _logs(near).T]

    def _gains(self, points: Floats) -> Floats:
        """Return how much each further split adds to the evidence, per occurrence."""
        assert self.space is not None
        some = self.space(points[np.linspace(0, len(points) - 1, min(len(points), _COMPARED)).astype(int)])
        parts = range(1, _SPLITS + 2)
        evidence = [mixture(some, count, self.space.between, self._seed).evidence for count in parts]
        gains: Floats = np.diff(evidence) / len(some)
        return gains

    def scores(self, points: Floats, near: Floats | None = None, count: float = 1.0) -> Floats:
        """Return how unusual a word is.

        First the logarithms of its nearness to others, less what is usual for its frequency, then the gains of
        splits, in standard deviations.
        """
        log = np.array([np.log(count)])
        size = np.log([min(len(points), _COMPARED)])
        scores: list[Floats] = []
        if near is None or self._near is None:
            scores += [np.zeros(1)] * (len(NEIGHBOURS) + 1)
        else:
            for expected, value in zip(self._near, _logs(near), strict=True):
                scores.append(expected.excess([log], value[None]))
        for expected, gain in zip(self._gain, self._gains(points), strict=True):
            scores.append(expected.scores([size, log], gain[None]))
        clipped: Floats = np.clip(np.concatenate(scores), -_MOST_UNUSUAL, _MOST_UNUSUAL)
        return clipped


def _logs(near: Floats) -> Floats:
    logs: Floats = np.log(np.maximum(near, _LEAST_NEARNESS))
    return logs


def number_of_senses(scores: Floats, significance: float = 0.5) -> int:
    """Return one, two or three: a further sense must be more probable than 1 − significance.

    Examples
    --------
    >>> number_of_senses(np.zeros(6)), number_of_senses(np.array([-0.4, -0.4, -0.3, -0.3, 2.0, 1.0]))
    (1, 3)
    """
    for number, weights in enumerate((SEVERAL, MORE), start=1):
        if expit(weights[0] + weights[1:] @ scores) <= 1 - significance:
            return number
    return 3


def induce(
    points: Floats,
    usual: Usual,
    most: int = 3,
    significance: float = 0.5,
    seed: int = 0,
    *,
    near: Floats | None = None,
    count: float = 1.0,
    number: int | None = None,
) -> tuple[Integers, Mixture | None]:
    """Return the sense of each point, and the mixture that says so if there are several.

    How many there are is found out unless `number` says it. A mixture with a part of fewer than ten points is not
    accepted: one with fewer parts is tried.
    """
    if usual.space is None or len(points) < 2 * _FEWEST:
        number = 1
    elif number is None:
        number = min(most, number_of_senses(usual.scores(points, near, count), significance))
    for parts in range(number, 1, -1):
        assert usual.space is not None
        found = mixture(usual.space(points), parts, usual.space.between, seed)
        if np.bincount(found.labels, minlength=parts).min() >= _FEWEST:
            return found.labels, found
    return np.zeros(len(points), dtype=np.int64), None
