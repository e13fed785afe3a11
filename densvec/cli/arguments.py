"""The arguments of commands, as data; those that many commands have are here."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from densvec.answers.words import METRICS


class Argument:
    """An argument of a command: its name or options, and the settings of ``add_argument``."""

    def __init__(self, *flags: str, group: str = "", **settings: Any) -> None:
        self.flags, self.group, self.settings = flags, group, settings


def positive(text: str) -> int:
    """Return a number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def flag(name: str, text: str, *, short: tuple[str, ...] = (), **settings: Any) -> Argument:
    """Return an option without a value."""
    return Argument(*short, name, help=text, **{"action": "store_true", **settings})


def option(
    name: str, text: str, default: Any = None, *, short: tuple[str, ...] = (), **settings: Any
) -> Argument:
    """Return an option with a value; its help says the default, whose type is that of the values."""
    kind = settings.get("type") or {int: positive, float: float}.get(type(default), str)
    shown = {int: "N", positive: "N", float: "NUMBER"}.get(kind, "TEXT")
    settings = {"type": kind, "metavar": None if "choices" in settings else shown, **settings}
    if default not in (None, []) and "default: " not in text:
        text += f" (default: {default})"
    return Argument(*short, name, default=default, help=text, **settings)


MODEL = Argument(
    "model",
    metavar="MODEL",
    help="a file written by `densvec train` or by save(), the name `english`, or user/model on the Hugging Face hub",
)
OVERWRITE = flag("--overwrite", "replace files that exist")
QUIET = flag("--quiet", "print only errors and the result", short=("-q",))
TABLE = option(
    "--output",
    "write the answers to a table instead: .csv, .tsv, .md (Markdown), .tex (LaTeX) or .json",
    short=("-o",),
    dest="table",
    metavar="FILE",
)


def questions(metavar: str, text: str) -> Argument:
    """Return the argument for the questions of a `Question`."""
    return Argument("questions", metavar=metavar, nargs="+", help=text)


def topn(what: str = "words to print", default: int | None = 10) -> Argument:
    """Return the option that says how many."""
    what += " (default: all)" * (default is None)
    return option("--topn", what, default, short=("-n",), type=positive)


TOPN = topn()
RARE = flag("--rare", "list words that occur too seldom to say much, too")


def metric(default: str, choices: Iterable[str] = METRICS) -> Argument:
    """Return the option that says how to compare densities."""
    what = "how to compare densities; scores are similarities, or minus distances"
    return option("--metric", what, default, choices=list(choices))
