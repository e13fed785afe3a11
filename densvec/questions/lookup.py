"""What the items of a question stand for: rows, vectors and densities, and the tables they are compared with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from densvec.checks import KEY_TYPES, refuse_bytes
from densvec.distances.table import DensityTable
from densvec.distances.vectors import unit_rows
from densvec.gaussian import Gaussian
from densvec.tables import derived, filled_norms
from densvec.text.text_reading import TextReading
from densvec.text.thinning import keep_probabilities
from densvec.types import Among, Floats, Indices, Integers, Key

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

Item: TypeAlias = "Key | Floats | Gaussian"
"""What can be asked about: a key, a vector or a density."""

_THINNING = 1e-4
"""The threshold for the thinned text whose words the covariance is taken of."""


# Text

_FREQUENT = 1000
"""How many words show whether a model knows capitals."""


def words_of(wv: KeyedDensities, text: str) -> list[str]:
    """Return the words of a text, found as in the text that the model was trained on, as far as it says how.

    Examples
    --------
    >>> words_of(wv, "the dog and the cat")
    ['the', 'dog', 'and', 'the', 'cat']
    """
    return text.split() if wv.text_reading is None else wv.text_reading.tokens(text)


def text_reading_of(wv: KeyedDensities) -> TextReading:
    """Return how another text is read for these words: as their own was.

    If that was tokenised, or unknown, text that is not is taken sentence by sentence, in lower case if the words are.

    Examples
    --------
    >>> text_reading_of(wv).tokenize, text_reading_of(wv).lower
    ('auto', True)
    """
    reading = wv.text_reading
    if reading is not None and reading.tokenize != "none":
        return reading
    words = [key for key in wv.index_to_key[:_FREQUENT] if isinstance(key, str)]
    known = TextReading() if reading is None else reading
    return replace(known, tokenize="auto", lower=all(word == word.lower() for word in words))


# Rows


def rows_of(wv: KeyedDensities, keys: Iterable[Any]) -> list[int]:
    """Return the rows of several keys; an unknown one is a KeyError."""
    refuse_bytes(keys)
    return [wv.get_index(key) for key in keys]


def row_or_rows(wv: KeyedDensities, key_or_keys: Any) -> Any:
    """Return the row of a key, or the list of rows of several."""
    return wv.get_index(key_or_keys) if isinstance(key_or_keys, KEY_TYPES) else rows_of(wv, key_or_keys)


def rows_among(wv: KeyedDensities, among: Among) -> Indices:
    """Return the rows that a search is limited to: those of the known words of a list, or those that a mask marks.

    Examples
    --------
    >>> rows_among(wv, ["cat", "unicorn", "dog"]), rows_among(wv, np.array([True, False, False, True]))
    (array([2, 1]), array([0, 3]))
    """
    if getattr(among, "dtype", None) == np.bool_:
        marked = np.asarray(among)
        if marked.shape != (len(wv),):
            raise ValueError(f"a mask needs a value for each of the {len(wv)} rows: got shape {marked.shape}")
        return np.flatnonzero(marked)
    if isinstance(among, (*KEY_TYPES, bytes)):
        raise TypeError(f"a list of words, or a mask over the rows, is needed to search among: got {among!r}")
    rows = dict.fromkeys(row for row in (wv.get_index(key, -1) for key in among) if row >= 0)
    return np.fromiter(rows, dtype=np.intp)


_OFTEN, _LISTED = 20, 1000
"""A word that occurs less often has been seen too seldom to say much; so many words are never too rare."""


def least_count(wv: KeyedDensities) -> int:
    """Return how often a word occurs at least, to be more than an accident; 0 if no word of a model is too rare.

    That is 20 times, or as often as the thousandth word does, so that little text has something to list.

    Examples
    --------
    >>> least_count(wv)
    0
    """
    counts = wv.expandos.get("count")
    if counts is None or len(counts) <= _LISTED:
        return 0
    return int(min(_OFTEN, -np.partition(-counts, _LISTED - 1)[_LISTED - 1]))


def common_rows(wv: KeyedDensities) -> int | None:
    """Return how many words, the most frequent ones, occur often enough (`least_count`); None for all.

    Examples
    --------
    >>> common_rows(wv) is None
    True
    """
    counts, least = wv.expandos.get("count"), least_count(wv)
    if counts is None or not least or (np.diff(counts) > 0).any():  # the rows may be in another order
        return None
    return int(np.count_nonzero(counts >= least))


def shares_of(rows: Integers, ends: Integers, weights: Floats) -> tuple[Any, Integers]:
    """Return which share each word has of each of several texts, as a sparse matrix, and the rows of its columns.

    A text has the rows between two ends. Only words that occur have columns, since tables may be large.
    """
    from scipy.sparse import csr_array

    texts = len(ends) - 1
    owners = np.repeat(np.arange(texts), np.diff(ends))
    totals = np.bincount(owners, weights, texts)
    used, columns = np.unique(rows, return_inverse=True)
    parts = weights / np.maximum(totals, 1e-30)[owners]
    return csr_array((parts, columns, ends), shape=(texts, len(used))), used


# Densities


def known_log_variances(wv: KeyedDensities) -> Floats:
    """Return the log-variances, or say that there are none."""
    if wv.log_variances is None:
        raise ValueError(
            "there are only means here, no variances: cosine answers work, questions about densities do "
            "not; load the variances too (load_word2vec_format(..., variances=...)) or set log_variances"
        )
    return wv.log_variances


def one_density(wv: KeyedDensities, item: Any) -> Gaussian:
    """Return the density of a key, a density as it is, or that of a vector, with a typical variance."""
    if isinstance(item, Gaussian):
        if item.shape:
            raise ValueError(f"one density is needed here: got a batch of shape {item.shape}")
        return item
    if isinstance(item, KEY_TYPES):
        return wv.density(item)
    vector = np.asarray(item)
    if vector.dtype.kind not in "fiu":
        raise TypeError(
            f"one word is expected, not a {type(item).__name__}: ask about several one after the other"
        )
    return Gaussian(vector.astype(wv.vectors.dtype), _typical_variance(wv))


def _typical_variance(wv: KeyedDensities) -> Floats:
    """Return the geometric mean of all variances."""
    log_variances = known_log_variances(wv)
    mean = log_variances.mean(dtype=np.float64) if len(log_variances) else 0.0
    return np.exp([mean]).astype(wv.vectors.dtype)


def densities_of(wv: KeyedDensities, item: Any) -> Gaussian:
    """Return the density of one item, or those of a list of keys as a batch; a batch as it is."""
    if isinstance(item, Gaussian):
        return item
    if isinstance(item, KEY_TYPES) or (isinstance(item, np.ndarray) and item.dtype.kind == "f"):
        return one_density(wv, item)
    refuse_bytes(item)
    return wv.density(list(item))


def check_paired(a: Gaussian, b: Gaussian) -> None:
    """Raise ValueError if two batches cannot be compared pair by pair."""
    if a.shape and b.shape and a.shape != b.shape:
        raise ValueError(
            f"two lists are compared pair by pair, so they must have the same length: got {len(a)} and {len(b)}"
        )


@derived
def density_table(wv: KeyedDensities) -> DensityTable:
    """Return the table of all densities, which caches its terms of the divergences."""
    return DensityTable(wv.vectors, log_variances=known_log_variances(wv))


def kept_shares(wv: KeyedDensities, sample: float) -> Floats:
    """Return the share of each word's occurrences that stay when text is thinned; 1 without counts."""
    return _kept_shares(wv, sample) if "count" in wv.expandos else np.ones(len(wv))


