"""Counting the words of a plain file with several threads."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

from densvec.corpora import log_replaced
from densvec.text._text import TextReader
from densvec.text._words import WordCounter

__all__ = ["LEAST_BYTES", "ByteRange", "count_in_parallel", "line_ranges"]

#: A thread is worth its table of words only with this many bytes to count.
LEAST_BYTES = 1 << 22


class ByteRange:
    """The bytes [start, stop) of a file, as a file."""

    def __init__(self, path: str | os.PathLike[str], start: int, stop: int) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close()
        self._file.seek(start)
        self._left = stop - start

    def readinto(self, view: memoryview) -> int:
        """Read into `view`; 0 at the end of the range."""
        n = self._file.readinto(view[: self._left]) or 0
        self._left -= n
        return n

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def line_ranges(path: str | os.PathLike[str], n: int) -> list[tuple[int, int]]:
    """Cut a file into at most `n` ranges of bytes of about equal size, each of whole lines."""
    size = os.path.getsize(path)
    bounds = [0]
    with open(path, "rb") as file:
        for i in range(1, n):
            file.seek(max(bounds[-1], i * size // n))
            while (piece := file.read(1 << 16)) and b"\n" not in piece:
                pass
            bounds.append(file.tell() - len(piece) + piece.index(b"\n") + 1 if piece else size)
    bounds.append(size)
    return [(start, stop) for start, stop in itertools.pairwise(bounds) if start < stop]


def count_in_parallel(
    path: str | os.PathLike[str],
    workers: int,
    *,
    errors: str,
    max_sentence_length: int,
    progress: Callable[..., object] | None = None,
) -> WordCounter:
    """Count a plain file with up to `workers` threads; the result is that of one.

    Each thread counts one range of lines. Merged in the order of the ranges, the words are in order of first
    appearance in the file.
    """
    ranges = line_ranges(path, max(1, min(workers, os.path.getsize(path) // LEAST_BYTES)))
    counters = [WordCounter() for _ in ranges] or [WordCounter()]

    def count(counter: WordCounter, start: int, stop: int) -> TextReader:
        source: tuple[str, Callable[[], Any]] = os.fspath(path), lambda: ByteRange(path, start, stop)
        reader = TextReader([source], errors=errors, max_sentence_length=max_sentence_length, offset=start)
        try:
            counter.count(reader, progress=progress and (lambda _: progress(*counters)))
        finally:
            reader.close()
        return reader

    with ThreadPoolExecutor(max(1, len(ranges)), thread_name_prefix="densvec-count") as pool:
        try:
            futures = [pool.submit(count, c, *r) for c, r in zip(counters, ranges, strict=False)]
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            for counter in counters:  # after an error or Ctrl-C: let the others end soon
                counter.stop = True
    total = counters[0]
    replaced = 0
    for future in futures:
        replaced += future.result().replaced
    for other in counters[1:]:
        total.merge(other)
    log_replaced(replaced, path)
    return total
