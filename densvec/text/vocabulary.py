"""From a corpus to a vocabulary: counting words and choosing them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from densvec.checks import counted
from densvec.files.streams import is_plain
from densvec.text._text import TextReader
from densvec.text._words import WordCounter
from densvec.text.pieces import Piece, neighbours, pieces_of
from densvec.text.source import (
    as_files,
    check_corpus,
    corpus_paths,
    file_reader,
    log_replaced,
    text_reader,
)
from densvec.text.thinning import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP, keep_probabilities, keeps  # noqa: F401
from densvec.types import CorpusFile, TrimRule

logger = logging.getLogger(__name__)

#: With fewer bytes to count, another thread is not worth its table of words.
LEAST_BYTES = 1 << 22


class RawVocabulary:
    """The words of a corpus and how often each occurs.

    Parameters
    ----------
    counts : mapping from word to count, or a counter
        In order of first appearance.
    total_words, sentence_count : int
        Words and sentences of the corpus.
    min_reduce : int
        Words seen fewer times than this may be missing, if `max_vocab_size` was set.
    """

    def __init__(
        self,
        counts: Mapping[str, int] | WordCounter,
        total_words: int,
        sentence_count: int,
        min_reduce: int = 1,
    ) -> None:
        self._source = counts
        self.total_words = total_words
        self.sentence_count = sentence_count
        self.min_reduce = min_reduce

    @classmethod
    def from_frequencies(
        cls, frequencies: Mapping[str, int], sentence_count: int | None = None
    ) -> RawVocabulary:
        """Return the vocabulary of a table of counts.

        Examples
        --------
        >>> RawVocabulary.from_frequencies({"kiwi": 3, "bird": 5}).total_words
        8
        """
        for word, count in frequencies.items():
            if not isinstance(count, (int, np.integer)) or count < 0:
                raise ValueError(f"the count of {word!r} must be a non-negative integer, not {count!r}")
        counts = {word: int(count) for word, count in frequencies.items()}
        return cls(counts, sum(counts.values()), sentence_count or 0)

    def __len__(self) -> int:
        return len(self._source)

    def copy(self) -> RawVocabulary:
        """Return the same counts as an object of their own, which changes to this one leave alone."""
        source = dict(self._source) if isinstance(self._source, Mapping) else self._source
        return RawVocabulary(source, self.total_words, self.sentence_count, self.min_reduce)

    @property
    def counts(self) -> dict[str, int]:
        """How often each word occurs, in order of first appearance.

        From then on the counts are those of this dictionary, which may be changed.
        """
        if not isinstance(self._source, dict):
            self._source = self.at_least(0)
        return self._source

    def at_least(self, min_count: int) -> dict[str, int]:
        """Return `counts` without the words that occur fewer times, which are never made into strings."""
        if isinstance(self._source, Mapping):
            return {word: count for word, count in self._source.items() if count >= min_count}
        return self._source.counts(min_count)

    def kept(self, least: int, trim_rule: TrimRule | None) -> dict[str, int]:
        """Return the counts of the words that stay, in order of first appearance."""
        if trim_rule is None:
            return self.at_least(least)
        return {word: count for word, count in self.counts.items() if keeps(word, count, least, trim_rule)}

    def counts_of(self, words: Iterable[Any]) -> NDArray[np.int64]:
        """Return how often each of these words occurs, 0 for those that do not."""
        if isinstance(self._source, Mapping):
            return np.fromiter((self._source.get(word, 0) for word in words), np.int64)
        return self._source.counts_of(words)

    @property
    def frequencies(self) -> NDArray[np.int64]:
        """The counts alone, in the same order."""
        if isinstance(self._source, Mapping):
            return np.fromiter(self._source.values(), np.int64, len(self._source))
        return self._source.frequencies()

    @property
    def occurrences(self) -> int:
        """The sum of all counts."""
        return int(self.frequencies.sum())


@dataclass(frozen=True)
class Vocabulary:
    """The words that a model knows, by id, with their counts, and what choosing them left out."""

    words: list[str]
    counts: NDArray[np.int64]
    effective_min_count: int = 1
    retained_words: int = 0  # chosen words that occur in the corpus just scanned
    retained_total: int = 0  # their occurrences in it
    dropped_words: int = 0
    dropped_total: int = 0

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def index(self) -> dict[str, int]:
        """The id of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def report(self, sample: float) -> dict[str, int]:
        """Return the figures that gensim's `prepare_vocab` returns.

        `downsample_unique` words are thinned, which leaves about `downsample_total` of all their occurrences.
        """
        keep = keep_probabilities(self.counts, sample)
        return {
            "drop_unique": self.dropped_words,
            "retain_total": self.retained_total,
            "downsample_unique": int((keep < 1).sum()),
            "downsample_total": int((keep * self.counts).sum()),
            "num_retained_words": self.retained_words,
        }


