"""The vocabulary of a corpus that several ranks count together.

Every rank counts its own pieces. A word belongs to one rank, its owner, which follows from the word alone. Owners
receive all counts of their words, so that no rank ever holds all words of the corpus; those that stay are gathered.
"""

from __future__ import annotations

import hashlib
import itertools
import logging
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from densvec.distributed.group import Group
from densvec.text._text import TextReader
from densvec.text._words import OwnedWords, WordCounter, shares
from densvec.text.pieces import Piece, deal, pieces_of
from densvec.text.source import log_replaced
from densvec.text.thinning import keeps
from densvec.text.vocabulary import RawVocabulary, count_words
from densvec.types import CorpusFile, Sentences, TrimRule

#: Words in UTF-8 one after another, their lengths, their counts, and where they appear first.
Packed: TypeAlias = tuple[bytes, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]

__all__ = ["SharedVocabulary", "check_shares", "count_together"]

logger = logging.getLogger(__name__)

#: Sentences of a rank's share by which it is compared with those of the others.
COMPARED = 1000

#: Where a word appears first: the number of the piece times this, and its place there.
_PLACES = 1 << 40


class SharedVocabulary(RawVocabulary):
    """The words of a corpus, each on the rank that owns it.

    All ranks together call what needs the words: `at_least`, `kept`, `counts_of` and `counts`.
    """

    def __init__(
        self, group: Group, owned: OwnedWords, total_words: int, sentence_count: int, min_reduce: int
    ) -> None:
        super().__init__({}, total_words, sentence_count, min_reduce)
        self._group = group
        self._owned = owned
        values, times = np.unique(owned.frequencies(), return_counts=True)
        gathered = group.gather([values.tolist(), times.tolist()])
        self._values = np.array([v for values, _ in gathered for v in values], np.int64)
        self._times = np.array([t for _, times in gathered for t in times], np.int64)

    def __len__(self) -> int:
        return int(self._times.sum())

    def copy(self) -> RawVocabulary:
        """Return itself: nothing changes it."""
        return self

    def gathered(self) -> RawVocabulary:
        """Return the same counts, all of them on all ranks."""
        return RawVocabulary(self.counts, self.total_words, self.sentence_count, self.min_reduce)

    @property
    def counts(self) -> dict[str, int]:
        """How often each word occurs, in order of first appearance; all words, on all ranks."""
        return self.at_least(0)

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """The counts alone, in no particular order."""
        return np.repeat(self._values, self._times)

    @property
    def occurrences(self) -> int:
        """The sum of all counts."""
        return int((self._values * self._times).sum())

    def at_least(self, min_count: int) -> dict[str, int]:
        """Return the words that occur at least this often, in order of first appearance."""
        return self._gathered(self._owned.at_least(min_count))

    def kept(self, least: int, trim_rule: TrimRule | None) -> dict[str, int]:
        """Return the counts of the words that stay, in order of first appearance; owners ask the rule."""
        if trim_rule is None:
            return self.at_least(least)
        text, lengths, counts, firsts = self._owned.at_least(0)
        words = list(_words(text, lengths))
        stay = [
            keeps(word, count, least, trim_rule) for word, count in zip(words, counts.tolist(), strict=True)
        ]
        chosen = np.flatnonzero(stay)
        kept = _packed([words[i] for i in chosen], counts[chosen], firsts[chosen])
        return self._gathered(kept)

    def counts_of(self, words: Iterable[Any]) -> NDArray[np.int64]:
        """Return how often each of these words occurs, 0 for those that do not."""
        import torch

        counts = torch.from_numpy(self._owned.counts_of(words))
        parts = [part.numpy() for part in self._group.gather_tensor(counts)]
        total: NDArray[np.int64] = np.sum(parts, axis=0, dtype=np.int64)
        return total

    def _gathered(self, owned: Packed) -> dict[str, int]:
        parts = [_unpacked(data) for data in self._group.gather_bytes(_serialised(owned))]
        words = [word for text, lengths, _, _ in parts for word in _words(text, lengths)]
        counts = np.concatenate([counts for _, _, counts, _ in parts]).tolist()
        order = np.argsort(np.concatenate([firsts for _, _, _, firsts in parts]), kind="stable").tolist()
        return {words[i]: counts[i] for i in order}


def count_together(
    group: Group,
    sentences: Sentences | None = None,
    corpus_file: CorpusFile | None = None,
    *,
    progress_per: int = 10_000,
    max_vocab_size: int | None = None,
    trim_rule: TrimRule | None = None,
    workers: int = 1,
) -> SharedVocabulary:
    """Count the words of a corpus on all ranks; the arguments are those of `count_words`.

    ``sentences`` are this rank's share of the corpus; a corpus file is the same for all ranks, which divide it.
    ``max_vocab_size`` bounds the memory of each rank.
    """
    if corpus_file is not None:
        pieces = group.together(lambda: pieces_of(corpus_file))
        group.check_same("corpus", {"pieces": len(pieces), "bytes": sum(piece.size for piece in pieces)})
        hand = deal([piece.size for piece in pieces], group.size)[group.rank]
        counted = group.together(lambda: _count_pieces(pieces, hand, max_vocab_size, trim_rule, workers))
    else:
        assert sentences is not None
        check_shares(group, sentences)
        counted = group.together(
            lambda: _count_share(sentences, group.rank, progress_per, max_vocab_size, trim_rule)
        )
    sent = [
        _serialised((text, lengths, counts, _firsts(places, counted.bounds)))
        for text, lengths, counts, places in shares(counted.words, group.size)
    ]
    owned = OwnedWords()
    for data in group.exchange_bytes(sent):
        owned.add(*_unpacked(data))
    totals = group.gather([counted.total, counted.sentences, counted.min_reduce])
    words, sentence_counts, reduced = (list(column) for column in zip(*totals, strict=True))
    raw = SharedVocabulary(group, owned, sum(words), sum(sentence_counts), max(reduced))
    if group.is_main:
        logger.info(
            "collected %i word types from a corpus of %i raw words and %i sentences, on %i ranks",
            len(raw),
            raw.total_words,
            raw.sentence_count,
            group.size,
        )
    return raw


