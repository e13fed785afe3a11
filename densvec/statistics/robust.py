"""Robust regression: what values are usual given what is known, and how unusual each value is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from densvec.types import Floats

__all__ = ["Expectation"]

_TUNING = 1.345
"""Huber's constant: residuals beyond this many standard deviations count less."""

_ROUNDS = 20
"""Rounds of reweighting, after which nothing changes any more."""

_PER_TERM = 20
"""Observations that each further term of the regression needs."""


class Expectation:
    """The usual value, and the usual spread about it, as functions of some features.

    Both are polynomials of the second degree (of lower degree if there are few observations), fitted by iteratively
    reweighted least squares with Huber's weights, so that a few unusual values hardly change what counts as usual. The
    spread is fitted to the logarithms of the residuals' sizes.

    Parameters
    ----------
    features : sequence of numpy.ndarray, each (n,)
        What the values may depend on.
    values : numpy.ndarray, shape (n,)
        What was observed.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> size = rng.normal(size=2000)
    >>> usual = Expectation([size], 2 * size + rng.normal(size=2000))
    >>> usual.scores([np.array([0.0, 1.0])], np.array([3.0, 2.0])).round(0)
    array([3., 0.])
    """

    def __init__(self, features: Sequence[Floats], values: Floats) -> None:
        self._centres = [float(np.median(feature)) for feature in features]
        self._scales = [float(np.std(feature)) or 1.0 for feature in features]
        self._degree = 2
        while self._degree and _PER_TERM * self._terms(features).shape[1] > len(values):
            self._degree -= 1
        terms = self._terms(features)
        self._level, residuals = _fit(terms, values)
        self._floor = max(1e-4 * float(np.median(np.abs(residuals))), 1e-12)
        self._log_spread, _ = _fit(terms, np.log(np.abs(residuals) + self._floor))
        raw = residuals / np.exp(terms @ self._log_spread)
        # How far above the middle 84 % and 95 % of the values end, in standard deviations of a normal distribution:
        # the long tail of those that are really unusual is left out.
        self._middle = float(np.median(raw))
        high, higher = np.quantile(raw, [0.8413, 0.95])
        self._unit = max(float(high) - self._middle, (float(higher) - self._middle) / 1.645)
        self._usable = self._floor > 1e-12 and self._unit > 0

    def scores(self, features: Sequence[Floats], values: Floats) -> Floats:
        """Return by how many standard deviations values exceed the usual; 0 if there is no spread to compare with."""
        if not self._usable:
            return np.zeros(len(values))
        terms = self._terms(features)
        raw = (values - terms @ self._level) / np.exp(terms @ self._log_spread)
        scores: Floats = (raw - self._middle) / self._unit
        return scores

    def level(self, features: Sequence[Floats]) -> Floats:
        """Return the usual values."""
        level: Floats = self._terms(features) @ self._level
        return level

    def excess(self, features: Sequence[Floats], values: Floats) -> Floats:
        """Return by how much values exceed the usual."""
        excess: Floats = values - self.level(features)
        return excess

    def _terms(self, features: Sequence[Floats]) -> Floats:
        """Return the terms of the polynomial, one column each."""
        scaled = [
            (np.asarray(feature, dtype=np.float64) - centre) / scale
            for feature, centre, scale in zip(features, self._centres, self._scales, strict=True)
        ]
        columns = [np.ones(len(scaled[0]))]
        if self._degree > 0:
            columns += scaled
        if self._degree > 1:
            columns += [a * b for i, a in enumerate(scaled) for b in scaled[i:]]
        return np.column_stack(columns)


def _fit(terms: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients of a robust regression, and its residuals."""
    weights = np.ones(len(values))
    for _ in range(_ROUNDS):
        roots = np.sqrt(weights)
        coefficients: Floats = np.linalg.lstsq(terms * roots[:, None], values * roots, rcond=None)[0]
        residuals: Floats = values - terms @ coefficients
        deviation = 1.4826 * float(
            np.median(np.abs(residuals))
        )  # the standard deviation, if they were normal
        if deviation <= 0:
            break
        weights = 1.0 / np.maximum(1.0, np.abs(residuals) / (_TUNING * deviation))
    return coefficients, residuals
