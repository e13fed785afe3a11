"""What all answers have in common: their fields are their JSON, and their rows a table or a file of one."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from densvec.answers.messages import UsageError, sentence

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


class Document:
    """An answer, or a part of one. Fields that are None by default are left out of its JSON while they are None."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}  # the schema is all there is

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        pairs = ((each, getattr(self, each.name)) for each in fields(self))  # type: ignore[arg-type]
        return {each.name: value for each, value in pairs if value is not None or each.default is MISSING}

    def parts(self) -> Sequence[Document]:
        """Return the documents that are printed as JSON, one on each line: by default the answer itself."""
        return [self]

    def table(self) -> Table:
        """Return the answer as rows: by default one, of its fields."""
        found = self.to_dict()
        return Table(list(found), [list(found.values())])

    def __str__(self) -> str:
        return str(self.table())


@dataclass
class Scored(Document):
    """A word and its score: larger is better, by every metric; and how often it occurs, if that is known."""

    word: str
    score: float | None
    count: int | None = None


def scored(found: Iterable[tuple[Any, float]], wv: KeyedDensities | None = None) -> list[Scored]:
    """Return words and scores as parts of a document, with the words' counts if the model is given."""
    counts = None if wv is None else wv.expandos.get("count")
    if wv is None or counts is None:
        return [Scored(str(word), float(score)) for word, score in found]
    return [Scored(str(word), float(score), int(counts[wv.get_index(word)])) for word, score in found]


@dataclass
class Unknown(Document):
    """A word about which nothing can be said, and why."""

    word: str
    error: str

    def __str__(self) -> str:
        return f"{self.word}\n  unknown: {self.error}"


def each_known(words: Iterable[str], ask: Callable[[str], Any]) -> tuple[list[Any], list[Unknown]]:
    """Return what is found about each word, and the words that raised KeyError; at least one must be known."""
    found, unknown, first = [], [], None
    for word in words:
        try:
            found.append(ask(word))
        except KeyError as error:
            first = first or error
            unknown.append(Unknown(word, sentence(error)))
    if first is not None and not found:
        raise first
    return found, unknown


def encoded(document: Any, *, ascii_only: bool = False, separators: tuple[str, str] | None = None) -> str:
    """Return a document as JSON; numbers that JSON has no name for become null."""
    options: dict[str, Any] = {"ensure_ascii": ascii_only, "allow_nan": False, "separators": separators}
    try:
        return json.dumps(document, default=_plain, **options)
    except (
        TypeError,
        ValueError,
    ):  # keys that are no strings, or numbers that are not finite: rarely, and slower
        return json.dumps(_finite(document), **options)


def _plain(value: Any) -> Any:
    """Return what JSON has no form for as something that it has: documents, and NumPy's scalars and arrays."""
    return value.to_dict() if isinstance(value, Document) else value.tolist()


def _finite(value: Any) -> Any:
    if isinstance(value, Document):
        value = value.to_dict()
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
        """Return the table as a file holds it: comma- or tab-separated, Markdown, or LaTeX (with booktabs)."""
        if kind == ".md":
            lines = [self.names, ["---"] * len(self.names), *self.rows]
            return "".join(f"| {' | '.join(_markdown(cell) for cell in line)} |\n" for line in lines)
        if kind == ".tex":
            head, *below = (f"{' & '.join(map(_latex, line))} \\\\\n" for line in [self.names, *self.rows])
            begin = f"\\begin{{tabular}}{{{'l' * len(self.names)}}}\n\\toprule\n{head}\\midrule\n"
            return f"{begin}{''.join(below)}\\bottomrule\n\\end{{tabular}}\n"
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t" if kind == ".tsv" else ",", lineterminator="\n")
        writer.writerow(self.names)
        writer.writerows([_cell(cell) for cell in row] for row in self.rows)
        return text.getvalue()


FORMATS = (".csv", ".tsv", ".md", ".tex", ".json")
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
    return _short(value).replace("|", "\\|")


def _latex(value: Any) -> str:
    return re.sub(
        r"[&%$#_{}]", r"\\\g<0>", _short(value).replace("\\", " ").replace("~", " ").replace("^", " ")
    )


def _short(value: Any) -> str:
    if isinstance(value, float):
        value = f"{value:.4g}"  # for people: the other formats keep all digits
    return "" if value is None else str(_cell(value)).replace("\n", " ")


def format_of(path: str) -> str:
    """Return the ending of a file's name, or say which there are.

    Examples
    --------
    >>> format_of("answers.CSV")
    '.csv'
    >>> format_of("answers.xls")
    Traceback (most recent call last):
    densvec.answers.messages.UsageError: answers.xls: the name must end in .csv, .tsv, .md, .tex or .json
    """
    kind = os.path.splitext(path)[1].lower()
    if kind not in FORMATS:
        *most, last = FORMATS
        raise UsageError(f"{path}: the name must end in {', '.join(most)} or {last}")
    return kind


def columns(rows: Sequence[Sequence[str]], *, right: Iterable[int] = (), indent: str = "") -> str:
    """Lay out rows in columns; those in `right` are right-aligned."""
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
