"""The text that `densvec train` is given: a file, a directory, a URI, a pipe or standard input."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from densvec.cli.output import say, size_of

__all__ = ["Source", "open_source"]

#: What `train` and `build_vocab` take: ``{"corpus_file": path}`` or ``{"corpus_iterable": sentences}``.
Source = dict[str, Any]


@contextlib.contextmanager
def open_source(path: str, passes: int, quiet: bool) -> Iterator[Source]:
    """Give the sentences of a corpus.

    Text that can be read only once, from standard input or a pipe, is kept in a temporary file, unless one
    pass is all that is needed.
    """
    if path == "-":
        if sys.stdin is not None and sys.stdin.isatty() and not quiet:
            say("densvec train: reading standard input, one sentence per line, until Ctrl-D")
        with _from_stream(sys.stdin.buffer, passes, quiet) as source:
            yield source
    elif "://" in path:
        yield {"corpus_file": path}
    elif os.path.isdir(path):
        from densvec.corpora import PathLineSentences

        yield {"corpus_iterable": PathLineSentences(path)}
    elif stat.S_ISREG(os.stat(path).st_mode):  # a missing file is a FileNotFoundError that names it
        yield {"corpus_file": path}
    elif stat.S_ISFIFO(os.stat(path).st_mode):  # as from the shell's <(zcat corpus.gz)
        with open(path, "rb") as pipe, _from_stream(pipe, passes, quiet) as source:
            yield source
    else:
        raise OSError(errno.EINVAL, "not a file, a directory or a pipe", path)


@contextlib.contextmanager
def _from_stream(stream: IO[bytes], passes: int, quiet: bool) -> Iterator[Source]:
    if passes == 1:
        yield {"corpus_iterable": (line.decode("utf-8", "replace").split() for line in stream)}
        return
    from densvec.corpora import LineSentence

    with tempfile.TemporaryDirectory(prefix="densvec-") as directory:
        path = os.path.join(directory, "corpus.txt")
        with open(path, "wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)
        if not quiet:
            size = size_of(os.path.getsize(path))
            say(
                f"densvec train: {size} of input kept in a temporary file: training reads them {passes} times"
            )
        # As an iterable, so that the model does not remember the path of a file that will be gone.
        yield {"corpus_iterable": LineSentence(path)}
