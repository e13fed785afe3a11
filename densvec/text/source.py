"""What corpora of text share: how their files are opened, and the reader that gives their sentences."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator
from typing import Any

from densvec.files.streams import open_binary
from densvec.text._text import TextReader
from densvec.types import Source

__all__ = ["TextCorpus", "log_replaced", "source_opener"]

logger = logging.getLogger(__name__)

#: Words per block when a corpus is iterated in Python: enough that the cost per block is negligible, and few enough
#: that their strings are still in the cache when they are yielded.
_BLOCK_WORDS = 2_000


class _Borrowed:
    """An open handle of the user's, read from its start and never closed."""

    def __init__(self, handle: Any) -> None:
        handle.seek(0)
        self._handle = handle

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes, also from a handle opened in text mode."""
        data = self._handle.read(max(1, size // 4))
        return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data

    def close(self) -> None:
        """Leave the handle open for its owner."""


def source_opener(source: Source) -> tuple[str, Callable[[], Any]]:
    """Return a source's name and the function that opens it."""
    if isinstance(source, (str, os.PathLike)):
        path = source
        return os.fspath(path), lambda: open_binary(path)
    if hasattr(source, "seek") and hasattr(source, "read"):
        return str(getattr(source, "name", source)), lambda: _Borrowed(source)
    raise TypeError(f"a corpus is a path or an open file that supports seek(0), not {source!r}")


class TextCorpus:
    """What the corpora of plain text share: one TextReader per pass, whose sentences they yield."""

    max_sentence_length: int
    errors: str
    _warned = False

    def reader(self) -> TextReader:
        """Return a reader of the whole corpus from its start."""
        raise NotImplementedError

    def __iter__(self) -> Generator[list[str], None, None]:
        reader = self.reader()
        try:
            while (block := reader.next_block(_BLOCK_WORDS)) is not None:
                yield from block.sentences()
        finally:
            reader.close()
        log_replaced(reader.replaced, self)


_told: set[object] = set()  # files that were warned about


def log_replaced(replaced: int, corpus: object) -> None:
    """Warn about byte sequences that were not UTF-8, once for each corpus or file."""
    is_file = isinstance(corpus, (str, os.PathLike))
    if not replaced or (corpus in _told if is_file else getattr(corpus, "_warned", False)):
        return
    if is_file:
        _told.add(corpus)
    elif isinstance(corpus, TextCorpus):
        corpus._warned = True
    logger.warning(
        "%s: %d byte sequences were not UTF-8 and were replaced or dropped; if the text is from Windows or in "
        "Latin-1, read it with encoding='cp1252' (RawText, or --encoding on the command line)",
        corpus,
        replaced,
    )
