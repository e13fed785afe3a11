"""Entropy in context: whether a posterior is narrower than its prior, and narrows further with more context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from densvec.evaluation.lexicon import FloatArray
from densvec.evaluation.occurrences import Occurrence, Reader
from densvec.evaluation.results import Result, Row
from densvec.evaluation.sampling import Corpus, Reservoir, occurrence_at, rows_of, thinned_windows
from densvec.statistics.bootstrap import Bootstrap, Estimate, weighted_mean

__all__ = [
    "EntropyResult",
    "entropy_in_context",
]


@dataclass(frozen=True)
class EntropyResult(Result):
    """How context changes the entropy of words in a text.

    Attributes
    ----------
    narrowed : Estimate
        Share of the occurrences of content words whose posterior has less entropy than the prior.
    change : dict of int to Estimate
        Mean of the posterior's entropy less the prior's, in nats, by the number of context words.
    occurrences, windows : int
        How many occurrences and windows these figures are over.
    """

    narrowed: Estimate
    change: dict[int, Estimate]
    occurrences: int
    windows: int

    @property
    def falls(self) -> bool:
        """Whether every further word of context gives less entropy on average."""
        changes = [0.0, *(float(each) for each in self.change.values())]
        return all(later < earlier for earlier, later in pairwise(changes))

    def rows(self) -> list[Row]:
        """The share, then one line for each number of context words."""
        lines: list[Row] = [
            {"measure": "less entropy than the prior", "value": self.narrowed, "over": self.occurrences}
        ]
        for count, change in self.change.items():
            words = "1 word" if count == 1 else f"{count} words"
            lines.append({"measure": f"change of entropy by {words}", "value": change, "over": self.windows})
        return lines


def entropy_in_context(
    wv: Any,
    corpus: Corpus,
    *,
    occurrences: int = 20_000,
    sample: float | None = None,
    seed: int = 0,
    bootstrap: Bootstrap | None = None,
) -> EntropyResult:
    """Measure how context changes the entropy of the words of a text.

    Two questions. Of the occurrences of content words in the running text, what share has a posterior with
    less entropy than the prior? A content word is one that is kept in the thinned text more often than not;
    an occurrence counts if the words on each side of it would fill a window of thinned text, on average. And
    how does the entropy of content words change when the posterior is inferred from 1, 2, … words of a full
    window of the thinned text, drawn at random, each set containing the one before?

    Parameters
    ----------
    wv : KeyedDensities, or a model of it
        With an encoder.
    corpus : path or iterable of token lists
        A text, one sentence per line; an iterable must be readable twice.
    occurrences : int
        The most occurrences, and the most windows, to draw from the whole text.
    sample : float, optional
        The threshold for thinning frequent words; by default the model's own, or 1e-4.
    seed : int
        Seeds the draw and the thinning.
    bootstrap : Bootstrap, optional
        How to make the intervals, over occurrences and over windows.

    Examples
    --------
    >>> text = [["dog", "cat", "animal"], ["cat", "dog", "animal"]] * 50
    >>> wv.window = 1
    >>> result = entropy_in_context(wv, text, sample=0, bootstrap=Bootstrap(0))
    >>> print(result)
    measure                        value  over
    less entropy than the prior    1.000   100
    change of entropy by 1 word   -0.400   100
    change of entropy by 2 words  -0.800   100
    >>> result.falls
    True
    """
    if isinstance(corpus, Iterator):
        raise TypeError(
            "entropy_in_context reads the corpus twice, and a generator can only be read once; pass a list, a "
            "path or an iterable such as LineSentence"
        )
    reader = Reader(wv, sample)
    if not (reader.can_infer and reader.has_densities):
        raise ValueError("entropy in context needs a model with an encoder, such as a BayesianSkipGram's wv")
    bootstrap = bootstrap or Bootstrap()
    found = _content_words(reader, corpus, occurrences, seed)
    narrower = (_changes(reader, found) < 0).astype(np.float64)
    places = np.array([(each.word, len(each.before), len(each.after)) for each in found]).reshape(-1, 3)
    (narrowed,) = bootstrap.estimate(weighted_mean(narrower[:, None]), places)
    windows = thinned_windows(reader, corpus, occurrences, seed, content_words=True)
    counts = range(1, 2 * reader.window + 1)
    changes = np.array([_changes(reader, windows.known(count)) for count in counts]).reshape(len(counts), -1)
    estimates = bootstrap.estimate(weighted_mean(changes.T), windows.items())
    return EntropyResult(narrowed, dict(zip(counts, estimates, strict=True)), len(found), len(windows))


def _content_words(reader: Reader, corpus: Corpus, size: int, seed: int) -> list[Occurrence]:
    """Draw occurrences of content words with full windows from running text."""
    keep, window = reader.keep, reader.window
    reservoir: Reservoir[Occurrence] = Reservoir(size, np.random.default_rng(seed))
    for rows in rows_of(reader.lexicon.key_to_index, corpus):
        weights = keep[rows]
        before = np.cumsum(weights) - weights
        after = weights.sum() - before - weights
        full = (before >= window - 1e-9) & (after >= window - 1e-9)
        reservoir.offer(np.flatnonzero((weights > 0.5) & full), partial(occurrence_at, rows))
    return reservoir.items()


def _changes(reader: Reader, occurrences: list[Occurrence]) -> FloatArray:
    """Return the entropy of each posterior less that of its prior."""
    changes: FloatArray = reader.posteriors(occurrences).entropy() - reader.priors(occurrences).entropy()
    return changes
