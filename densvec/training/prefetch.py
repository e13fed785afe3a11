"""Chunks prepared by another thread while the device works on those before them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from densvec._corpus import Chunk

__all__ = ["Prefetched"]

#: Chunks that are prepared ahead.
AHEAD = 2


class Prefetched:
    """Iterates over (chunk, prepared chunk) in the order of the corpus."""

    def __init__(self, feed: Iterator[Chunk], prepare: Callable[[Chunk], Any]) -> None:
        self._feed = feed
        self._prepare = prepare
        self._ready: deque[tuple[Chunk, Any]] = deque()
        self._changed = threading.Condition()
        self._ended = False  # nothing more is wanted, or will come
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="densvec-prepare", daemon=True)
        self._thread.start()

    def __iter__(self) -> Prefetched:
        return self

    def __next__(self) -> tuple[Chunk, Any]:
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._ended)
            if self._ready:
                self._changed.notify_all()
                return self._ready.popleft()
            if self._error is not None:
                raise self._error
            raise StopIteration

    def close(self, patience: float = 2.0) -> None:
        """Let the thread end; close the feed first. If the corpus keeps it for longer, it is left behind."""
        with self._changed:
            self._ready.clear()
            self._ended = True
            self._changed.notify_all()
        self._thread.join(patience)

    def _run(self) -> None:
        try:
            for chunk in self._feed:
                prepared = self._prepare(chunk)
                with self._changed:
                    self._changed.wait_for(lambda: len(self._ready) < AHEAD or self._ended)
                    if self._ended:
                        return
                    self._ready.append((chunk, prepared))
                    self._changed.notify_all()
        except BaseException as error:  # it belongs to the caller of next()
            self._error = error
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()