@derived
def _kept_shares(wv: KeyedDensities, sample: float) -> Floats:
    return keep_probabilities(wv.expandos["count"], sample)


# Vectors


@derived
def variation_of(wv: KeyedDensities) -> tuple[Floats, Floats, Floats]:
    """Return the mean of the words of thinned text, and how much they vary: the sizes and axes of their covariance."""
    shares = np.asarray(wv.expandos.get("count", np.ones(len(wv))), dtype=np.float64)
    shares = shares * kept_shares(wv, _THINNING)
    shares /= max(shares.sum(), 1e-30)
    centre = shares @ wv.vectors
    moved = wv.vectors - centre
    sizes, axes = np.linalg.eigh((moved * shares[:, None]).T @ moved)
    # No direction counts as one in which no word differs.
    return centre, np.maximum(sizes, max(float(sizes[-1]), 1e-30) * 1e-6), axes


def whitened(wv: KeyedDensities, vectors: Floats, evenness: float = 0.5) -> Floats:
    """Return unit vectors in a space where words vary more evenly; 0 stays 0.

    Vectors are taken from the mean of the words of thinned text, and divided by their standard deviations to the power
    `evenness`, so that the few directions in which most words differ do not hide the others. With 1, words
    vary equally in all directions.
    """
    centre, sizes, axes = variation_of(wv)
    moved = np.where(vectors.any(axis=1, keepdims=True), vectors - centre, 0)
    return unit_rows((moved @ axes) / sizes ** (evenness / 2))


def vector_from_ngrams(wv: KeyedDensities, key: Any) -> Floats | None:
    """Return the vector of an unknown word of a fastText model; None for other words and models."""
    if wv.ngrams is None or not isinstance(key, str) or key in wv.key_to_index:
        return None
    return wv.ngrams.vector(key)


def vector_of(wv: KeyedDensities, item: Any) -> Floats:
    """Return the vector of a key or of a density; a vector as it is."""
    if isinstance(item, KEY_TYPES):
        return wv.get_vector(item)
    if isinstance(item, Gaussian):
        return item.mean
    vector = np.asarray(item, dtype=wv.vectors.dtype)
    if vector.shape != (wv.vector_size,):
        raise ValueError(f"a vector must have shape {(wv.vector_size,)}: got {vector.shape}")
    return vector


def cosines_with(wv: KeyedDensities, unit_vector: Floats, rows: Any) -> Floats:
    """Return the cosines of the rows with a vector of unit length."""
    cosines: Floats = wv.vectors[rows] @ unit_vector.astype(wv.vectors.dtype, copy=False)
    cosines /= row_divisors(wv)[rows]
    return cosines


@derived
def row_divisors(wv: KeyedDensities) -> Floats:
    """Return the norms, with 1 in place of 0: a zero vector then has cosine 0 to everything."""
    norms = filled_norms(wv)
    return norms if norms.all() else np.where(norms == 0, 1, norms)
