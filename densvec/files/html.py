"""Objects as notebooks show them: a small table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in HTML, everything in it escaped."""
    head = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<table><caption>{escape(title)}</caption>"
        + (f"<tr>{head}</tr>" if head else "")
        + f"{body}</table>"
    )


def facts(title: str, rows: Iterable[tuple[str, object]]) -> str:
    """Return names and values in HTML; those that are None or empty are left out."""
    return table(title, [], [(name, value) for name, value in rows if value not in (None, "")])
