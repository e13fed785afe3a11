"""Rows of an answer: laid out for people, or written to a file of the kind that its name says."""

from __future__ import annotations

import csv
import io
import os
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from densvec.answers.messages import UsageError


@dataclass(frozen=True)
class Table:
    """Names of columns, and rows of words and numbers.

    Examples
    --------
    >>> table = Table(("word", "score"), [("owl", -1.5), ("kakapo", -12.25)])
    >>> print(table)
    owl      -1.5000
    kakapo  -12.2500
    >>> print(table.formatted(".md"), end="")
    | word | score |
    | --- | --- |
    | owl | -1.5 |
    | kakapo | -12.25 |
    """

    names: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __str__(self) -> str:
        kinds = (int, float)
        numbers = [i for i in range(len(self.names)) if any(isinstance(row[i], kinds) for row in self.rows)]
        cells = [[_shown(cell) for cell in row] for row in self.rows]
        return columns(cells, right=numbers)

    def beside(self, question: dict[str, Any]) -> Table:
        """Return the table with the question in front of each row, so that rows of many can stand together."""
        asked = [(name, _cell(value)) for name, value in question.items() if name not in self.names]
        names, values = [name for name, _ in asked], [value for _, value in asked]
        return Table([*names, *self.names], [[*values, *row] for row in self.rows])

    def formatted(self, kind: str) -> str:
        """Return the table as a file holds it: comma- or tab-separated, or Markdown."""
        if kind == ".md":
            lines = [self.names, ["---"] * len(self.names), *self.rows]
            return "".join(f"| {' | '.join(_markdown(cell) for cell in line)} |\n" for line in lines)
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t" if kind == ".tsv" else ",", lineterminator="\n")
        writer.writerow(self.names)
        writer.writerows([_cell(cell) for cell in row] for row in self.rows)
        return text.getvalue()


FORMATS = (".csv", ".tsv", ".md", ".json")
"""The endings of the files that answers can be written to."""


def _shown(value: Any) -> str:
    """Return what people read of a cell."""
    if isinstance(value, float):
        return f"{value:.4f}"
    return "" if value is None else f"{value:,}" if type(value) is int else str(value)


def _cell(value: Any) -> Any:
    """Return what stands in a cell: words of a list are separated by spaces."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else value


def _markdown(value: Any) -> str:
    if isinstance(value, float):
        value = f"{value:.4g}"  # for people: the other formats keep all digits
    text = "" if value is None else str(_cell(value))
    return text.replace("|", "\\|").replace("\n", " ")


def format_of(path: str) -> str:
    """Return the ending of a file's name, or say which there are.

    Examples
    --------
    >>> format_of("answers.CSV")
    '.csv'
    >>> format_of("answers.xls")
    Traceback (most recent call last):
    densvec.answers.messages.UsageError: answers.xls: the name must end in .csv, .tsv, .md or .json
    """
    kind = os.path.splitext(path)[1].lower()
    if kind not in FORMATS:
        *most, last = FORMATS
        raise UsageError(f"{path}: the name must end in {', '.join(most)} or {last}")
    return kind


def columns(rows: Sequence[Sequence[str]], *, right: Iterable[int] = (), indent: str = "") -> str:
    """Lay out rows in columns; those in `right` are right-aligned.

    Examples
    --------
    >>> print(columns([("owl", "-1.5"), ("kakapo", "-12.25")], right=[1]))
    owl       -1.5
    kakapo  -12.25
    """
    flush_right = set(right)
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = []
        for i, (cell, width) in enumerate(zip(row, widths, strict=True)):
            padding = " " * (width - _width(cell))
            cells.append(padding + cell if i in flush_right else cell + padding)
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for each wide character, none for accents."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )
