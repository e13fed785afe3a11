"""A table of densities, with the terms of the divergences that depend on its rows alone."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from densvec.distances.metrics import Moments, Terms
from densvec.gaussian import Gaussian
from densvec.types import Floats

BLOCK_ENTRIES = 1 << 15
"""How many numbers one pass works on: 256 KB in float64, so that several such arrays fit in the cache."""

FEW = 16
"""Up to so few vectors, a table is multiplied by one after the other."""

_CACHED_ENTRIES = 1 << 18
"""Numbers of a table that the next vector finds in the cache."""

_SCAN_ENTRIES = 1 << 20
"""How many numbers justify a thread when one density is compared with a diagonal table."""


class DensityTable:
    """Many densities, with the terms of the divergences that depend on them alone, each computed once.

    They are made of means, (V, D), and of variances or their logarithms, (V, 1) or (V, D).
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

    def densities(self, rows: Any) -> Gaussian:
        """Return the densities of `rows`."""
        return Gaussian(self.means[rows], self.variances(rows))

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Floats]:
        """‖μ‖², Σ log v and Σ μ²/v of every row, (V, 1) each, in float64."""
        sums = np.empty((3, len(self), 1), dtype=np.float64)
        for rows in row_blocks(0, len(self), self.dimension):
            moments = Moments(self.means[rows].astype(np.float64), self.variances(rows).astype(np.float64))
            sums[:, rows] = moments.squared_norm, moments.log_determinant, moments.scaled_square
        return sums[0], sums[1], sums[2]

    def moments(self, rows: slice, *, diagonal: bool = False) -> Moments:
        """Return the moments of some rows, with the sums that are already computed."""
        moments = Moments(self.means[rows], self.variances(rows), diagonal)
        moments.squared_norm, moments.log_determinant, moments.scaled_square = (
            term[rows] for term in self._sums
        )
        return moments

    def spherical_terms(self, rows: slice, dtype: npt.DTypeLike) -> Terms:
        """Return the terms of some rows of a spherical table."""
        return Terms(*(term[rows].astype(dtype, copy=False) for term in self._spherical_terms))

    @cached_property
    def _spherical_terms(self) -> Terms:
        variances = self.variances(slice(None))[:, 0].astype(np.float64)
        squared_norms, log_determinants = (term[:, 0] for term in self._sums[:2])
        return Terms(variances, 0.5 / variances, 0.5 * log_determinants, squared_norms)

    @property
    def can_be_scanned(self) -> bool:
        """Whether the table has the form that `scan` needs."""
        arrays = (self.means, self._log_variances)
        return not self.is_spherical and all(
            array is not None and array.dtype == np.float32 and array.flags.c_contiguous for array in arrays
        )

    def scan(self, q: Gaussian, rows: slice) -> Floats:
        """Return KL[q‖row] of some rows of a diagonal table, without the terms of q alone, in float64."""
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
        if len(parts) < 2:
            for part in parts:
                score(part)
        else:
            with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1)) as pool:
                list(pool.map(score, parts))
        return scores.astype(np.float64)


def row_blocks(start: int, stop: int, width: int, entries: int = BLOCK_ENTRIES) -> list[slice]:
    """Cut the rows from `start` to `stop` into blocks of about `entries` numbers, `width` in each row."""
    size = max(entries // max(width, 1), 256)
    return [slice(first, min(first + size, stop)) for first in range(start, stop, size)]


def products(vectors: Floats, table: Floats) -> Floats:
    """Return the inner product of each vector with each row of a table, (len(vectors), len(table)).

    Before it multiplies two matrices, BLAS copies both into its own layout, which for a few vectors takes
    several times as long as the products themselves.

    Examples
    --------
    >>> products(np.array([[1.0, 2.0]]), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    array([[1., 2., 3.]])
    """
    if len(vectors) > FEW:
        many: Floats = vectors @ table.T
        return many
    result: Floats = np.empty((len(vectors), len(table)), dtype=np.result_type(vectors, table))
    for rows in row_blocks(0, len(table), table.shape[1], _CACHED_ENTRIES):
        for vector, values in zip(vectors, result, strict=True):
            np.matmul(table[rows], vector, out=values[rows])
    return result
