"""Columns of a table as the design matrix of a regression."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from densvec.checks import needs
from densvec.types import Array, Floats

Columns = Mapping[str, Array]
"""Columns of a table by name: numbers, or objects."""

_FACTOR = re.compile(r"C\((.+)\)$")
_NAME = re.compile(r"[^\W\d]\w*")

INTERCEPT = "Intercept"


class Design:
    """The design matrix of a formula, for a table and for others with the same columns.

    Sums of columns, such as ``"party + year + C(term)"``, are understood here: columns of numbers count as they are,
    those of anything else, and those in ``C(...)``, by levels, of which the first is the one that others are compared
    with. Everything else (interactions, functions, splines) is left to formulaic, if that is installed.

    Attributes
    ----------
    names : list of str
        Of the columns of the matrix, ``"Intercept"`` first.
    columns : list of str
        The columns of the table that it reads.

    Examples
    --------
    >>> table = {"party": np.array(["left", "right", "left"], dtype=object), "year": np.array([1990, 1991, np.nan])}
    >>> design = Design("party + year", table)
    >>> design.names
    ['Intercept', 'party[T.right]', 'year']
    >>> design.matrix(table)[:2].tolist()
    [[1.0, 0.0, 1990.0], [1.0, 1.0, 1991.0]]
    """

    def __init__(self, formula: str, table: Columns) -> None:
        formula = formula.rpartition("~")[2].strip()
        self._terms: list[tuple[str, list[str] | None]] | None = []
        self._spec: Any = None
        for term in map(str.strip, formula.split("+")):
            name = term if term in table else (_FACTOR.match(term) or ("", ""))[1]
            if name not in table:
                self._terms = None
                break
            self._terms.append(
                (name, _levels(table[name]) if name != term or not is_number(table[name]) else None)
            )
        if self._terms is None:
            self.columns = columns_in(formula, table)
            found = self._by_formulaic(table, formula)
            self.names = list(found.model_spec.column_names)
            self._spec = found.model_spec
        else:
            self.columns = list(dict.fromkeys(name for name, _ in self._terms))
            self.names = [INTERCEPT]
            for term, (name, levels) in zip(formula.split("+"), self._terms, strict=True):
                self.names += (
                    [name] if levels is None else [f"{term.strip()}[T.{each}]" for each in levels[1:]]
                )
        if self.names[:1] != [INTERCEPT]:
            raise ValueError(f"the formula {formula!r} has no intercept: leave out the 0 or -1")
        if len(self.names) == 1:
            raise ValueError(f"{' and '.join(self.columns)} has one value only: leave it out of the formula")

    def matrix(self, table: Columns) -> Floats:
        """Return the rows of the matrix, (n, p); where a value is missing they are NaN."""
        count = len(next(iter(table.values())))
        if self._terms is None:
            found = self._by_formulaic(table, self._spec)
            matrix = np.full((count, len(self.names)), np.nan)
            matrix[found.index] = found.to_numpy(dtype=np.float64)
            return matrix
        columns = [np.ones(count)]
        missing = np.zeros(count, dtype=bool)
        for name, levels in self._terms:
            gone = is_missing(table[name])
            missing |= gone
            if levels is None:
                columns.append(np.where(gone, np.nan, table[name]).astype(np.float64))
                continue
            values = np.array([_text(value) for value in table[name].tolist()], dtype=object)
            unknown = set(values[~gone]) - set(levels)
            if unknown:
                raise ValueError(f"{name} is never {min(unknown)}: it is {', '.join(levels[:20])}")
            columns += [(values == level).astype(np.float64) for level in levels[1:]]
        matrix = np.column_stack(columns)
        matrix[missing] = np.nan
        return matrix

    def _by_formulaic(self, table: Columns, what: Any) -> Any:
        model_matrix = needs("formulaic", "formula").model_matrix
        frame = needs("pandas").DataFrame({name: table[name] for name in self.columns})
        frame = frame[
            ~np.any([is_missing(table[name]) for name in self.columns], axis=0)
        ]  # functions fail at gaps
        try:
            return model_matrix(what, frame, na_action="drop")
        except Exception as error:  # of many kinds
            raise ValueError(f"the formula {what if isinstance(what, str) else ''!r}: {error}") from error


def columns_in(formula: str, names: Any) -> list[str]:
    """Return the columns that a formula may read, of those that there are; ValueError if it reads none.

    Examples
    --------
    >>> columns_in("party*scale(year)", ["year", "party", "speech"])
    ['year', 'party']
    """
    words = {*_NAME.findall(formula), *(part.strip() for part in formula.split("+"))}
    return [name for name in names if name in words]


def is_number(values: Array) -> bool:
    """Return whether a column is of numbers."""
    return values.dtype.kind in "iuf"


def is_missing(values: Array) -> Any:
    """Return which values of a column are missing: None, NaN, or empty."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    return np.array([_is_gap(value) for value in values.tolist()], dtype=bool)


def as_column(values: Sequence[Any]) -> Array:
    """Return a column as numbers, if all values that are there are numbers, also as text; else as objects.

    Examples
    --------
    >>> as_column(["1990", "", "2000"]), as_column(["left", None])
    (array([1990.,   nan, 2000.]), array(['left', None], dtype=object))
    """
    if all(isinstance(value, bool) for value in values):
        return np.array(values, dtype=object)
    try:
        return np.array([np.nan if _is_gap(value) else float(value) for value in values])
    except (TypeError, ValueError):
        column = np.empty(len(values), dtype=object)
        column[:] = list(values)
        return column


def _is_gap(value: Any) -> bool:
    return value is None or str(value) in ("", "nan", "<NA>", "NaT")


def _levels(values: Array) -> list[str]:
    present = set(values[~is_missing(values)].tolist())
    return list(
        dict.fromkeys(map(_text, sorted(present) if is_number(values) else sorted(map(str, present))))
    )


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
