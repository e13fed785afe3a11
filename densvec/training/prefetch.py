"""Chunks prepared by other threads while the device works on those before them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from densvec._corpus import Chunk

__all__ = ["Prefetched"]

#: Chunks that each thread prepares ahead.
AHEAD = 2


class Prefetched:
    """Iterates over (chunk, prepared chunk) in the order of the corpus, whatever the number of threads."""

    def __init__(
        self, feed: Iterator[Chunk], prepare: Callable[[Chunk], Any], *, start: int = 0, threads: int = 1
    ) -> None:
        self._feed = feed
        self._prepare = prepare
        self._next = start
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="densvec-prepare")
        self._ready: dict[int, tuple[Chunk, Any]] = {}
        self._pending: deque[Future[tuple[Chunk, Any] | None]] = deque(
            self._pool.submit(self._fetch) for _ in range(AHEAD * threads)
        )

    def __iter__(self) -> Prefetched:
        return self

    def __next__(self) -> tuple[Chunk, Any]:
        while self._next not in self._ready:
            if not self._pending:
                raise StopIteration
            fetched = self._pending.popleft().result()
            if fetched is not None:
                self._ready[fetched[0].number] = fetched
                self._pending.append(self._pool.submit(self._fetch))
        self._next += 1
        return self._ready.pop(self._next - 1)

    def close(self) -> None:
        """Let the threads end; close the feed first."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _fetch(self) -> tuple[Chunk, Any] | None:
        chunk = next(self._feed, None)
        return None if chunk is None else (chunk, self._prepare(chunk))
