"""What a file is, by how it begins, and the text of pages, tables, and books with a head and a foot."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Any

from densvec.files.streams import faults_named, is_remote, local_path, open_binary

LOOKED_AT = 1 << 14
"""Bytes at the beginning of a file that show what it is."""

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

_OFFICE = {
    ".docx", ".doc", ".odt", ".xlsx", ".xls", ".ods", ".pptx", ".ppt", ".odp", ".epub", ".pages", ".numbers", ".key",
}  # fmt: skip

_SAVE_AS_TEXT = "open it in the program that it belongs to, and save it as plain text"
_UNPACK = "unpack it, and give the folder"
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"%PDF", "a PDF", "save its text first, with pdftotext, for example"),
    (b"%!PS", "PostScript", "save its text first"),
    (b"{\\rtf", "a document in rich text format", _SAVE_AS_TEXT),
    (b"\xd0\xcf\x11\xe0", "an Office document", _SAVE_AS_TEXT),
    (b"PK\x03\x04", "an archive", _UNPACK),
    (b"\x1f\x8b", "compressed by gzip", "let its name end in .gz"),
    (b"BZh", "compressed by bzip2", "let its name end in .bz2"),
    (b"\xfd7zXZ", "compressed by xz", "let its name end in .xz"),
    (b"7z\xbc\xaf", "an archive", _UNPACK),
    (b"Rar!", "an archive", _UNPACK),
    (b"\x89PNG", "an image", "give its text"),
    (b"\xff\xd8\xff", "an image", "give its text"),
    (b"GIF8", "an image", "give its text"),
    (b"II*\x00", "an image", "give its text"),
    (b"MM\x00*", "an image", "give its text"),
    (b"SQLite format 3", "a database", "export its text, one document per line"),
    (b"PAR1", "a Parquet table", "save it as CSV"),
)

_CONTROLS, _FEW = re.compile(rb"[\0-\x08\x0e-\x1a]"), 20
"""Characters that stand in no text, and how many of them do no harm."""

_MARKUP = re.compile(rb"\s*<(?:!doctype\s+html|html|\?xml|tei|body|head)\b", re.IGNORECASE)
_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson")

START = re.compile(
    r"\s*(?:\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG|\*END\W*THE SMALL PRINT)", re.IGNORECASE
)
END = re.compile(
    r"\s*(?:\*\*\* ?END OF (?:THE|THIS) PROJECT GUTENBERG|End of (?:the |this )?Project Gutenberg)",
    re.IGNORECASE,
)


def beginning(path: str) -> bytes | None:
    """Return how a local regular file begins, unpacked if it is compressed; None for anything else."""
    name = local_path(path)
    if is_remote(name) or not stat.S_ISREG(os.stat(name).st_mode):
        return None
    with faults_named(path), open_binary(path) as file:
        data = b""
        while len(data) < LOOKED_AT and (more := file.read(LOOKED_AT - len(data))):
            data += more
    return data


def byte_order_mark(data: bytes) -> tuple[int, str | None]:
    """Return how long the byte-order mark is that a text begins with, and the encoding that it says.

    Examples
    --------
    >>> byte_order_mark("a".encode("utf-16")), byte_order_mark(b"a")
    ((2, 'utf-16-le'), (0, None))
    """
    return next(((len(mark), name) for mark, name in _MARKS if data.startswith(mark)), (0, None))


def refusal(name: str, data: bytes, *, encoding: str = "utf-8", column: str | None = None) -> str | None:
    r"""Return what a file is and what to do, if it is no text that can be read as it is.

    Examples
    --------
    >>> refusal("a.pdf", b"%PDF-1.7")
    'a PDF: save its text first, with pdftotext, for example'
    >>> refusal("a.txt", b"He left.") is None
    True
    """
    ending = os.path.splitext(name.lower())[1]
    for magic, what, remedy in _MAGIC:
        if data.startswith(magic):
            if ending in _OFFICE:
                return f"a document ({ending}): {_SAVE_AS_TEXT}"
            return f"{what}: {remedy}"
    if data[257:262] == b"ustar":
        return f"an archive: {_UNPACK}"
    is_wide = (byte_order_mark(data)[1] or encoding).startswith(("utf-16", "utf-32"))
    if not is_wide and len(_CONTROLS.findall(data)) > max(_FEW, 0.02 * len(data)):
        return "not text, but binary: leave it out, or name its encoding if it is text, such as utf-16"
    if column is None and is_table(name, data):
        names = columns_of(name, data.decode(byte_order_mark(data)[1] or encoding, "replace"))
        listed = ", ".join(names)
        return f"a table: say in which column the text is, by --column (column= of RawText): {listed}"
    if _bare_name(name).endswith(".json") and data.lstrip()[:1] in (b"[", b"{") and not is_table(name, data):
        return "one JSON document: save its items as lines of JSON, one object each (.jsonl)"
    return None


def _bare_name(name: str) -> str:
    return re.sub(r"\.(gz|bz2|xz|zst)$", "", name.lower())


def likely_encoding(data: bytes, encoding: str = "utf-8") -> str:
    """Return how a text is encoded that should be UTF-8: as cp1252, if more of its letters are not UTF-8 than are.

    Examples
    --------
    >>> likely_encoding("café".encode()), likely_encoding("café".encode("latin-1"))
    ('utf-8', 'cp1252')
    """
    if encoding != "utf-8" or data.isascii():
        return encoding
    beyond_ascii = re.findall(r"[^\0-\x7f]", data.decode("utf-8", "replace"))
    replaced = beyond_ascii.count("\ufffd") - data.count("\ufffd".encode())
    return "cp1252" if 2 * replaced > len(beyond_ascii) else "utf-8"


def is_markup(data: bytes) -> bool:
    """Return whether a file begins as HTML or XML does.

    Examples
    --------
    >>> is_markup(b"<!DOCTYPE html><p>He left."), is_markup(b"<3 is a heart")
    (True, False)
    """
    return _MARKUP.match(data.removeprefix(codecs.BOM_UTF8)) is not None


def is_table(name: str, data: bytes) -> bool:
    r"""Return whether a file is a table with named columns: CSV, by its name, or lines of JSON.

    Examples
    --------
    >>> is_table("a.csv", b"id,text"), is_table("a.txt", b'{"text": "He left."}\n'), is_table("a.txt", b"He left.")
    (True, True, False)
    """
    if _bare_name(name).endswith(_TABLES):
        return True
    return data.lstrip()[:1] == b"{" and bool(_object(data.decode("utf-8", "replace")))


def is_json(name: str, text: str) -> bool:
    """Return whether a table is lines of JSON, rather than CSV."""
    return text.lstrip()[:1] == "{"


def columns_of(name: str, text: str) -> list[str]:
    r"""Return the names of the columns of a table, of which the beginning is given.

    Examples
    --------
    >>> columns_of("a.csv", "id;text\n1;He left."), columns_of("a.jsonl", '{"id": 1, "text": "He left."}')
    (['id', 'text'], ['id', 'text'])
    """
    if is_json(name, text):
        return list(_object(text))
    first = next(csv.reader(io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter_of(text)), [])
    return [each.strip() for each in first]


def delimiter_of(text: str) -> str:
    """Return what separates the columns of a table: of comma, tab and semicolon the most frequent in its header."""
    first = text.split("\n", 1)[0]
    return max(",\t;", key=first.count)


def _object(text: str) -> dict[str, object]:
    """Return the object in the first line of a text; none if it is something else."""
    try:
        found = json.loads(text.lstrip("\ufeff\n\r ").split("\n", 1)[0])
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def has_boilerplate(text: str) -> bool:
    """Return whether a text begins with Project Gutenberg's head.

    Examples
    --------
    >>> has_boilerplate("*** START OF THE PROJECT GUTENBERG EBOOK EMMA ***"), has_boilerplate("He left.")
    (True, False)
    """
    return any(START.match(line) for line in text.splitlines())


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
    for row in records(lines, name, [of], place):
        if row.get(of) is not None:
            yield from str(row[of]).splitlines()
            yield ""


def records(lines: Iterable[str], name: str, needed: Iterable[str], place: str) -> Iterator[dict[str, Any]]:
    r"""Yield the rows of a table, CSV or lines of JSON; ValueError if it lacks columns that are needed.

    Examples
    --------
    >>> list(records(["id,text", '1,"He left,', 'they say."'], "a.csv", ["text"], "a.csv"))
    [{'id': '1', 'text': 'He left,\nthey say.'}]
    """
    iterator = iter(lines)
    first = next(iterator, "").lstrip("\ufeff")
    names = columns_of(name, first)
    for of in needed:
        if of not in names:
            raise ValueError(f"{place} has no column {of!r}: there are {', '.join(names) or 'none'}")
    whole = (f"{line}\n" for line in itertools.chain([first], iterator))
    if is_json(name, first):
        yield from (_object_of(line, f"{place}, line {i}") for i, line in enumerate(whole, 1) if line.strip())
        return
    csv.field_size_limit(1 << 30)
    rows = csv.DictReader(whole, names, delimiter=delimiter_of(first))
    next(rows, None)  # the header
    yield from rows


def _object_of(line: str, place: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ValueError(f"{place}: this is not JSON: {error}") from None
    return found if isinstance(found, dict) else {}


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
