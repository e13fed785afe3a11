"""One word in two corpora, read by one model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from densvec.gaussian import Gaussian
from densvec.questions.lookup import text_reading_of, whitened
from densvec.questions.senses import density_of_all, telling_words
from densvec.statistics.vectors import fit_vectors
from densvec.text.concordance import Occurrence, given_occurrences, sample_occurrences
from densvec.types import Corpus, Found

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


@dataclass(frozen=True)
class WordComparison:
    """One word in two corpora.

    Attributes
    ----------
    word : str
    shift : float
        How far apart what stands around it is in the two, on average: the distance of mean directions, 0 if chance
        explains it.
    p_value : float
        How often chance alone makes them as far apart.
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
    """Compare what a word means in two corpora.

    This is :func:`densvec.regress` with two groups: what stands around its occurrences is compared.

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
        How often chance is tried for the p-value.
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
    pairs, batches = [], []
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
        pairs.append([(word, each.tokens, each.position) for each in found])
        batches.append(wv.infer_posteriors(pairs[-1]))
    counts = (len(batches[0]), len(batches[1]))
    said = wv.context_means([pair for side in pairs for pair in side])
    second = np.repeat([0.0, 1.0], counts)
    fit = fit_vectors(
        whitened(wv, said), np.column_stack([np.ones(len(said)), second]), draws=permutations, seed=seed
    )
    centres = np.array([said[second == side].mean(axis=0) for side in (0, 1)])
    densities = (density_of_all(batches[0]), density_of_all(batches[1]))
    nearest: Any = tuple(telling_words(wv, word, centres, topn))
    shift = math.sqrt(max(float(fit.squares[1]), 0.0))
    return WordComparison(word, shift, float(fit.p_values[1]), densities, nearest, counts)
