"""The results of evaluation: figures, each with its task, benchmark, measure and method."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from densvec.checks import needs
from densvec.statistics.bootstrap import Estimate, difference

Row = dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """One number: how well a method does in a benchmark, by one measure.

    Attributes
    ----------
    task, benchmark, measure, method : str
    value : Estimate
        The number, and its interval.
    known : int
        How many items were answered; the others have unknown words.
    items : int
        How many there are.
    """

    task: str
    benchmark: str
    measure: str
    method: str
    value: Estimate
    known: int
    items: int

    def to_dict(self) -> Row:
        """Return everything as strings and numbers; None for what could not be computed."""
        names = ("task", "benchmark", "measure", "method")
        parts = (self.value.value, self.value.low, self.value.high)
        value, low, high = (part if part is not None and math.isfinite(part) else None for part in parts)
        interval = {} if self.value.low is None else {"low": low, "high": high}
        texts = {name: getattr(self, name) for name in names}
        return {**texts, "value": value, **interval, "known": self.known, "items": self.items}


class Results(Sequence[Figure]):
    """A sequence of figures, which prints as tables and can be indexed by name.

    Examples
    --------
    >>> results = Results([Figure("word similarity", "MEN", "rho", "cosine", Estimate(0.7), 3, 3)])
    >>> float(results["MEN", "rho", "cosine"])
    0.7
    >>> print(results)
    word similarity  known  cosine
    MEN rho            3/3   0.700
    """

    def __init__(self, figures: Iterable[Figure]) -> None:
        self._figures = tuple(figures)

    @overload
    def __getitem__(self, index: int) -> Figure: ...
    @overload
    def __getitem__(self, index: slice) -> Results: ...
    @overload
    def __getitem__(self, index: tuple[str, str, str]) -> Estimate: ...
    def __getitem__(self, index: Any) -> Any:
        """Return the figure at an index, or the estimate for (benchmark, measure, method)."""
        if isinstance(index, slice):
            return Results(self._figures[index])
        if not isinstance(index, tuple):
            return self._figures[index]
        for figure in self._figures:
            if (figure.benchmark, figure.measure, figure.method) == index:
                return figure.value
        raise KeyError(f"there is no figure of {index!r}: give a benchmark, a measure and a method")

    def __len__(self) -> int:
        return len(self._figures)

    def __add__(self, other: Results) -> Results:
        return Results([*self, *other])

    def minus(self, other: Results) -> Results:
        """Return the differences to another model's results, figure by figure, by the paired bootstrap.

        A difference whose interval contains 0 is no evidence. Figures that the other results lack are left out.
        """
        theirs = {_name(figure): figure.value for figure in other}
        found = []
        for figure in self:
            if _name(figure) in theirs:
                value = difference(figure.value, theirs[_name(figure)])
                found.append(Figure(*_name(figure), value, figure.known, figure.items))
        return Results(found)

    def tables(self) -> dict[str, list[Row]]:
        """Return for each task its rows: one for each benchmark and measure, with a column for each method.

        A method that answers other items than the first says so.
        """
        tables: dict[str, dict[tuple[str, str], Row]] = {}
        for figure in self:
            rows = tables.setdefault(figure.task, {})
            start = {figure.task: f"{figure.benchmark} {figure.measure}".rstrip(), "known": ""}
            row = rows.setdefault((figure.benchmark, figure.measure), start)
            known = f"{figure.known}/{figure.items}" if figure.items else ""
            row["known"] = row["known"] or known
            row[figure.method] = figure.value if row["known"] == known else f"{_cell(figure.value)} ({known})"
        return {task: list(rows.values()) for task, rows in tables.items()}

    def __str__(self) -> str:
        return "\n\n".join(map(format_table, self.tables().values()))

    def to_markdown(self) -> str:
        """Return the tables in Markdown."""
        return "\n\n".join(format_table(rows, markdown=True) for rows in self.tables().values())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries, lists, strings and numbers."""
        return {"figures": [figure.to_dict() for figure in self]}

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON; a figure that could not be computed is null."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def to_dataframe(self) -> Any:
        """Return a pandas DataFrame with a row for each figure."""
        return needs("pandas").DataFrame([figure.to_dict() for figure in self])


def _name(figure: Figure) -> tuple[str, str, str, str]:
    return figure.task, figure.benchmark, figure.measure, figure.method


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or math.isnan(value):
        return "–"
    number = float(value)
    text = f"{number:.3f}" if abs(number) < 100 else f"{number:.0f}"
    if not isinstance(value, Estimate) or value.low is None or value.high is None:
        return text
    half = (value.high - value.low) / 2
    return f"{text} ±{half:.3f}" if abs(number) < 100 else f"{text} ±{half:.0f}"


def format_table(rows: Sequence[Row], *, markdown: bool = False) -> str:
    """Lay out rows as a table, the first column to the left and the others to the right.

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
    widths = [max(len(name), *(len(line[i]) for line in cells)) for i, name in enumerate(names)]

    def line(texts: Sequence[str]) -> str:
        padded = [
            text.rjust(width) if i else text.ljust(width)
            for i, (text, width) in enumerate(zip(texts, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |" if markdown else "  ".join(padded).rstrip()

    lines = [line(names), *map(line, cells)]
    if markdown:
        rule = ["-" * (width - bool(i)) + ":" * bool(i) for i, width in enumerate(widths)]
        lines.insert(1, f"| {' | '.join(rule)} |")
    return "\n".join(lines)
