"""What every result can do: print as a table, turn into JSON, turn into a DataFrame."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from densvec.statistics.bootstrap import Estimate

__all__ = ["Result", "ResultOnPairs", "Row", "format_table", "plain", "share"]

Row = dict[str, Any]


class Result:
    """Base of all results: a subclass says what its rows are, and gets every form of output."""

    def rows(self) -> list[Row]:
        """One dictionary for each line of the table; values are strings, numbers, estimates or None."""
        raise NotImplementedError

    def __str__(self) -> str:
        return format_table(self.rows())

    def to_markdown(self) -> str:
        """The table in Markdown."""
        return format_table(self.rows(), markdown=True)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries, lists, strings and numbers."""
        return {"rows": [_plain(row) for row in self.rows()]}

    def to_json(self, *, indent: int | None = 2) -> str:
        """`to_dict` as JSON; a figure that could not be computed is null."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_dataframe(self) -> Any:
        """Turn into a pandas DataFrame; an estimate becomes the columns name, name_low and name_high."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_dataframe() needs pandas: pip install pandas") from error
        return pandas.DataFrame([dict(_columns(row)) for row in self.rows()])


class ResultOnPairs(Result):
    """Base of results on pairs of words, of which only those with known words count."""

    name: str
    pairs: int
    known: int

    @property
    def coverage(self) -> float:
        """Share of the pairs whose words are both known."""
        return share(self.known, self.pairs)

    def _row(self, figures: Row) -> Row:
        """One line: the benchmark's name, the figures, and the number of pairs."""
        return {"benchmark": self.name, **figures, "known": self.known, "pairs": self.pairs}


def share(part: int, whole: int) -> float:
    """Part of a whole, NaN of nothing."""
    return part / whole if whole else math.nan


def plain(value: Any) -> Any:
    """Turn a value into what JSON can hold."""
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _plain(row: Row) -> Row:
    return {name: plain(value) for name, value in row.items()}


def _columns(row: Row) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, Estimate):
            yield name, value.value
            if value.low is not None:
                yield f"{name}_low", value.low
                yield f"{name}_high", value.high
        else:
            yield name, value


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, Estimate):
        return "–" if math.isnan(value.value) else format(value, ".3f")
    if isinstance(value, float):
        return "–" if math.isnan(value) else format(value, ".3f")
    return str(value)


def format_table(rows: Sequence[Row], *, markdown: bool = False) -> str:
    """Lay out rows as a table, numbers to the right.

    Examples
    --------
    >>> print(format_table([{"set": "MEN", "rho": 0.7}, {"set": "RW", "rho": None}]))
    set    rho
    MEN  0.700
    RW       –
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    if not names:
        return ""
    cells = [[_cell(row.get(name)) for name in names] for row in rows]
    left = [all(isinstance(row.get(name), str | None) for row in rows) for name in names]
    widths = [max(len(name), *(len(line[i]) for line in cells)) for i, name in enumerate(names)]

    def line(texts: Sequence[str]) -> str:
        padded = [
            text.ljust(width) if to_left else text.rjust(width)
            for text, width, to_left in zip(texts, widths, left, strict=True)
        ]
        return f"| {' | '.join(padded)} |" if markdown else "  ".join(padded).rstrip()

    lines = [line(names), *map(line, cells)]
    if markdown:
        rule = [
            "-" * width if to_left else "-" * (width - 1) + ":"
            for width, to_left in zip(widths, left, strict=True)
        ]
        lines.insert(1, f"| {' | '.join(rule)} |")
    return "\n".join(lines)
