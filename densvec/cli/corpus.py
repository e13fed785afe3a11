"""The text that commands are given: files, folders, patterns, pipes or standard input, and how it is read."""

from __future__ import annotations

import argparse
import codecs
import errno
import glob
import os
import re
import shutil
import stat
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from densvec.answers.messages import UsageError, say, sentence
from densvec.checks import counted
from densvec.cli.arguments import flag, option
from densvec.cli.commands import standard_input
from densvec.cli.output import size_of
from densvec.text.text_reading import REGEX, TextReading

if TYPE_CHECKING:
    from densvec.corpora import RawText
    from densvec.keyed import KeyedDensities

#: What `train` and `build_vocab` take: ``{"corpus_file": path}`` or ``{"corpus_iterable": sentences}``.
Source = dict[str, Any]

_SHOWN = 5
"""How many files are named one by one."""


def _given(args: argparse.Namespace) -> dict[str, Any]:
    """Return what the options say about how words are found."""
    options = {each.name: getattr(args, each.name, None) for each in fields(TextReading)}
    return {name: value for name, value in options.items() if value is not None}


def reading_of(args: argparse.Namespace, before: TextReading | None = None) -> TextReading:
    """Return how the options say that words are found; resumed training finds them as it did `before`.

    "auto" is still to be decided.
    """
    given = _given(args)
    if before is None:
        return replace(TextReading("auto", lower=given.get("tokenize") != "none"), **given)
    for name, value in given.items():
        if value not in ("auto", getattr(before, name)):
            raise UsageError(
                f"--{name.replace('_', '-')} cannot change when training is resumed: the text was read with "
                f"{getattr(before, name)!r}, not {value!r}"
            )
    return before


def _files_of(path: str | Sequence[str], reading: TextReading, command: str, quiet: bool) -> list[str]:
    """Return the files of a corpus, and say which were left out."""
    from densvec.text.source import corpus_paths

    left_out: list[str] = []
    names = path if isinstance(path, str) else list(path)
    found = corpus_paths(names, reading.encoding, reading.column, left_out)
    if not quiet:
        for why in left_out[:_SHOWN]:
            say(f"densvec {command}: left out: {why}")
        if len(left_out) > _SHOWN:
            say(f"densvec {command}: left out: {len(left_out) - _SHOWN:,} more files")
    return found


def decided(files: Sequence[str], reading: TextReading, name: str, command: str, quiet: bool) -> TextReading:
    """Return the reading with "auto" replaced by what the beginnings of the files suggest, and say so."""
    from densvec.text import kinds
    from densvec.text.raw import looks_raw, looks_unspaced

    seen: Counter[str] = Counter()
    for path in files:
        data = kinds.beginning(path)
        if data is None:
            from densvec.files.streams import open_stream

            with open_stream(path) as file:
                data = file.read(kinds.LOOKED_AT)
        length, encoding = kinds.byte_order_mark(data)
        text = data[length:].decode(encoding or reading.encoding, "replace")
        seen["markup"] += kinds.is_markup(data)
        seen["gutenberg"] += kinds.has_boilerplate(text)
        seen["unspaced"] += looks_unspaced(text)
        seen["raw"] += looks_raw(text)
        seen["text"] += bool(data)
        if not data and not quiet:
            say(f"densvec {command}: {path} is empty")
    if seen["unspaced"] and reading.tokenize == "auto":
        say(
            f"densvec: warning: {name} has no spaces between its words: segment it first, with jieba, MeCab or "
            "PyThaiNLP, for example, or in Python give RawText a function that does"
        )
    special = seen["markup"] or seen["gutenberg"] or reading.column is not None
    if reading.tokenize == "auto" and not seen["raw"] and not special:
        return replace(reading, tokenize="none", lower=False)
    if quiet:
        return reading

    def some(kind: str) -> str:
        if seen[kind] == seen["text"]:
            return name
        return f"{seen[kind]:,} of {counted(seen['text'], 'file')} in {name}"

    if reading.tokenize == "auto":
        numbers = "with numbers" if reading.keep_numbers else "without numbers"
        case = "in lower case" if reading.lower else "as they are spelt"
        say(
            f"densvec {command}: not tokenised: {some('raw')}; words are taken {case}, {numbers}, sentence by "
            "sentence (--tokenize none would leave it as it is)"
        )
    if seen["gutenberg"] and reading.tokenize != "none":
        say(f"densvec {command}: Project Gutenberg's head and foot are left out of {some('gutenberg')}")
    if seen["markup"]:
        say(f"densvec {command}: HTML or XML, whose text is read: {some('markup')}")
    return reading


def _reading_like(wv: KeyedDensities, args: argparse.Namespace) -> TextReading:
    """Return how text is read for a model: as its own was, but for what the options say."""
    from densvec.questions.lookup import text_reading_of

    return replace(text_reading_of(wv), **_given(args))


def files_of(corpus: str, wv: KeyedDensities, args: argparse.Namespace) -> list[str]:
    """Return the files that a name stands for, and say which were left out."""
    return _files_of(corpus, _reading_like(wv, args), args.command, args.json)


