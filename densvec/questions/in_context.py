"""What contexts say, and words compared in their contexts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec._corpus import MAX_WINDOW
from densvec.checks import check_whole
from densvec.distances.metrics import find_metric
from densvec.distances.vectors import unit_rows
from densvec.questions.inference import read_contexts
from densvec.questions.lookup import kept_shares, rows_of, shares_of
from densvec.reading import Reading
from densvec.text.spelling import is_inflection
from densvec.types import Floats, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

_THINNING = 1e-3
"""word2vec's threshold for thinning."""

_WORD = 3
"""How much a word counts beside its context where one word is compared with itself: the squared length of a word's
mean is about this many times that of the average of a sentence's words."""


def context_mean(
    wv: KeyedDensities,
    context: str | Sequence[str],
    *,
    word: Any = None,
    position: int | None = None,
    sample: float = _THINNING,
    reach: float | None = None,
) -> Floats:
    """Return what a context says, whatever word stands in it: the weighted average of the means of its words.

    Parameters
    ----------
    context, word, position
        As in :meth:`infer`; the word may be unknown. Where it stands in the context, it is not read, and the
        words around count the less, the further away they are. Otherwise the context is a bag of words.
    sample : float, optional
        The threshold above which frequent words are thinned; a word's weight is the probability of being kept.
    reach : float, optional
        Words of thinned text on either side that are read, the weights falling linearly; by default twice the
        `window`. ``inf`` reads all words alike.

    Returns
    -------
    numpy.ndarray, shape (D,)
        0 if no word of the context is known.

    Examples
    --------
    >>> wv.context_mean("a dog and its cat").round(2)
    array([1.45, 1.55])
    >>> wv.context_mean("a dog and its cat", word="dog")
    array([1., 2.])
    """
    mean: Floats = context_means(wv, [(word, context, position)], sample=sample, reach=reach)[0]
    return mean


def context_means(
    wv: KeyedDensities,
    pairs: Iterable[Sequence[Any]],
    *,
    sample: float = _THINNING,
    reach: float | None = None,
) -> Floats:
    """Return what many contexts say, (n, D), as :meth:`context_mean` does, much faster than one by one.

    Parameters
    ----------
    pairs : iterable of (word, context) or (word, context, position)
        As in :meth:`infer_posteriors`; the word may be unknown, or None for a bag of words.
    sample, reach
        As in :meth:`context_mean`.

    Examples
    --------
    >>> wv.context_means([("dog", "a dog and its cat"), (None, "animal car")]).shape
    (2, 2)
    """
    reading, table = context_reading(wv, reach), kept_shares(wv, sample)
    return averages(wv, *read_contexts(wv, pairs, reading, lambda _, rows: table[rows]))


def context_reading(wv: KeyedDensities, reach: float | None = None) -> Reading:
    """Return how contexts are read for their averages."""
    window = 2 * wv.window if reach is None else reach
    if window == math.inf:
        return Reading(MAX_WINDOW, thinned=True)
    return Reading(check_whole("reach", window, 1, MAX_WINDOW), nearness=1.0, thinned=True)


def averages(wv: KeyedDensities, rows: Integers, offsets: Integers, weights: Floats) -> Floats:
    """Return the weighted averages of the means of words, (n, D); 0 where there are none."""
    shares, used = shares_of(rows, offsets, weights)
    means: Floats = shares @ wv.vectors[used].astype(np.float64)
    return means


def similarity_in_context(
    wv: KeyedDensities,
    word1: Any,
    context1: str | Sequence[str],
    word2: Any,
    context2: str | Sequence[str],
    *,
    metric: str = "cosine",
) -> float:
    """Return how similar two words are, each in its context: larger is more similar, by every metric.

    By cosine, each word is the sum of its mean and what its context says (:meth:`context_mean`). Of one word in two
    contexts, also in two forms of it, the sums would have the mean in common, so that only the contexts are compared;
    as other words are less alike, the result is then (3 + their cosine)/4.

    Parameters
    ----------
    word1, word2 : str or int
        The words; they may be the same one.
    context1, context2 : str or sequence of str
        Their contexts, as in :meth:`infer`.
    metric : str, optional
        ``"cosine"``, or one that compares the posteriors: ``"expected_likelihood"`` (its logarithm), or minus one
        of the distances ``"kl"``, ``"reverse_kl"``, ``"jeffreys"``, ``"wasserstein"``.

    Examples
    --------
    >>> round(wv.similarity_in_context("dog", "cat animal", "dog", "cat animal"), 6)
    1.0
    >>> wv.similarity_in_context("dog", "cat animal", "cat", "dog", metric="kl") < 0
    True
    """
    return float(similarities_in_context(wv, [(word1, context1, word2, context2)], metric=metric)[0])


def similarities_in_context(
    wv: KeyedDensities, questions: Iterable[Sequence[Any]], *, metric: str = "cosine"
) -> Floats:
    """Return the similarities of many pairs of words in their contexts, much faster than one by one.

    Parameters
    ----------
    questions : iterable of (word1, context1, word2, context2), or of two pairs
        Each as in :meth:`similarity_in_context`; or ``(first, second)``, each as in
        :meth:`infer_posteriors`, so that positions can be named.
    metric : str, optional
        As in :meth:`similarity_in_context`.

    Examples
    --------
    >>> first, second = ("dog", "the dog and the cat", 1), ("cat", "dog")
    >>> wv.similarities_in_context([("dog", "cat", "cat", "dog"), (first, second)]).round(3)
    array([1., 1.])
    """
    pairs: list[Sequence[Any]] = []
    for question in questions:
        pairs += question if len(question) == 2 else (question[:2], question[2:])
    if metric != "cosine":
        posteriors = wv.infer_posteriors(pairs)
        first, second = posteriors[0::2], posteriors[1::2]
        return np.array([0.0 - find_metric(metric).exact(a, b) for a, b in zip(first, second, strict=True)])
    words = wv.vectors[rows_of(wv, [pair[0] for pair in pairs])].astype(np.float64)
    said = context_means(wv, pairs)
    together = _cosines(words + said)
    return np.where(_one_word(wv, pairs), (_WORD + _cosines(said)) / (_WORD + 1), together)


def _cosines(sides: Floats) -> Floats:
    """Return the cosine of each row with the next, two by two; 0 where one of them is 0."""
    units = unit_rows(sides)
    cosines: Floats = np.einsum("ij,ij->i", units[0::2], units[1::2])
    return cosines


def _one_word(wv: KeyedDensities, pairs: Sequence[Sequence[Any]]) -> list[bool]:
    """Return which pairs are of one word, perhaps in two of its forms."""
    keys = [str(wv.index_to_key[wv.get_index(pair[0])]) for pair in pairs]
    return [is_inflection(a, b) for a, b in zip(keys[0::2], keys[1::2], strict=True)]
