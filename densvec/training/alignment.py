"""Spherical densities as the native kernel trains them fastest: each word's in a row of whole cache lines.

A mean and its log-variance lie side by side there. A row then takes as few lines as can be, no vector lies across
two of them, and two workers that train different words never write the same one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from densvec.types import Array

if TYPE_CHECKING:
    from densvec.tables import Tables

__all__ = ["lay_apart", "lay_side_by_side"]

#: Numbers of the longest vectors, which in single precision are a cache line.
LANES = 16


def lay_side_by_side(wv: Tables) -> None:
    """Replace means and log-variances by views of one table; diagonal densities stay where they are.

    Examples
    --------
    >>> lay_side_by_side(wv)
    >>> wv.vectors.strides, wv.log_variances.strides, wv.log_variances.base is wv.vectors.base
    ((64, 4), (64, 4), True)
    >>> lay_apart(wv)
    >>> wv.vectors.flags.c_contiguous
    True
    """
    means, log_variances = wv.vectors, wv.log_variances
    if log_variances is None or log_variances.shape[1] != 1 or means.dtype != log_variances.dtype:
        return
    words, size = means.shape
    table = _aligned(words, size + 1, means.dtype)
    table[:, :size] = means
    table[:, size : size + 1] = log_variances
    wv.vectors, wv.log_variances = table[:, :size], table[:, size : size + 1]


def lay_apart(wv: Tables) -> None:
    """Make arrays of their own of means and log-variances that lie side by side."""
    if not wv.vectors.flags.c_contiguous:
        wv.vectors = np.ascontiguousarray(wv.vectors)
    if wv.log_variances is not None and not wv.log_variances.flags.c_contiguous:
        wv.log_variances = np.ascontiguousarray(wv.log_variances)


def _aligned(rows: int, columns: int, dtype: np.dtype) -> Array:
    """Return a table of zeros whose rows begin at cache lines, and go on for whole ones."""
    columns = -(-columns // LANES) * LANES
    memory = np.zeros(rows * columns + LANES, dtype)
    begin = -(memory.ctypes.data // dtype.itemsize) % LANES
    return memory[begin : begin + rows * columns].reshape(rows, columns)
