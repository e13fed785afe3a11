"""Counting which words stand directly beside others, in one pass over a corpus."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import numpy.typing as npt

from densvec._corpus import Block, count_beside
from densvec.text._text import TextReader
from densvec.text._words import SentenceReader, WordIndex
from densvec.text.pieces import Piece, pieces_of
from densvec.text.source import as_files, text_reader
from densvec.types import CorpusFile, Integers

_BLOCK_WORDS = 100_000


class BesideCounter:
    """How often some words stand directly before and after others.

    Parameters
    ----------
    words : int
        How many words are known.
    counted : numpy.ndarray of int
        The ids of the words whose neighbours are counted.
    beside : numpy.ndarray of int
        The ids of the neighbours that are counted.

    Attributes
    ----------
    counts : numpy.ndarray of int, shape (2, len(counted), len(beside))
        Of neighbours before, and after.
    totals : numpy.ndarray of int, shape (words,)
        How often every word occurs.

    Examples
    --------
    >>> counter = BesideCounter(3, np.array([1, 2]), np.array([0]))
    >>> counter.add(Block([0, 1, 0, 2], [0, 4]))
    >>> counter.counts.tolist()
    [[[1], [1]], [[1], [0]]]
    >>> counter.totals.tolist()
    [2, 1, 1]
    """

    def __init__(self, words: int, counted: Integers, beside: Integers) -> None:
        self._rows, self._columns = _places(words, counted), _places(words, beside)
        self.counts: npt.NDArray[np.int32] = np.zeros((2, len(counted), len(beside)), dtype=np.int32)
        self.totals = np.zeros(words, dtype=np.int64)
        self._lock = threading.Lock()

    def add(self, block: Block) -> None:
        """Count a block of a corpus; several threads may call this."""
        with self._lock:
            count_beside(block, self._rows, self._columns, self.counts)
            self.totals += np.bincount(block.ids, minlength=len(self.totals))


def _places(words: int, ids: Integers) -> npt.NDArray[np.int32]:
    places = np.full(words, -1, dtype=np.int32)
    places[ids] = np.arange(len(ids))
    return places


def each_block(
    act: Callable[[Block], object],
    index: WordIndex,
    sentences: Iterable[Any] | None = None,
    corpus_file: CorpusFile | None = None,
    *,
    workers: int = 1,
    share: Callable[[list[Piece]], Iterable[Piece]] = lambda pieces: pieces,
) -> None:
    """Call a function with each block of a corpus, its words encoded; with files, from several threads.

    `share` chooses the pieces of the files to read, by default all.

    Examples
    --------
    >>> each_block(print, WordIndex(["a", "b"]), [["a", "b"], ["b"]])
    Block(number=0, words=3, known=3, examples=2)
    """
    sentences, corpus_file = as_files(sentences, corpus_file)
    if corpus_file is None:
        assert sentences is not None
        text = text_reader(sentences)
        blocks = _read(SentenceReader(sentences, index)) if text is None else _encoded(text, index)
        for block in blocks:
            act(block)
        return
    stopped = threading.Event()

    def read(piece: Piece) -> None:
        for block in _encoded(piece.reader(), index):
            if stopped.is_set():
                break
            act(block)

    with ThreadPoolExecutor(max(1, workers), thread_name_prefix="densvec-read") as pool:
        futures = [pool.submit(read, piece) for piece in share(pieces_of(corpus_file))]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            stopped.set()  # after an error or Ctrl-C: let the others end soon
            for future in futures:
                future.cancel()
    for future in futures:
        if not future.cancelled():
            future.result()


def _read(reader: SentenceReader) -> Iterator[Block]:
    while (block := reader.next_block(_BLOCK_WORDS)) is not None:
        yield block


def _encoded(reader: TextReader, index: WordIndex) -> Iterator[Block]:
    try:
        while (text := reader.next_block(_BLOCK_WORDS)) is not None:
            yield index.encode(text)
    finally:
        reader.close()
