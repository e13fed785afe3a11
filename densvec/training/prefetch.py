"""Chunks prepared by another thread while the device works on those before them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from densvec._corpus import Chunk
from densvec.text.ahead import Ahead

__all__ = ["Prefetched"]

#: Chunks that are prepared ahead.
AHEAD = 2


class Prefetched:
    """Iterates over (chunk, prepared chunk) in the order of the corpus."""

    def __init__(self, feed: Iterator[Chunk], prepare: Callable[[Chunk], Any]) -> None:
        self._ahead = Ahead(
            lambda: ((chunk, prepare(chunk)) for chunk in feed), depth=AHEAD, name="densvec-prepare"
        )
        self._ahead.start()

    def __iter__(self) -> Prefetched:
        return self

    def __next__(self) -> tuple[Chunk, Any]:
        taken = self._ahead.take()
        if taken is None:
            raise StopIteration
        return taken

    def close(self) -> None:
        """Let the thread end; close the feed first. If the corpus keeps it for longer, it is left behind."""
        self._ahead.close()
