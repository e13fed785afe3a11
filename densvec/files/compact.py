"""Compact tables: rows of 8-bit numbers with a scale each, or of 16-bit floats, which are read as float32."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from densvec.files.schema import tensor
from densvec.types import Floats

TYPES = ("float32", "float16", "int8")
"""How tables can be stored."""

_TABLES = ("means", "log_variances", "context_vectors", "encoder.embeddings", "ngrams")
_SCALES, _OFFSETS = ".scales", ".offsets"
_LEVELS = 127  # of int8 on either side of 0


@dataclass(frozen=True)
class CompactRows:
    """A table whose rows take a quarter or half of the memory; indexing returns them as float32.

    Row i stands for ``codes[i] * scales[i] + offsets[i]``.

    Parameters
    ----------
    codes : numpy.ndarray, shape (V, D)
        Of type int8 or float16; it may be mapped from a file.
    scales, offsets : numpy.ndarray, shape (V,), optional
        Factor and summand of each row; 1 and 0 by default.

    Examples
    --------
    >>> rows = CompactRows.of([[1.0, -1.0], [0.5, 0.25]], "int8")
    >>> rows
    <2 rows of 2 int8 numbers>
    >>> rows[[1, 0]].round(2)
    array([[ 0.5 ,  0.25],
           [ 1.  , -1.  ]], dtype=float32)
    """

    codes: npt.NDArray[Any]
    scales: Floats | None = None
    offsets: Floats | None = None

    @classmethod
    def of(cls, table: npt.ArrayLike, dtype: str, *, centred: bool = False) -> CompactRows:
        """Return a table in compact form, "int8" or "float16", as near to its numbers as the type allows.

        If it is `centred`, what is stored is how numbers differ from the middle of their row, which may lie far from 0.
        """
        values = np.array(table, dtype=np.float32)
        offsets = None
        if centred:
            offsets = (values.max(axis=1) + values.min(axis=1)) / 2 if values.size else values.sum(axis=1)
            values -= offsets[:, None]
        largest = np.abs(values).max(axis=1, initial=0)
        if not np.isfinite(largest).all():
            raise ValueError("a table holds NaN or infinite numbers: nothing was saved")
        if dtype == "float16":
            if largest.max(initial=0) > np.finfo(np.float16).max:
                raise ValueError(
                    f"a table holds {largest.max():g}, beyond float16: save it as int8 or float32"
                )
            return cls(values.astype(np.float16), None, offsets)
        scales = largest / _LEVELS
        values /= np.where(scales > 0, scales, 1)[:, None]
        return cls(np.rint(values).astype(np.int8), scales, offsets)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many rows there are, and how long they are."""
        return self.codes.shape

    @property
    def ndim(self) -> int:
        """Two."""
        return self.codes.ndim

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """The type of the rows as they are read."""
        return np.dtype(np.float32)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> npt.NDArray[np.float32]:
        """Return the rows of a number, a slice, a list or a mask."""
        found: npt.NDArray[np.float32] = self.codes[rows].astype(np.float32)
        if self.scales is not None:
            found *= self.scales[rows, None]
        if self.offsets is not None:
            found += self.offsets[rows, None]
        return found

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return self[:].astype(np.float32 if dtype is None else dtype, copy=False)

    def __repr__(self) -> str:
        return f"<{len(self):,} rows of {self.shape[1]} {self.codes.dtype} numbers>"


Rows: TypeAlias = Floats | CompactRows
"""A table, plain or compact."""


def compacted(tensors: Mapping[str, npt.NDArray[Any]], dtype: str) -> dict[str, npt.NDArray[Any]]:
    """Return the tensors of a file with their tables in compact form.

    Spherical log-variances stay as they are: they differ by hundredths and take little space.
    """
    found: dict[str, npt.NDArray[Any]] = {}
    for name, array in tensors.items():
        if name not in _TABLES and not name.startswith("encoder."):
            found[name] = array
            continue
        if dtype == "float32" or name not in _TABLES or array.shape[1] == 1:
            found[name] = array.astype(np.float32, copy=False)
            continue
        rows = CompactRows.of(array, dtype, centred=name == "log_variances")
        found[name] = rows.codes
        found |= {} if rows.scales is None else {name + _SCALES: rows.scales}
        found |= {} if rows.offsets is None else {name + _OFFSETS: rows.offsets}
    return found


def restored(tensors: Mapping[str, npt.NDArray[Any]], dtype: Any) -> dict[str, Any]:
    """Return the tensors of a file with `CompactRows` for the tables that `compacted` stored."""
    if dtype not in TYPES[1:]:
        raise ValueError(f"the header's compact is {str(dtype)[:80]!r}: densvec knows {', '.join(TYPES[1:])}")
    found: dict[str, Any] = dict(tensors)
    for name in _TABLES:
        if name not in found or found[name].dtype != dtype:
            continue
        codes = tensor(tensors, name, "f" if dtype == "float16" else "i", (None, None))
        parts = [
            tensor(tensors, name + part, "f", (len(codes),)) if name + part in tensors else None
            for part in (_SCALES, _OFFSETS)
        ]
        if dtype == "int8" and parts[0] is None:
            raise ValueError(f"the file has {name} of type int8, but no tensor '{name}{_SCALES}'")
        rows = CompactRows(codes, *parts)
        found[name] = rows[:] if name == "context_vectors" else rows
        for part in (_SCALES, _OFFSETS):
            found.pop(name + part, None)
    return found