def open_corpus(corpus: str | Sequence[str], wv: KeyedDensities, args: argparse.Namespace) -> RawText:
    """Return a corpus as the text of a model was read: files, folders, patterns, a pipe or "-".

    It can be read again.
    """
    from densvec.text.raw import RawText

    reading, quiet = _reading_like(wv, args), args.json or getattr(args, "quiet", False)
    path = corpus[0] if not isinstance(corpus, str) and len(corpus) == 1 else corpus
    kept = _kept(path, args)
    return RawText.like(_files_of(path, reading, args.command, quiet) if kept is None else kept, reading)


def text_before(header: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return which text a model was trained on and how it was read, as far as its file says so."""
    header = header or {}
    for event in header.get("lifecycle_events") or []:
        if isinstance(event, dict) and event.get("event") == "text":
            return event
    path = header.get("corpus_file")
    mark = header.get("corpus_fingerprint")
    return None if path is None else {"path": path, "tokenize": "none", "fingerprint": mark}


def recorded_text(header: Mapping[str, Any] | None) -> str | list[str] | None:
    """Return the text that a model was trained on; a file may name any path, so the text must be as recorded."""
    from densvec.files.fingerprint import difference
    from densvec.text.source import recorded_paths

    before = text_before(header) or {}
    path, mark = before.get("path"), before.get("fingerprint")
    if not isinstance(path, (str, list)) or path == "-":
        return None
    try:
        why = difference(recorded_paths(path), mark if isinstance(mark, dict) else None)
    except (OSError, ValueError) as error:
        why = sentence(error)
    if why is not None:
        raise UsageError(f"the previous text, {path}, {why}: give the CORPUS to go on with")
    return path


def is_path(argument: str) -> bool:
    """Return whether an argument is a file, a folder or a pattern of files that exist, rather than a word or a text."""
    return ("." in argument or os.sep in argument) and (os.path.exists(argument) or bool(glob.glob(argument)))


_GROUP = "how the text is read"


def _tokenize(text: str) -> str:
    if text.startswith(REGEX):
        try:
            re.compile(text.removeprefix(REGEX))
        except re.error as error:
            raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
    elif text not in ("auto", "simple", "none"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto, simple, none nor regex:...")
    return text


def _encoding(text: str) -> str:
    try:
        return codecs.lookup(text).name
    except LookupError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an encoding that Python knows: try cp1252"
        ) from None


READING = [
    option(
        "--tokenize",
        "auto: find words and sentences unless the text looks tokenised (the default); simple: always; none: spaces "
        "and line ends; regex:...: words are what the expression finds in each line",
        metavar="HOW",
        type=_tokenize,
        group=_GROUP,
    ),
    flag(
        "--lower",
        "put words in lower case (default: with simple and regex)",
        action=argparse.BooleanOptionalAction,
        group=_GROUP,
    ),
    flag("--keep-numbers", "keep words without a letter, such as 1999", default=None, group=_GROUP),
    option(
        "--encoding",
        "encoding of the text (default: utf-8); cp1252 for most old files",
        metavar="NAME",
        type=_encoding,
        group=_GROUP,
    ),
    option("--column", "the column of the text in CSV files and lines of JSON", metavar="NAME", group=_GROUP),
]
"""The options that say how words are found in a text."""


def open_source(
    path: str | list[str], passes: int, reading: TextReading, args: argparse.Namespace
) -> tuple[Source, TextReading]:
    """Return the sentences of a corpus, and how they are read; processes that train together divide raw files.

    Text that can be read only once, from standard input or a pipe, is kept in a temporary file.
    """
    from densvec import distributed
    from densvec.corpora import LineSentence
    from densvec.text.raw import RawText

    command, quiet = args.command, args.quiet
    if path == "-" and not quiet and sys.stdin is not None and sys.stdin.isatty():
        say(f"densvec {command}: reading standard input, one sentence per line, until Ctrl-D")
    kept = _kept(path, args)
    if kept is not None:
        if not quiet:
            size = size_of(os.path.getsize(kept))
            times = "once" if passes == 1 else f"{passes} times"
            say(f"densvec {command}: {size} of input kept in a temporary file, which is read {times}")
        reading = decided([kept], reading, "standard input", command, quiet)
        # As an iterable, so that the model does not remember the path of a temporary file.
        return {
            "corpus_iterable": LineSentence(kept) if reading.is_plain else RawText.like(kept, reading)
        }, reading
    if isinstance(path, str) and os.path.exists(path) and stat.S_ISCHR(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "not a file, a directory or a pipe", path)
    files = _files_of(path, reading, command, quiet)
    name = path if isinstance(path, str) else f"{len(path)} files"
    reading = decided(files, reading, name, command, quiet)
    if reading.is_plain:
        return {"corpus_file": path}, reading
    own = files[distributed.rank() :: distributed.world_size()]
    return {"corpus_iterable": RawText.like(own, reading)}, reading


def _kept(path: str | Sequence[str], args: argparse.Namespace) -> str | None:
    """Return a temporary file with all that standard input or a pipe has; None for what can be read again."""
    from densvec.files.streams import faults_named, open_stream

    is_pipe = isinstance(path, str) and os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode)
    if not isinstance(path, str) or not (path == "-" or is_pipe):
        return None
    stream = args.at_end.enter_context(open_stream(path)) if is_pipe else standard_input()
    kept = os.path.join(
        args.at_end.enter_context(tempfile.TemporaryDirectory(prefix="densvec-")), "corpus.txt"
    )
    with faults_named(kept), open(kept, "wb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
    return kept