def count_words(
    sentences: Iterable[Any] | None = None,
    corpus_file: CorpusFile | None = None,
    *,
    progress_per: int = 10_000,
    max_vocab_size: int | None = None,
    trim_rule: TrimRule | None = None,
    workers: int = 1,
) -> RawVocabulary:
    """Count the words of a corpus.

    Parameters
    ----------
    sentences : iterable of token lists, optional
        The corpus; or
    corpus_file : path or list of paths, optional
        one or more files with one sentence per line, see `densvec.text.source.corpus_paths`. Give one or the other.
    progress_per : int
        Log progress about once every this many sentences.
    max_vocab_size : int, optional
        Bound the memory: whenever a sentence leaves more distinct words than this, those seen fewer than
        `min_reduce` times are dropped and `min_reduce`, 1 at first, rises by one. This makes the counts of rare
        words too small. About 10 million words take 1 GB.
    trim_rule : callable, optional
        Asked, in place of their count, about words that `max_vocab_size` would drop.
    workers : int
        Threads that count a plain file. The result does not depend on it.

    Examples
    --------
    >>> raw = count_words([["the", "kiwi", "is", "the", "bird"]])
    >>> raw.counts
    {'the': 2, 'kiwi': 1, 'is': 1, 'bird': 1}
    >>> raw.total_words, raw.sentence_count
    (5, 1)
    """
    check_corpus(sentences, corpus_file)
    if max_vocab_size is not None and max_vocab_size < 0:
        raise ValueError(f"max_vocab_size={max_vocab_size} is below 0: give the most words to count, or None")
    logger.info("collecting all words and their counts")
    progress = _Progress(max(1, progress_per))
    sentences, corpus_file = as_files(sentences, corpus_file)
    paths = [] if corpus_file is None else corpus_paths(corpus_file)
    if paths and workers > 1 and not max_vocab_size and all(map(is_plain, paths)):
        counter = count_pieces(pieces_of(paths), workers, progress=progress)
    else:
        counter = WordCounter()
        reader = text_reader(sentences) if corpus_file is None else file_reader(corpus_file)
        bounds: dict[str, Any] = {"max_vocab_size": max_vocab_size, "trim_rule": trim_rule}
        if reader is not None:
            replaced = _count_text(counter, reader, progress=progress, **bounds)
            log_replaced(replaced, sentences if corpus_file is None else corpus_file)
        else:
            assert sentences is not None
            counter.count_sentences(sentences, progress=progress, progress_per=progress.per, **bounds)
    raw = RawVocabulary(counter, counter.words, counter.examples, counter.min_reduce)
    logger.info(
        "collected %i word types from a corpus of %i raw words and %i sentences",
        len(raw),
        raw.total_words,
        raw.sentence_count,
    )
    return raw


def _count_text(counter: WordCounter, reader: TextReader, **options: Any) -> int:
    """Count all that a reader reads; return how many byte sequences were not UTF-8."""
    try:
        counter.count(reader, **options)
    finally:
        reader.close()
    return reader.replaced