def check_shares(group: Group, sentences: Sentences) -> None:
    """Raise ValueError on all ranks if two of them were given the same sentences."""
    digest = None
    if not isinstance(sentences, Iterator):  # reading from one would take sentences away
        head = list(itertools.islice(iter(sentences), COMPARED))
        if head:
            digest = hashlib.sha256(repr(head).encode("utf-8", "surrogatepass")).hexdigest()
    digests = group.gather(digest)
    for rank, other in enumerate(digests):
        if other is not None and other in digests[:rank]:
            raise ValueError(
                f"ranks {digests.index(other)} and {rank} were given the same sentences. Each rank trains its own "
                "share: give sentences[densvec.distributed.rank()::densvec.distributed.world_size()], or a "
                "corpus_file, which ranks divide among themselves; distributed=False trains a model on each rank alone"
            )


@dataclass
class _Counted:
    """What a rank has counted."""

    words: WordCounter | OwnedWords
    bounds: list[tuple[int, int]]  # from which word on they appear first in which piece
    total: int
    sentences: int
    min_reduce: int


def _count_pieces(
    pieces: list[Piece],
    hand: list[int],
    max_vocab_size: int | None,
    trim_rule: TrimRule | None,
    workers: int,
) -> _Counted:
    """Count some pieces, one after the other as to which word appears first."""
    total, replaced = WordCounter(), 0
    bounds: list[tuple[int, int]] = []

    def count(piece: int) -> tuple[WordCounter, TextReader]:
        reader = pieces[piece].reader()
        counter = WordCounter()
        try:
            counter.count(reader)
        finally:
            reader.close()
        return counter, reader

    with ThreadPoolExecutor(workers, thread_name_prefix="densvec-count") as pool:
        left = iter(hand)
        waiting: deque[tuple[int, Future[Any]]] = deque()
        for piece in itertools.islice(left, 2 * workers):
            waiting.append((piece, pool.submit(count, piece)))
        try:
            while waiting:
                piece, future = waiting.popleft()
                counter, reader = future.result()
                bounds.append((len(total), piece))
                total.merge(counter)
                replaced += reader.replaced
                while max_vocab_size and len(total) > max_vocab_size:
                    total.prune(trim_rule)
                    bounds = [(0, bounds[0][1])]  # whose counts, and order, are no longer exact
                if (following := next(left, None)) is not None:
                    waiting.append((following, pool.submit(count, following)))
        finally:
            for _, future in waiting:
                future.cancel()
    log_replaced(replaced, "the corpus")
    return _Counted(total, bounds, total.words, total.examples, total.min_reduce)


def _count_share(
    sentences: Sentences,
    rank: int,
    progress_per: int,
    max_vocab_size: int | None,
    trim_rule: TrimRule | None,
) -> _Counted:
    """Count this rank's own sentences, as its one piece."""
    raw = count_words(
        sentences, progress_per=progress_per, max_vocab_size=max_vocab_size, trim_rule=trim_rule
    )
    counts = raw.counts
    for word in counts:
        if not isinstance(word, str):
            raise TypeError(
                f"ranks can only divide words that are strings; {word!r} is a {type(word).__name__}"
            )
    words = OwnedWords()
    words.add(*_packed(list(counts), np.fromiter(counts.values(), np.int64), np.arange(len(counts))))
    return _Counted(words, [(0, rank)], raw.total_words, raw.sentence_count, raw.min_reduce)


def _firsts(places: NDArray[np.int64], bounds: list[tuple[int, int]]) -> NDArray[np.int64]:
    """Return where words appear first in the corpus, from their places in a counter of some of its pieces."""
    if not bounds:
        return places
    starts, pieces = (np.array(column, np.int64) for column in zip(*bounds, strict=True))
    return pieces[np.searchsorted(starts, places, side="right") - 1] * _PLACES + places


# Words on their way


def _packed(words: list[str], counts: NDArray[np.int64], firsts: NDArray[np.int64]) -> Packed:
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    return b"".join(encoded), np.array([len(word) for word in encoded], np.int64), counts, firsts


def _words(text: bytes, lengths: NDArray[np.int64]) -> Iterator[str]:
    start = 0
    for length in lengths.tolist():
        yield text[start : start + length].decode("utf-8", "surrogatepass")
        start += length


def _serialised(packed: Packed) -> bytes:
    text, *numbers = packed
    header = np.array([len(packed[1])], "<i8").tobytes()
    return b"".join([header, *(np.asarray(each, "<i8").tobytes() for each in numbers), text])


def _unpacked(data: bytes) -> Packed:
    n = int(np.frombuffer(data, "<i8", 1)[0])
    lengths, counts, firsts = (np.frombuffer(data, "<i8", n, 8 + 8 * n * i) for i in range(3))
    return data[8 + 24 * n :], lengths, counts, firsts
