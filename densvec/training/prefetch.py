"""Chunks gathered and prepared by another thread while the device works on those before them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from densvec._corpus import Chunk
from densvec.text.feed import Ahead
from densvec.training.profile import profile

__all__ = ["Prefetched"]

#: How often chunks are prepared ahead.
AHEAD = 2


class Prefetched:
    """Iterates over (chunks, what was prepared of them) in the order of the corpus.

    Parameters
    ----------
    feed : iterator of Chunk
        The corpus.
    prepare : callable
        Takes one or several chunks.
    words : int
        Chunks are gathered until they have this many words; 0 takes each alone.
    """

    def __init__(self, feed: Iterator[Chunk], prepare: Callable[..., Any], words: int = 0) -> None:
        self._ahead = Ahead(
            lambda: ((chunks, _prepared(prepare, chunks)) for chunks in _gathered(feed, words)),
            depth=AHEAD,
            name="densvec-prepare",
        )
        self._ahead.start()

    def __iter__(self) -> Prefetched:
        return self

    def __next__(self) -> tuple[list[Chunk], Any]:
        taken = self._ahead.take()
        if taken is None:
            raise StopIteration
        return taken

    def close(self) -> None:
        """Let the thread end; close the feed first. If the corpus keeps it for longer, it is left behind."""
        self._ahead.close()


def _gathered(feed: Iterator[Chunk], least: int) -> Iterator[list[Chunk]]:
    """Return the chunks that are prepared together."""
    chunks: list[Chunk] = []
    words = 0
    while (chunk := _next(feed)) is not None:
        chunks.append(chunk)
        words += chunk.words
        if words >= least:
            yield chunks
            chunks, words = [], 0
    if chunks:
        yield chunks


def _next(feed: Iterator[Chunk]) -> Chunk | None:
    with profile.timed("sample"):
        return next(feed, None)


def _prepared(prepare: Callable[..., Any], chunks: list[Chunk]) -> Any:
    with profile.timed("prepare"):
        return prepare(*chunks)
