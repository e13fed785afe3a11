"""The chunks of one epoch, read ahead by a thread and handed to any number of workers."""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from densvec._corpus import Block, Chunk, Sampler
from densvec.text._text import MAX_SENTENCE_LENGTH, TextBlock, TextReader
from densvec.text._words import SentenceReader, WordIndex
from densvec.text.source import check_corpus, file_reader, log_replaced, text_reader
from densvec.types import CorpusFile

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger(__name__)

T = TypeVar("T")

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
        one or more files with one sentence per line, see `densvec.text.source.corpus_paths`. Give one or the other.
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
    prefetch : int
        Blocks that a thread reads ahead.
    reader : TextReader, optional
        Read this part of the corpus instead of all of it.

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
        prefetch: int = 8,
        reader: TextReader | None = None,
    ) -> None:
        check_corpus(sentences, corpus_file)
        if chunk_words < 1:
            raise ValueError(f"chunk_words must be at least 1, not {chunk_words}")
        if reader is None and corpus_file is not None:
            reader = file_reader(corpus_file, max_sentence_length)
        elif reader is None:
            reader = text_reader(sentences, max_sentence_length)
        self.sampler = sampler
        self.epoch = epoch
        self._words = index if isinstance(index, WordIndex) else WordIndex(index)
        self._closed = threading.Event()
        # The thread must not hold the feed itself, which ends it when nobody needs the feed any more.
        blocks: Iterator[TextBlock | Block]
        if reader is not None:
            corpus = None if epoch else sentences if corpus_file is None else corpus_file
            blocks = _texts(reader, chunk_words, corpus, self._closed)
        else:
            assert sentences is not None
            blocks = _encoded(sentences, self._words, chunk_words, max_sentence_length, self._closed)
        self._blocks = Ahead(
            lambda: (block for block in blocks if block.number >= start), depth=prefetch, name="densvec-feed"
        )

    def take(self) -> Any:
        """Return the text or the block of the next chunk; None at the end."""
        return self._blocks.take()

    def block(self, taken: Any) -> Block:
        """Return the block of what `take` returned: its words encoded."""
        return self._words.encode(taken) if isinstance(taken, TextBlock) else taken

    def chunk(self, taken: Any) -> Chunk:
        """Return the chunk of what `take` returned: its words encoded and sampled."""
        return self.sampler.sample(self.block(taken), self.epoch)

    def close(self) -> None:
        """Stop reading; further calls of ``next()`` raise StopIteration."""
        self._closed.set()
        if not self._blocks.close():
            logger.warning(
                "the corpus does not return its next sentence; the thread that reads it is abandoned"
            )

    def __enter__(self) -> Feed:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_blocks"):
            self.close()


def _texts(
    reader: TextReader, chunk_words: int, corpus: object, closed: threading.Event
) -> Iterator[TextBlock]:
    """Yield text for the workers to encode; a `corpus` is named in a warning about bytes that are not UTF-8."""
    try:
        while not closed.is_set() and (text := reader.next_block(chunk_words)) is not None:
            yield text
    finally:
        reader.close()
    if corpus is not None:
        log_replaced(reader.replaced, corpus)


def _encoded(
    sentences: Iterable[Any],
    words: WordIndex,
    chunk_words: int,
    max_sentence_length: int,
    closed: threading.Event,
) -> Iterator[Block]:
    """Yield token lists, encoded by the one thread that iterates them: some iterators must stay on theirs."""
    reader = SentenceReader(sentences, words, max_sentence_length=max_sentence_length)
    while not closed.is_set() and (block := reader.next_block(chunk_words)) is not None:
        yield block


class Ahead(Generic[T]):
    """Iterates in another thread, a few items ahead.

    Parameters
    ----------
    items : callable
        Returns what to iterate over. It is called by the thread, which is the only one that touches its iterator.
    depth : int
        How many items may be ready and not yet taken.
    name : str
        Name of the thread.

    Examples
    --------
    >>> ahead = Ahead(lambda: "ab", depth=1, name="letters")
    >>> ahead.take(), ahead.take(), ahead.take()
    ('a', 'b', None)
    """

    #: Seconds that `close` waits for an iterator that does not return.
    PATIENCE = 2.0

    def __init__(self, items: Callable[[], Iterable[T]], *, depth: int, name: str) -> None:
        self._items = items
        self._depth = depth
        self._name = name
        self._ready: deque[T] = deque()
        self._changed = threading.Condition()
        self.closed = False  # nothing more is wanted
        self._finished = False  # nothing more will come
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless it has started; `take` does so too."""
        with self._changed:
            if self._thread is None and not self.closed:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def take(self) -> T | None:
        """Return the next item, waiting for it if necessary; None at the end and after `close`.

        An exception from the iterator is raised here, once the items before it are taken.
        """
        self.start()
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._finished or self.closed)
            if self.closed:
                return None
            if self._ready:
                self._changed.notify_all()
                return self._ready.popleft()
            if self._error is not None:
                raise self._error
            return None

    def _run(self) -> None:
        try:
            for item in self._items():
                with self._changed:
                    self._changed.wait_for(lambda: len(self._ready) < self._depth or self.closed)
                    if self.closed:
                        return
                    self._ready.append(item)
                    self._changed.notify_all()
        except BaseException as error:  # it belongs to the caller of take()
            self._error = error
        finally:
            with self._changed:
                self._finished = True
                self._changed.notify_all()

    def close(self) -> bool:
        """Let the thread end; return whether it has. One that is still waiting for its iterator is left behind."""
        with self._changed:
            self.closed = True
            self._ready.clear()
            self._changed.notify_all()
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(self.PATIENCE)
        return not thread.is_alive()
