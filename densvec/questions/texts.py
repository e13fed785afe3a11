"""Texts as densities: the words of a sentence or paragraph combined, weighted by how much they say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.distances.metrics import find_metric
from densvec.distances.vectors import cosine
from densvec.gaussian import Gaussian
from densvec.questions.lookup import known_log_variances, words_of
from densvec.text.thinning import keep_probabilities
from densvec.types import Floats

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["text_density", "text_similarity"]

_THINNING = 1e-5
"""The threshold for thinning whose probabilities are the words' weights, a tenth of training's. Chosen on halves of
paragraphs of wiki17m."""

_SIF = 1e-3
"""The constant a of smooth inverse frequency, as Arora et al. (2017) give it."""


def text_density(
    wv: KeyedDensities, text: Any, *, weights: str | Sequence[float] = "thinning", in_context: bool = False
) -> Gaussian:
    """Return the density of a text: those of its words, combined by precision.

    A word counts with its weight times its precision 1/variance. The variance is that of a typical word of
    the text, the inverse of the weighted mean of the precisions.

    Parameters
    ----------
    text : str, sequence of str, or sequence of these
        Tokens, or a string of them separated by white space. Several texts (a list of lists, or of strings
        with spaces) give a batch of densities. Unknown words are left out.
    weights : {"thinning", "sif", "none"} or sequence of float, optional
        How much each word counts. ``"thinning"``: the probability of staying in text that is thinned ten
        times as strongly as training thins it. ``"sif"``: smooth inverse frequency, a/(a + p) with
        a = .001 (Arora et al., 2017). ``"none"``: all the same. Or one number for each row of the vocabulary.
    in_context : bool, optional
        Whether to combine the words' posteriors instead of their priors. This is slower, and finds fewer
        paragraphs again: their context is part of the text already.

    Raises
    ------
    ValueError
        If a text has no known word.

    Examples
    --------
    >>> wv.text_density("the dog and the cat", weights="none")
    Gaussian(mean=[1.5, 1.5], variance=[1.])
    >>> wv.text_density([["dog", "cat"], ["car"]])
    <2 spherical Gaussians in 2 dimensions>
    """
    texts, several = _texts(wv, text)
    table = _word_weights(wv, weights)
    rows = [_token_rows(wv, tokens) for tokens in texts]
    for tokens, found in zip(texts, rows, strict=True):
        if not len(found):
            shown = " ".join(tokens[:5])
            raise ValueError(f"no word of the text {shown!r} is known, so it has no density")
    if in_context:
        words = [[wv.index_to_key[row] for row in found] for found in rows]
        parts = wv.infer_sentences(words)
    else:
        logs = known_log_variances(wv)
        parts = [Gaussian(wv.vectors[found], np.exp(logs[found])) for found in rows]
    densities = [_pooled(part, table[found]) for part, found in zip(parts, rows, strict=True)]
    if not several:
        return densities[0]
    means: Floats = np.array([density.mean for density in densities])
    return Gaussian(means, np.array([density.variance for density in densities]))


def text_similarity(
    wv: KeyedDensities,
    a: Any,
    b: Any,
    *,
    metric: str = "cosine",
    weights: str | Sequence[float] = "thinning",
    in_context: bool = False,
) -> Any:
    """Return how similar two texts are, or each text of one list to each of another.

    Parameters
    ----------
    a, b : text, list of texts, or Gaussian
        Texts as in :meth:`text_density`, or their densities.
    metric : str, optional
        As in :meth:`similarity`: larger is more similar, by every metric.
    weights, in_context
        As in :meth:`text_density`.

    Returns
    -------
    float, or numpy.ndarray with a row for each text of `a` and a column for each of `b`

    Examples
    --------
    >>> wv.text_similarity("dog cat", "animal") > wv.text_similarity("dog cat", "car")
    True
    >>> wv.text_similarity([["dog"], ["cat"]], [["car"]], metric="kl").shape
    (2, 1)
    """
    first, second = (
        each if isinstance(each, Gaussian) else wv.text_density(each, weights=weights, in_context=in_context)
        for each in (a, b)
    )
    if not first.shape and not second.shape:
        if metric == "cosine":
            return float(cosine(first.mean, second.mean))
        return 0.0 - float(find_metric(metric).exact(first, second))
    rows, columns = _batch(first), _batch(second)
    if metric == "cosine":
        units = [
            each.mean / np.maximum(np.linalg.norm(each.mean, axis=1, keepdims=True), 1e-30)
            for each in (rows, columns)
        ]
        return units[0] @ units[1].T
    return np.array([0.0 - find_metric(metric).exact(row, columns) for row in rows])


def _token_rows(wv: KeyedDensities, tokens: Sequence[str]) -> Any:
    return np.array([row for token in tokens if (row := wv.key_to_index.get(token, -1)) >= 0], dtype=np.int64)


def _word_weights(wv: KeyedDensities, weights: str | Sequence[float]) -> Floats:
    """Return how much each row of the vocabulary counts."""
    if not isinstance(weights, str):
        table = np.asarray(weights, dtype=np.float64)
        if table.shape != (len(wv),):
            raise ValueError(f"weights need one number for each of {len(wv)} words: got shape {table.shape}")
        return table
    if weights not in ("thinning", "sif", "none"):
        raise ValueError(f"weights={weights!r} is unknown: use 'thinning', 'sif', 'none' or numbers")
    counts = wv.expandos.get("count")
    if weights == "none":
        return np.ones(len(wv))
    if counts is None:
        raise ValueError(f"weights={weights!r} needs the words' counts, and there are none here: use 'none'")
    shares = np.asarray(counts, dtype=np.float64)
    if weights == "sif":
        sif: Floats = _SIF / (_SIF + shares / max(shares.sum(), 1.0))
        return sif
    kept: Floats = keep_probabilities(np.asarray(counts), _THINNING)
    return kept


def _texts(wv: KeyedDensities, text: Any) -> tuple[list[list[str]], bool]:
    """Return texts as lists of tokens, and whether several were given."""
    if isinstance(text, str):
        return [words_of(wv, text)], False
    items: Iterable[Any] = list(text)
    several = any(not isinstance(item, str) or len(item.split()) > 1 for item in items)
    if not several:
        return [list(items)], False
    return [words_of(wv, item) if isinstance(item, str) else list(item) for item in items], True


def _pooled(parts: Gaussian, weights: Floats) -> Gaussian:
    """Combine densities by precision: the normalised product of their powers."""
    if not weights.sum() > 0:
        weights = np.ones(len(weights))
    shares = (weights / weights.sum())[:, None]
    precision = shares / parts.variance.astype(np.float64)
    variance = 1.0 / precision.sum(axis=0)
    mean = (precision * parts.mean).sum(axis=0) * variance
    return Gaussian(mean.astype(parts.mean.dtype), variance.astype(parts.mean.dtype))


def _batch(density: Gaussian) -> Gaussian:
    return density if density.shape else Gaussian(density.mean[None], density.variance[None])
