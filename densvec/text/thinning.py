"""What follows from the counts of words: which stay in the vocabulary, how often training keeps or draws them."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from densvec.types import TrimRule

#: What a trim rule answers: let `min_count` decide, drop the word, or keep it whatever its count.
RULE_DEFAULT, RULE_DISCARD, RULE_KEEP = 0, 1, 2


def keeps(word: Hashable, count: int, min_count: int, trim_rule: TrimRule | None = None) -> bool:
    """Return whether a word stays in the vocabulary.

    Examples
    --------
    >>> keeps("kiwi", 3, 5)
    False
    >>> keeps("kiwi", 3, 5, lambda word, count, min_count: RULE_KEEP)
    True
    """
    rule = RULE_DEFAULT if trim_rule is None else trim_rule(word, count, min_count)
    return rule == RULE_KEEP or (rule != RULE_DISCARD and count >= min_count)


def auto_sample(words: int) -> float:
    """Return the threshold for thinning that suits a text of this many words: 5e-5 from sixteen million on.

    Less text is thinned less, by its length to the power .6, and words with fewer than a hundred occurrences are
    never thinned: a threshold for millions of words would leave nothing of nine sentences.

    Examples
    --------
    >>> [auto_sample(words) for words in (17_000_000, 1_000_000, 100_000, 1000, 30)]
    [5e-05, 0.00026..., 0.00105..., 0.04, 0.5]
    """
    return float(min(0.5, max(5e-5, 5e-5 * (16e6 / max(1, words)) ** 0.6, 40 / max(1, words))))


def keep_probabilities(counts: ArrayLike, sample: float, total: int | None = None) -> NDArray[np.float64]:
    """Return the probability of keeping an occurrence of each word when frequent words are thinned.

    word2vec's formula: √(t/f) + t/f for a word of frequency f, at most 1.

    Parameters
    ----------
    counts : array of int
        How often each word occurs.
    sample : float
        The threshold t, useful between 1e-5 and 1e-3; 0 keeps everything. From 1 on it is a count, as in
        gensim: t·total is then (3+√5)/2 times `sample`, and words over 6.85 times `sample` are thinned.
    total : int, optional
        Words of the corpus; by default the sum of `counts`.

    Examples
    --------
    >>> keep_probabilities([1000, 10, 1], sample=0.01).round(3)
    array([0.111, 1.   , 1.   ])
    """
    occurrences = np.asarray(counts, dtype=np.float64)
    if sample < 0:
        raise ValueError(f"sample must not be negative, got {sample}")
    if not sample:
        return np.ones(occurrences.shape)
    if sample < 1:
        threshold = sample * (occurrences.sum() if total is None else total)
    else:
        threshold = float(int(sample * (3 + np.sqrt(5)) / 2))
    with np.errstate(divide="ignore"):  # a known word that has not occurred is kept if it does
        ratio = threshold / occurrences
    return np.minimum(1.0, np.sqrt(ratio) + ratio)


def noise_weights(
    counts: ArrayLike, ns_exponent: float | str = 0.75, keep: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return the weight of each word among the negatives.

    Parameters
    ----------
    counts : array of int
        How often each word occurs.
    ns_exponent : float, "auto" or "subsampled"
        Weights are counts to this power: 1 is the unigram distribution, 0 the uniform one. "subsampled" is
        the unigram distribution of the text that subsampling leaves, ``counts * keep``; "auto" is this to the
        power .75.
    keep : array of float
        The probabilities of keeping each word, for "auto" and "subsampled".

    Examples
    --------
    >>> noise_weights([16, 1], 0.5)
    array([4., 1.])
    >>> noise_weights([64, 1], "subsampled", keep=[0.25, 1.0])
    array([16.,  1.])
    >>> noise_weights([64, 1], "auto", keep=[0.25, 1.0])
    array([8., 1.])
    """
    occurrences = np.maximum(
        np.asarray(counts, dtype=np.float64), 1
    )  # known words without occurrences count once
    if isinstance(ns_exponent, str):
        if ns_exponent not in ("auto", "subsampled"):
            raise ValueError(f'ns_exponent must be a number, "auto" or "subsampled", not {ns_exponent!r}')
        if keep is None:
            raise ValueError(f'ns_exponent="{ns_exponent}" needs the probabilities `keep`')
        thinned: NDArray[np.float64] = occurrences * np.asarray(keep, dtype=np.float64)
        return thinned if ns_exponent == "subsampled" else thinned**0.75
    weights: NDArray[np.float64] = occurrences**ns_exponent
    return weights


def log_frequencies(counts: ArrayLike, keep: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return the logarithm of each word's share of the thinned text.

    Parameters
    ----------
    counts : array of int
        How often each word occurs.
    keep : array of float, optional
        The probabilities of keeping each word; by default nothing is thinned. 0 is unknown, as for a word that was
        added by hand, and counts as 1.

    Examples
    --------
    >>> np.exp(log_frequencies([16, 1], keep=[0.25, 1.0]))
    array([0.8, 0.2])
    """
    if keep is not None:
        keep = np.where(np.asarray(keep) > 0, keep, 1.0)
    weights = noise_weights(counts, 1.0) if keep is None else noise_weights(counts, "subsampled", keep)
    logs: NDArray[np.float64] = np.log(weights / weights.sum())
    return logs
