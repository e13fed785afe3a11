"""What commands that query a model share: opening it, finding words in it, reading marked sentences."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from densvec.cli.errors import UsageError, sentence
from densvec.cli.output import print_json, say
from densvec.text.spelling import spellings

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = [
    "METRICS",
    "Batch",
    "Marked",
    "add_lower",
    "add_metric",
    "add_model",
    "add_topn",
    "check_known",
    "known_candidates",
    "lines_or",
    "load",
    "number",
    "parse_marked",
    "positive",
    "report_skipped",
    "skipped",
    "spellings",
    "standard_input",
    "text_of",
    "unknown_word_in",
]

METRICS = ("cosine", "kl", "reverse_kl", "jeffreys", "expected_likelihood", "wasserstein")

_MARK = re.compile(r"\[\[(.*?)\]\]")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names the model."""
    parser.add_argument(
        "model", metavar="MODEL", help="a file written by `densvec train` or by save(), or the name `english`"
    )


def add_topn(parser: argparse.ArgumentParser) -> None:
    """Add the option that says how many words to print."""
    parser.add_argument(
        "-n", "--topn", type=positive, default=10, metavar="N", help="words to print (default: 10)"
    )


def add_metric(parser: argparse.ArgumentParser, default: str) -> None:
    """Add the option that says how to compare densities."""
    parser.add_argument(
        "--metric",
        choices=METRICS,
        default=default,
        help=f"how to compare densities; scores are similarities, or minus distances (default: {default})",
    )


def positive(text: str) -> int:
    """Return a number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def load(path: str) -> KeyedDensities:
    """Open the densities of a model, mapped where that is possible: only what is needed is read."""
    from densvec import pretrained

    return pretrained.load(path)


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


class Batch:
    """Questions answered one after another: if one cannot be answered, that is reported, and the others go on.

    Parameters
    ----------
    questions : sequence of str
        The arguments: several, or "-" for standard input, make a batch; a single one may raise.
    as_json : bool
        Whether answers are printed as JSON.

    Examples
    --------
    >>> batch = Batch(["-"], as_json=True)
    >>> for word in ["kiwi", "kiwwi"]:
    ...     with batch.answering(word, {"word": word}):
    ...         if word != "kiwi":
    ...             raise KeyError(f"{word!r} is unknown")
    {"word": "kiwwi", "error": "'kiwwi' is unknown"}
    >>> batch.exit_code()
    0
    """

    def __init__(self, questions: Sequence[str], as_json: bool) -> None:
        self.is_one = list(questions) != ["-"] and len(questions) == 1
        self.as_json = as_json
        self.asked = self.unanswered = 0

    @contextlib.contextmanager
    def answering(self, question: str, document: Mapping[str, Any]) -> Iterator[None]:
        """Answer one question; the document is the beginning of its answer in JSON."""
        self.asked += 1
        try:
            yield
        except (KeyError, UsageError) as error:
            if self.is_one:
                raise
            self.unanswered += 1
            if self.as_json:
                print_json({**document, "error": sentence(error)})
            else:
                print(f"{question}\n  unknown: {sentence(error)}", flush=True)

    def exit_code(self) -> int:
        """Say how many questions were not answered; 1 if none was."""
        if self.unanswered:
            say(f"densvec: {self.unanswered:,} of {self.asked:,} could not be answered")
        return int(0 < self.asked == self.unanswered)


def known_candidates(wv: KeyedDensities, candidates: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the candidates that the model knows, and those that it does not; at least one must be known."""
    known = [word for word in candidates if word in wv.key_to_index]
    unknown = [word for word in candidates if word not in wv.key_to_index]
    if not known:
        check_known(wv, unknown)
    return known, unknown


def check_known(wv: KeyedDensities, words: Iterable[str]) -> None:
    """Raise KeyError for the first word unknown to the model, with the known words spelt like it."""
    for word in words:
        if word not in wv.key_to_index:
            raise unknown_word_in(wv, word)


def unknown_word_in(wv: KeyedDensities, word: str) -> KeyError:
    """Return the error for a word that a model does not know, with known words spelt like it."""
    return unknown_word(word, len(wv.key_to_index), spellings(word, wv.key_to_index))


def unknown_word(word: str, words: int, near: Sequence[str]) -> KeyError:
    """Return the error for a word that the model does not know, with known words spelt like it."""
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    return KeyError(f"{word!r} is not among the {words:,} words of the model{hint}")


class Marked(NamedTuple):
    """A sentence with one word marked in it."""

    text: str  # as it was given
    tokens: list[str]
    position: int

    @property
    def word(self) -> str:
        """The marked word."""
        return self.tokens[self.position]

    @property
    def context(self) -> list[str]:
        """The other words."""
        return self.tokens[: self.position] + self.tokens[self.position + 1 :]


def parse_marked(text: str, *, lower: bool = False) -> Marked:
    """Split a sentence into its words and find the marked one.

    Examples
    --------
    >>> marked = parse_marked("a ripe [[kiwi]] tastes sweet")
    >>> marked.word, marked.position, marked.tokens
    ('kiwi', 2, ['a', 'ripe', 'kiwi', 'tastes', 'sweet'])
    """
    marks = list(_MARK.finditer(text))
    if len(marks) != 1 or not marks[0][1].strip():
        found = (
            "no word is"
            if not marks
            else "an empty word is"
            if len(marks) == 1
            else f"{len(marks)} words are"
        )
        raise UsageError(
            f"{found} marked in {text!r}: put one word in double brackets, as in 'a ripe [[kiwi]]'"
        )
    mark = marks[0]
    before, word, after = text[: mark.start()].split(), mark[1].strip(), text[mark.end() :].split()
    tokens = [*before, word, *after]
    return Marked(text, [token.lower() for token in tokens] if lower else tokens, len(before))


def add_lower(parser: argparse.ArgumentParser) -> None:
    """Add the option that lower-cases sentences."""
    parser.add_argument(
        "--lower", action="store_true", help="lower-case the sentence, for models of lower-cased text"
    )


def skipped(wv: KeyedDensities, marked: Marked) -> list[str]:
    """Return the context words that the model does not know, once each."""
    return list(dict.fromkeys(token for token in marked.context if token not in wv.key_to_index))


def report_skipped(wv: KeyedDensities, unknown: Sequence[str], marked: Marked) -> None:
    """Report which words of a context were left out."""
    if not unknown:
        return
    message = f"densvec: unknown words left out: {' '.join(unknown)}"
    if len(unknown) == len(set(marked.context)):
        message += " (that is the whole context, so what follows is the prior)"
    if any(token.lower() in wv.key_to_index for token in unknown):
        message += "; --lower would help"
    say(message)


def number(value: Any) -> str:
    """Return a score as it is printed."""
    return f"{float(value):.4f}"
