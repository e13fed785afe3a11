"""Divergences by matrix products: one density, or many, against all densities of a table.

A product of matrices in the tables' own precision does the work; the expanded square ‖a‖² + ‖b‖² − 2 a·b that
it is based on loses digits when two densities are nearly equal. So every value that is small beside its
error bound is computed again from plain differences by :mod:`densvec.gaussian`, and the laws of that
module (never negative, zero only for equal densities) hold here too. Nothing as large as the table is
allocated: rows are processed in blocks.

All functions return *distances*: smaller is closer. The distance of `expected_likelihood` is minus its
value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from densvec.distances.metrics import Metric, Moments, find_metric
from densvec.distances.table import BLOCK_ENTRIES, FEW, DensityTable, products, row_blocks
from densvec.gaussian import Gaussian
from densvec.types import Booleans, Floats

_PRODUCT_ENTRIES = 1 << 22
"""Numbers that one product of matrices gives: large, because in a small one threads mostly wait for each other."""

#: Rows of a table, their distances, and which of these are doubtful.
Compared: TypeAlias = "tuple[slice, Floats, Booleans | None]"


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
    """Return the distances between each density of `q` and the rows of `table` from `start` to `stop`, in float64."""
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
    """Yield distances in blocks of rows, in the tables' own precision: good enough to find candidates.

    They may lack a constant or a factor for each query, or be squared: only their order matters.
    """
    form = find_metric(metric)
    if len(q) <= FEW or form.factors is None or not (q.is_spherical and table.is_spherical):
        for rows, values, _ in _blocks(q, table, form, start, stop, q.mean.dtype):
            yield rows, values
        return
    y = -np.concatenate(form.factors.queries(Moments.of(q)), axis=1)
    for rows in row_blocks(start, stop, len(q), _PRODUCT_ENTRIES):
        x = np.concatenate(form.factors.rows(table.moments(rows)), axis=1, dtype=table.means.dtype)
        yield rows, y.astype(x.dtype) @ x.T


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
    """Yield blocks of rows, their distances from all of `q`, and which of these may suffer from rounding."""
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
        inner = products(minus_two_means, table.means[outer])
        for rows in row_blocks(outer.start, outer.stop, len(q)):
            values = inner[:, rows.start - outer.start : rows.stop - outer.start].astype(dtype, copy=False)
            terms = table.spherical_terms(rows, dtype)
            values += terms.squared_norm
            values += query_norms  # ‖μ_q − μ_p‖²
            # Finding the minimum is faster than testing every value, and mostly enough.
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
    if (
        form.scan
        and form.factors is not None
        and table.can_be_scanned
        and len(q) == 1
        and q.mean.dtype == np.float32
    ):
        rows = slice(start, stop)
        scores, own = table.scan(q, rows)[None], form.factors.own(Moments.of(q))
        yield rows, scores + own, scores + own <= caution * (np.abs(scores) + np.abs(own))
        return
    for rows in row_blocks(start, stop, max(len(q), table.dimension), 2 * BLOCK_ENTRIES):
        values, magnitude = _diagonal(q, table, form, rows)
        yield rows, values, values <= caution * magnitude


def _diagonal(q: Gaussian, table: DensityTable, form: Metric, rows: slice) -> tuple[Floats, Floats]:
    """Return distances, and the sums of the absolute values of their terms."""
    if form.factors is None:  # one query after the other, without a matrix product and its cancellation
        densities = table.densities(rows)
        values = np.array([form.exact(q[i], densities) for i in range(len(q))])
        return values, np.abs(values)
    queries = Moments.of(q, diagonal=True)
    values = np.repeat(form.factors.own(queries), rows.stop - rows.start, axis=1)
    magnitude = np.abs(values)
    columns = form.factors.rows(table.moments(rows, diagonal=True))
    for y, x in zip(form.factors.queries(queries), columns, strict=True):
        part = (1 + form.squared) * (y.astype(x.dtype) @ x.T).astype(np.float64)
        values -= part
        magnitude += np.abs(part)
    return values, magnitude


def _repair(
    values: Floats, doubtful: Booleans, q: Gaussian, table: DensityTable, form: Metric, start: int
) -> None:
    """Recompute the doubtful entries of a block from plain differences."""
    pairs = np.argwhere(doubtful)
    for first in range(0, len(pairs), 4096):
        queries, rows = pairs[first : first + 4096].T
        exact = form.exact(q[queries], table.densities(start + rows))
        values[queries, rows] = exact**2 if form.squared else exact
