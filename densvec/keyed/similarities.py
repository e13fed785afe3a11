"""Comparing given keys: similarity and distance by any metric, mean vectors, odd ones out."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from densvec.checks import needs
from densvec.distances.metrics import find_metric
from densvec.distances.pairwise import distances as distances_to_rows
from densvec.distances.vectors import cosine, unit
from densvec.questions.lookup import (
    Item,
    cosines_with,
    density_table,
    one_density,
    rows_of,
    vector_from_ngrams,
    vector_of,
)
from densvec.text.spelling import UnknownKeyError
from densvec.types import Floats, Key

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

K = TypeVar("K", bound=Key)

logger = logging.getLogger(__name__)


def similarity(wv: KeyedDensities, w1: Item, w2: Item, *, metric: str = "cosine") -> float:
    """Return how similar two keys are: larger is more similar, by every metric.

    Parameters
    ----------
    w1, w2 : str, int, numpy.ndarray or Gaussian
        Keys, vectors or densities.
    metric : str, optional
        ``"cosine"``, ``"expected_likelihood"`` (its logarithm), or minus one of the distances ``"kl"``
        (KL[w1‖w2]), ``"reverse_kl"``, ``"jeffreys"``, ``"wasserstein"``.

    Examples
    --------
    >>> round(float(wv.similarity("dog", "cat")), 2)
    0.8
    >>> wv.similarity("dog", "cat", metric="kl")
    -1.0
    """
    if metric != "cosine":
        return 0.0 - wv.distance(w1, w2, metric=metric)
    return cosine(vector_of(wv, w1), vector_of(wv, w2))


def distance(wv: KeyedDensities, w1: Item, w2: Item, *, metric: str = "cosine") -> float:
    """Return the distance of two keys: smaller is more similar, by every metric.

    The arguments are those of :meth:`similarity`. By cosine the distance is 1 − cosine, by any other metric minus the
    similarity.

    Examples
    --------
    >>> round(float(wv.distance("dog", "cat")), 2)
    0.2
    >>> round(wv.distance("dog", "cat", metric="wasserstein"), 4)
    1.4142
    """
    if metric == "cosine":
        return 1 - wv.similarity(w1, w2)
    return float(find_metric(metric).exact(one_density(wv, w1), one_density(wv, w2)))


def distances(
    wv: KeyedDensities, word_or_vector: Any, other_words: Iterable[Key] | None = (), *, metric: str = "cosine"
) -> Floats:
    """Return the distances from one key, vector or density to others.

    Parameters
    ----------
    word_or_vector : str, int, array_like or Gaussian
        A key, a vector or a density.
    other_words : iterable of keys, optional
        All keys if none are given.
    metric : str, optional
        As in :meth:`distance`.

    Examples
    --------
    >>> wv.distances("dog", ["cat", "car"], metric="kl")
    array([ 1., 13.])
    """
    others = () if other_words is None else list(other_words)
    rows: Any = rows_of(wv, others) if others else slice(None)
    if metric == "cosine":
        vector = unit(np.asarray(vector_of(wv, word_or_vector)))
        return 1 - cosines_with(wv, vector, rows)
    q = one_density(wv, word_or_vector)
    if others:
        return find_metric(metric).exact(q, density_table(wv).densities(rows))
    result: Floats = distances_to_rows(q, density_table(wv), metric)[0]
    return result


def n_similarity(wv: KeyedDensities, ws1: Sequence[Key], ws2: Sequence[Key]) -> float:
    """Return the cosine between the mean vectors of two sets of keys; ZeroDivisionError if one of them is empty.

    Examples
    --------
    >>> round(float(wv.n_similarity(["dog", "cat"], ["animal"])), 2)
    1.0
    """
    if not len(ws1) or not len(ws2):
        raise ZeroDivisionError("n_similarity needs at least one key on each side")
    first, second = (wv.get_mean_vector(keys, pre_normalize=False) for keys in (ws1, ws2))
    return cosine(first, second)


def rank_by_centrality(
    wv: KeyedDensities, words: Iterable[K], use_norm: bool = True
) -> list[tuple[float, K]]:
    """Rank keys by their similarity to the centroid of all of them, the most central first.

    Parameters
    ----------
    words : iterable of keys
        Unknown ones are left out.
    use_norm : bool, optional
        Whether to scale the vectors to unit length first.

    Examples
    --------
    >>> [word for _, word in wv.rank_by_centrality(["dog", "cat", "animal", "car"])]
    ['cat', 'animal', 'dog', 'car']
    """
    words = list(words)
    known = [word for word in words if word in wv]
    if len(known) < len(words):
        logger.warning("left out unknown keys: %s", set(words) - set(known))
    if not known:
        raise ValueError("cannot select a word from an empty list: none of the keys is known")
    vectors = np.array([wv.get_vector(word, norm=use_norm) for word in known])
    centroid = wv.get_mean_vector(known, pre_normalize=use_norm, post_normalize=True)
    return sorted(zip(vectors @ centroid, known, strict=True), reverse=True)


def doesnt_match(wv: KeyedDensities, words: Iterable[K]) -> K:
    """Return the key that fits least well with the others.

    Examples
    --------
    >>> wv.doesnt_match(["dog", "car", "cat"])
    'car'
    """
    return wv.rank_by_centrality(words)[-1][1]


def wmdistance(
    wv: KeyedDensities, document1: Iterable[Any], document2: Iterable[Any], norm: bool = True
) -> float:
    """Return the Word Mover's Distance between two documents (Kusner et al., 2015).

    Needs POT (``pip install POT``).

    Parameters
    ----------
    document1, document2 : iterable of str
        Tokens; unknown ones are left out. If a document has no known token, the distance is infinite.
    norm : bool, optional
        Whether to scale the vectors to unit length first.

    Examples
    --------
    >>> round(wv.wmdistance(["dog"], ["cat"], norm=False), 4)
    1.4142
    """
    emd2 = needs("ot", package="POT").emd2
    documents = [[token for token in document if token in wv] for document in (document1, document2)]
    if not all(documents):
        logger.warning("a document has no known token: its Word Mover's Distance is infinite")
        return float("inf")
    words = list(dict.fromkeys(token for document in documents for token in document))
    if len(words) == 1:
        return 0.0
    vectors = np.array([wv.get_vector(word, norm=norm) for word in words], dtype=np.float64)
    costs = np.linalg.norm(vectors[:, None] - vectors[None], axis=-1)
    shares = [np.array([document.count(word) for word in words]) / len(document) for document in documents]
    return float(emd2(*shares, costs))


def cosine_similarities(vector_1: npt.ArrayLike, vectors_all: npt.ArrayLike) -> Floats:
    """Return the cosines between a vector and each row of a matrix.

    Examples
    --------
    >>> wv.cosine_similarities(np.array([1.0, 0.0]), np.eye(2))
    array([1., 0.])
    """
    vector, vectors = np.asarray(vector_1), np.asarray(vectors_all)
    cosines: Floats = vectors @ vector / (np.linalg.norm(vector) * np.linalg.norm(vectors, axis=1))
    return cosines


def closer_than(wv: KeyedDensities, key1: Key, key2: Key, *, metric: str = "cosine") -> list[str]:
    """Return all keys that are closer to `key1` than `key2` is.

    Examples
    --------
    >>> wv.closer_than("dog", "car")
    ['animal', 'cat']
    """
    all_distances = wv.distances(key1, metric=metric)
    own, other = wv.get_index(key1), wv.get_index(key2)
    closer = np.flatnonzero(all_distances < all_distances[other])
    return [wv.index_to_key[i] for i in closer if i != own]


def rank(wv: KeyedDensities, key1: Key, key2: Key, *, metric: str = "cosine") -> int:
    """Return the place of `key2` among the keys closest to `key1`, 1 for the closest.

    Examples
    --------
    >>> wv.rank("dog", "car"), wv.rank("dog", "animal", metric="wasserstein")
    (3, 2)
    """
    return len(wv.closer_than(key1, key2, metric=metric)) + 1


def most_similar_to_given(wv: KeyedDensities, key1: Key, keys_list: Sequence[K]) -> K:
    """Return the key of a list that is most similar to `key1`.

    Examples
    --------
    >>> wv.most_similar_to_given("dog", ["cat", "car"])
    'cat'
    """
    return keys_list[int(np.argmax([wv.similarity(key1, key) for key in keys_list]))]


def get_mean_vector(
    wv: KeyedDensities,
    keys: Any,
    weights: Any = None,
    pre_normalize: bool = True,
    post_normalize: bool = False,
    ignore_missing: bool = True,
) -> Floats:
    """Return the weighted mean of the vectors of several keys.

    Parameters
    ----------
    keys : list of str, int or numpy.ndarray
        Keys or vectors, at least one.
    weights : sequence of float, optional
        Weight of each; 1 if not given. The sum is divided by the sum of their absolute values.
    pre_normalize : bool, optional
        Whether the keys' vectors are scaled to unit length first.
    post_normalize : bool, optional
        Whether the mean is.
    ignore_missing : bool, optional
        Whether unknown keys are skipped, instead of raising a KeyError.

    Examples
    --------
    >>> wv.get_mean_vector(["dog", "cat"], pre_normalize=False)
    array([1.5, 1.5], dtype=float32)
    """
    if not len(keys):
        raise ValueError("cannot compute mean with no input: give at least one key")
    if weights is None:
        weights = np.ones(len(keys))
    if len(weights) != len(keys):
        raise ValueError(f"keys and weights must have the same length: got {len(keys)} and {len(weights)}")
    total, weight_of_all = np.zeros(wv.vector_size, dtype=wv.vectors.dtype), 0.0
    for key, weight in zip(keys, weights, strict=True):
        if isinstance(key, np.ndarray):
            total += weight * key
        elif key in wv:
            total += weight * wv.get_vector(key, norm=pre_normalize)
        elif (spelt := vector_from_ngrams(wv, key)) is not None:
            total += weight * (unit(spelt) if pre_normalize else spelt)
        elif not ignore_missing:
            raise UnknownKeyError(key, wv.key_to_index, " in vocabulary")
        else:
            continue
        weight_of_all += abs(weight)
    if weight_of_all > 0:
        total = total / weight_of_all
    return (unit(total) if post_normalize else total).astype(wv.vectors.dtype)
