"""Counting the words of plain files with several threads."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, TypeAlias

from densvec.corpora import log_replaced
from densvec.text._text import TextReader
from densvec.text._words import WordCounter
from densvec.text.pieces import ByteRange

__all__ = ["LEAST_BYTES", "ByteRange", "count_in_parallel", "line_ranges"]

#: With fewer bytes to count, another thread is not worth its table of words.
LEAST_BYTES = 1 << 22

_Range: TypeAlias = tuple[str, int, int]  # a path, its first byte, and the one after its last


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
    paths: Sequence[str],
    workers: int,
    *,
    errors: str,
    max_sentence_length: int,
    progress: Callable[..., object] | None = None,
) -> WordCounter:
    """Count plain files with up to `workers` threads; the result is that of one.

    Each thread counts neighbouring ranges of lines. Merged in the order of the ranges, the words are in order of first
    appearance in the files.
    """
    shares = _shares(paths, workers)
    counters = [WordCounter() for _ in shares]

    def count(counter: WordCounter, ranges: list[_Range]) -> int:
        replaced = 0
        for path, start, stop in ranges:
            source: tuple[str, Callable[[], Any]] = path, partial(ByteRange, path, start, stop)
            reader = TextReader(
                [source], errors=errors, max_sentence_length=max_sentence_length, offset=start
            )
            try:
                counter.count(reader, progress=progress and (lambda _: progress(*counters)))
            finally:
                reader.close()
            replaced += reader.replaced
        return replaced

    with ThreadPoolExecutor(len(shares), thread_name_prefix="densvec-count") as pool:
        try:
            futures = [pool.submit(count, *each) for each in zip(counters, shares, strict=True)]
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            for counter in counters:  # after an error or Ctrl-C: let the others end soon
                counter.stop = True
    log_replaced(sum(future.result() for future in futures), paths[0] if len(paths) == 1 else "the corpus")
    for other in counters[1:]:
        counters[0].merge(other)
    return counters[0]


def _shares(paths: Sequence[str], workers: int) -> list[list[_Range]]:
    """Divide the lines of files among threads, in order, about the same number of bytes to each."""
    sizes = [os.path.getsize(path) for path in paths]
    total = sum(sizes)
    threads = max(1, min(workers, total // LEAST_BYTES))
    shares: list[list[_Range]] = [[] for _ in range(threads)]
    before = 0
    for path, size in zip(paths, sizes, strict=True):
        for start, stop in line_ranges(path, max(1, threads * size // max(1, total))):
            shares[min(threads - 1, threads * (before + start) // total)].append((path, start, stop))
        before += size
    return shares
