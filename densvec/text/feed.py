"""The chunks of one epoch, handed to any number of workers."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from densvec._corpus import Block, Chunk, Sampler
from densvec.corpora import check_corpus, file_reader, log_replaced, text_reader
from densvec.text._sentences import SentenceReader
from densvec.text._text import MAX_SENTENCE_LENGTH, TextBlock, TextReader
from densvec.text._words import WordIndex
from densvec.text.ahead import Ahead
from densvec.text.pieces import Piece, chunk_number
from densvec.types import CorpusFile

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CHUNK_WORDS", "Chunks", "Feed"]

logger = logging.getLogger(__name__)

#: Raw words of a chunk, gensim's `batch_words`.
CHUNK_WORDS = 10_000


class Chunks(ABC):
    """An iterator over chunks, each made in two steps, so that threads can share the work."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Chunk:
        """Return the next chunk."""
        taken = self.take()
        if taken is None:
            raise StopIteration
        return self.chunk(taken)

    @abstractmethod
    def take(self) -> Any:
        """Return what the next chunk is made of, which may have to be waited for; None at the end."""

    @abstractmethod
    def chunk(self, taken: Any) -> Chunk:
        """Return the chunk of what `take` returned: the part of the work that threads can do side by side."""

    @abstractmethod
    def close(self) -> None:
        """Stop reading; further calls of ``next()`` raise StopIteration."""


class Feed(Chunks):
    """Iterates over the chunks of one epoch; several threads may call ``next()`` on one feed.

    Chunk k holds the k-th run of whole sentences with at least `chunk_words` words, so chunks depend on the
    text, the sampler and the epoch alone: the same from a file and from token lists, with one worker or many.

    Parameters
    ----------
    sentences : iterable of token lists, optional
        The corpus; or
    corpus_file : path or list of paths, optional
        one or more files with one sentence per line, see `densvec.text.pieces.corpus_paths`. Give one or the other.
    index : mapping from word to id, or WordIndex
        The vocabulary. A WordIndex can be made once and used for every epoch.
    sampler : Sampler
        Draws the chunks.
    epoch : int
        Number of this pass over the corpus.
    chunk_words : int
        Least number of raw words in a chunk.
    max_sentence_length : int
        Longer lines and token lists are cut into sentences of this many words.
    start : int
        Number of chunks to leave out at the start, to resume an epoch.
    errors : str
        What to do with bytes of the file that are not UTF-8.
    prefetch : int
        Blocks of token lists that a thread encodes ahead.
    part : Piece, optional
        Read only this piece of `corpus_file`.
    piece : int, optional
        Number of the piece, if this is not the whole corpus: chunks are numbered accordingly.

    Examples
    --------
    >>> sampler = Sampler([1.0, 1.0], [1.0, 1.0], window=2, seed=1)
    >>> with Feed([["a", "b"], ["b", "x", "a"]], index={"a": 0, "b": 1}, sampler=sampler, epoch=0) as feed:
    ...     for chunk in feed:
    ...         print(chunk.tokens, chunk.sentences, chunk.words)
    [0 1 1 0] [0 2 4] 5
    """

    def __init__(
        self,
        sentences: Iterable[Any] | None = None,
        corpus_file: CorpusFile | None = None,
        *,
        index: Mapping[Any, int] | WordIndex,
        sampler: Sampler,
        epoch: int = 0,
        chunk_words: int = CHUNK_WORDS,
        max_sentence_length: int = MAX_SENTENCE_LENGTH,
        start: int = 0,
        errors: str = "replace",
        prefetch: int = 8,
        part: Piece | None = None,
        piece: int | None = None,
    ) -> None:
        check_corpus(sentences, corpus_file)
        if chunk_words < 1:
            raise ValueError(f"chunk_words must be at least 1, not {chunk_words}")
        self.sampler = sampler
        self.epoch = epoch
        self._piece = piece
        if part is not None:
            reader: TextReader | None = part.reader(errors=errors, max_sentence_length=max_sentence_length)
        elif corpus_file is not None:
            reader = file_reader(corpus_file, errors=errors, max_sentence_length=max_sentence_length)
        else:
            reader = text_reader(sentences, max_sentence_length)
        words = index if isinstance(index, WordIndex) else WordIndex(index)
        self._blocks: _Blocks
        if reader is not None:
            corpus = sentences if corpus_file is None else corpus_file
            self._blocks = _TextBlocks(reader, words, chunk_words, start, corpus if epoch == 0 else None)
        else:
            assert sentences is not None
            self._blocks = _ProducedBlocks(
                sentences, words, chunk_words, start, max_sentence_length, max(1, prefetch)
            )

    def take(self) -> Any:
        """Return the text or the block of the next chunk; None at the end."""
        return self._blocks.take()

    def chunk(self, taken: Any) -> Chunk:
        """Return the chunk of what `take` returned: its words encoded and sampled."""
        block = self._blocks.block(taken)
        if self._piece is not None:
            number = chunk_number(self._piece, block.number)
            block = Block.trusted(
                block.ids, block.sentences, number, block.words, block.words_before, block.examples
            )
        return self.sampler.sample(block, self.epoch)

    def close(self) -> None:
        """Stop reading; further calls of ``next()`` raise StopIteration."""
        self._blocks.close()

    def __enter__(self) -> Feed:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_blocks"):
            self._blocks.close()


