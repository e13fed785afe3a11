"""Merged words: two words taken for one, and whether their occurrences can be told apart again."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from densvec.evaluation.lexicon import FloatArray, Lexicon
from densvec.evaluation.occurrences import Occurrence, Reader
from densvec.evaluation.results import Result, Row
from densvec.evaluation.sampling import Corpus, Reservoir, occurrence_at, rows_of, sentences_of
from densvec.files.streams import open_for_writing
from densvec.statistics.bootstrap import Bootstrap, Estimate, weighted_mean
from densvec.statistics.clusters import adjusted_rand_index, kmeans
from densvec.types import PathLike

__all__ = [
    "JOIN",
    "MergedPair",
    "MergedText",
    "Pair",
    "SenseInductionResult",
    "draw_pairs",
    "merged_pairs",
    "sense_induction",
]

JOIN = "‿"
"""What joins two words into one: ``castle‿tax``. A character that ordinary text does not have."""

_NEIGHBOURS = 10  # a word's partner is among this many words of about its own frequency, on either side

Pair = tuple[str, str]

G = TypeVar("G", bound=tuple[str, ...])


@dataclass(frozen=True)
class MergedPair:
    """One pair of words and how well its occurrences are told apart, by method."""

    words: Pair
    ari: dict[str, float]
    occurrences: tuple[int, int]
    trained: bool  # on text in which the two were one word


@dataclass(frozen=True)
class SenseInductionResult(Result):
    """Adjusted Rand index of each pair of merged words, and the mean over pairs.

    `ari` is by method: ``encoder`` clusters the means of the posteriors, ``average`` the averages of the context
    words' means.
    """

    ari: dict[str, Estimate]
    pairs: tuple[MergedPair, ...]

    @property
    def gain(self) -> Estimate | None:
        """The paired difference between the encoder and averaging; None without an encoder."""
        return self.ari["encoder"].minus(self.ari["average"]) if "encoder" in self.ari else None

    def rows(self) -> list[Row]:
        """One line for each pair, then the means."""
        lines: list[Row] = [
            {
                "words": " ".join(pair.words),
                **pair.ari,
                "occurrences": sum(pair.occurrences),
                "merged": "in training" if pair.trained else "at inference",
            }
            for pair in self.pairs
        ]
        total = sum(sum(pair.occurrences) for pair in self.pairs)
        return [*lines, {"words": "MEAN", **self.ari, "occurrences": total, "merged": None}]


def draw_pairs(
    wv: Any,
    count: int = 30,
    *,
    seed: int = 0,
    min_count: int = 500,
    sample: float | None = None,
) -> list[Pair]:
    """Draw pairs of words of like frequency, to be merged.

    Words that are kept in the thinned text more often than not, contain a letter and occur often enough are sorted by
    frequency; each pair is a word drawn at random and one of its ten neighbours on either side. No word is in two
    pairs.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, or a model of either
        Whose vocabulary and counts are used.
    count : int
        How many pairs; fewer are returned if the vocabulary has no more.
    seed : int
        Another seed draws other pairs.
    min_count : int
        Occurrences that a word must have in the text of the model.
    sample : float, optional
        The threshold for thinning frequent words; by default the model's own, or 1e-4.

    Examples
    --------
    >>> sorted(sorted(pair) for pair in draw_pairs(wv, 2, min_count=100, sample=0))
    [['animal', 'cat'], ['car', 'dog']]
    """
    reader = Reader(wv, sample)
    counts = reader.lexicon.counts()
    if counts is None:
        raise ValueError("pairs of like frequency need counts, and this model has none; give the pairs")
    fit = np.flatnonzero((counts >= min_count) & (reader.keep > 0.5))
    rows = [row for row in fit[np.argsort(-counts[fit], kind="stable")] if _is_word(reader.keys[row])]
    free = [row for row in rows if JOIN not in reader.keys[row]]
    rng = np.random.default_rng(seed)
    pairs: list[Pair] = []
    while len(pairs) < count and len(free) > 1:
        place = int(rng.integers(len(free)))
        near = [
            other
            for other in range(max(0, place - _NEIGHBOURS), min(len(free), place + _NEIGHBOURS + 1))
            if other != place
        ]
        partner = near[int(rng.integers(len(near)))]
        pairs.append((reader.keys[free[place]], reader.keys[free[partner]]))
        for taken in sorted((place, partner), reverse=True):
            del free[taken]
    return pairs


def _checked(pairs: Sequence[G]) -> list[G]:
    """Return the pairs, or longer groups, if no word is in two of them."""
    seen: set[str] = set()
    for word in (word for pair in pairs for word in pair):
        if word in seen:
            raise ValueError(f"{word!r} is in the pairs more than once; each word can only be merged once")
        seen.add(word)
    return list(pairs)


def _is_word(key: str) -> bool:
    return any(character.isalpha() for character in key)


class MergedText:
    """A text in which pairs of words are one word each, to train a model on.

    Parameters
    ----------
    corpus : path or iterable of token lists
        The text.
    pairs : sequence of tuples of str
        The words to merge, two or more each: ``("castle", "tax")`` become ``castle‿tax``.

    Examples
    --------
    >>> text = MergedText([["a", "castle", "stands"], ["the", "tax"]], [("castle", "tax")])
    >>> list(text)
    [['a', 'castle‿tax', 'stands'], ['the', 'castle‿tax']]
    """

    def __init__(self, corpus: Corpus, pairs: Sequence[tuple[str, ...]]) -> None:
        self.corpus = corpus
        self.pairs = _checked(pairs)
        self._merged = {word: JOIN.join(pair) for pair in self.pairs for word in pair}

    def __iter__(self) -> Iterator[list[str]]:
        for sentence in sentences_of(self.corpus):
            yield [self._merged.get(token, token) for token in sentence]

    def write(self, path: PathLike) -> None:
        """Write the text, one sentence per line; a name such as "merged.txt.gz" compresses it."""
        with open_for_writing(path) as file:
            for sentence in self:
                file.write(" ".join(sentence).encode() + b"\n")


def merged_pairs(wv: Any) -> list[Pair]:
    """Return the pairs of words that a model was trained on as one word, found in its vocabulary.

    Examples
    --------
    >>> merged_pairs(wv)
    []
    """
    lexicon = Lexicon.of(wv)
    parts = [key.split(JOIN) for key in lexicon.key_to_index if JOIN in key]
    return [(each[0], each[1]) for each in parts if len(each) == 2 and all(each)]


def sense_induction(
    wv: Any,
    corpus: Corpus,
    pairs: Sequence[Pair] | None = None,
    *,
    count: int = 30,
    occurrences: int = 200,
    min_count: int = 500,
    sample: float | None = None,
    seed: int = 0,
    bootstrap: Bootstrap | None = None,
) -> SenseInductionResult:
    """Tell apart the occurrences of two words that are taken for one word with two senses.

    Occurrences of both words of a pair are drawn from the text, as many of each as there are up to
    `occurrences`, and clustered in two by k-means (Euclidean distance, ten starts). The adjusted Rand index says
    how far the clusters are the two words: 1 if they are, 0 by chance. No sense inventory is needed, only text.

    What is clustered: for the method ``encoder``, the means of the posteriors. If the model was trained on text
    in which the two are one word (`MergedText`), that is the merged word's posterior in the context, with the text
    merged as it was for training. If not, the two are merged at inference: the context is read once around the one word
    and once around the other, whichever it was, and the two posterior means are averaged, weighted by the words'
    counts; the pair's own words are left out of the context, since they would give the answer away. So an
    occurrence never shows which word stood there. For the method ``average``, the baseline of any vectors: the mean of
    the context words' own means, weighted by the probability of being kept in the thinned text, within a window that
    extends until the weights on a side add up to the model's window; the pair's own words are left out of it.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, or a model of either
        What to evaluate. A model without an encoder has the baseline only.
    corpus : path or iterable of token lists
        A text, one sentence per line, in which the words are not merged; it is read once.
    pairs : sequence of (str, str), optional
        By default those that the model was trained on as one word; if there are none, `count` pairs drawn from
        its vocabulary by `draw_pairs`.
    count : int
        How many pairs to draw.
    occurrences : int
        The most occurrences of each word to draw from the whole text.
    min_count : int
        Least count of the words that are drawn.
    sample : float, optional
        The threshold for thinning frequent words; by default the model's own, or 1e-4.
    seed : int
        Seeds the choice of pairs, the occurrences and the clustering.
    bootstrap : Bootstrap, optional
        How to make the intervals, over pairs.

    Examples
    --------
    >>> text = [["cat", "dog"], ["cat", "animal"]] * 10
    >>> result = sense_induction(wv, text, [("dog", "animal")], sample=0, bootstrap=Bootstrap(0))
    >>> result.pairs[0].words, result.pairs[0].occurrences, result.pairs[0].trained
    (('dog', 'animal'), (10, 10), False)
    """
    reader = Reader(wv, sample)
    if pairs is None:
        pairs = merged_pairs(reader.lexicon) or draw_pairs(
            reader.lexicon, count, seed=seed, min_count=min_count, sample=reader.sample
        )
    questions = [_Question.of(reader, pair) for pair in _checked(pairs)]
    drawn = _draw(reader, corpus, questions, occurrences, seed)
    results = [
        _induce(reader, question, found, seed) for question, found in zip(questions, drawn, strict=True)
    ]
    methods = ["encoder", "average"] if reader.can_infer else ["average"]
    columns = np.array([[each.ari[name] for name in methods] for each in results]).reshape(-1, len(methods))
    told = np.flatnonzero(~np.isnan(columns).any(axis=1))
    numbers = np.array([question.fingerprint for question in questions], dtype=np.int64)
    estimates = (bootstrap or Bootstrap()).estimate(weighted_mean(columns[told]), numbers[told])
    return SenseInductionResult(dict(zip(methods, estimates, strict=True)), tuple(results))


@dataclass(frozen=True)
class _Question:
    """A pair of words as rows of the vocabulary, -1 for unknown ones, and of the merged word if there is one."""

    words: Pair
    rows: tuple[int, int]
    merged: int

    @classmethod
    def of(cls, reader: Reader, words: Pair) -> _Question:
        first, second = words
        index = reader.lexicon.key_to_index
        return cls(
            (first, second), (index.get(first, -1), index.get(second, -1)), index.get(JOIN.join(words), -1)
        )

    @property
    def trained(self) -> bool:
        return self.merged >= 0

    @property
    def fingerprint(self) -> int:
        return zlib.crc32(JOIN.join(self.words).encode())


def _draw(
    reader: Reader, corpus: Corpus, questions: Sequence[_Question], size: int, seed: int
) -> list[tuple[list[Occurrence], list[Occurrence]]]:
    """Draw occurrences of both words of every pair from the text, read as the model was trained on it."""
    index = dict(reader.lexicon.key_to_index)
    # A word's code in a sentence is its row, but a merged word has two more codes, one for each of its words.
    row_of = [*range(len(reader.lexicon.means))]
    place_of: dict[int, int] = {}  # which of all the words of pairs a code stands for
    for number, question in enumerate(questions):
        for side, word in enumerate(question.words):
            if question.trained:
                index[word] = len(row_of)
                row_of.append(question.merged)
            if word in index:
                place_of[index[word]] = 2 * number + side
    rows_of_codes = np.array(row_of, dtype=np.intp)
    asked = np.full(len(row_of), -1, dtype=np.intp)
    asked[list(place_of)] = list(place_of.values())
    rng = np.random.default_rng(seed)
    reservoirs: list[Reservoir[Occurrence]] = [Reservoir(size, rng) for _ in range(2 * len(questions))]
    for codes in rows_of(index, corpus):
        positions = np.flatnonzero(asked[codes] >= 0)
        rows = rows_of_codes[codes]
        for position in positions:
            reservoirs[asked[codes[position]]].offer([int(position)], partial(occurrence_at, rows))
    return [
        (first.items(), second.items())
        for first, second in zip(reservoirs[::2], reservoirs[1::2], strict=True)
    ]


def _induce(
    reader: Reader, question: _Question, found: tuple[list[Occurrence], list[Occurrence]], seed: int
) -> MergedPair:
    """Cluster the occurrences of a pair and compare the clusters with the words."""
    sizes = len(found[0]), len(found[1])
    truth = np.repeat([0, 1], sizes)
    hidden = frozenset((*question.rows, question.merged))
    apart = [each.without(hidden) for side in found for each in side]
    points: dict[str, Callable[[], FloatArray]] = {"average": partial(reader.context_means, apart)}
    if reader.can_infer:
        points = {
            "encoder": partial(_posterior_means, reader, question, [*found[0], *found[1]], apart),
            **points,
        }
    ari = {
        method: adjusted_rand_index(truth, kmeans(of_method(), 2, seed=seed)) if all(sizes) else float("nan")
        for method, of_method in points.items()
    }
    return MergedPair(question.words, ari, sizes, question.trained)


def _posterior_means(
    reader: Reader, question: _Question, occurrences: list[Occurrence], apart: list[Occurrence]
) -> FloatArray:
    """Return the posterior means of the merged word, or what stands for them; see `sense_induction`."""
    if question.trained:
        return reader.posteriors(occurrences).mean
    counts = reader.lexicon.counts()
    weights = np.ones(2) if counts is None else counts[list(question.rows)]
    means = [reader.posteriors([each._replace(word=row) for each in apart]).mean for row in question.rows]
    merged: FloatArray = np.average(means, axis=0, weights=weights)
    return merged
