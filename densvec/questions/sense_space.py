"""A space in which occurrences of one word are as near as those of other words are on average, and mixtures in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from densvec.statistics.clusters import kmeans
from densvec.types import Floats, Integers

__all__ = ["Mixture", "SenseSpace", "mixture"]

_DIMENSIONS = 60
"""The most dimensions of the space."""

_RIDGE = 0.1
"""Share of its mean variance that is added to the variance of every direction within words."""

_LEAST_VARIANCE = 0.005
"""Variance between words, where less was measured."""

_RESTARTS, _ROUNDS, _TOLERANCE = 2, 60, 1e-5


class SenseSpace:
    """The directions in which words differ most, compared with how much occurrences of one word do.

    These are the discriminants of Fisher, with words as classes: in them, occurrences of a word have variance 1 (less
    where they vary little, since such directions count less), and `between` is the variance of words. Senses of a
    word are expected to differ as words do. The variances between words are those of words that the directions
    were not chosen for.

    Parameters
    ----------
    words : sequence of numpy.ndarray, each (n, F)
        Descriptions of the occurrences of each word, two or more.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> words = [rng.normal(size=(50, 3)) + [rng.normal(scale=4), 0, 0] for _ in range(100)]
    >>> space = SenseSpace(words)
    >>> bool(space.between[0] > 10), bool(space.between[1] < 0.1)
    (True, True)
    """

    def __init__(self, words: Sequence[Floats]) -> None:
        self._directions = _discriminants(words)[:, :_DIMENSIONS]
        halves = _discriminants(words[::2])[:, :_DIMENSIONS]
        others = [points @ halves for points in words[1::2]]
        width = self._directions.shape[1]
        self.between: Floats = np.full(width, _LEAST_VARIANCE)
        if len(others) > 1:
            sizes = np.array([len(points) for points in others])
            within = np.mean([points.var(axis=0, ddof=1) for points in others], axis=0)
            centres = np.var([points.mean(axis=0) for points in others], axis=0, ddof=1)
            measured = centres - within * float(np.mean(1 / sizes))
            self.between[: len(measured)] = np.maximum(measured, _LEAST_VARIANCE)[:width]

    def __call__(self, points: Floats) -> Floats:
        """Return points of this space."""
        result: Floats = points @ self._directions
        return result


def _discriminants(words: Sequence[Floats]) -> Floats:
    """Return directions, the one in which words differ most first; the variance within words is 1 in each."""
    sizes = np.array([len(points) for points in words])
    centres = np.array([points.mean(axis=0) for points in words])
    rest = np.concatenate([points - centre for points, centre in zip(words, centres, strict=True)])
    within = rest.T @ rest / max(sizes.sum() - len(words), 1)
    within += max(_RIDGE * float(np.trace(within)) / len(within), 1e-12) * np.eye(len(within))
    apart = centres - centres.mean(axis=0)
    between = apart.T @ apart / max(len(words) - 1, 1) - within * float(np.mean(1 / sizes))
    whiten = np.linalg.inv(np.linalg.cholesky(within))
    axes = np.linalg.eigh(whiten @ between @ whiten.T)[1][:, ::-1]
    directions: Floats = whiten.T @ axes
    return directions


class Mixture(NamedTuple):
    """A mixture of Gaussians of variance 1: its evidence, and how much of each point belongs to each of them."""

    evidence: float
    shares: Floats  # (points, components)
    centres: Floats  # (components, dimensions)
    offsets: Floats  # (components,): the expected logarithm of its weight, less what its centre's uncertainty costs

    @property
    def labels(self) -> Integers:
        """The component that each point belongs to most."""
        labels: Integers = self.shares.argmax(axis=1)
        return labels

    def most_likely(self, points: Floats) -> Integers:
        """Return the component that each of other points belongs to most."""
        distances = (self.centres**2).sum(axis=1) - 2 * points @ self.centres.T
        labels: Integers = (self.offsets - distances / 2).argmax(axis=1)
        return labels

    def ordered(self, order: Integers) -> Mixture:
        """Return the same mixture with its components in another order."""
        return Mixture(self.evidence, self.shares[:, order], self.centres[order], self.offsets[order])


def mixture(points: Floats, components: int, between: Floats, seed: int = 0) -> Mixture:
    """Fit a mixture of Gaussians of variance 1 by variational Bayes.

    Their means have a normal prior, about the mean of all points and with the variances `between`, their weights a
    uniform one. The evidence is a lower bound of the log-likelihood.

    Examples
    --------
    >>> points = np.concatenate([np.full((20, 1), -4.0), np.full((20, 1), 4.0)])
    >>> one, two = (mixture(points, count, np.array([9.0])) for count in (1, 2))
    >>> two.evidence > one.evidence, np.bincount(two.labels).tolist()
    (True, [20, 20])
    """
    centre = points.mean(axis=0)
    points = points - centre
    best: Mixture | None = None
    for start in range(_RESTARTS if components > 1 else 1):
        labels = kmeans(points, components, restarts=1, seed=seed + start)
        found = _fit(points, 0.9 * np.eye(components)[labels] + 0.1 / components, between)
        if best is None or found.evidence > best.evidence:
            best = found
    assert best is not None
    return best._replace(centres=best.centres + centre)


def _fit(points: Floats, shares: Floats, between: Floats) -> Mixture:
    """Return the mixture that variational Bayes comes to from these shares."""
    squares, count = (points**2).sum(axis=1), shares.shape[1]
    evidence = -np.inf
    for _ in range(_ROUNDS):
        sizes = shares.sum(axis=0)
        variances = 1 / (1 / between + sizes[:, None])
        means = variances * (shares.T @ points)
        weights = 1 + sizes
        logs = digamma(weights) - digamma(weights.sum())
        distances = squares[:, None] - 2 * points @ means.T + ((means**2) + variances).sum(axis=1)
        fit = logs - distances / 2
        highest = fit.max(axis=1, keepdims=True)
        raised = np.exp(fit - highest)
        totals = raised.sum(axis=1)
        shares = raised / totals[:, None]
        of_means = ((variances + means**2) / between - 1 - np.log(variances / between)).sum() / 2
        of_weights = (
            gammaln(weights.sum()) - gammaln(weights).sum() - gammaln(count) + ((weights - 1) * logs).sum()
        )
        last, evidence = evidence, float((highest[:, 0] + np.log(totals)).sum() - of_means - of_weights)
        if abs(evidence - last) < _TOLERANCE * max(1.0, abs(evidence)):
            break
    return Mixture(evidence, shares, means, logs - variances.sum(axis=1) / 2)
