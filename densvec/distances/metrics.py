"""The divergences as distances, in the forms needed to compare densities with the rows of a table.

:mod:`densvec.gaussian` has the formulas in their usual form. Most of them can also be separated into a
factor of the query q and one of the row p, so that a product of matrices compares many with many; for KL

    KL[q‖p] = −½(log|v_q| + D)  −  (μ_q, −½(μ_q² + v_q), −½) · (μ_p/v_p, 1/v_p, Σ μ_p²/v_p + log|v_p|)

A new metric is one entry of `METRICS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from densvec import gaussian
from densvec.gaussian import Gaussian
from densvec.types import Floats

Columns: TypeAlias = list[Floats]


class Moments:
    """Means, (n, D), and variances, (n, 1) or (n, D), with the sums over their dimensions that divergences need.

    `diagonal` keeps what involves variances apart for each dimension; a spherical variance then stands for all.
    """

    def __init__(self, mean: Floats, variance: Floats, diagonal: bool = False) -> None:
        self.mean, self.diagonal = mean, diagonal
        self.variance = np.broadcast_to(variance, mean.shape) if diagonal else variance

    @classmethod
    def of(cls, densities: Gaussian, diagonal: bool = False) -> Moments:
        """Return the moments of a batch in float64."""
        return cls(densities.mean.astype(np.float64), densities.variance.astype(np.float64), diagonal)

    @property
    def dimension(self) -> int:
        """The number of dimensions D."""
        return int(self.mean.shape[-1])

    def total(self, terms: Floats) -> Floats:
        """Sum over the dimensions, (n, 1); one number stands for D equal ones."""
        repeats = self.dimension // terms.shape[-1]
        result: Floats = repeats * terms.sum(axis=-1, keepdims=True)
        return result

    @cached_property
    def precision(self) -> Floats:
        """1/v."""
        return 1.0 / self.variance

    @cached_property
    def scaled_mean(self) -> Floats:
        """μ/v."""
        return self.mean * self.precision.astype(self.mean.dtype, copy=False)

    @cached_property
    def squared_norm(self) -> Floats:
        """‖μ‖², (n, 1)."""
        return self.total(self.mean**2)

    @cached_property
    def size(self) -> Floats:
        """‖μ‖² + Σ v, (n, 1): the mean of ‖z‖²."""
        return self.squared_norm + self.total(self.variance)

    @cached_property
    def second_moment(self) -> Floats:
        """μ² + v, (n, D), or its sum, (n, 1), if dimensions are not kept apart."""
        return self.mean**2 + self.variance if self.diagonal else self.size

    @cached_property
    def deviation(self) -> Floats:
        """√v, (n, D), or its sum, (n, 1), if dimensions are not kept apart."""
        deviation = np.sqrt(self.variance)
        return deviation if self.diagonal else self.total(deviation)

    @cached_property
    def log_determinant(self) -> Floats:
        """Σ log v, (n, 1)."""
        return self.total(np.log(self.variance))

    @cached_property
    def scaled_square(self) -> Floats:
        """Σ μ²/v, (n, 1)."""
        return self.total(self.mean**2 / self.variance)


class Terms(NamedTuple):
    """The terms of spherical densities that the divergences need, (n,) each."""

    variance: Floats
    half_precision: Floats  # 1/(2v)
    half_log_determinant: Floats  # ½ D log v
    squared_norm: Floats  # ‖μ‖²


@dataclass(frozen=True)
class Factors:
    """A distance as ``own − y·x``, or its square as ``own − 2 y·x``."""

    rows: Callable[[Moments], Columns]  # the columns of x, each (n, 1) or (n, D)
    queries: Callable[[Moments], Columns]  # those of y
    own: Callable[[Moments], Floats]  # what depends on the query alone, (n, 1)


Spherical: TypeAlias = Callable[[int, Floats, Terms], tuple[Floats, Floats]]


@dataclass(frozen=True)
class Metric:
    """One divergence as a distance.

    Between spherical densities it is slope·‖μ_q − μ_p‖² + base, which `spherical` returns for D, the variances of the
    queries and the terms of the rows.
    """

    exact: Callable[[Gaussian, Gaussian], Floats]  # element by element and free of cancellation
    spherical: Spherical
    factors: Factors | None = None  # if it can be separated into queries and rows
    scan: bool = False  # whether `DensityTable.scan` compares one query with a diagonal table
    squared: bool = False  # whether `spherical` and `factors` give the square of the distance
    non_negative: bool = True  # and zero only between equals


def _constant(moments: Moments, value: float) -> Floats:
    return np.full((*moments.mean.shape[:-1], 1), value)


_KL = Factors(
    rows=lambda p: [p.scaled_mean, p.precision, p.scaled_square + p.log_determinant],
    queries=lambda q: [q.mean, -0.5 * q.second_moment, _constant(q, -0.5)],
    own=lambda q: -0.5 * (q.log_determinant + q.dimension),
)
_REVERSE_KL = Factors(
    rows=lambda p: [p.mean, p.second_moment, p.log_determinant],
    queries=lambda q: [q.scaled_mean, -0.5 * q.precision, _constant(q, 0.5)],
    own=lambda q: 0.5 * (q.scaled_square + q.log_determinant - q.dimension),
)
_JEFFREYS = Factors(  # the sum of the two, in which the log-determinants cancel
    rows=lambda p: [*_KL.rows(p)[:2], *_REVERSE_KL.rows(p)[:2], p.scaled_square],
    queries=lambda q: [*_KL.queries(q)[:2], *_REVERSE_KL.queries(q)[:2], _constant(q, -0.5)],
    own=lambda q: 0.5 * q.scaled_square - q.dimension,
)
_WASSERSTEIN = Factors(
    rows=lambda p: [p.mean, np.sqrt(p.variance), p.size],
    queries=lambda q: [q.mean, q.deviation, _constant(q, -0.5)],
    own=lambda q: q.size,
)


def _kl(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    return p.half_precision, d * v_q * p.half_precision + p.half_log_determinant - 0.5 * d * (
        1.0 + np.log(v_q)
    )


def _reverse_kl(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    slope = 0.5 / v_q
    return slope, d * slope * p.variance - p.half_log_determinant - 0.5 * d * (1.0 - np.log(v_q))


def _jeffreys(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    slope = 0.5 / v_q
    return p.half_precision + slope, d * v_q * p.half_precision + d * slope * p.variance - d


def _expected_likelihood(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    slope = v_q + p.variance
    np.divide(0.5, slope, out=slope)
    base = np.log(slope)
    base *= -0.5 * d
    base += 0.5 * d * math.log(math.pi)
    return slope, base


def _wasserstein(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    return np.ones(1, v_q.dtype), d * (np.sqrt(v_q) - np.sqrt(p.variance)) ** 2


METRICS = {
    "kl": Metric(gaussian.kl, _kl, _KL, scan=True),
    "reverse_kl": Metric(gaussian.reverse_kl, _reverse_kl, _REVERSE_KL),
    "jeffreys": Metric(gaussian.jeffreys, _jeffreys, _JEFFREYS),
    # −log ∫ q p, whose 1/(v_q + v_p) cannot be separated.
    "expected_likelihood": Metric(
        lambda q, p: -gaussian.expected_likelihood(q, p), _expected_likelihood, non_negative=False
    ),
    "wasserstein": Metric(gaussian.wasserstein, _wasserstein, _WASSERSTEIN, squared=True),
}
"""Every divergence that ``metric=`` accepts; ``"cosine"`` is not one of them."""


def find_metric(name: str) -> Metric:
    """Return the metric of that name, or say which there are."""
    try:
        return METRICS[name]
    except (KeyError, TypeError):
        raise ValueError(
            f"metric={name!r} is unknown: use one of {', '.join(['cosine', *METRICS])}"
        ) from None


def _unit(moments: Moments) -> Columns:
    length = np.sqrt(moments.squared_norm)
    return [moments.mean / np.where(length > 0, length, 1.0)]


COSINE = Factors(_unit, _unit, lambda q: _constant(q, 1.0))
"""1 − cosine of the means, which is not among `METRICS` since it needs no densities."""
