"""Comparing words in their contexts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.distances.metrics import find_metric
from densvec.types import Floats

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["similarities_in_context", "similarity_in_context"]


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

    Parameters
    ----------
    word1, word2 : str or int
        The words; they may be the same one.
    context1, context2 : str or sequence of str
        Their contexts, as in :meth:`infer`.
    metric : str, optional
        As in :meth:`similarity`: ``"cosine"`` of the posteriors' means, ``"expected_likelihood"`` (its
        logarithm), or minus one of the distances ``"kl"``, ``"reverse_kl"``, ``"jeffreys"``,
        ``"wasserstein"``.

    Examples
    --------
    >>> round(wv.similarity_in_context("dog", "cat animal", "dog", "cat animal"), 6)
    1.0
    >>> wv.similarity_in_context("dog", "cat animal", "cat", "dog", metric="kl") < 0
    True
    """
    return float(wv.similarities_in_context([(word1, context1, word2, context2)], metric=metric)[0])


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

    Returns
    -------
    numpy.ndarray, shape (n,)

    Examples
    --------
    >>> first, second = ("dog", "the dog and the cat", 1), ("cat", "dog")
    >>> wv.similarities_in_context([("dog", "cat", "cat", "dog"), (first, second)]).round(3)
    array([1., 1.])
    """
    pairs: list[Sequence[Any]] = []
    for question in questions:
        pairs += question if len(question) == 2 else (question[:2], question[2:])
    posteriors = wv.infer_posteriors(pairs)
    first, second = posteriors[0::2], posteriors[1::2]
    if metric != "cosine":
        return np.array(
            [0.0 - find_metric(metric).exact(first[i], second[i]) for i in range(len(pairs) // 2)]
        )
    one, other = (np.asarray(part.mean, dtype=np.float64) for part in (first, second))
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    products = np.einsum("ij,ij->i", one, other)
    cosines: Floats = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    return cosines
