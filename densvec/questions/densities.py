"""What only densities can answer: variance, generality, divergence, entailment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from densvec.questions.lookup import check_paired, densities_of, known_log_variances, row_or_rows
from densvec.tables import derived
from densvec.types import Floats, Integers, Key, Many

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


def get_variance(wv: KeyedDensities, key_or_keys: Any) -> Floats:
    """Return the prior variance of a key, (1,) or (D,), or of a list of keys as rows.

    Examples
    --------
    >>> wv.get_variance("animal").round(2)
    array([4.], dtype=float32)
    """
    log_variances = known_log_variances(wv)
    variance: Floats = np.exp(log_variances[row_or_rows(wv, key_or_keys)])
    return variance


@overload
def kl_divergence(wv: KeyedDensities, a: Key, b: Key) -> float: ...
@overload
def kl_divergence(wv: KeyedDensities, a: Many, b: Any) -> Floats: ...
@overload
def kl_divergence(wv: KeyedDensities, a: Any, b: Many) -> Floats: ...
@overload
def kl_divergence(wv: KeyedDensities, a: Any, b: Any) -> Any: ...
def kl_divergence(wv: KeyedDensities, a: Any, b: Any) -> Any:
    """Return KL[a‖b] between the densities of two keys, or of many pairs.

    Parameters
    ----------
    a, b : str, int, Gaussian or list of keys
        Keys, or densities such as a posterior; two lists are compared pair by pair.

    Returns
    -------
    float, or numpy.ndarray if one of them is a list

    Examples
    --------
    >>> wv.kl_divergence("dog", "animal") < wv.kl_divergence("animal", "dog")
    True
    >>> wv.kl_divergence("dog", "dog")
    0.0
    >>> wv.kl_divergence("dog", ["cat", "car"])
    array([ 1., 13.])
    """
    first, second = densities_of(wv, a), densities_of(wv, b)
    check_paired(first, second)
    divergence = first.kl(second)
    return divergence if divergence.ndim else float(divergence)


@overload
def generality(wv: KeyedDensities, key_or_keys: Key, *, adjust: str | None = None) -> float: ...
@overload
def generality(wv: KeyedDensities, key_or_keys: Many | Integers, *, adjust: str | None = None) -> Floats: ...
def generality(wv: KeyedDensities, key_or_keys: Any, *, adjust: str | None = None) -> Any:
    """Return how general a key is: the log-determinant of its covariance, larger for wider densities.

    Parameters
    ----------
    key_or_keys : str, int or list of keys
    adjust : {None, "frequency"}, optional
        ``"frequency"`` takes away what is typical of a word's frequency: a cubic polynomial of the
        logarithm of its count, fitted on the whole vocabulary. Above 0, a word is more general than is usual
        for its frequency.

    Returns
    -------
    float, or numpy.ndarray for a list of keys

    Examples
    --------
    >>> wv.generality("animal") > wv.generality("dog")
    True
    >>> wv.generality(["animal", "dog"]).round(2)
    array([2.77, 0.  ])
    """
    if adjust not in (None, "frequency"):
        raise ValueError(f"adjust={adjust!r} is unknown: use None or 'frequency'")
    generality = wv.density(key_or_keys).log_determinant
    if adjust is not None:
        generality = generality - _frequency_trend(wv)[row_or_rows(wv, key_or_keys)]
    return generality if np.ndim(generality) else float(generality)


@derived
def _frequency_trend(wv: KeyedDensities) -> Floats:
    """Return the generality that is typical of each word's frequency."""
    counts = wv.expandos.get("count")
    if counts is None:
        raise ValueError(
            "adjust='frequency' needs the words' counts, and there are none here: train a model, or load "
            "word vectors with their counts (load_word2vec_format(..., fvocab=...))"
        )
    generality = known_log_variances(wv).mean(axis=1, dtype=np.float64) * wv.vector_size
    return frequency_trend(generality, counts)


@overload
def entailment(wv: KeyedDensities, a: Key, b: Key) -> float: ...
@overload
def entailment(wv: KeyedDensities, a: Many, b: Any) -> Floats: ...
@overload
def entailment(wv: KeyedDensities, a: Any, b: Many) -> Floats: ...
@overload
def entailment(wv: KeyedDensities, a: Any, b: Any) -> Any: ...
def entailment(wv: KeyedDensities, a: Any, b: Any) -> Any:
    """Return how well `a` entails `b`, −KL[a‖b]: near 0 if every `a` is a `b`, and the more negative the less so.

    The paper's measure, which is dominated by distance; :meth:`hypernymy` is the better answer to whether
    `a` is a kind of `b`. Lists are compared as in :meth:`kl_divergence`.

    Examples
    --------
    >>> wv.entailment("dog", "animal") > wv.entailment("dog", "car")
    True
    """
    return 0.0 - wv.kl_divergence(a, b)


@overload
def direction(wv: KeyedDensities, a: Key, b: Key) -> float: ...
@overload
def direction(wv: KeyedDensities, a: Many, b: Any) -> Floats: ...
@overload
def direction(wv: KeyedDensities, a: Any, b: Many) -> Floats: ...
@overload
def direction(wv: KeyedDensities, a: Any, b: Any) -> Any: ...
def direction(wv: KeyedDensities, a: Any, b: Any) -> Any:
    """Return KL[b‖a] − KL[a‖b]: positive if `a` entails `b` rather than the other way round.

    Lists are compared as in :meth:`kl_divergence`.

    Examples
    --------
    >>> wv.direction("dog", "animal") > 0  # a dog is an animal
    True
    >>> wv.direction("animal", "dog") > 0
    False
    """
    return wv.kl_divergence(b, a) - wv.kl_divergence(a, b)


def frequency_trend(generality: Floats, counts: Any) -> Floats:
    """Return the generality that is typical of each word's count: a cubic polynomial of its logarithm, fitted.

    Examples
    --------
    >>> frequency_trend(np.array([1.0, 2.0, 4.0]), [10, 10, 1000]).round(2)
    array([1.5, 1.5, 4. ])
    """
    logs = np.log(np.maximum(counts, 1).astype(np.float64))
    degree = max(min(3, len(np.unique(logs)) - 1), 0)
    trend: Floats = np.polynomial.Polynomial.fit(logs, generality, degree)(logs)
    return trend
