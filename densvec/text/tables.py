"""Tables with a text in each row: where words occur in them, and what the other columns say there."""

from __future__ import annotations

import fnmatch
import io
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from densvec.files.streams import faults_named, open_stream
from densvec.text import kinds
from densvec.text.concordance import Occurrence
from densvec.text.raw import RawText
from densvec.text.text_reading import TextReading
from densvec.types import Integers

_MOST_SOUGHT = 100
"""With more words to look for, nearly every text has one, so that none is left out beforehand."""


class _Numbers(dict[str, int]):
    """Numbers of words as they are met, and which of them are looked for."""

    def __init__(self, targets: Sequence[str]) -> None:
        self.of_target: list[list[int]] = [[] for _ in targets]
        self.wanted: set[int] = set()
        self._exact: dict[str, list[int]] = {}
        self._patterns: list[tuple[re.Pattern[str], int]] = []
        for i, target in enumerate(targets):
            for form in forms_of(target):
                if "*" in form or "?" in form:
                    self._patterns.append((re.compile(fnmatch.translate(form)), i))
                else:
                    self._exact.setdefault(form, []).append(i)

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        found = {*self._exact.get(word, ()), *(i for pattern, i in self._patterns if pattern.match(word))}
        for i in found:
            self.of_target[i].append(number)
            self.wanted.add(number)
        return number


def forms_of(target: str) -> list[str]:
    """Return the words and patterns that count as one.

    Examples
    --------
    >>> forms_of("immigra*|migrant")
    ['immigra*', 'migrant']
    """
    return [form.strip() for form in target.split("|") if form.strip()]


@dataclass
class Texts:
    """The sentences of a table's texts that have any of the words looked for.

    Attributes
    ----------
    words : list of str
        All words of these sentences.
    numbers : numpy.ndarray of int
        The sentences, one after another, as numbers of words.
    ends : numpy.ndarray of int
        Where each begins, and the last ends.
    rows : numpy.ndarray of int
        The row of the table that each is of.
    columns : dict of str to list
        Other columns of the table, all rows.
    """

    words: list[str]
    numbers: Integers
    ends: Integers
    rows: Integers
    columns: dict[str, list[Any]]
    of_target: list[list[int]]

    @cached_property
    def _sorted(self) -> tuple[Integers, Integers]:
        """The places of all words looked for, by word, and where those of each begin."""
        wanted = np.zeros(len(self.words), dtype=bool)
        wanted[[number for numbers in self.of_target for number in numbers]] = True
        places = np.flatnonzero(wanted[self.numbers])
        found = self.numbers[places]
        order = np.argsort(found, kind="stable")
        return places[order], np.searchsorted(found[order], np.arange(len(self.words) + 1))

    def places(self, target: int) -> Integers:
        """Return where a target occurs, in the order of the text."""
        places, starts = self._sorted
        parts = [places[starts[number] : starts[number + 1]] for number in self.of_target[target]]
        return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))

    def sentences(self, places: Integers) -> Integers:
        """Return the sentence of each place."""
        return np.searchsorted(self.ends, places, side="right") - 1

    def occurrence(self, place: int) -> Occurrence:
        """Return the occurrence at a place."""
        first, last = self.ends[self.sentences(np.array([place]))[0] :][:2]
        return Occurrence([self.words[number] for number in self.numbers[first:last]], int(place - first))


def read_texts(
    table: Any,
    text: str,
    others: Callable[[Sequence[str]], Iterable[str]],
    targets: Sequence[str],
    reading: TextReading,
    *,
    show_progress: bool | None = None,
) -> Texts:
    """Read the texts of a table as another text is read.

    Parameters
    ----------
    table : DataFrame, Arrow table, mapping of columns, or path
        A path is that of a CSV file, or of lines of JSON.
    text : str
        The column of the texts.
    others : callable
        Says which other columns are needed, of those that there are.
    targets : sequence of str
        Words to look for: ``"freedom"``, ``"immigra*"``, or several that count as one, ``"freedom|liberty"``.
    reading : TextReading
        How words are found in the texts.
    show_progress : bool or None, optional
        Whether to show a progress bar; None for only in a terminal.

    Examples
    --------
    >>> table = {"text": ["A ripe kiwi. Soft.", "Two kiwis."], "year": [1990, 1991]}
    >>> found = read_texts(table, "text", lambda names: ["year"], ["kiwi|kiwis"], TextReading("simple", lower=True))
    >>> [found.occurrence(place).text for place in found.places(0)], found.rows.tolist(), found.columns
    (['a ripe [[kiwi]]', 'two [[kiwis]]'], [0, 1], {'year': [1990, 1991]})
    """
    from tqdm.auto import tqdm

    numbers, may_have = _Numbers(targets), _filter(targets)
    reading = replace(reading, column=None, encoding="utf-8")
    flat, ends, rows, columns = array("i"), array("q", [0]), array("q"), dict[str, list[Any]]()
    disable = None if show_progress is None else not show_progress
    for row, record in enumerate(
        tqdm(_records(table, text, others), "reading", disable=disable, leave=False)
    ):
        said = record.pop(text)
        for name, value in record.items():
            columns.setdefault(name, []).append(value)
        if not isinstance(said, str) or not may_have(said):
            continue
        for sentence in RawText.like(
            io.BytesIO(re.sub("[\ufeff\ufffd]", " ", said).encode("utf-8", "replace")), reading
        ):
            found = [numbers[word] for word in sentence]
            if not numbers.wanted.isdisjoint(found):
                flat.extend(found)
                ends.append(len(flat))
                rows.append(row)
    sizes, of = np.array(ends, dtype=np.int64), np.array(rows, dtype=np.int64)
    return Texts(list(numbers), np.array(flat, dtype=np.int32), sizes, of, columns, numbers.of_target)


def _filter(targets: Sequence[str]) -> Callable[[str], Any]:
    """Return what tells quickly that a text has none of some words."""
    forms = [form for target in targets for form in forms_of(target)]
    if len(forms) > _MOST_SOUGHT:
        return bool
    runs = (max(re.findall(r"[^\W_]+", form), key=len, default="") for form in forms)
    return re.compile("|".join(sorted({re.escape(run) for run in runs})), re.IGNORECASE).search


def _records(
    table: Any, text: str, others: Callable[[Sequence[str]], Iterable[str]]
) -> Iterator[dict[str, Any]]:
    """Yield the text and the other columns of each row."""
    if isinstance(table, (str, os.PathLike)):
        name = os.fspath(table)
        with faults_named(name), open_stream(name) as file:
            lines = (
                line.rstrip("\r\n") for line in io.TextIOWrapper(file, "utf-8-sig", "replace", newline="\n")
            )
            first = next(lines, "")
            names = [text, *others(kinds.columns_of(name, first))]
            for row in kinds.records(_chain(first, lines), name, names, name):
                yield {each: row.get(each) for each in names}
        return
    found = getattr(table, "column_names", None)  # Arrow's
    present = list(found if found is not None else getattr(table, "columns", table))
    names = [text, *others(present)]
    for name in names:
        if name not in present:
            raise ValueError(f"the table has no column {name!r}: there are {', '.join(map(str, present))}")
    sides = [table[name] for name in names]
    columns = [side.to_pylist() if hasattr(side, "to_pylist") else list(side) for side in sides]
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


def _chain(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines
