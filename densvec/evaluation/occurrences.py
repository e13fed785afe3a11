"""Words where they occur: tokens of a text, and how a model reads a word there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from densvec.distances.metrics import find_metric
from densvec.evaluation.lexicon import FloatArray, Lexicon, unit
from densvec.gaussian import Gaussian
from densvec.text.thinning import keep_probabilities

__all__ = [
    "DEFAULT_SAMPLE",
    "READINGS",
    "Occurrence",
    "Reader",
    "Tokenizer",
    "check_metrics",
    "densities_by",
    "similarities",
    "tokenize",
    "usable_metrics",
    "usable_readings",
]

DEFAULT_SAMPLE = 1e-4
"""The threshold for thinning where neither the caller nor the model gives one."""

_AT_ONCE = 4096  # occurrences whose posteriors are inferred together
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")

Tokenizer = Callable[[str], list[str]]


def tokenize(text: str) -> list[str]:
    """Split a text into lower-cased words: letters and digits, and what follows an apostrophe.

    Examples
    --------
    >>> tokenize("The bank's top-rate loan , 5 %")
    ['the', "bank's", 'top', 'rate', 'loan', '5']
    """
    return _TOKEN.findall(text.lower())


class Occurrence(NamedTuple):
    """A word and the known words before and after it, as rows of the vocabulary in the order of the text."""

    word: int
    before: Sequence[int]
    after: Sequence[int]

    def without(self, rows: frozenset[int]) -> Occurrence:
        """Return the same without certain words in the context."""
        before = [row for row in self.before if row not in rows]
        return Occurrence(self.word, before, [row for row in self.after if row not in rows])


class Reader:
    """How a model reads words in context: by its encoder, or by averaging the means of the context words.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, a model of either, or Lexicon
        What to evaluate.
    sample : float, optional
        The threshold by which frequent words were thinned in training; by default what the words or the
        model say, or 1e-4.
    """

    def __init__(self, wv: Any, sample: float | None = None) -> None:
        self.lexicon = Lexicon.of(wv)
        told = (sample, getattr(wv, "sample", None), getattr(self.lexicon.wv, "sample", None))
        self._told = sample is not None
        self.sample: float = next(
            (float(each) for each in told if each not in (None, "auto")), DEFAULT_SAMPLE
        )
        self.window = int(getattr(self.lexicon.wv, "window", None) or 5)

    @cached_property
    def keys(self) -> list[str]:
        """The words by row."""
        words = [""] * len(self.lexicon.means)
        for word, row in self.lexicon.key_to_index.items():
            words[row] = word
        return words

    @cached_property
    def keep(self) -> FloatArray:
        """The probability that an occurrence of a word is kept in the thinned text, by row.

        1 for all words of a model without counts.
        """
        shipped = getattr(self.lexicon.wv, "expandos", {}).get("keep")
        if shipped is not None and not self._told:
            return np.asarray(shipped, dtype=np.float64)
        counts = self.lexicon.counts()
        return np.ones(len(self.lexicon.means)) if counts is None else keep_probabilities(counts, self.sample)

    @property
    def can_infer(self) -> bool:
        """Whether the model has an encoder."""
        return self.lexicon.encoder is not None and hasattr(self.lexicon.wv, "infer_posteriors")

    @property
    def has_densities(self) -> bool:
        """Whether the model has variances."""
        return self.lexicon.log_variances is not None

    def occurrence(self, tokens: Sequence[str], position: int, lemma: str | None = None) -> Occurrence | None:
        """Return the word at a position, or its lemma if only that is known; None if neither is."""
        row = self.lexicon.index(tokens[position])
        if row < 0 and lemma is not None:
            row = self.lexicon.index(lemma)
        if row < 0:
            return None
        before, after = self._known(tokens[:position]), self._known(tokens[position + 1 :])
        return Occurrence(row, before, after)

    def _known(self, tokens: Iterable[str]) -> list[int]:
        return [row for token in tokens if (row := self.lexicon.index(token)) >= 0]

    def priors(self, occurrences: Sequence[Occurrence]) -> Gaussian:
        """Return the densities of the words out of context; of variance 1 for a model without densities."""
        rows = np.fromiter((each.word for each in occurrences), dtype=np.intp, count=len(occurrences))
        lv = self.lexicon.log_variances
        means = self.lexicon.means[rows].astype(np.float64)
        return Gaussian(means, np.ones((len(rows), 1)) if lv is None else np.exp(lv[rows].astype(np.float64)))

    def posteriors(self, occurrences: Sequence[Occurrence]) -> Gaussian:
        """Return the densities of the words in their contexts, as the model's own inference gives them."""
        infer, keys = self.lexicon.wv.infer_posteriors, self.keys
        batches = []
        for start in range(0, max(len(occurrences), 1), _AT_ONCE):
            questions = [
                (
                    keys[word],
                    [*(keys[row] for row in before), keys[word], *(keys[row] for row in after)],
                    len(before),
                )
                for word, before, after in occurrences[start : start + _AT_ONCE]
            ]
            batches.append(infer(questions) if questions else self.priors([]))
        means = np.concatenate([batch.mean for batch in batches]).astype(np.float64)
        return Gaussian(means, np.concatenate([batch.variance for batch in batches]).astype(np.float64))

    def context_means(self, occurrences: Sequence[Occurrence], *, unit_length: bool = False) -> FloatArray:
        """Return the average of the context words' means, each weighted by its probability of being kept.

        The context extends on each side until the weights add up to the model's window. Without any context
        the average is 0.
        """
        table = self.lexicon.means
        result = np.zeros((len(occurrences), table.shape[1]))
        for place, (_, before, after) in enumerate(occurrences):
            rows = np.array([*self.within_reach(before[::-1]), *self.within_reach(after)], dtype=np.intp)
            weights = self.keep[rows]
            if weights.sum() > 0:
                means = unit(table[rows]) if unit_length else table[rows].astype(np.float64)
                result[place] = weights @ means / weights.sum()
        return result

    def within_reach(self, rows: Sequence[int]) -> Sequence[int]:
        """Return the first of these words, until their probabilities of being kept add up to the window."""
        total = 0.0
        for count, row in enumerate(rows):
            if total >= self.window:
                return rows[:count]
            total += self.keep[row]
        return rows


