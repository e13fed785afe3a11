"""Texts as densities: the words of a sentence or paragraph averaged, weighted by how much they say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from densvec.checks import refuse_bytes
from densvec.distances.metrics import find_metric
from densvec.gaussian import Gaussian
from densvec.questions.lookup import known_log_variances, shares_of, whitened, words_of
from densvec.types import Floats, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

_SIF = 1e-4
"""The constant a of smooth inverse frequency; Arora et al. (2017) recommend 1e-4 to 1e-3."""


def text_density(wv: KeyedDensities, text: Any, *, weights: str | Sequence[float] = "sif") -> Gaussian:
    """Return the density of a text: the weighted average of the means and of the variances of its words.

    Parameters
    ----------
    text : str, sequence of str, or sequence of these
        Tokens, or a string of them separated by white space. Several texts (a list of lists, or of strings
        with spaces) give a batch of densities. Unknown words are left out; a text needs one that is known.
    weights : {"sif", "none"} or sequence of float, optional
        How much each word counts. ``"sif"``: smooth inverse frequency, a/(a + p) with a = .0001 for a share of p
        (Arora et al., 2017). ``"none"``: all the same. Or one number for each row of the vocabulary.

    Examples
    --------
    >>> wv.text_density("the dog and the cat", weights="none")
    Gaussian(mean=[1.5, 1.5], variance=[1.])
    >>> wv.text_density([["dog", "cat"], ["car"]])
    <2 spherical Gaussians in 2 dimensions>
    """
    texts, several = _texts(wv, text)
    densities = _densities(wv, texts, weights)
    return densities if several else densities[0]


@overload
def text_similarity(
    wv: KeyedDensities, a: str, b: str, *, metric: str = ..., weights: str | Sequence[float] = ...
) -> float: ...
@overload
def text_similarity(
    wv: KeyedDensities, a: Any, b: Any, *, metric: str = ..., weights: str | Sequence[float] = ...
) -> Any: ...
def text_similarity(
    wv: KeyedDensities,
    a: Any,
    b: Any,
    *,
    metric: str = "cosine",
    weights: str | Sequence[float] = "sif",
) -> Any:
    """Return how similar two texts are, or each text of one list to each of another.

    The cosine is taken where words vary equally in all directions (the means are whitened by their covariance), so
    that what most texts have in common hardly counts.

    Parameters
    ----------
    a, b : text, list of texts, or Gaussian
        Texts as in :meth:`text_density`, or their densities.
    metric : str, optional
        As in :meth:`similarity`: larger is more similar, by every metric.
    weights
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
        each if isinstance(each, Gaussian) else wv.text_density(each, weights=weights) for each in (a, b)
    )
    rows, columns = _batch(first), _batch(second)
    if metric == "cosine":
        scores = whitened(wv, rows.mean, 1.0) @ whitened(wv, columns.mean, 1.0).T
    else:
        scores = np.array([0.0 - find_metric(metric).exact(row, columns) for row in rows])
    return scores if first.shape or second.shape else float(scores[0, 0])


def text_similarities(
    wv: KeyedDensities,
    pairs: Iterable[Sequence[Any]],
    *,
    metric: str = "cosine",
    weights: str | Sequence[float] = "sif",
) -> Floats:
    """Return how similar the two texts of each pair are, much faster than one pair by one.

    Parameters
    ----------
    pairs : iterable of (text, text)
        Each a string or a list of tokens.
    metric, weights
        As in :meth:`text_similarity`.

    Examples
    --------
    >>> wv.text_similarities([("a dog", "the cat"), ("a dog", "a car")]).shape
    (2,)
    """
    texts = [words_of(wv, text) if isinstance(text, str) else list(text) for pair in pairs for text in pair]
    densities = _densities(wv, texts, weights)
    first, second = densities[0::2], densities[1::2]
    scores: Floats
    if metric == "cosine":
        scores = np.einsum("ij,ij->i", whitened(wv, first.mean, 1.0), whitened(wv, second.mean, 1.0))
    else:
        scores = 0.0 - find_metric(metric).exact(first, second)
    return scores


