"""The text that `densvec train` is given: a file, a directory, a URI, a pipe or standard input."""

from __future__ import annotations

import argparse
import codecs
import contextlib
import errno
import glob
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import IO, TYPE_CHECKING, Any

from densvec.answers.messages import UsageError, say
from densvec.cli.commands import Argument, option, standard_input
from densvec.cli.output import size_of

if TYPE_CHECKING:
    from densvec.corpora import RawText

__all__ = ["READING", "Reading", "Source", "open_source", "sentences_in"]

#: What `train` and `build_vocab` take: ``{"corpus_file": path}`` or ``{"corpus_iterable": sentences}``.
Source = dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """How words are found in a text, according to the options; None where they say nothing."""

    tokenize: str | None = None
    lower: bool | None = None
    encoding: str | None = None
    keep_numbers: bool | None = None

    @classmethod
    def of(cls, args: argparse.Namespace, before: Mapping[str, Any] | None = None) -> Reading:
        """Return what the options ask for; resumed training reads as it did `before`."""
        given = cls(args.tokenize, args.lower, args.encoding, args.keep_numbers)
        if before is None:
            return given
        for name, value in asdict(given).items():
            if value not in (None, "auto", before.get(name)):
                raise UsageError(
                    f"--{name.replace('_', '-')} cannot change when training is resumed: the text was read with "
                    f"{before.get(name)!r}, not {value!r}"
                )
        return cls(*(before.get(each.name) for each in fields(cls)))

    @property
    def is_plain(self) -> bool:
        """Whether words are simply separated by spaces, in UTF-8."""
        return self.tokenize == "none" and not self.lower and self.encoding in (None, "utf-8")

    def corpus(self, source: Any) -> RawText:
        """Return a text read in this way."""
        from densvec.corpora import RawText

        return RawText(
            source,
            tokenize=self.tokenize if self.tokenize not in (None, "auto") else "simple",
            lower=self.tokenize != "none" if self.lower is None else self.lower,
            encoding=self.encoding or "utf-8",
            keep_numbers=bool(self.keep_numbers),
        )

    def decided(self, source: str, name: str, quiet: bool) -> Reading:
        """Return the reading with ``auto`` replaced by what the beginning of the text suggests, and say so."""
        if self.tokenize not in (None, "auto"):
            return self
        from densvec.text.raw import looks_raw, looks_unspaced

        sample = self.corpus(source).sample()
        if looks_unspaced(sample):
            say(
                f"densvec: warning: {name} has no spaces between its words: segment it first, with jieba, MeCab or "
                "PyThaiNLP, for example, or in Python give RawText a function that does"
            )
        if not looks_raw(sample):
            return replace(self, tokenize="none")
        found = replace(self, tokenize="simple", lower=self.lower is not False)
        if not quiet:
            numbers = "with numbers" if self.keep_numbers else "without numbers"
            case = "in lower case" if found.lower else "as they are spelt"
            say(
                f"densvec train: {name} is not tokenised: its words are taken {case}, {numbers}, sentence by "
                "sentence; --tokenize none would leave it as it is"
            )
        return found


AS_IT_IS = Reading(tokenize="none")


_GROUP = "how the text is read"


def _tokenize(text: str) -> str:
    if text.startswith("regex:"):
        try:
            re.compile(text.removeprefix("regex:"))
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
    Argument(
        "--lower",
        action=argparse.BooleanOptionalAction,
        group=_GROUP,
        help="put words in lower case (default: with simple and regex)",
    ),
    Argument(
        "--keep-numbers",
        action="store_true",
        default=None,
        group=_GROUP,
        help="keep words without a letter, such as 1999",
    ),
    option(
        "--encoding",
        "encoding of the text (default: utf-8); cp1252 for most old files",
        metavar="NAME",
        type=_encoding,
        group=_GROUP,
    ),
]
"""The options that say how words are found in a text."""


@contextlib.contextmanager
def open_source(
    path: str | list[str], passes: int, quiet: bool, reading: Reading = AS_IT_IS
) -> Iterator[tuple[Source, Reading]]:
    """Yield the sentences of a corpus, and how they are read.

    Text that can be read only once, from standard input or a pipe, is kept in a temporary file, unless one
    pass is all that is needed.
    """
    if not isinstance(path, str):
        yield _from_files(path, f"{len(path)} files", quiet, reading)
    elif path == "-":
        if sys.stdin is not None and sys.stdin.isatty() and not quiet:
            say("densvec train: reading standard input, one sentence per line, until Ctrl-D")
        with _from_stream(standard_input(), passes, quiet, reading) as source:
            yield source
    elif "://" in path or os.path.isdir(path) or _is_pattern(path) or stat.S_ISREG(os.stat(path).st_mode):
        yield _from_files(path, path, quiet, reading)
    elif stat.S_ISFIFO(os.stat(path).st_mode):  # as from the shell's <(zcat corpus.gz)
        with open(path, "rb") as pipe, _from_stream(pipe, passes, quiet, reading) as source:
            yield source
    else:
        raise OSError(errno.EINVAL, "not a file, a directory or a pipe", path)


def _from_files(path: str | list[str], name: str, quiet: bool, reading: Reading) -> tuple[Source, Reading]:
    """Return the sentences of files; processes that train together divide raw text file by file."""
    from densvec import distributed
    from densvec.text.source import corpus_paths

    files = corpus_paths(path)
    reading = reading.decided(files[0], name, quiet)
    if reading.is_plain:
        return {"corpus_file": path}, reading
    own = files[distributed.rank() :: distributed.world_size()]
    return {"corpus_iterable": reading.corpus(own)}, reading


def sentences_in(source: Source) -> Any:
    """Return what `open_source` gave as sentences that can be iterated again."""
    if "corpus_file" not in source:
        return source["corpus_iterable"]
    from densvec.text.source import corpus_paths

    return AS_IT_IS.corpus(corpus_paths(source["corpus_file"]))


def _is_pattern(path: str) -> bool:
    return glob.has_magic(path) and not os.path.lexists(path)


@contextlib.contextmanager
def _from_stream(
    stream: IO[bytes], passes: int, quiet: bool, reading: Reading
) -> Iterator[tuple[Source, Reading]]:
    if passes == 1 and reading.tokenize in (None, "auto", "none") and reading.encoding is None:
        lines = (line.decode("utf-8", "replace") for line in stream)
        sentences = ((line.lower() if reading.lower else line).split() for line in lines)
        yield {"corpus_iterable": sentences}, replace(reading, tokenize="none")
        return
    from densvec.corpora import LineSentence
    from densvec.files.streams import faults_named

    with tempfile.TemporaryDirectory(prefix="densvec-") as directory:
        path = os.path.join(directory, "corpus.txt")
        with faults_named(path), open(path, "wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)
        if not quiet:
            size = size_of(os.path.getsize(path))
            times = "once" if passes == 1 else f"{passes} times"
            say(f"densvec train: {size} of input kept in a temporary file: training reads them {times}")
        # As an iterable, so that the model does not remember the path of a temporary file.
        reading = reading.decided(path, "standard input", quiet)
        yield {"corpus_iterable": LineSentence(path) if reading.is_plain else reading.corpus(path)}, reading
