"""Writing to the terminal, to pipes and to scripts."""

from __future__ import annotations

import errno
import io
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from densvec.answers.documents import Document, Table, encoded, format_of
from densvec.answers.messages import say, sentence
from densvec.checks import counted
from densvec.files.streams import check_target, faults_named, open_for_writing

# What a terminal obeys instead of showing: control characters, and those that reverse the direction of text. Line
# ends and tabs are ours, and so are carriage returns and "one line up" on standard error: the progress bar's.
_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069"
_HIDDEN = re.compile(f"[{_CONTROLS}]")
_HIDDEN_BESIDE_PROGRESS = re.compile(f"(?!\r|\x1b\\[A|(?<=\x1b)\\[A)[{_CONTROLS}]")


def prepare_streams() -> None:
    """Let every character be written to any terminal, escaped if it cannot be shown or would be obeyed."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.stdout is not None and sys.stdout.isatty() and not isinstance(sys.stdout, Terminal):
        sys.stdout = Terminal(sys.stdout, _HIDDEN)
    if sys.stderr is not None and sys.stderr.isatty() and not isinstance(sys.stderr, Terminal):
        sys.stderr = Terminal(sys.stderr, _HIDDEN_BESIDE_PROGRESS)


def visible(text: str, hidden: re.Pattern[str] = _HIDDEN) -> str:
    r"""Return a text in which what a terminal would obey is escaped."""
    return hidden.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class Terminal:
    """A text stream that leads to a terminal: words, paths and comments from files are shown, never obeyed."""

    def __init__(self, stream: Any, hidden: re.Pattern[str]) -> None:
        self._stream, self._hidden = stream, hidden

    def write(self, text: str) -> int:
        """Write a text, escaping what the terminal would obey."""
        self._stream.write(visible(text, self._hidden))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def check_output() -> None:
    """Raise OSError if nobody can be answered."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed, so there is nowhere to write answers")


def put(text: str) -> None:
    """Write a line to standard output."""
    with faults_named("standard output"):
        print(text, flush=True)


def print_json(document: Any) -> None:
    """Write a document as one line of JSON."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    put(encoded(document, ascii_only=encoding != "utf8"))


class Output:
    """Where answers go: to people, to scripts as JSON, or into the file of a table."""

    def __init__(self, as_json: bool, path: str | None) -> None:
        self._as_json, self._path = as_json, path
        self._kind = "" if path is None else format_of(path)
        self._is_json = as_json if path is None else self._kind == ".json"
        if path is not None:
            check_target(path)
        else:
            check_output()
        self._documents: list[Mapping[str, Any]] = []
        self._tables: list[Table] = []
        self._is_first = True

    def write(self, document: Document, question: Mapping[str, Any] | None = None, title: str = "") -> None:
        """Print an answer, below the title if there is one, or keep it for the table."""
        if self._path is not None:
            self._tables.append(document.table().beside(dict(question or {})))
        if self._is_json:
            for part in document.parts():
                self._add({**(question or {}), **part.to_dict()})
        elif self._path is None:
            text = "\n".join(filter(None, [title, str(document)]))
            put(text if self._is_first else f"\n{text}")
            self._is_first = False

    def unanswered(self, error: Exception, question: Mapping[str, Any], title: str) -> None:
        """Say that a question could not be answered."""
        if self._is_json:
            self._add({**question, "error": sentence(error)})
        elif self._path is None:
            put(f"{title}\n  unknown: {sentence(error)}")
            self._is_first = False
        else:
            say(f"densvec: {title}: {sentence(error)}")

    def close(self) -> None:
        """Write the table, if there is one."""
        if self._path is None:
            return
        names = self._tables[0].names if self._tables else ()
        table = Table(names, [row for each in self._tables for row in each.rows])
        text = f"{encoded(self._documents)}\n" if self._is_json else table.formatted(self._kind)
        with open_for_writing(self._path) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
        if self._as_json:
            print_json({"written": self._path, "rows": len(table.rows)})
        else:
            put(f"{self._path}: {counted(len(table.rows), 'row')}")

    def _add(self, document: Mapping[str, Any]) -> None:
        if self._path is None:
            print_json(document)
        else:
            self._documents.append(document)


def size_of(count: float) -> str:
    """Return a number of bytes as people read it.

    Examples
    --------
    >>> size_of(532), size_of(45_300_000)
    ('532 bytes', '45.3 MB')
    """
    if count < 1000:
        return f"{count:.0f} bytes"
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 999.95:
            return f"{count:.1f} {unit}"
    return f"{count / 1000:.1f} TB"
