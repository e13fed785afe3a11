"""Files that hold more than text, as lines of text: HTML, tables, and books with somebody else's head and foot."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Any

from densvec.text.kinds import END, START, columns_of, delimiter_of, is_json

__all__ = ["AsFile", "column", "markup", "without_boilerplate"]

_INLINE = re.compile(
    "a|abbr|b|bdi|bdo|big|cite|code|data|dfn|em|font|hi|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup|time|tt|u|"
    "var|wbr"
)
"""Elements that stand within a line; all others begin a paragraph."""

_SILENT = frozenset(("head", "script", "style", "noscript", "template", "svg", "teiheader"))


class _Text(HTMLParser):
    """Collects the text of a page; what is not shown is left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Begin an element."""
        self._silent += tag in _SILENT
        if not _INLINE.fullmatch(tag):
            self.parts.append("\n\n")

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        """Begin and end an element."""
        if not _INLINE.fullmatch(tag):
            self.parts.append("\n\n")

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        self._silent -= tag in _SILENT and self._silent > 0
        if not _INLINE.fullmatch(tag):
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        """Keep text, each run of white space as one space, so that lines end where elements do."""
        if not self._silent:
            self.parts.append(" ".join(f".{data}.".split())[1:-1])


def markup(lines: Iterable[str]) -> Iterator[str]:
    """Yield the text of HTML or XML, a blank line between paragraphs.

    Examples
    --------
    >>> page = ["<html><head><title>x</title></head><body><p>He <b>left</b>,", "&amp; she came.<p>Why?"]
    >>> [line for line in markup(page) if line.strip()]
    ['He left, & she came.', 'Why?']
    """
    parser = _Text()
    for line in lines:
        parser.feed(f"{line}\n")
        text = "".join(parser.parts)
        *whole, left = text.split("\n")
        parser.parts = [left]
        yield from map(str.strip, whole)
    parser.close()
    yield from map(str.strip, "".join(parser.parts).split("\n"))


def column(lines: Iterable[str], name: str, of: str, place: str) -> Iterator[str]:
    r"""Yield the texts in the column `of` of a table, a blank line after each.

    Examples
    --------
    >>> list(column(["id,text", '1,"He left,', 'they say."'], "a.csv", "text", "a.csv"))
    ['He left,', 'they say.', '']
    """
    iterator = iter(lines)
    first = next(iterator, "").lstrip("\ufeff")
    names = columns_of(name, first)
    if of not in names:
        raise ValueError(f"{place} has no column {of!r}: there are {', '.join(names) or 'none'}")

    def whole() -> Iterator[str]:
        yield f"{first}\n"
        for line in iterator:
            yield f"{line}\n"

    texts: Iterator[Any]
    if is_json(name, first):
        texts = (_field(line, of, f"{place}, line {i}") for i, line in enumerate(whole(), 1) if line.strip())
    else:
        csv.field_size_limit(1 << 30)
        texts = (row.get(of) for row in csv.DictReader(whole(), names, delimiter=delimiter_of(first)))
        next(texts, None)  # the header
    for text in texts:
        if text is not None:
            yield from str(text).splitlines()
            yield ""


def _field(line: str, name: str, place: str) -> Any:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{place}: this is not JSON: {error}") from None
    return found.get(name) if isinstance(found, dict) else None


def without_boilerplate(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines between Project Gutenberg's head and foot; a file may have several books.

    Examples
    --------
    >>> book = ["Produced by …", "*** START OF THE PROJECT GUTENBERG EBOOK EMMA ***", "Emma Woodhouse"]
    >>> list(without_boilerplate([*book, "*** END OF THE PROJECT GUTENBERG EBOOK EMMA ***", "Licence"]))
    ['Emma Woodhouse']
    """
    inside = False
    for line in lines:
        if START.match(line):
            inside = True
        elif END.match(line):
            inside = False
        elif inside:
            yield line


class AsFile:
    """Lines as a binary file in UTF-8."""

    def __init__(self, lines: Iterator[str], file: Any) -> None:
        self._lines, self._file, self._left = lines, file, b""

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; none only at the end."""
        parts, total = [self._left], len(self._left)
        while total < size:
            line = next(self._lines, None)
            if line is None:
                break
            parts.append(f"{line}\n".encode("utf-8", "surrogatepass"))
            total += len(parts[-1])
        data = b"".join(parts)
        self._left = data[size:]
        return data[:size]

    def close(self) -> None:
        """Close the file that the lines come from."""
        self._file.close()
