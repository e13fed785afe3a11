"""One view of whatever is evaluated: KeyedDensities, gensim's KeyedVectors, a model, a plain object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

import densvec.keyed  # noqa: F401  (the questions are parts of it)
from densvec.gaussian import Gaussian
from densvec.questions.hypernymy import HypernymyScale
from densvec.types import Booleans as BoolArray
from densvec.types import Floats as FloatArray
from densvec.types import Integers as IntArray

__all__ = [
    "BoolArray",
    "FloatArray",
    "IntArray",
    "Lexicon",
    "PosteriorEncoder",
    "by_blocks",
    "kl_divergence",
    "unit",
]


_ROWS_AT_ONCE = 1 << 16  # bounds the memory of comparing many pairs


class PosteriorEncoder(Protocol):
    """What can infer the posterior of a word in its context, for many windows at once."""

    def posteriors(
        self, centres: Any, contexts: Any, offsets: Any, priors: Any, weights: Any = None
    ) -> tuple[Any, Any]:
        """Return means (n, D) and log-variances (n, 1|D); window i has contexts[offsets[i]:offsets[i + 1]]."""
        ...


class Lexicon:
    """The words of a model as arrays: indices, means, log-variances, counts, and the encoder if there is one.

    Parameters
    ----------
    wv : object
        Anything with `key_to_index` and `vectors` (V, D): KeyedDensities, gensim's KeyedVectors, or a plain
        object. Also used, when there: `log_variances` (V, 1 or D), `encoder`, `context_vectors`, and counts
        (`expandos["count"]` or `get_vecattr`). A model whose `wv` is such an object is accepted too.
    context_vectors : array, optional
        Output vectors, row by row in the order of `vectors`. By default what the model itself has.
    """

    def __init__(self, wv: Any, context_vectors: Any = None) -> None:
        model, wv = (wv, wv.wv) if hasattr(wv, "wv") else (None, wv)
        missing = [name for name in ("key_to_index", "vectors") if not hasattr(wv, name)]
        if missing:
            raise TypeError(
                f"cannot evaluate a {type(wv).__name__}: it has no {' and no '.join(map(repr, missing))}; "
                "pass a KeyedDensities or a gensim KeyedVectors (model.wv)"
            )
        self.wv = wv
        self.key_to_index: Mapping[str, int] = wv.key_to_index
        self.means: FloatArray = np.asarray(wv.vectors)
        log_variances = getattr(wv, "log_variances", None)
        self.log_variances: FloatArray | None = None if log_variances is None else np.asarray(log_variances)
        self.encoder: PosteriorEncoder | None = getattr(wv, "encoder", None)
        self.context_vectors = self._output_vectors(model, context_vectors)

    @classmethod
    def of(cls, wv: Any) -> Lexicon:
        """Return a Lexicon of `wv`, or `wv` itself if it is one."""
        return wv if isinstance(wv, Lexicon) else cls(wv)

    def _output_vectors(self, model: Any, given: Any) -> FloatArray | None:
        found = given
        if found is None:
            found = getattr(self.wv, "context_vectors", None)
        if found is None and model is not None and getattr(model, "negative", False):
            found = getattr(model, "syn1neg", None)  # gensim's Word2Vec
        if found is None:
            return None
        vectors = np.asarray(found)
        if vectors.shape != self.means.shape:
            raise ValueError(
                f"context_vectors has shape {vectors.shape}, but vectors has {self.means.shape}: "
                "it must have one row for each word, in the same order"
            )
        return vectors

    def __len__(self) -> int:
        return len(self.key_to_index)

    def index(self, word: str) -> int:
        """Row of the word, lower-cased if that is known, else in its own form; -1 if neither is."""
        found = self.key_to_index.get(word.lower(), -1)
        return found if found >= 0 else self.key_to_index.get(word, -1)

    def indices(self, words: Iterable[str]) -> IntArray:
        """Rows of many words, -1 for unknown ones."""
        return np.fromiter((self.index(word) for word in words), dtype=np.intp)

    def known_pairs(self, pairs: Iterable[Sequence[Any]]) -> tuple[IntArray, IntArray, IntArray]:
        """Rows of both words of each pair whose words are known, and which pairs these are."""
        words = [(pair[0], pair[1]) for pair in pairs]
        rows = self.indices(word for pair in words for word in pair).reshape(-1, 2)
        known = np.flatnonzero((rows >= 0).all(axis=1))
        return rows[known, 0], rows[known, 1], known

    def counts(self) -> FloatArray | None:
        """How often each word occurs in the corpus, by row; None if the model does not know."""
        found = getattr(self.wv, "expandos", {}).get("count")
        if found is None and hasattr(self.wv, "get_vecattr"):
            try:
                found = [0] * len(self)
                for word, row in self.key_to_index.items():
                    found[row] = self.wv.get_vecattr(word, "count")
            except KeyError:
                found = None
        return None if found is None else np.asarray(found, dtype=np.float64)

    def generality(self) -> FloatArray | None:
        """Log-determinant of each word's covariance; None for a model without variances."""
        if self.log_variances is None:
            return None
        size = self.means.shape[1]
        columns = self.log_variances.shape[1]  # 1: spherical, the same variance in every dimension
        log_determinants: FloatArray = self.log_variances.sum(axis=1, dtype=np.float64) * (size / columns)
        return log_determinants

    def cosine(self, first: IntArray, second: IntArray) -> FloatArray:
        """Cosine of the means of two lists of words, pair by pair."""
        return by_blocks(
            lambda rows: _dot(unit(self.means[first[rows]]), unit(self.means[second[rows]])), len(first)
        )

    def hypernymy(self, first: IntArray, second: IntArray) -> FloatArray:
        """How far the words of one list are kinds of those of another, pair by pair."""
        generality = self.generality()
        if generality is None or self.log_variances is None:
            raise ValueError(
                f"hypernymy needs densities, and this {type(self.wv).__name__} has no log_variances"
            )
        scale = HypernymyScale.of(self.means, self.log_variances, self.counts())
        difference = (generality[second] - generality[first]) / self.means.shape[1]
        return scale.score(self.cosine(first, second), difference)

    def kl(self, first: IntArray, second: IntArray) -> FloatArray:
        """KL[first || second] between the priors of two lists of words, pair by pair."""
        if self.log_variances is None:
            raise ValueError(f"KL needs densities, and this {type(self.wv).__name__} has no log_variances")
        lv = self.log_variances
        return by_blocks(
            lambda rows: kl_divergence(
                self.means[first[rows]], lv[first[rows]], self.means[second[rows]], lv[second[rows]]
            ),
            len(first),
        )


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    product: FloatArray = np.einsum("ij,ij->i", a, b)
    return product


