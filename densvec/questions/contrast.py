"""One word in two corpora, read by one model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from densvec.gaussian import Gaussian
from densvec.questions.lookup import text_reading_of
from densvec.questions.senses import density_of_all, telling_words
from densvec.text.concordance import Occurrence, given_occurrences, sample_occurrences
from densvec.types import Corpus, Floats, Found, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


@dataclass(frozen=True)
class WordComparison:
    """One word in two corpora.

    Attributes
    ----------
    word : str
    shift : float
        Distance between the means of its posteriors in the two.
    p_value : float
        How often occurrences assigned at random are as far apart.
    densities : tuple of Gaussian
        What the word means in each: the mean of its posteriors, with their spread plus their own variances.
    nearest : tuple of two lists of (str, float)
        Words near the one and not the other.
    counts : tuple of int
        Occurrences looked at in each.
    """

    word: str
    shift: float
    p_value: float
    densities: tuple[Gaussian, Gaussian]
    nearest: tuple[Found, Found]
    counts: tuple[int, int]


def permutation_test(first: Floats, second: Floats, permutations: int, seed: int) -> tuple[float, float]:
    """Return how far apart the means of two samples are, and how often shuffled samples are as far apart.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> shift, p = permutation_test(rng.normal(size=(50, 3)), rng.normal(2.0, 1.0, (50, 3)), 199, 0)
    >>> p
    0.005
    """
    points = np.concatenate([first, second]).astype(np.float64)
    n, m = len(first), len(second)
    total = points.sum(axis=0)

    def distance(sum_of_first: Floats) -> Floats:
        gap = sum_of_first / n - (total - sum_of_first) / m
        result: Floats = np.sqrt((gap**2).sum(axis=-1))
        return result

    observed = float(distance(points[:n].sum(axis=0)))
    rng = np.random.default_rng(seed)
    extreme = 0
    for _ in range(permutations):
        chosen: Integers = rng.permutation(n + m)[:n]
        extreme += bool(distance(points[chosen].sum(axis=0)) >= observed - 1e-12)
    return observed, (extreme + 1) / (permutations + 1)


def compare(
    wv: KeyedDensities,
    word: str,
    corpus_a: Corpus | Sequence[Occurrence | tuple[Sequence[str], int]],
    corpus_b: Corpus | Sequence[Occurrence | tuple[Sequence[str], int]],
    max_occurrences: int = 1000,
    *,
    forms: Sequence[str] = (),
    permutations: int = 999,
    topn: int = 8,
    seed: int = 0,
    show_progress: bool | None = None,
) -> WordComparison:
    """Compare what a word means in two corpora, by its posteriors there.

    Parameters
    ----------
    word : str
        A known word.
    corpus_a, corpus_b : path, list of paths, iterable of token lists, or list of (tokens, position)
        The two corpora, or the word's occurrences in each, in whatever form it stands there.
    max_occurrences, seed, show_progress : optional
        As in :meth:`senses`; the seed is that of the permutations, too.
    forms : sequence of str, optional
        Other forms of the word, such as its plural, whose occurrences count as its own.
    permutations : int, optional
        How often to deal the occurrences out at random to the two corpora, for the p-value.
    topn : int, optional
        How many words to list that are near the word in one corpus but not in the other.

    Returns
    -------
    WordComparison

    Examples
    --------
    >>> found = wv.compare("dog", [["dog", "cat"]] * 5, [["dog", "car"]] * 5)
    >>> found.p_value < 0.05, found.counts
    (True, (5, 5))
    """
    wv.get_index(word)
    batches = []
    for name, corpus in (("first", corpus_a), ("second", corpus_b)):
        found = given_occurrences(corpus)
        if found is None:
            found = sample_occurrences(
                cast("Corpus", corpus),
                dict.fromkeys([word, *forms], word),
                max_occurrences,
                seed=seed,
                text_reading=text_reading_of(wv),
                show_progress=show_progress,
            )[word]
        if len(found) < 2:
            raise ValueError(
                f"{word!r} occurs {len(found)} times in the {name} corpus: at least 2 occurrences are needed in "
                "each to tell a difference from chance"
            )
        batches.append(wv.infer_posteriors([(word, each.tokens, each.position) for each in found]))
    shift, p_value = permutation_test(batches[0].mean, batches[1].mean, permutations, seed)
    centres = np.array([batch.mean.mean(axis=0, dtype=np.float64) for batch in batches])
    densities = (density_of_all(batches[0]), density_of_all(batches[1]))
    nearest: Any = tuple(telling_words(wv, word, centres, topn))
    return WordComparison(
        word,
        shift,
        p_value,
        densities,
        nearest,
        (len(batches[0]), len(batches[1])),
    )
