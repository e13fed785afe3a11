"""Writing to the terminal, to pipes and to scripts."""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = [
    "Terminal",
    "columns",
    "plain",
    "prepare_streams",
    "print_json",
    "say",
    "scored",
    "size_of",
    "visible",
]


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
    r"""Return a text in which what a terminal would obey is escaped.

    Examples
    --------
    >>> print(visible("kiwi\x1b]0;gotcha\x07"))
    kiwi\x1b]0;gotcha\x07
    """
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


def say(message: str) -> None:
    """Write a line to standard error; go on even if nobody is listening."""
    with contextlib.suppress(OSError, ValueError):
        print(message, file=sys.stderr, flush=True)


def print_json(document: Any) -> None:
    """Write a document as one line of JSON; numbers that JSON has no name for become null."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    text = json.dumps(plain(document), ensure_ascii=encoding != "utf8", allow_nan=False)
    print(text, flush=True)


def plain(value: Any) -> Any:
    """Return a value as JSON can hold it.

    Examples
    --------
    >>> plain({"kl": float("inf"), "words": ("a", "b")})
    {'kl': None, 'words': ['a', 'b']}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def scored(found: Iterable[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return words and scores as JSON objects."""
    return [{"word": word, "score": float(score)} for word, score in found]


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