def encode(
    wv: KeyedDensities,
    texts: str | Iterable[str | Sequence[str]],
    *,
    weights: str | Sequence[float] = "sif",
    batch_size: int = 10_000,
    dtype: npt.DTypeLike | None = None,
    show_progress: bool | None = None,
) -> Any:
    """Return the vectors of texts, of length 1: the dot product of two is their :meth:`text_similarity`.

    What a word means in its context is lost here, and so is the order of words: a text is the weighted average of the
    means of its words, in a space where words vary equally in all directions. See :meth:`infer` for words in context.

    Parameters
    ----------
    texts : iterable of str or of lists of tokens, or one str
        Read in batches, so that a generator of any length will do.
    weights
        As in :meth:`text_density`.
    batch_size : int, optional
        How many texts are read at once.
    dtype : dtype, optional
        Of the vectors; by default that of the tables. Whole numbers are multiplied by the largest of their type.
    show_progress : bool or None, optional
        Whether to show a progress bar; None for only in a terminal.

    Returns
    -------
    numpy.ndarray, shape (n, D), or (D,) for one str
        0 for texts of which no word is known.

    Examples
    --------
    >>> vectors = wv.encode(["the dog and the cat", "a car", "unicorns"])
    >>> (vectors @ vectors.T).round(2)
    array([[ 1.  , -0.67,  0.  ],
           [-0.67,  1.  ,  0.  ],
           [ 0.  ,  0.  ,  0.  ]], dtype=float32)
    >>> wv.encode("a car", dtype=np.int8)
    array([ 12, 126], dtype=int8)
    """
    from tqdm.auto import tqdm

    if isinstance(texts, str):
        return encode(wv, [texts], weights=weights, dtype=dtype, show_progress=False)[0]
    kind, source = np.dtype(dtype or wv.vectors.dtype), iter(texts)
    scale = np.iinfo(kind).max if kind.kind == "i" else None
    found = [np.zeros((0, wv.vector_size), kind)]
    total, hidden = len(texts) if isinstance(texts, Sequence) else None, not show_progress
    with tqdm(total=total, unit=" texts", disable=None if show_progress is None else hidden) as progress:
        while batch := list(islice(source, batch_size)):
            tokens = [words_of(wv, text) if isinstance(text, str) else text for text in batch]
            matrix, used = shares(wv, tokens, weights)
            vectors = whitened(wv, matrix @ wv.vectors[used].astype(np.float64), 1.0)
            found.append((vectors if scale is None else np.rint(vectors * scale)).astype(kind))
            progress.update(len(batch))
    return np.concatenate(found)


def _densities(
    wv: KeyedDensities, texts: Sequence[Sequence[str]], weights: str | Sequence[float]
) -> Gaussian:
    """Return the densities of texts."""
    matrix, used = shares(wv, texts, weights)
    for i in np.flatnonzero(np.diff(matrix.indptr) == 0)[:1]:
        raise ValueError(f"no word of the text {' '.join(texts[i][:5])!r} is known, so it has no density")
    means, variances = (
        matrix @ part.astype(np.float64) for part in (wv.vectors[used], np.exp(known_log_variances(wv)[used]))
    )
    dtype: Any = wv.vectors.dtype
    return Gaussian(means.astype(dtype), variances.astype(dtype))


def shares(
    wv: KeyedDensities, texts: Sequence[Sequence[str]], weights: str | Sequence[float]
) -> tuple[Any, Integers]:
    """Return how much each word counts in each text, as `shares_of` does."""
    known, table = wv.key_to_index, word_weights(wv, weights)
    for text in texts:
        refuse_bytes(text)
    rows = [[row for token in tokens if (row := known.get(token, -1)) >= 0] for tokens in texts]
    flat = np.fromiter(chain.from_iterable(rows), dtype=np.intp)
    return shares_of(flat, np.cumsum([0, *map(len, rows)]), table[flat])


def word_weights(wv: KeyedDensities, weights: str | Sequence[float]) -> Floats:
    """Return how much each row of the vocabulary counts."""
    if not isinstance(weights, str):
        table = np.asarray(weights, dtype=np.float64)
        if table.shape != (len(wv),):
            raise ValueError(f"weights need one number for each of {len(wv)} words: got shape {table.shape}")
        return np.maximum(table, 1e-12 * (table.max(initial=0) or 1))  # a text needs some word that counts
    if weights not in ("sif", "none"):
        raise ValueError(f"weights={weights!r} is unknown: use 'sif', 'none' or numbers")
    counts = wv.expandos.get("count")
    if weights == "none":
        return np.ones(len(wv))
    if counts is None:
        raise ValueError(f"weights={weights!r} needs the words' counts, and there are none here: use 'none'")
    shares = np.asarray(counts, dtype=np.float64) / max(float(np.sum(counts)), 1.0)
    sif: Floats = _SIF / (_SIF + shares)
    return sif


def _texts(wv: KeyedDensities, text: Any) -> tuple[list[list[str]], bool]:
    """Return texts as lists of tokens, and whether several were given."""
    if isinstance(text, str):
        return [words_of(wv, text)], False
    items: Iterable[Any] = list(text)
    several = any(not isinstance(item, str) or len(item.split()) > 1 for item in items)
    if not several:
        return [list(items)], False
    return [words_of(wv, item) if isinstance(item, str) else list(item) for item in items], True


def _batch(density: Gaussian) -> Gaussian:
    return density if density.shape else Gaussian(density.mean[None], density.variance[None])
