"""Collocations: pairs of words that belong together, such as *new york*, joined into one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from densvec.types import Floats, Integers

__all__ = ["Phrases"]

_BLOCK = 1 << 20  # how many words are counted at a time


class Phrases:
    """Pairs of neighbouring words that occur together far more often than by chance, to be joined into one word.

    The score of a pair is its normalised pointwise mutual information, ``ln(p(ab) / p(a) p(b)) / −ln p(ab)``: 0 for
    words that meet by chance, 1 for words that never occur apart.

    Parameters
    ----------
    sentences : iterable of lists of str
        The text; it is read once.
    min_count : int, optional
        Rarer pairs are not phrases.
    threshold : float, optional
        Pairs must score more than this, between −1 and 1.
    delimiter : str, optional
        What joins the words.
    max_pairs : int, optional
        If more pairs than this have been counted, the rarest are dropped, which bounds the memory (16 bytes each).

    Attributes
    ----------
    scores : dict
        The score of each phrase, by its two words, best first.

    Examples
    --------
    >>> text = [["new", "york", "is", "big"], ["is", "new", "york", "far"], ["big", "is", "far"]] * 5
    >>> phrases = Phrases(text, threshold=0.7)
    >>> phrases[["is", "new", "york", "nice"]]
    ['is', 'new_york', 'nice']
    >>> list(phrases.scores)
    [('new', 'york')]
    """

    def __init__(
        self,
        sentences: Iterable[Any],
        min_count: int = 5,
        threshold: float = 0.5,
        delimiter: str = "_",
        max_pairs: int = 20_000_000,
    ) -> None:
        if min_count < 1:
            raise ValueError(f"min_count={min_count} is too small: it must be at least 1")
        if not -1 <= threshold <= 1:
            raise ValueError(
                f"threshold={threshold} is not between -1 and 1, as normalised mutual information is"
            )
        self.delimiter = delimiter
        counts = _Counts(max_pairs)
        for sentence in sentences:
            counts.add(sentence)
        words, (first, second), pairs = counts.frequent_pairs(min_count)
        total = int(counts.words.sum())
        scores = _npmi(counts.words[first], counts.words[second], pairs, total)
        order = np.lexsort((-pairs, -scores))
        self.scores: dict[tuple[str, str], float] = {
            (words[first[i]], words[second[i]]): float(scores[i]) for i in order if scores[i] > threshold
        }

    def __repr__(self) -> str:
        return f"Phrases<{len(self.scores):,} pairs>"

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, sentence: list[str]) -> list[str]:
        """Return a sentence with its phrases joined, from left to right."""
        joined: list[str] = []
        place, last = 0, len(sentence) - 1
        while place <= last:
            word = sentence[place]
            if place < last and (word, sentence[place + 1]) in self.scores:
                word = f"{word}{self.delimiter}{sentence[place + 1]}"
                place += 1
            joined.append(word)
            place += 1
        return joined

    def joined(self, sentences: Iterable[Any]) -> JoinedSentences:
        """Return sentences with their phrases joined; they can be read as often as the sentences themselves.

        Examples
        --------
        >>> text = [["new", "york"]] * 5 + [["far"]]
        >>> list(Phrases(text).joined(text))[0]
        ['new_york']
        """
        return JoinedSentences(self, sentences)


class JoinedSentences:
    """Sentences with their phrases joined."""

    def __init__(self, phrases: Phrases, sentences: Iterable[Any]) -> None:
        self.phrases = phrases
        self.sentences = sentences

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in self.sentences:
            yield self.phrases[sentence]


class _Counts:
    """Counts of words and of neighbouring pairs, taken block by block."""

    def __init__(self, max_pairs: int) -> None:
        self.index: dict[str, int] = {}
        self.words: Integers = np.zeros(0, dtype=np.int64)
        self.keys: Integers = np.zeros(
            0, dtype=np.int64
        )  # number of the first word · 2³² + that of the second
        self.pairs: Integers = np.zeros(0, dtype=np.int64)
        self.max_pairs = max_pairs
        self.least = 1  # rarer pairs have been forgotten
        self._block: list[int] = []

    def add(self, sentence: Any) -> None:
        index = self.index
        self._block += [index.setdefault(word, len(index)) for word in sentence]
        self._block.append(-1)
        if len(self._block) > _BLOCK:
            self._flush()

    def frequent_pairs(self, min_count: int) -> tuple[list[str], tuple[Integers, Integers], Integers]:
        """Return all words, the two words of each frequent pair as numbers, and how often it occurred."""
        self._flush()
        frequent = self.pairs >= min_count
        keys = self.keys[frequent]
        return list(self.index), (keys >> 32, keys & 0xFFFFFFFF), self.pairs[frequent]

    def _flush(self) -> None:
        tokens = np.array(self._block, dtype=np.int64)
        self._block.clear()
        counts = np.bincount(tokens[tokens >= 0], minlength=len(self.index))
        counts[: len(self.words)] += self.words
        self.words = counts
        first, second = tokens[:-1], tokens[1:]
        inside = (first >= 0) & (second >= 0)
        keys, times = np.unique(first[inside] << 32 | second[inside], return_counts=True)
        together = np.concatenate([self.keys, keys])
        self.keys, place = np.unique(together, return_inverse=True)
        self.pairs = np.bincount(
            place, weights=np.concatenate([self.pairs, times]), minlength=len(self.keys)
        ).astype(np.int64)
        while len(self.keys) > self.max_pairs:
            self.least += 1
            kept = self.pairs >= self.least
            self.keys, self.pairs = self.keys[kept], self.pairs[kept]


def _npmi(first: Integers, second: Integers, pairs: Integers, total: int) -> Floats:
    """Return the normalised pointwise mutual information of pairs with these counts."""
    together = np.log(pairs / total)
    apart = np.log(first / total) + np.log(second / total)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores: Floats = np.where(together < 0, (together - apart) / -together, 1.0)
    return scores