def by_blocks(function: Any, rows: int) -> FloatArray:
    """Call ``function(slice)`` on blocks of rows and join the answers."""
    if rows == 0:
        return np.zeros(0)
    blocks = [function(slice(start, start + _ROWS_AT_ONCE)) for start in range(0, rows, _ROWS_AT_ONCE)]
    joined: FloatArray = np.concatenate(blocks)
    return joined


def unit(vectors: FloatArray) -> FloatArray:
    """Scale rows to length 1, in double precision; a zero row stays zero."""
    vectors = np.asarray(vectors, dtype=np.float64)
    lengths = np.sqrt(np.einsum("...i,...i->...", vectors, vectors))[..., None]
    scaled: FloatArray = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return scaled


def kl_divergence(
    mean_q: FloatArray, log_variance_q: FloatArray, mean_p: FloatArray, log_variance_p: FloatArray
) -> FloatArray:
    """KL[q‖p] of Gaussians, row by row.

    Log-variances have one column (spherical) or one per dimension (diagonal).

    Examples
    --------
    >>> import numpy as np
    >>> kl_divergence(np.zeros((1, 2)), np.zeros((1, 1)), np.array([[3.0, 4.0]]), np.zeros((1, 1)))
    array([12.5])
    """
    q = Gaussian(mean_q, np.exp(np.asarray(log_variance_q, dtype=np.float64)))
    p = Gaussian(mean_p, np.exp(np.asarray(log_variance_p, dtype=np.float64)))
    return q.kl(p)
