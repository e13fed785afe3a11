"""Divergences by matrix products: one density, or many, against all densities of a table.

A product of matrices in the tables' own precision does the work; the expanded square ‖a‖² + ‖b‖² − 2 a·b that
it rests on loses its digits when two densities are nearly equal. So every value that is small beside its
error bound is computed again from plain differences by :mod:`densvec.divergences`, and the laws of that
module (never negative, zero only for equal densities) hold here too. Nothing as large as the table is
allocated: rows are taken by blocks.

All functions return *distances*: smaller is closer. The distance of `expected_likelihood` is minus its
value.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from densvec import divergences
from densvec.divergences import LOG_2_PI
from densvec.gaussian import Gaussian
from densvec.types import Booleans, Floats

__all__ = [
    "METRICS",
    "Columns",
    "Compared",
    "DensityTable",
    "Metric",
    "Queries",
    "Terms",
    "approximate_distances",
    "distances",
    "find_metric",
    "pairwise",
    "row_blocks",
]

_BLOCK_ENTRIES = 1 << 15
"""Numbers that one pass works on: 256 KB in float64, so that several arrays of them stay in the cache."""

_PRODUCT_ENTRIES = 1 << 22
"""Numbers that one product of matrices gives: large, because the threads of a small one wait for each other."""

_SCAN_ENTRIES = 1 << 20
"""Numbers that are worth a thread when one density is compared with a diagonal table."""

#: Rows of a table, their distances, and which of these are doubtful.
Compared: TypeAlias = "tuple[slice, Floats, Booleans | None]"


class Terms(NamedTuple):
    """What the divergences need of some spherical densities, (n,) each."""

    variance: Floats
    half_precision: Floats  # 1/(2v)
    half_log_determinant: Floats  # ½ D log v
    squared_norm: Floats  # ‖μ‖²


class Queries(NamedTuple):
    """Spherical densities to compare with a table."""

    mean: Floats  # (n, D)
    variance: Floats  # (n, 1)
    squared_norm: Floats  # (n, 1)


Columns: TypeAlias = tuple[list[Floats], list[Floats]]


class DensityTable:
    """Many densities, with the terms of the divergences that depend on them alone, each computed once.

    Parameters
    ----------
    means : numpy.ndarray, shape (V, D)
    variances : numpy.ndarray, shape (V, 1) or (V, D), optional
    log_variances : numpy.ndarray, shape (V, 1) or (V, D), optional
        Their logarithms, in place of `variances`.
    """

    def __init__(
        self, means: Floats, *, variances: Floats | None = None, log_variances: Floats | None = None
    ) -> None:
        if (variances is None) == (log_variances is None):
            raise TypeError("give either variances or log_variances")
        self.means = means
        self._variances = variances
        self._log_variances = log_variances

    def __len__(self) -> int:
        return len(self.means)

    @property
    def dimension(self) -> int:
        """The number of dimensions D."""
        return int(self.means.shape[1])

    @property
    def is_spherical(self) -> bool:
        """Whether one variance serves all dimensions."""
        stored = self._log_variances if self._variances is None else self._variances
        assert stored is not None
        return bool(stored.shape[1] == 1)

    def variances(self, rows: Any) -> Floats:
        """Return the variances of `rows`, rounded as the table is, so that equal densities stay equal."""
        if self._variances is not None:
            given: Floats = self._variances[rows]
            return given
        assert self._log_variances is not None
        result: Floats = np.exp(self._log_variances[rows])
        return result

    def precisions(self, rows: Any) -> Floats:
        """Return 1/v of `rows`, in a new array; rounding may make it differ from that of `variances`."""
        if self._variances is not None:
            given: Floats = 1.0 / self._variances[rows]
            return given
        assert self._log_variances is not None
        result: Floats = np.negative(self._log_variances[rows])
        return np.exp(result, out=result)

    def densities(self, rows: Any) -> Gaussian:
        """Return the densities of `rows`."""
        return Gaussian(self.means[rows], self.variances(rows))

    @cached_property
    def squared_norms(self) -> Floats:
        """‖μ‖² of every row, (V,), in float64."""
        return self._per_row(lambda means, variances: means * means)

    @cached_property
    def log_determinants(self) -> Floats:
        """Σ log v of every row, (V,), in float64."""
        return self._per_row(lambda means, variances: np.log(variances)) * (
            1 if not self.is_spherical else self.dimension
        )

    @cached_property
    def scaled_squares(self) -> Floats:
        """Σ μ²/v of every row, (V,), in float64."""
        return self._per_row(lambda means, variances: means * means / variances)

    def spherical_terms(self, rows: slice, dtype: npt.DTypeLike) -> Terms:
        """Return the terms of some rows of a spherical table."""
        return Terms(*(term[rows].astype(dtype, copy=False) for term in self._spherical_terms))

    @cached_property
    def _spherical_terms(self) -> Terms:
        variances = self.variances(slice(None))[:, 0].astype(np.float64)
        return Terms(variances, 0.5 / variances, 0.5 * self.log_determinants, self.squared_norms)

    @property
    def can_be_scanned(self) -> bool:
        """Whether the table is as `scan` needs it."""
        arrays = (self.means, self._log_variances)
        return not self.is_spherical and all(
            array is not None and array.dtype == np.float32 and array.flags.c_contiguous for array in arrays
        )

    def scan(self, q: Gaussian, rows: slice) -> Floats:
        """Return KL[q‖row] of some rows of a diagonal table, but for the terms that are q's alone, in float64."""
        from densvec.native._scan import kl_scores

        assert self._log_variances is not None
        mean = np.ascontiguousarray(q.mean[0])
        variance = np.ascontiguousarray(np.broadcast_to(q.variance[0], mean.shape), dtype=np.float32)
        scores = np.empty(rows.stop - rows.start, dtype=np.float32)

        def score(part: slice) -> None:
            assert self._log_variances is not None
            given = slice(rows.start + part.start, rows.start + part.stop)
            kl_scores(mean, variance, self.means[given], self._log_variances[given], scores[part])

        parts = row_blocks(
            0, len(scores), self.dimension, max(_SCAN_ENTRIES, scores.size * self.dimension // 8)
        )
        if len(parts) == 1:
            score(parts[0])
        else:
            with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1)) as pool:
                list(pool.map(score, parts))
        return scores.astype(np.float64)

    def _per_row(self, terms: Callable[[Floats, Floats], Floats]) -> Floats:
        """Sum the terms made of means and variances, both in float64, over the dimensions."""
        result = np.empty(len(self), dtype=np.float64)
        for rows in row_blocks(0, len(self), self.dimension):
            result[rows] = terms(
                self.means[rows].astype(np.float64), self.variances(rows).astype(np.float64)
            ).sum(axis=1)
        return result


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
        is the spherical distance but for a constant of each query; None if the two cannot be separated.
    scan : callable, optional
        What `diagonal` gives, for one query and in one pass over a table that can be scanned.
    squared : bool
        Whether `spherical` and `diagonal` give the square of the distance.
    non_negative : bool
        Whether the distance is never negative, and zero only between equals.
    """

    exact: Callable[[Gaussian, Gaussian], Floats]
    spherical: Callable[[int, Floats, Terms], tuple[Floats, Floats]]
    diagonal: Callable[[Gaussian, DensityTable, slice], tuple[Floats, Floats]]
    linear: Callable[[int, Queries, Floats, Terms], Columns] | None = None
    scan: Callable[[Gaussian, DensityTable, slice], tuple[Floats, Floats]] | None = None
    squared: bool = False
    non_negative: bool = True


def pairwise(q: Gaussian, p: Gaussian, metric: str = "kl") -> Floats:
    """Return the matrix of distances between each density of `q` and each of `p`.

    Parameters
    ----------
    q, p : Gaussian
        One density or a batch of them each.
    metric : str, optional
        ``"kl"`` (KL[q‖p]), ``"reverse_kl"``, ``"jeffreys"``, ``"expected_likelihood"`` (minus its logarithm)
        or ``"wasserstein"``.

    Returns
    -------
    numpy.ndarray, shape (n, m)
        In float64.

    Examples
    --------
    >>> from densvec import Gaussian
    >>> animals = Gaussian([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], 1.0)
    >>> pairwise(animals, animals, "wasserstein").round(2)
    array([[0.  , 1.  , 3.  ],
           [1.  , 0.  , 3.16],
           [3.  , 3.16, 0.  ]])
    """
    q, p = _batch(q), _batch(p)
    return distances(q, DensityTable(p.mean, variances=p.variance), metric)


def distances(
    q: Gaussian, table: DensityTable, metric: str, start: int = 0, stop: int | None = None
) -> Floats:
    """Return the distances between each density of `q` and the rows of `table` from `start` to `stop`.

    Returns
    -------
    numpy.ndarray, shape (len(q), stop - start)
        In float64.
    """
    form, q = find_metric(metric), _batch(q)
    stop = len(table) if stop is None else min(stop, len(table))
    result = np.empty((len(q), max(stop - start, 0)), dtype=np.float64)
    if not result.size:
        return result
    for rows, values, doubtful in _blocks(q, table, form, start, stop, np.float64):
        if form.non_negative and doubtful is not None:
            _repair(values, doubtful, q, table, form, rows.start)
        if form.squared:
            np.sqrt(values, out=values)
        result[:, rows.start - start : rows.stop - start] = values
    return result


def approximate_distances(
    q: Gaussian, table: DensityTable, metric: str, start: int, stop: int
) -> Iterator[tuple[slice, Floats]]:
    """Yield distances by blocks of rows, in the tables' own precision: good enough to find candidates.

    Of each query they may lack a constant, and be squares: only their order counts.
    """
    form = find_metric(metric)
    if form.linear is None or not (q.is_spherical and table.is_spherical):
        for rows, values, _ in _blocks(q, table, form, start, stop, q.mean.dtype):
            yield rows, values
        return
    dtype = table.means.dtype
    norms = (q.mean.astype(np.float64) ** 2).sum(axis=1)[:, None]
    queries = Queries(q.mean, q.variance.astype(np.float64), norms)
    for rows in row_blocks(start, stop, len(q), _PRODUCT_ENTRIES):
        terms = table.spherical_terms(rows, np.float64)
        left, right = form.linear(table.dimension, queries, table.means[rows], terms)
        yield rows, np.concatenate(left, axis=1, dtype=dtype) @ np.concatenate(right, axis=1, dtype=dtype).T


def find_metric(name: str) -> Metric:
    """Return the metric of that name, or say which there are."""
    try:
        return METRICS[name]
    except (KeyError, TypeError):
        raise ValueError(
            f"metric={name!r} is unknown: use one of {', '.join(['cosine', *METRICS])}"
        ) from None


def row_blocks(start: int, stop: int, width: int, entries: int = _BLOCK_ENTRIES) -> list[slice]:
    """Cut the rows from `start` to `stop` into blocks of about `entries` numbers, `width` in each row."""
    size = max(entries // max(width, 1), 256)
    return [slice(first, min(first + size, stop)) for first in range(start, stop, size)]


def _batch(density: Gaussian) -> Gaussian:
    """Return a batch with one axis: one density becomes a batch of one."""
    if len(density.shape) > 1:
        raise ValueError(
            f"the batch has the shape {density.shape}; a matrix of distances needs at most one axis"
        )
    return density if density.shape else Gaussian(density.mean[None], density.variance[None])


def _blocks(
    q: Gaussian, table: DensityTable, form: Metric, start: int, stop: int, dtype: npt.DTypeLike
) -> Iterator[Compared]:
    """Yield blocks of rows, their distances from all of `q`, and where rounding may have spoilt these."""
    if q.dimension != table.dimension:
        raise ValueError(f"the densities have different dimensions: {q.dimension} and {table.dimension}")
    # The error bound of a sum of D products, times the factor by which a value must exceed it to be trusted.
    caution = 1000.0 * (table.dimension + 4) * np.finfo(np.result_type(q.mean, table.means)).eps
    if q.is_spherical and table.is_spherical:
        yield from _spherical_blocks(q, table, form, start, stop, caution, np.dtype(dtype))
    else:
        yield from _diagonal_blocks(q, table, form, start, stop, caution)


def _spherical_blocks(
    q: Gaussian,
    table: DensityTable,
    form: Metric,
    start: int,
    stop: int,
    caution: float,
    dtype: np.dtype[Any],
) -> Iterator[Compared]:
    query_norms = (q.mean.astype(np.float64) ** 2).sum(axis=1)[:, None].astype(dtype)
    variance, minus_two_means = q.variance.astype(dtype), -2.0 * q.mean
    precise, tiny, largest_norm = dtype == np.float64, 1e-9 * table.dimension, query_norms.max(initial=0.0)
    # One large product, then many passes over small parts of it, which stay in the cache.
    for outer in row_blocks(start, stop, len(q), _PRODUCT_ENTRIES):
        products = minus_two_means @ table.means[outer].T
        for rows in row_blocks(outer.start, outer.stop, len(q)):
            values = products[:, rows.start - outer.start : rows.stop - outer.start].astype(dtype, copy=False)
            terms = table.spherical_terms(rows, dtype)
            values += terms.squared_norm
            values += query_norms  # ‖μ_q − μ_p‖²
            # Looking for the smallest value is faster than judging each, and mostly enough.
            doubtful: Booleans | None = None
            if precise and values.min() <= caution * (terms.squared_norm.max() + largest_norm):
                doubtful = values <= caution * (terms.squared_norm + query_norms)
            slope, base = form.spherical(table.dimension, variance, terms)
            values *= slope
            values += base
            if precise and values.min() < tiny:  # where the terms of base cancel
                doubtful = values < tiny if doubtful is None else doubtful | (values < tiny)
            yield rows, values, doubtful


def _diagonal_blocks(
    q: Gaussian, table: DensityTable, form: Metric, start: int, stop: int, caution: float
) -> Iterator[Compared]:
    compare, blocks = form.diagonal, row_blocks(start, stop, max(len(q), table.dimension), 2 * _BLOCK_ENTRIES)
    if form.scan is not None and table.can_be_scanned and len(q) == 1 and q.mean.dtype == np.float32:
        compare, blocks = form.scan, [slice(start, stop)]
    for rows in blocks:
        values, magnitude = compare(q, table, rows)
        yield rows, values, values <= caution * magnitude


def _repair(
    values: Floats, doubtful: Booleans, q: Gaussian, table: DensityTable, form: Metric, start: int
) -> None:
    """Compute the doubtful entries of a block again, by differences."""
    pairs = np.argwhere(doubtful)
    for first in range(0, len(pairs), 4096):
        queries, rows = pairs[first : first + 4096].T
        exact = form.exact(q[queries], table.densities(start + rows))
        values[queries, rows] = exact**2 if form.squared else exact


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


# The same as one product of vectors, for the metrics in which queries and rows can be separated.


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
    "kl": Metric(divergences.kl, _kl_spherical, _kl_diagonal, _kl_linear, _kl_scan),
    "reverse_kl": Metric(
        divergences.reverse_kl, _reverse_kl_spherical, _reverse_kl_diagonal, _reverse_kl_linear
    ),
    "jeffreys": Metric(divergences.jeffreys, _jeffreys_spherical, _jeffreys_diagonal, _jeffreys_linear),
    "expected_likelihood": Metric(
        _negative_expected_likelihood,
        _expected_likelihood_spherical,
        _expected_likelihood_diagonal,
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