READINGS = ("encoder", "average", "out_of_context")
"""Ways to read a word in its context: the posterior; the word's own direction plus that of the averaged
context; the word alone."""


def usable_readings(reader: Reader) -> list[str]:
    """Return the names of the readings that the model can do."""
    return [name for name in READINGS if name != "encoder" or reader.can_infer]


def densities_by(reading: str, reader: Reader, occurrences: Sequence[Occurrence]) -> Gaussian:
    """Return a density for each occurrence; that of an average has variance 1, and only its direction matters."""
    if reading == "encoder":
        return reader.posteriors(occurrences)
    priors = reader.priors(occurrences)
    if reading == "average":
        return Gaussian(unit(priors.mean) + reader.context_means(occurrences, unit_length=True), 1.0)
    return priors


def check_metrics(metrics: Sequence[str]) -> tuple[str, ...]:
    """Return the names of metrics, or raise ValueError for an unknown one."""
    names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
    for name in names:
        if name != "cosine":
            find_metric(name)
    return names


def usable_metrics(reading: str, reader: Reader, metrics: Sequence[str]) -> list[str]:
    """Return those metrics that make sense: all between densities, the cosine alone between directions."""
    dense = reading != "average" and reader.has_densities
    return [name for name in metrics if name == "cosine" or dense]


def similarities(first: Gaussian, second: Gaussian, metric: str) -> FloatArray:
    """Return the similarities of two batches, pair by pair: larger is more similar, by every metric."""
    if metric == "cosine":
        cosines: FloatArray = np.einsum("ij,ij->i", unit(first.mean), unit(second.mean))
        return cosines
    return 0.0 - np.asarray(find_metric(metric).exact(first, second), dtype=np.float64)