def count_pieces(
    pieces: Sequence[Piece],
    workers: int = 1,
    *,
    max_vocab_size: int | None = None,
    trim_rule: TrimRule | None = None,
    progress: Callable[..., object] = lambda *counters: None,
) -> WordCounter:
    """Count some pieces of a corpus with up to `workers` threads, or with one if the vocabulary is bounded.

    Each thread counts neighbouring pieces. Merged in the order of the pieces, the words are in order of first
    appearance, whatever the number of threads.
    """
    threads = 1 if max_vocab_size else min(workers, sum(piece.size for piece in pieces) // LEAST_BYTES)
    shares = neighbours(pieces, max(1, threads))
    counters = [WordCounter() for _ in shares]
    options: dict[str, Any] = {
        "max_vocab_size": max_vocab_size,
        "trim_rule": trim_rule,
        "progress": lambda _: progress(*counters),
    }

    def count(counter: WordCounter, share: Sequence[Piece]) -> int:
        return sum(_count_text(counter, piece.reader(), **options) for piece in share)

    with ThreadPoolExecutor(len(shares), thread_name_prefix="densvec-count") as pool:
        try:
            futures = [pool.submit(count, *each) for each in zip(counters, shares, strict=True)]
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            for counter in counters:  # after an error or Ctrl-C: let the others end soon
                counter.stop = True
    paths = {piece.path for piece in pieces}
    log_replaced(sum(future.result() for future in futures), paths.pop() if len(paths) == 1 else "the corpus")
    for other in counters[1:]:
        counters[0].merge(other)
    return counters[0]


@dataclass
class _Progress:
    """Logs the progress of counting, at most once every `per` sentences."""

    per: int
    due: int = field(default=0)

    def __call__(self, *counters: WordCounter) -> None:
        examples = sum(counter.examples for counter in counters)
        if examples >= self.due:
            self.due = examples - examples % self.per + self.per
            logger.info(
                "PROGRESS: at sentence #%i, processed %i words, keeping %i word types",
                examples,
                sum(counter.words for counter in counters),
                max(len(counter) for counter in counters),
            )


def select(
    raw: RawVocabulary,
    *,
    min_count: int = 5,
    max_final_vocab: int | None = None,
    trim_rule: TrimRule | None = None,
    sorted_vocab: bool = True,
    allow_empty: bool = False,
) -> Vocabulary:
    """Choose the words of a new vocabulary.

    Parameters
    ----------
    raw : RawVocabulary
        The counts to choose from.
    min_count : int
        Drop words that occur fewer times.
    max_final_vocab : int, optional
        Raise the least count until at most this many words are left.
    trim_rule : callable, optional
        Called as ``trim_rule(word, count, min_count)`` once per word; answers RULE_KEEP, RULE_DISCARD or
        RULE_DEFAULT.
    sorted_vocab : bool
        Order words by descending count, equal counts by first appearance; otherwise all by first appearance.
    allow_empty : bool
        Return an empty vocabulary instead of raising RuntimeError.

    Examples
    --------
    >>> vocabulary = select(count_words([["a", "b", "b", "c", "c"]]), min_count=2)
    >>> vocabulary.words, vocabulary.counts
    (['b', 'c'], array([2, 2]))
    """
    least = _effective_min_count(raw, min_count, max_final_vocab)
    kept = raw.kept(least, trim_rule)
    if not kept and not allow_empty:
        raise RuntimeError(_why_empty(raw, min_count, least, max_final_vocab, trim_rule))
    words, counts = _ordered(kept, sorted_vocab)
    return _chosen(words, counts, raw, counts, least)


def grow(
    vocabulary: Vocabulary | tuple[Sequence[str], ArrayLike],
    raw: RawVocabulary,
    *,
    min_count: int = 5,
    max_final_vocab: int | None = None,
    trim_rule: TrimRule | None = None,
    sorted_vocab: bool = True,
) -> Vocabulary:
    """Extend a vocabulary by the words of another corpus.

    Known words keep their ids, and all their new occurrences are added to their counts, whatever `min_count`;
    new words that :func:`select` would choose follow. So the counts, and the subsampling computed from them,
    are those of both corpora together.

    Parameters
    ----------
    vocabulary : Vocabulary or (words, counts)
        What is known so far.
    raw : RawVocabulary
        The counts of the new corpus.
    min_count, max_final_vocab, trim_rule, sorted_vocab
        As in :func:`select`, for the new words.

    Examples
    --------
    >>> known = select(count_words([["a", "a", "b"]]), min_count=1)
    >>> grown = grow(known, count_words([["c", "b", "c"]]), min_count=2)
    >>> grown.words, grown.counts
    (['a', 'b', 'c'], array([2, 2, 2]))
    """
    old_words, old_counts = (
        (vocabulary.words, vocabulary.counts) if isinstance(vocabulary, Vocabulary) else vocabulary
    )
    known = set(old_words)
    least = _effective_min_count(raw, min_count, max_final_vocab)
    added = {word: n for word, n in raw.kept(least, trim_rule).items() if word not in known}
    words, new_counts = _ordered(added, sorted_vocab)
    more = raw.counts_of(old_words)
    counts = np.concatenate([np.asarray(old_counts, dtype=np.int64) + more, new_counts])
    retained = np.concatenate([more[more > 0], new_counts])
    return _chosen([*old_words, *words], counts, raw, retained, least)


def _ordered(counts: Mapping[str, int], sorted_vocab: bool) -> tuple[list[str], NDArray[np.int64]]:
    """Return words and counts, by descending count if asked; equal counts stay in order of first appearance."""
    words, numbers = list(counts), np.fromiter(counts.values(), np.int64, len(counts))
    if sorted_vocab:
        order = np.argsort(-numbers, kind="stable")
        words, numbers = [words[i] for i in order.tolist()], numbers[order]
    return words, numbers


def _chosen(
    words: list[str],
    counts: NDArray[np.int64],
    raw: RawVocabulary,
    kept: NDArray[np.int64],
    least: int,
) -> Vocabulary:
    """Return the vocabulary; `kept` are the counts, in the corpus just scanned, of its words that occur there."""
    total, retained = raw.occurrences, int(kept.sum())
    vocabulary = Vocabulary(
        words=words,
        counts=counts,
        effective_min_count=least,
        retained_words=len(kept),
        retained_total=retained,
        dropped_words=len(raw) - len(kept),
        dropped_total=total - retained,
    )
    logger.info(
        "effective_min_count=%d retains %i unique words (%.2f%% of %i), %i words of text (%.2f%% of %i)",
        least,
        len(kept),
        100 * len(kept) / max(1, len(raw)),
        len(raw),
        retained,
        100 * retained / max(1, total),
        total,
    )
    return vocabulary


def _effective_min_count(raw: RawVocabulary, min_count: int, max_final_vocab: int | None) -> int:
    """Return the least count that leaves at most `max_final_vocab` words, but not less than `min_count`."""
    if max_final_vocab is None:
        return min_count
    if max_final_vocab < 1:
        raise ValueError(f"max_final_vocab must be at least 1, not {max_final_vocab}")
    if len(raw) <= max_final_vocab:
        return max(1, min_count)
    first_too_many = int(np.sort(raw.frequencies)[-max_final_vocab - 1])
    return max(first_too_many + 1, min_count)


def _why_empty(
    raw: RawVocabulary, min_count: int, least: int, max_final_vocab: int | None, trim_rule: TrimRule | None
) -> str:
    if not len(raw):
        return (
            f"the corpus has no words ({raw.sentence_count} sentences were read): is the file empty, or has "
            "a one-shot iterator been used up?"
        )
    highest = int(raw.frequencies.max())
    facts = f"the corpus has {counted(len(raw), 'distinct word')}, the most frequent occurs {counted(highest, 'time')}"
    if highest >= least and trim_rule is not None:
        return f"trim_rule leaves no words: {facts}; let it return RULE_DEFAULT or RULE_KEEP for some"
    if least > min_count:
        return (
            f"max_final_vocab={max_final_vocab} leaves no words: {facts}, and too many share that count; "
            "raise max_final_vocab"
        )
    return f"min_count={min_count} leaves no words: {facts}; lower min_count or use a larger corpus"
