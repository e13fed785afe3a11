"""The divergences as distances, in the forms that are needed to compare densities with the rows of a table.

:mod:`densvec.distances.divergences` has the formulas in their usual form. Most of them can also be separated into a
factor of the query q and one of the row p, so that a product of matrices compares many with many; for KL

    KL[q‖p] = −½(log|v_q| + D)  −  (μ_q, −½(μ_q² + v_q), −½) · (μ_p/v_p, 1/v_p, Σ μ_p²/v_p + log|v_p|)

A new metric is one entry of `METRICS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from densvec.distances import divergences
from densvec.distances.divergences import LOG_2_PI
from densvec.distances.moments import Moments
from densvec.distances.table import DensityTable, Terms
from densvec.gaussian import Gaussian
from densvec.types import Floats

__all__ = ["COSINE", "METRICS", "Factors", "Metric", "find_metric"]

Columns: TypeAlias = list[Floats]


@dataclass(frozen=True)
class Factors:
    """A distance as ``own − y·x``, or its square as ``own − 2 y·x``.

    Attributes
    ----------
    rows, queries : callable
        Moments → the columns of x, or of y. Each is (n, 1) or (n, D).
    own : callable
        Moments of the queries → (n, 1): what does not depend on the row.
    """

    rows: Callable[[Moments], Columns]
    queries: Callable[[Moments], Columns]
    own: Callable[[Moments], Floats]


@dataclass(frozen=True)
class Metric:
    """One divergence as a distance.

    Attributes
    ----------
    exact : callable
        (q, p) → distances, element by element and free of cancellation.
    spherical : callable
        (D, query variances, terms of the rows) → (slope, base) such that the distance between spherical
        densities is slope·‖μ_q − μ_p‖² + base.
    factors : Factors
        The distance separated into queries and rows.
    bound : bool
        Whether `factors` only give a bound, since the distance cannot be separated.
    scan : bool
        Whether one query can be compared with a diagonal table in one pass (:meth:`DensityTable.scan`).
    squared : bool
        Whether `spherical` and `factors` give the square of the distance.
    non_negative : bool
        Whether the distance is never negative, and zero only between equals.
    """

    exact: Callable[[Gaussian, Gaussian], Floats]
    spherical: Callable[[int, Floats, Terms], tuple[Floats, Floats]]
    factors: Factors
    bound: bool = False
    scan: bool = False
    squared: bool = False
    non_negative: bool = True

    def diagonal(self, q: Gaussian, table: DensityTable, rows: slice) -> tuple[Floats, Floats]:
        """Return distances and the magnitude of the terms they are the sum of, if either side is diagonal."""
        if self.bound:
            return _inseparable(self.exact, q, table, rows)
        queries = Moments.of(q, diagonal=True)
        values = np.repeat(self.factors.own(queries), rows.stop - rows.start, axis=1)
        magnitude = np.abs(values)
        columns = self.factors.rows(table.moments(rows, diagonal=True))
        for y, x in zip(self.factors.queries(queries), columns, strict=True):
            part = (1 + self.squared) * (y.astype(x.dtype) @ x.T).astype(np.float64)
            values -= part
            magnitude += np.abs(part)
        return values, magnitude


def find_metric(name: str) -> Metric:
    """Return the metric of that name, or say which there are."""
    try:
        return METRICS[name]
    except (KeyError, TypeError):
        raise ValueError(
            f"metric={name!r} is unknown: use one of {', '.join(['cosine', *METRICS])}"
        ) from None


def _inseparable(
    exact: Callable[[Gaussian, Gaussian], Floats], q: Gaussian, table: DensityTable, rows: slice
) -> tuple[Floats, Floats]:
    """Compare one query after the other, which takes no product of matrices and cancels nothing."""
    densities = table.densities(rows)
    values = np.array([exact(q[i], densities) for i in range(len(q))])
    return values, np.abs(values)


def _constant(moments: Moments, value: float) -> Floats:
    return np.full((*moments.mean.shape[:-1], 1), value)


# KL[q‖p]


def _kl_spherical(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    return p.half_precision, d * v_q * p.half_precision + p.half_log_determinant - 0.5 * d * (
        1.0 + np.log(v_q)
    )


_KL = Factors(
    rows=lambda p: [p.scaled_mean, p.precision, p.scaled_square + p.log_determinant],
    queries=lambda q: [q.mean, -0.5 * q.second_moment, _constant(q, -0.5)],
    own=lambda q: -0.5 * (q.log_determinant + q.dimension),
)


# KL[p‖q]


def _reverse_kl_spherical(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    slope = 0.5 / v_q
    return slope, d * slope * p.variance - p.half_log_determinant - 0.5 * d * (1.0 - np.log(v_q))


_REVERSE_KL = Factors(
    rows=lambda p: [p.mean, p.second_moment, p.log_determinant],
    queries=lambda q: [q.scaled_mean, -0.5 * q.precision, _constant(q, 0.5)],
    own=lambda q: 0.5 * (q.scaled_square + q.log_determinant - q.dimension),
)


# KL[q‖p] + KL[p‖q], in which the log-determinants cancel


def _jeffreys_spherical(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    slope = 0.5 / v_q
    return p.half_precision + slope, d * v_q * p.half_precision + d * slope * p.variance - d


_JEFFREYS = Factors(
    rows=lambda p: [p.scaled_mean, p.precision, p.mean, p.second_moment, p.scaled_square],
    queries=lambda q: [
        q.mean,
        -0.5 * q.second_moment,
        q.scaled_mean,
        -0.5 * q.precision,
        _constant(q, -0.5),
    ],
    own=lambda q: 0.5 * q.scaled_square - q.dimension,
)


# −log ∫ q p. Its 1/(v_q + v_p) cannot be separated; by Jensen's inequality it is at most E_q[−log p], which can:
# the factors are KL's, but for what only depends on q.


def _negative_expected_likelihood(q: Gaussian, p: Gaussian) -> Floats:
    return -divergences.expected_likelihood(q, p)


def _expected_likelihood_spherical(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    slope = v_q + p.variance
    np.divide(0.5, slope, out=slope)
    base = np.log(slope)
    base *= -0.5 * d
    base += 0.5 * d * math.log(math.pi)
    return slope, base


_EXPECTED_LIKELIHOOD = Factors(_KL.rows, _KL.queries, lambda q: _constant(q, 0.5 * q.dimension * LOG_2_PI))


# 2-Wasserstein, squared


def _wasserstein_spherical(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    return np.ones(1, v_q.dtype), d * (np.sqrt(v_q) - np.sqrt(p.variance)) ** 2


_WASSERSTEIN = Factors(
    rows=lambda p: [p.mean, np.sqrt(p.variance), p.size],
    queries=lambda q: [q.mean, q.deviation, _constant(q, -0.5)],
    own=lambda q: q.size,
)


def _unit(moments: Moments) -> Columns:
    length = np.sqrt(moments.squared_norm)
    return [moments.mean / np.where(length > 0, length, 1.0)]


COSINE = Factors(_unit, _unit, lambda q: _constant(q, 1.0))
"""1 − cosine of the means, which is not among `METRICS` since it needs no densities."""

METRICS: dict[str, Metric] = {
    "kl": Metric(divergences.kl, _kl_spherical, _KL, scan=True),
    "reverse_kl": Metric(divergences.reverse_kl, _reverse_kl_spherical, _REVERSE_KL),
    "jeffreys": Metric(divergences.jeffreys, _jeffreys_spherical, _JEFFREYS),
    "expected_likelihood": Metric(
        _negative_expected_likelihood,
        _expected_likelihood_spherical,
        _EXPECTED_LIKELIHOOD,
        bound=True,
        non_negative=False,
    ),
    "wasserstein": Metric(divergences.wasserstein, _wasserstein_spherical, _WASSERSTEIN, squared=True),
}
"""Every divergence that ``metric=`` accepts; ``"cosine"`` is not one of them."""
