"""Docstrings of models: shared text is written once, and filled in where a class has none of its own."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar

T = TypeVar("T", bound=type[Any])

_TITLE = ["Parameters", "----------"]


def fill_in_parameters(cls: T) -> T:
    """Complete the section "Parameters" of a class's docstring.

    For every argument of the constructor, in its order, the section gets the text that the class itself has
    for it, or else the first of the classes that it inherits from.
    """
    if not cls.__doc__ or "Parameters" not in cls.__doc__:  # python -OO has no docstrings
        return cls
    texts: dict[str, tuple[list[str], list[str]]] = {}  # name -> (names that share a text, its lines)
    for each in cls.__mro__:
        for names, lines in _entries(_split(each)[1]):
            left = [name for name in names if name not in texts]
            head = lines[0].partition(" : ")
            lines = [", ".join(left) + head[1] + head[2], *lines[1:]]
            texts.update(dict.fromkeys(left, (left, lines)))
    section: list[str] = []
    written: set[str] = set()
    for name in inspect.signature(cls.__init__).parameters:
        if name in texts and name not in written:
            names, lines = texts[name]
            section += lines
            written.update(names)
    before, _, after = _split(cls)
    cls.__doc__ = "\n".join([*before, *_TITLE, *section, *([""] if after else []), *after])
    return cls


def _split(cls: type) -> tuple[list[str], list[str], list[str]]:
    """Return the lines of a docstring before, in and after its section "Parameters"."""
    lines = inspect.cleandoc(cls.__dict__.get("__doc__") or "").splitlines()
    if "Parameters" not in lines:
        return lines, [], []
    start = lines.index("Parameters")
    end = next((i for i in range(start + 2, len(lines)) if lines[i].startswith("---")), len(lines) + 1) - 1
    return lines[:start], [line for line in lines[start + 2 : end] if line], lines[end:]


def _entries(section: list[str]) -> list[tuple[list[str], list[str]]]:
    """Return the names and the lines of each entry of a section."""
    entries: list[tuple[list[str], list[str]]] = []
    for line in section:
        if line[0].isspace():
            entries[-1][1].append(line)
        else:
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
            entries.append((names, [line]))
    return entries
