"""What is said when something is wrong: in one sentence, on the command line and over HTTP alike."""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from densvec.text.spelling import spellings

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

_EXPECTED = (OSError, ValueError, KeyError, ImportError, MemoryError, IndexError, RuntimeError, TypeError)


class UsageError(ValueError):
    """What was given is not what the question needs."""


def sentence(error: Exception) -> str:
    """Return what an exception says, in one line."""
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror if error.filename is None else f"{error.filename}: {error.strerror}"
    elif isinstance(error, KeyError) and type(error).__str__ is KeyError.__str__ and error.args:
        text = str(error.args[0])  # str(KeyError) is the repr of its message
    elif isinstance(error, MemoryError):
        text = str(error) or "there is not enough memory"
    else:
        text = str(error)
    text = " ".join(text.split()) or type(error).__name__
    if not isinstance(error, _EXPECTED):
        text += f" ({type(error).__name__}; this may be a fault of densvec: --debug shows where)"
    return text


def check_known(wv: KeyedDensities, words: Iterable[str]) -> None:
    """Raise KeyError for the first word unknown to the model, with the known words spelt like it."""
    for word in words:
        if word not in wv.key_to_index:
            raise unknown_in(wv, word)


def spelt(wv: KeyedDensities, word: str) -> str:
    """Return a word as a model spells it: in lower case if it knows it only so."""
    lower = word.lower()
    return lower if word not in wv.key_to_index and lower in wv.key_to_index else word


def known_and_unknown(wv: KeyedDensities, words: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the words that a model knows, and those that it does not; at least one must be known."""
    words = list(words)
    known = [word for word in words if word in wv.key_to_index]
    if not known:
        check_known(wv, words)
    return known, [word for word in words if word not in wv.key_to_index]


def unknown_in(wv: KeyedDensities, word: str) -> KeyError:
    """Return the error for a word that a model does not know."""
    return unknown_word(word, len(wv), spellings(word, wv.key_to_index))


def unknown_word(word: str, words: int, near: Sequence[str]) -> KeyError:
    """Return the error for a word that a model of so many words does not know, with those spelt like it."""
    hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
    return KeyError(f"{word!r} is not among the {words:,} words of the model{hint}")


def say(message: str) -> None:
    """Write a line to standard error; go on even if nobody is listening."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"{message}\n")
        sys.stderr.flush()


def route_messages(verbose: bool = False) -> None:
    """Let the library's warnings and log appear as messages of the program."""
    level = logging.INFO if verbose else logging.WARNING
    logging.basicConfig(level=level, format="densvec: %(message)s", stream=sys.stderr)

    def show(message: Warning | str, *_: object, **__: object) -> None:
        say(f"densvec: warning: {message}")

    warnings.showwarning = show