class _Blocks(Protocol):
    """A source of encoded blocks for any number of threads."""

    def take(self) -> Any:
        """Return what the next block is made of, None at the end."""

    def block(self, taken: Any) -> Block:
        """Return the block of what `take` returned."""

    def close(self) -> None:
        """Stop reading."""


class _TextBlocks:
    """Blocks of text: the caller's thread reads under a lock and encodes outside of it."""

    def __init__(
        self, reader: TextReader, index: WordIndex, chunk_words: int, start: int, corpus: object | None
    ) -> None:
        self._reader = reader
        self._index = index
        self._chunk_words = chunk_words
        self._start = start
        self._corpus = corpus  # named in the warning about bytes that are not UTF-8; None: do not warn
        self._lock = threading.Lock()
        self._done = False
        self._error: BaseException | None = None

    def take(self) -> TextBlock | None:
        with self._lock:
            try:
                return self._read()
            finally:
                if self._done:
                    self._reader.close()

    def _read(self) -> TextBlock | None:
        if self._error is not None:
            raise self._error
        text = None
        try:
            while not self._done:
                text = self._reader.next_block(self._chunk_words)
                if text is None or text.number >= self._start:
                    break
        except BaseException as error:
            self._error = error
            self._done = True
            raise
        if self._done:  # closed in the meantime
            return None
        if text is None:
            self._done = True
            if self._corpus is not None:
                log_replaced(self._reader.replaced, self._corpus)
        return text

    def block(self, taken: TextBlock) -> Block:
        return self._index.encode(taken)

    def close(self) -> None:
        self._done = True
        if self._lock.acquire(
            blocking=False
        ):  # else a thread is reading, perhaps for ever, and will close it
            try:
                self._reader.close()
            finally:
                self._lock.release()


class _ProducedBlocks:
    """Blocks of token lists: one thread iterates the corpus and encodes ahead of the workers.

    The corpus is iterated by one thread only, because iterators are not thread-safe and some (database
    cursors) must stay on the thread that made them.
    """

    def __init__(
        self,
        sentences: Iterable[Any],
        index: WordIndex,
        chunk_words: int,
        start: int,
        max_sentence_length: int,
        prefetch: int,
    ) -> None:
        self._arguments = sentences, index, chunk_words, start, max_sentence_length
        self._ahead = Ahead(self._produce, depth=prefetch, name="densvec-feed")

    def block(self, taken: Block) -> Block:
        return taken

    def take(self) -> Block | None:
        return self._ahead.take()

    def _produce(self) -> Iterator[Block]:
        sentences, index, chunk_words, start, max_sentence_length = self._arguments
        reader = SentenceReader(sentences, index, max_sentence_length=max_sentence_length)
        while not self._ahead.closed and (block := reader.next_block(chunk_words)) is not None:
            if block.number >= start:
                yield block

    def close(self) -> None:
        if not self._ahead.close():
            logger.warning(
                "the corpus does not return its next sentence; the thread that reads it is abandoned"
            )
