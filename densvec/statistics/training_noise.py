"""How far two measurements of a thing lie apart, in units of the noise that such measurements have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from densvec.distances.table import row_blocks
from densvec.statistics.robust import Expectation
from densvec.types import Floats

__all__ = ["TrainingNoise"]

_ROUNDS = 3
"""Rounds of estimating in which directions the noise is large, and for which words."""

_UNUSUAL = 2.5
"""Words that moved by more than this many standard deviations beyond the usual say nothing about the noise."""

_SHRINKAGE = 0.25
"""Share of the noise's covariance that is taken to be the same in all directions, since the estimate is uncertain."""

_AIMS = 5
"""Words that a movement must lead towards (or away from) for its direction to be no accident."""

_LEAST = 1e-6
"""The least noise, as a share of the variance of all words."""


class TrainingNoise:
    """The noise of words' positions between two models: Gaussian, with a covariance and a size.

    The covariance is the same for all words but for its size, which depends on features of a word, such as its
    frequency. Both are estimated from all words together, by turns; words that moved unusually far do not count. Of
    the words, `spread` is the variance in each direction, in units of the noise.

    Parameters
    ----------
    before, after : numpy.ndarray, shape (n, D)
        The positions of words in one space, according to two models.
    features : sequence of numpy.ndarray, each (n,)
        What the size of the noise may depend on; at least one.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> before, sizes = rng.normal(size=(500, 3)), np.linspace(0.1, 0.3, 500)
    >>> after = before + sizes[:, None] * rng.normal(size=(500, 3))
    >>> after[0] = -before[0]
    >>> noise = TrainingNoise(before, after, [np.log(sizes)])
    >>> distances = noise.distances(before, after, [np.log(sizes)])
    >>> int(distances.argmax()), float(np.median(distances).round(1))
    (0, 1.6)
    """

    def __init__(self, before: Floats, after: Floats, features: Sequence[Floats]) -> None:
        difference, middle = before - after, (before + after) / 2
        middle = middle - middle.mean(axis=0)
        total = middle.T @ middle / len(middle)
        self._least = _LEAST * max(float(np.trace(total)) / len(total), 1e-30)
        self._axes: Floats = np.eye(len(total))
        for _ in range(_ROUNDS):
            logs = self._log_sizes(difference)
            self._usual = Expectation(features, logs)
            noise = self._noise(features)
            kept = self._usual.scores(features, logs) < _UNUSUAL
            scaled = difference[kept] / np.sqrt(noise[kept])[:, None]
            shape = scaled.T @ scaled / max(len(scaled), 1)
            everywhere = _SHRINKAGE * float(np.trace(shape)) / len(shape) + self._least / float(noise.mean())
            shape = (1 - _SHRINKAGE) * shape + everywhere * np.eye(len(shape))
            whiten = np.linalg.inv(np.linalg.cholesky(shape))
            # The mean of two positions has a quarter of the variance that noise gives their difference.
            spread, axes = np.linalg.eigh(whiten @ (total - shape * float(noise.mean()) / 4) @ whiten.T)
            self.spread: Floats = np.maximum(spread, 0.0)
            self._axes = whiten.T @ axes

    def _log_sizes(self, difference: Floats) -> Floats:
        sizes: Floats = np.log(np.maximum(((difference @ self._axes) ** 2).mean(axis=1), self._least))
        return sizes

    def _noise(self, features: Sequence[Floats]) -> Floats:
        """Return how large the noise is for words with such features."""
        sizes: Floats = np.exp(self._usual.level(features))
        return sizes

    def distances(self, before: Floats, after: Floats, features: Sequence[Floats]) -> Floats:
        """Return how far apart the two positions of each word are: the distance of Mahalanobis, but for one factor.

        A direction counts the less, the less words differ in it beyond the noise: with noise n and spread s, squares
        are weighed by 1/n − 1/(n + 2s) instead of 1/n. Half of their sum is what the difference adds to the log-odds
        that the positions are those of two words drawn at random instead of one.
        """
        distances: Floats = np.sqrt(
            (((before - after) @ self._axes) ** 2 * self._weights(self._noise(features)[:, None])).sum(axis=1)
        )
        return distances

    def aims(self, before: Floats, after: Floats, features: Sequence[Floats], landmarks: int) -> Floats:
        """Return how straight each word moves towards other words, or away from them: a cosine.

        Noise moves a word anywhere. Another meaning moves it to where words with that meaning are, or, if it is lost,
        away from them. The cosine is that between the word's movement and the direction from its middle position to
        that of another word, the mean of the five largest ones; directions count as in `distances`, with the noise of a
        typical word. Looked at are the first words only, as many as there are landmarks.
        """
        typical = float(np.median(self._noise(features)))
        axes = self._axes * np.sqrt(self._weights(typical))
        moved, middle = (
            ((after - before) @ axes).astype(np.float32),
            ((after + before) / 2 @ axes).astype(np.float32),
        )
        moved /= np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-30)
        aims, squares = np.zeros(len(moved)), np.einsum("ij,ij->i", middle, middle)
        others, count = middle[:landmarks], min(_AIMS, min(landmarks, len(middle)) - 1)
        for rows in row_blocks(0, len(moved), len(others)):
            along = moved[rows] @ others.T - np.einsum("ij,ij->i", moved[rows], middle[rows])[:, None]
            apart = squares[rows, None] + squares[: len(others)] - 2 * middle[rows] @ others.T
            cosines = along / np.sqrt(np.maximum(apart, 1e-12))
            places = np.arange(len(moved))[rows]
            inside = places < len(others)
            cosines[np.flatnonzero(inside), places[inside]] = 0.0  # no direction leads from a word to itself
            cosines = np.partition(cosines, (count, len(others) - count - 1), axis=1)
            aims[rows] = np.maximum(-cosines[:, :count].mean(axis=1), cosines[:, -count:].mean(axis=1))
        return aims

    def _weights(self, noise: Floats | float) -> Floats:
        """Return how much the square of a movement counts in each direction."""
        weights: Floats = 1 / noise - 1 / (noise + 2 * self.spread)
        return weights
