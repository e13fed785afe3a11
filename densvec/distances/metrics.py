"""The divergences as distances, in the forms that are needed to compare densities with the rows of a table.

:mod:`densvec.distances.divergences` has the formulas in their usual form. Here each is separated into terms of the queries and
terms of the rows, so that products of matrices do the work; a new metric is one entry of `METRICS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from densvec.distances import divergences
from densvec.distances.divergences import LOG_2_PI
from densvec.distances.table import DensityTable, Terms
from densvec.gaussian import Gaussian
from densvec.types import Floats

__all__ = ["METRICS", "Columns", "Metric", "Queries", "find_metric"]


class Queries(NamedTuple):
    """Spherical densities to compare with a table."""

    mean: Floats  # (n, D)
    variance: Floats  # (n, 1)
    squared_norm: Floats  # (n, 1)


Columns: TypeAlias = tuple[list[Floats], list[Floats]]


@dataclass(frozen=True)
class Metric:
    """One divergence as a distance, in the three forms that are needed.

    Attributes
    ----------
    exact : callable
        (q, p) → distances, element by element and free of cancellation.
    spherical : callable
        (D, query variances, terms of the rows) → (slope, base) such that the distance between spherical
        densities is slope·‖μ_q − μ_p‖² + base.
    diagonal : callable
        (queries, table, rows) → (distances, magnitude of the terms they are the sum of).
    linear : callable, optional
        (D, queries, row means, terms of the rows) → (columns of the queries, columns of the rows), whose product
        orders the rows as the spherical distance does.
    finish : callable, optional
        (products, query variances, row variances): what is left to do to the products, in place, of a metric in
        which queries and rows cannot be separated.
    scan : callable, optional
        What `diagonal` returns, for one query and in one pass over a table that can be scanned.
    squared : bool
        Whether `spherical` and `diagonal` give the square of the distance.
    non_negative : bool
        Whether the distance is never negative, and zero only between equals.
    """

    exact: Callable[[Gaussian, Gaussian], Floats]
    spherical: Callable[[int, Floats, Terms], tuple[Floats, Floats]]
    diagonal: Callable[[Gaussian, DensityTable, slice], tuple[Floats, Floats]]
    linear: Callable[[int, Queries, Floats, Terms], Columns]
    finish: Callable[[Floats, Floats, Floats], None] | None = None
    scan: Callable[[Gaussian, DensityTable, slice], tuple[Floats, Floats]] | None = None
    squared: bool = False
    non_negative: bool = True


def find_metric(name: str) -> Metric:
    """Return the metric of that name, or say which there are."""
    try:
        return METRICS[name]
    except (KeyError, TypeError):
        raise ValueError(
            f"metric={name!r} is unknown: use one of {', '.join(['cosine', *METRICS])}"
        ) from None


# The five divergences between spherical densities: slope of the squared distance of the means, and the rest.
# The variances of the queries have shape (n, 1), those of the rows (m,).


def _kl_spherical(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    return p.half_precision, d * v_q * p.half_precision + p.half_log_determinant - 0.5 * d * (
        1.0 + np.log(v_q)
    )


def _reverse_kl_spherical(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    slope = 0.5 / v_q
    return slope, d * slope * p.variance - p.half_log_determinant - 0.5 * d * (1.0 - np.log(v_q))


def _jeffreys_spherical(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    slope = 0.5 / v_q
    return p.half_precision + slope, d * v_q * p.half_precision + d * slope * p.variance - d


def _expected_likelihood_spherical(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    # ½ D log 2π(v_q + v_p), in place: it cannot be made of terms of queries and terms of rows.
    slope = v_q + p.variance
    np.divide(0.5, slope, out=slope)
    base = np.log(slope)
    base *= -0.5 * d
    base += 0.5 * d * math.log(math.pi)
    return slope, base


def _wasserstein_spherical(d: int, v_q: Floats, p: Terms) -> tuple[Floats, Floats]:
    return np.ones(1, v_q.dtype), d * (np.sqrt(v_q) - np.sqrt(p.variance)) ** 2


# The same as one product of vectors, up to a constant of each query or a factor.


def _kl_linear(d: int, q: Queries, means: Floats, p: Terms) -> Columns:
    of_rows = p.half_precision * p.squared_norm + p.half_log_determinant
    columns = [
        means * p.half_precision[:, None].astype(means.dtype),
        p.half_precision[:, None],
        of_rows[:, None],
    ]
    return [-2.0 * q.mean, q.squared_norm + d * q.variance, np.ones_like(q.variance)], columns


def _reverse_kl_linear(d: int, q: Queries, means: Floats, p: Terms) -> Columns:
    of_rows = p.squared_norm + d * p.variance
    columns = [means, of_rows[:, None], p.half_log_determinant[:, None]]
    return [q.mean / -q.variance, 0.5 / q.variance, -np.ones_like(q.variance)], columns


def _jeffreys_linear(d: int, q: Queries, means: Floats, p: Terms) -> Columns:
    left, right = _kl_linear(d, q, means, p)
    left_back, right_back = _reverse_kl_linear(d, q, means, p)
    return left + left_back, right + right_back


def _wasserstein_linear(d: int, q: Queries, means: Floats, p: Terms) -> Columns:
    columns = [means, (p.squared_norm + d * p.variance)[:, None], np.sqrt(p.variance)[:, None]]
    return [-2.0 * q.mean, np.ones_like(q.variance), -2.0 * d * np.sqrt(q.variance)], columns


def _expected_likelihood_linear(d: int, q: Queries, means: Floats, p: Terms) -> Columns:
    columns = [means, np.ones((len(means), 1)), p.squared_norm[:, None]]
    return [q.mean * (-2.0 / d), q.squared_norm / d, np.full_like(q.variance, 1.0 / d)], columns


def _expected_likelihood_finish(squares: Floats, v_q: Floats, v_p: Floats) -> None:
    # ‖μ_q − μ_p‖²/(D (v_q + v_p)) + log(v_q + v_p): 2/D times the distance
    total = v_q + v_p
    squares /= total
    squares += np.log(total, out=total)


# The same when one of the two is diagonal, from the expanded squares.


def _kl_diagonal(q: Gaussian, table: DensityTable, rows: slice) -> tuple[Floats, Floats]:
    d, precisions = q.dimension, table.precisions(rows)
    by_variance = _products(q.variance + q.mean**2, precisions, d)  # Σ (v_q + μ_q²) / v_p
    by_mean = table.scaled_squares[rows]
    logs = table.log_determinants[rows] - q.log_determinant[:, None]
    values = by_variance - 2.0 * _products(q.mean, table.means[rows] * precisions, d)
    values += by_mean + logs - d
    return 0.5 * values, by_variance + by_mean + np.abs(logs) + d


def _kl_scan(q: Gaussian, table: DensityTable, rows: slice) -> tuple[Floats, Floats]:
    scores, own = table.scan(q, rows)[None], 0.5 * (q.log_determinant[:, None] + q.dimension)
    return scores - own, np.abs(scores) + np.abs(own)


def _reverse_kl_diagonal(q: Gaussian, table: DensityTable, rows: slice) -> tuple[Floats, Floats]:
    d, means, precisions = q.dimension, table.means[rows], 1.0 / q.variance
    by_variance = _products(precisions, table.variances(rows) + means**2, d)  # Σ (v_p + μ_p²) / v_q
    by_mean = _products(q.mean**2 * precisions, np.ones((1, 1)), d)
    logs = q.log_determinant[:, None] - table.log_determinants[rows]
    values = by_variance - 2.0 * _products(q.mean * precisions, means, d)
    values += by_mean + logs - d
    return 0.5 * values, by_variance + by_mean + np.abs(logs) + d


def _jeffreys_diagonal(q: Gaussian, table: DensityTable, rows: slice) -> tuple[Floats, Floats]:
    forward, magnitude = _kl_diagonal(q, table, rows)
    backward, magnitude_back = _reverse_kl_diagonal(q, table, rows)
    return forward + backward, magnitude + magnitude_back


def _expected_likelihood_diagonal(q: Gaussian, table: DensityTable, rows: slice) -> tuple[Floats, Floats]:
    # No product of matrices gives (μ_q − μ_p)² / (v_q + v_p): one query after the other, without
    # cancellation.
    means, variances = table.means[rows], table.variances(rows)
    values = np.empty((len(q), len(means)), dtype=np.float64)
    for i in range(len(q)):
        total = variances + q.variance[i]
        terms = means - q.mean[i]
        terms *= terms
        terms /= total
        terms += np.log(total)
        values[i] = terms.sum(axis=1)
    return 0.5 * (values + q.dimension * LOG_2_PI), np.abs(values)


def _wasserstein_diagonal(q: Gaussian, table: DensityTable, rows: slice) -> tuple[Floats, Floats]:
    d, variances = q.dimension, table.variances(rows)
    one = np.ones((1, 1))
    sizes = (
        _products(q.mean**2 + q.variance, one, d) + table.squared_norms[rows] + _products(one, variances, d)
    )
    products = _products(q.mean, table.means[rows], d) + _products(np.sqrt(q.variance), np.sqrt(variances), d)
    return sizes - 2.0 * products, sizes


def _products(a: Floats, b: Floats, dimension: int) -> Floats:
    """Return Σ_d a_d·b_d for each row of `a` and of `b`; a row of one number stands for D equal ones."""
    if a.shape[1] == b.shape[1] == dimension:
        products: Floats = a @ b.T
        return products.astype(np.float64)
    sums: Floats = a.sum(axis=1, dtype=np.float64)[:, None] * b.sum(axis=1, dtype=np.float64)
    return sums * dimension if a.shape[1] == b.shape[1] else sums


def _negative_expected_likelihood(q: Gaussian, p: Gaussian) -> Floats:
    return -divergences.expected_likelihood(q, p)


METRICS: dict[str, Metric] = {
    "kl": Metric(divergences.kl, _kl_spherical, _kl_diagonal, _kl_linear, scan=_kl_scan),
    "reverse_kl": Metric(
        divergences.reverse_kl, _reverse_kl_spherical, _reverse_kl_diagonal, _reverse_kl_linear
    ),
    "jeffreys": Metric(divergences.jeffreys, _jeffreys_spherical, _jeffreys_diagonal, _jeffreys_linear),
    "expected_likelihood": Metric(
        _negative_expected_likelihood,
        _expected_likelihood_spherical,
        _expected_likelihood_diagonal,
        _expected_likelihood_linear,
        _expected_likelihood_finish,
        non_negative=False,
    ),
    "wasserstein": Metric(
        divergences.wasserstein,
        _wasserstein_spherical,
        _wasserstein_diagonal,
        _wasserstein_linear,
        squared=True,
    ),
}
"""Every divergence that ``metric=`` accepts; ``"cosine"`` is not one of them."""
