"""What a command is: its name, its help, its arguments, and the function that does its work."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from densvec.answers.documents import Document
from densvec.answers.messages import UsageError, check_known, say, spelt
from densvec.answers.words import parse_marked
from densvec.checks import counted
from densvec.cli.arguments import Argument
from densvec.questions.lookup import common_rows, least_count, words_of

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
TERMINATED = 143  # 128 + SIGTERM


class Interrupted(Exception):
    """The command was stopped by a signal and has something to say about it."""

    def __init__(self, message: str, code: int = INTERRUPTED) -> None:
        super().__init__(message)
        self.code = code


Result = Document | tuple[Mapping[str, Any], str] | None
"""What a command found: an answer, or a JSON document and what people read; None if it has printed all itself."""


@dataclass(frozen=True)
class Command:
    """A command."""

    name: str
    help: str  # one line for the list of commands
    description: str  # above the arguments in its own help
    examples: str  # below them
    arguments: Sequence[Argument]
    run: Callable[[argparse.Namespace], Result]


@dataclass(frozen=True)
class Question(Command):
    """A command that answers questions one after another; one that cannot be answered does not stop the others.

    Here `run` is called with the model and the arguments, and returns what answers a question.
    """

    run: Callable[..., Any]
    #: (question, arguments) → what its document begins with
    echo: Callable[[Any, argparse.Namespace], dict[str, Any]] = field(kw_only=True)
    #: If all arguments are one question: (words) → the question. A line of standard input is then one word.
    together: Callable[[list[str]], Any] | None = None
    titled: bool | None = None  # whether the question stands above its answer; None: if there are several

    def asked(self, args: argparse.Namespace) -> Iterator[tuple[str, Any]]:
        """Yield the questions, each with its text."""
        if self.together is None:
            yield from ((text, text) for text in lines_or(args.questions))
        elif args.questions == ["-"]:
            yield from ((line, self.together([line])) for line in lines_or(args.questions))
        else:
            words = [text_of(word) for word in args.questions]
            yield " ".join(words), self.together(words)

    def is_one(self, args: argparse.Namespace) -> bool:
        """Whether there is a single question, whose error is that of the command."""
        return args.questions != ["-"] and (len(args.questions) == 1 or self.together is not None)


def load(path: str) -> KeyedDensities:
    """Open the densities of a model, mapped where that is possible: only what is needed is read."""
    from densvec import pretrained

    return pretrained.load(path)


def common(wv: KeyedDensities, args: argparse.Namespace) -> int | None:
    """Return how many words, the most frequent ones, are listed; say how often they occur unless --rare lists all."""
    rows = None if args.rare else common_rows(wv)
    if rows is not None and rows < len(wv) and not args.json:
        say(
            f"densvec: words that occur fewer than {least_count(wv)} times are left out: --rare lists them, too"
        )
    return rows


def as_spelt(wv: KeyedDensities, words: Iterable[str]) -> list[str]:
    """Return words as the model spells them, and say which it knows only in lower case."""
    found = []
    for word in map(text_of, words):
        found.append(spelt(wv, word))
        if found[-1] != word:
            say(f"densvec: the model knows {word} as {found[-1]}")
    return found


def known(wv: KeyedDensities, words: Iterable[str]) -> list[str]:
    """Return words as the model spells them; KeyError for the first that it does not know."""
    found = as_spelt(wv, words)
    check_known(wv, found)
    least = least_count(wv)
    for word in dict.fromkeys(found) if least else ():
        count = int(wv.get_vecattr(word, "count"))
        if count < least:
            say(f"densvec: {word} occurs {counted(count, 'time')} only: what is said of it is uncertain")
    return found


def marked_word(wv: KeyedDensities, text: str) -> tuple[str, list[str], int]:
    """Return the marked word, its sentence and its place, as the model spells them; the word must be known."""
    word, tokens, position = parse_marked(text, partial(words_of, wv))
    return known(wv, [word])[0], [spelt(wv, token) for token in tokens], position


def text_of(argument: str) -> str:
    """Return an argument as the text that was typed, also if Python did not know the terminal's encoding."""
    try:
        argument.encode()
    except UnicodeEncodeError:  # bytes that the locale's encoding has no characters for: take them as UTF-8
        return os.fsencode(argument).decode("utf-8", "replace")
    return argument


def lines_or(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments, or the lines of standard input if the only one is "-"."""
    if list(arguments) != ["-"]:
        yield from map(text_of, arguments)
        return
    for line in standard_input():
        text = line.decode("utf-8", "replace").strip()
        if text:
            yield text


def standard_input() -> IO[bytes]:
    """Return standard input; UsageError if it is closed."""
    if sys.stdin is None:
        raise UsageError("standard input is closed: - reads from it")
    return sys.stdin.buffer
