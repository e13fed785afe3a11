"""Reading benchmark files: lines with their numbers, and errors that name both."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from densvec.files.streams import open_stream
from densvec.types import PathLike

T = TypeVar("T")
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")


class BenchmarkFileError(ValueError):
    """A benchmark file does not have the format that its reader expects."""


@dataclass(frozen=True)
class Line:
    """One line that is not blank, with its file and number."""

    path: str
    number: int
    text: str

    def fail(self, reason: str) -> NoReturn:
        """Raise an error that names the file, the line, and what is wrong with it."""
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "..."
        raise BenchmarkFileError(f"{self.path}, line {self.number}: {reason}; the line is {shown!r}")

    def fields(self, separator: str | None, least: int, what: str) -> list[str]:
        """Split the line, or fail if there are too few parts."""
        parts = self.text.split(separator)
        if len(parts) < least:
            self.fail(f"expected {what}; found {len(parts)} fields")
        return parts

    def figure(self, text: str) -> float:
        """Return a finite number given in the line."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.fail(f"{text!r} is not a finite number")
        return value


def read_all(path: PathLike, *, encoding: str = "utf-8") -> list[Line]:
    """Return the lines of a file that are not blank; there must be one."""
    lines = list(read_lines(path, encoding=encoding))
    if not lines:
        raise BenchmarkFileError(f"{os.fspath(path)}: there is nothing in the file")
    return lines


def read_with_gold(path: PathLike) -> list[tuple[Line, Line]]:
    """Return the lines of ``NAME.data`` with their answers from ``NAME.gold``; ``NAME.data.txt`` works, too."""
    folder, name = os.path.split(os.fspath(path))
    gold = os.path.join(folder, name.replace(".data", ".gold"))
    lines, answers = read_all(path), read_all(gold)
    if len(lines) != len(answers):
        raise BenchmarkFileError(
            f"{os.fspath(path)} has {len(lines)} lines, and {gold} {len(answers)} answers"
        )
    return list(zip(lines, answers, strict=True))


def read_lines(path: PathLike, *, encoding: str = "utf-8") -> Iterator[Line]:
    r"""Yield the lines of a file that are not blank.

    Only line feeds end a line (a carriage return before one is dropped): latin-1 text contains other
    characters, such as NEL, that `str.splitlines` would take for the end of a line.
    """
    name = os.fspath(path)
    with open_stream(path) as stream:
        content = stream.read()
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise BenchmarkFileError(
            f"{name}, line {number}: not valid {encoding} ({error.reason}); convert the file to {encoding}"
        ) from error
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        stripped = line.rstrip("\r")
        if stripped.strip():
            yield Line(name, number, stripped)


def some(items: list[T], path: PathLike, name: str) -> list[T]:
    """Return the items of a file, or raise BenchmarkFileError if there are none."""
    if not items:
        raise BenchmarkFileError(f"{os.fspath(path)}: no {name} in the file")
    return items


def benchmark_name(path: PathLike) -> str:
    """Name a benchmark after its file: ``EN-MC-30.txt`` is ``MC-30``."""
    return os.path.basename(os.fspath(path)).split(".")[0].removeprefix("EN-")


def tokenize(text: str) -> list[str]:
    """Split a text into lower-cased words: letters and digits, and what follows an apostrophe.

    Examples
    --------
    >>> tokenize("The bank's top-rate loan , 5 %")
    ['the', "bank's", 'top', 'rate', 'loan', '5']
    """
    return _TOKEN.findall(text.lower())
