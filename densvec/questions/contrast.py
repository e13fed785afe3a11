"""One word in two corpora, read by one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.questions.lookup import text_reading_of
from densvec.questions.senses import density_of_all, telling_words
from densvec.text.concordance import occurrences
from densvec.types import Corpus

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities
    from densvec.questions.comparison import WordComparison

__all__ = ["compare"]


def compare(
    wv: KeyedDensities,
    word: str,
    corpus_a: Corpus,
    corpus_b: Corpus,
    max_occurrences: int = 1000,
    *,
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
    corpus_a, corpus_b : path, list of paths, or iterable of token lists
        The two corpora.
    max_occurrences : int, optional
        The most occurrences to sample from each.
    permutations : int, optional
        How often to deal the occurrences out at random to the two corpora, for the p-value.
    topn : int, optional
        How many words to list that are near the word in one corpus but not in the other.
    seed : int, optional
        Seeds the samples and the permutations.
    show_progress : bool or None, optional
        Whether to show a progress bar; None for only in a terminal.

    Returns
    -------
    WordComparison

    Examples
    --------
    >>> found = wv.compare("dog", [["dog", "cat"]] * 5, [["dog", "car"]] * 5)
    >>> found.p_value < 0.05, found.counts
    (True, (5, 5))
    """
    from densvec.questions.comparison import WordComparison, permutation_test

    wv.get_index(word)
    batches = []
    for name, corpus in (("first", corpus_a), ("second", corpus_b)):
        found = occurrences(
            corpus,
            word,
            max_occurrences,
            seed=seed,
            text_reading=text_reading_of(wv),
            show_progress=show_progress,
        )
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
