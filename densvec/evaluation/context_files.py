"""Finding the benchmarks of words in context in a directory, by what their files look like."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import islice

from densvec.evaluation.reading import BenchmarkFileError, PathLike, benchmark_name, read_lines
from densvec.evaluation.word_in_context import gold_beside

__all__ = [
    "ContextFiles",
]


@dataclass(frozen=True)
class ContextFiles:
    """Paths of benchmarks by name.

    Attributes
    ----------
    similarity : dict of str to str
        Files in SCWS's format.
    change : dict of str to (str, str or None)
        Files in CoSimLex's format, each with the file of its ratings if they are separate.
    word_in_context : dict of str to (str, str or None)
        Development parts in WiC's format, each with its test part if that has answers.
    """

    similarity: dict[str, str] = field(default_factory=dict)
    change: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    word_in_context: dict[str, tuple[str, str | None]] = field(default_factory=dict)

    @classmethod
    def find(cls, directory: PathLike) -> ContextFiles:
        """Look at all .txt and .tsv files of a directory and of those in it.

        A file of eight or more columns with ``<b>`` in its first line is in SCWS's format; one whose header has
        ``word1`` and ``context1`` in CoSimLex's, its ratings in the file with ``gold`` for ``data`` in its path if
        it has none itself; one named ``...dev.data.txt`` with a ``...dev.gold.txt`` in WiC's, its test part in the
        file with ``test`` for ``dev`` in its path.
        """
        found = cls()
        for path in _texts(directory):
            header = _first_line(path).split("\t")
            columns = {name.strip().lower() for name in header}
            if {"word1", "context1"} <= columns:
                rated = "sim1" in columns or "sim_context1" in columns
                gold = None if rated else _counterpart(path, "data", "gold")
                if rated or gold is not None:
                    found.change[benchmark_name(path)] = path, gold
            elif len(header) >= 8 and "<b>" in header[5]:
                found.similarity[benchmark_name(path)] = path
            elif _is_development(path):
                test = _counterpart(path, "dev", "test")
                has_answers = test is not None and os.path.exists(gold_beside(test))
                name = os.path.basename(path).split(".data")[0].replace("dev", "").strip("._-")
                found.word_in_context[name or "wic"] = path, test if has_answers else None
        return found


def _texts(directory: PathLike) -> list[str]:
    places = [
        os.path.join(place, name)
        for place, _, names in os.walk(os.fspath(directory))
        for name in names
        if name.removesuffix(".gz").endswith((".txt", ".tsv"))
    ]
    return sorted(places)


def _first_line(path: str) -> str:
    """Return the first line of a file that is not blank; nothing if the file is not UTF-8."""
    try:
        return next((line.text for line in islice(read_lines(path), 1)), "")
    except BenchmarkFileError:
        return ""


def _is_development(path: str) -> bool:
    name = os.path.basename(path)
    return "dev" in name and ".data" in name and os.path.exists(gold_beside(path))


def _counterpart(path: str, word: str, other: str) -> str | None:
    """Return the file whose name, or directory and name, has another word in it, if there is one."""
    directory, name = os.path.split(path)
    parent, last = os.path.split(directory)
    swapped = name.replace(word, other)
    for place in (os.path.join(directory, swapped), os.path.join(parent, last.replace(word, other), swapped)):
        if place != path and os.path.exists(place):
            return place
    return None
