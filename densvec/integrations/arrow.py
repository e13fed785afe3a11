"""Words, counts, means and variances as an Arrow table, which Parquet files hold (``pip install 'densvec[arrow]'``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from densvec.checks import needs

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


__all__ = ["from_arrow", "to_arrow"]

_WINDOW = b"densvec.window"
_OWN = ("word", "mean", "variance")


def to_arrow(wv: KeyedDensities) -> Any:
    """Return a ``pyarrow.Table`` with a row for each word.

    Its columns are ``word``, ``mean`` (a list of D numbers), ``variance`` (one number, or D of them if diagonal; absent
    without variances), ``count`` and other attributes. The means are not copied.
    ``pyarrow.parquet`` writes such a table to a file.

    Examples
    --------
    >>> table = wv.to_arrow()
    >>> table.column_names, table.num_rows
    (['word', 'mean', 'variance', 'count'], 4)
    """
    pa = needs("pyarrow", "arrow")
    columns = {"word": pa.array([str(key) for key in wv.index_to_key], pa.string())}
    columns["mean"] = _lists(pa, wv.vectors)
    if wv.log_variances is not None:
        variances = wv.variances
        columns["variance"] = (
            pa.array(np.ascontiguousarray(variances[:, 0]))
            if variances.shape[1] == 1
            else _lists(pa, variances)
        )
    for name, values in wv.expandos.items():
        if name not in _OWN:
            columns[name] = pa.array(values)
    return pa.table(columns).replace_schema_metadata({_WINDOW: str(wv.window).encode()})


def from_arrow(cls: type[KeyedDensities], table: Any) -> KeyedDensities:
    """Return the words of a ``pyarrow.Table`` such as :meth:`to_arrow` makes; words and means are enough.

    Examples
    --------
    >>> type(wv).from_arrow(wv.to_arrow())
    KeyedDensities<vector_size=2, 4 keys, spherical>
    """
    missing = [name for name in ("word", "mean") if name not in table.column_names]
    if missing:
        raise ValueError(
            f"the table has no column {missing[0]!r}: its columns are {', '.join(table.column_names)}"
        )
    means = _matrix(table, "mean")
    log_variances = None
    if "variance" in table.column_names:
        variances = _matrix(table, "variance")
        if not ((variances > 0) & np.isfinite(variances)).all():
            raise ValueError("every variance must be positive and finite")
        log_variances = np.log(variances)
    return cls.from_arrays(
        table["word"].to_pylist(),
        means,
        log_variances=log_variances,
        attributes={
            name: np.asarray(table[name].to_numpy(zero_copy_only=False))
            for name in table.column_names
            if name not in _OWN
        },
        window=int((table.schema.metadata or {}).get(_WINDOW, b"5")),
    )


def _lists(pa: Any, rows: npt.NDArray[Any]) -> Any:
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(rows).ravel()), rows.shape[1])


def _matrix(table: Any, name: str) -> npt.NDArray[Any]:
    """Return a column of lists, or of numbers, as rows."""
    column = table[name].combine_chunks()
    if column.null_count:
        raise ValueError(f"the column {name!r} has {column.null_count} empty rows")
    values = column.flatten() if hasattr(column, "flatten") else column
    numbers: npt.NDArray[Any] = np.asarray(values.to_numpy(zero_copy_only=False))
    if numbers.dtype.kind != "f" or numbers.size % max(len(column), 1):
        raise ValueError(
            f"the column {name!r} does not hold lists of floating-point numbers, all of the same length"
        )
    return numbers.reshape(len(column), -1)
