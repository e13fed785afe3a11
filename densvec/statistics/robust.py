"""How unusual values are, given features that they may depend on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from densvec.types import Floats

_TUNING = 1.345
"""Huber's constant: residuals beyond this many standard deviations count less."""

_ROUNDS = 20
"""Rounds of reweighting, after which nothing changes any more."""

_PER_TERM = 20
"""Observations that each further term of the regression needs."""


def unusual(features: Sequence[Floats], values: Floats) -> Floats:
    """Return by how many standard deviations values exceed the value that is usual for their features.

    The usual value, and the usual spread about it, are polynomials of the second degree in the features (of lower
    degree if there are few observations), fitted by Huber's robust regression, so that a few unusual values hardly
    change what counts as usual. All are 0 if there is no spread to compare with.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> size = rng.normal(size=2000)
    >>> values = 2 * size + rng.normal(size=2000)
    >>> values[0] += 5
    >>> scores = unusual([size], values)
    >>> int(scores.argmax()), float(scores.std().round())
    (0, 1.0)
    """
    terms = _terms(features)
    residuals = _residuals(terms, values)
    floor = max(1e-4 * float(np.median(np.abs(residuals))), 1e-12)
    sizes = np.log(np.abs(residuals) + floor)
    raw = residuals / np.exp(sizes - _residuals(terms, sizes))
    # How far above the middle 84 % and 95 % of the values end, in standard deviations of a normal distribution: the
    # long tail of those that are really unusual is left out.
    middle, high, higher = np.quantile(raw, [0.5, 0.8413, 0.95])
    unit = max(high - middle, (higher - middle) / 1.645)
    if floor <= 1e-12 or unit <= 0:
        return np.zeros(len(values))
    scores: Floats = (raw - middle) / unit
    return scores


def _terms(features: Sequence[Floats]) -> Floats:
    """Return the terms of the polynomial, one column each."""
    scaled = [(feature - np.median(feature)) / (np.std(feature) or 1.0) for feature in features]
    count = len(features[0])
    columns, squares = [np.ones(count), *scaled], [a * b for i, a in enumerate(scaled) for b in scaled[i:]]
    if _PER_TERM * (len(columns) + len(squares)) <= count:
        columns += squares
    return np.column_stack(columns if _PER_TERM * len(columns) <= count else columns[:1])


def _residuals(terms: Floats, values: Floats) -> Floats:
    """Return the residuals of a robust regression."""
    weights = np.ones(len(values))
    for _ in range(_ROUNDS):
        roots = np.sqrt(weights)
        coefficients = np.linalg.lstsq(terms * roots[:, None], values * roots, rcond=None)[0]
        residuals: Floats = values - terms @ coefficients
        # The standard deviation, if they were normal.
        deviation = 1.4826 * float(np.median(np.abs(residuals)))
        if deviation <= 0:
            break
        weights = 1.0 / np.maximum(1.0, np.abs(residuals) / (_TUNING * deviation))
    return residuals
