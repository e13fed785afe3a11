"""Densities of words from their spelling: those of the known words that share character n-grams."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from densvec.distances.vectors import unit_rows
from densvec.gaussian import Gaussian
from densvec.questions.lookup import known_log_variances
from densvec.tables import derived, filled_norms
from densvec.types import Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from densvec.keyed import KeyedDensities

_LENGTHS = (2, 6)
"""The shortest and the longest n-grams, with the marks of a word's beginning and end."""

_NEIGHBOURS = 50
"""How many of the known words that are spelt most alike are used; more of them change little."""

_OWN = 0.3
"""Variance of what the direction of a word has of its own, beside the 1 of what spelling says."""

_BATCH = 256
"""How many words are compared with all others at once."""


def ngrams(word: str) -> list[str]:
    """Return the character n-grams of a word, with marks at its beginning and end.

    Examples
    --------
    >>> ngrams("ow")
    ['<o', 'ow', 'w>', '<ow', 'ow>', '<ow>']
    """
    marked, (shortest, longest) = f"<{word}>", _LENGTHS
    return [marked[i : i + n] for n in range(shortest, longest + 1) for i in range(len(marked) - n + 1)]


@dataclass(frozen=True)
class SpellingIndex:
    """Which n-grams known words have.

    Attributes
    ----------
    hashes : numpy.ndarray of uint32, shape (B,)
        The n-grams, as the checksums of their spelling, in order.
    weights : numpy.ndarray, shape (B,)
        How much each of them says: the logarithm of how few words have it.
    words : csr_matrix, shape (V, B)
        The weights of the n-grams of each known word, of unit length.
    """

    hashes: npt.NDArray[np.uint32]
    weights: Floats
    words: csr_matrix

    @classmethod
    def of(cls, words: Sequence[str]) -> SpellingIndex:
        """Return the index of known words."""
        found, ends = _hashed(words)
        hashes, columns, counts = np.unique(found, return_inverse=True, return_counts=True)
        weights = np.log(1 + len(words) / counts)
        return cls(hashes, weights, _matrix(weights, columns, ends))

    def rows(self, words: Sequence[str]) -> csr_matrix:
        """Return the n-grams of other words, as `words` has them; those that no known word has are left out."""
        found, ends = _hashed(words)
        columns = np.minimum(np.searchsorted(self.hashes, found), len(self.hashes) - 1)
        known = self.hashes[columns] == found
        return _matrix(self.weights, columns[known], np.concatenate([[0], np.cumsum(known)])[ends])


def density_from_spelling(wv: KeyedDensities, word_or_words: str | Iterable[str]) -> Gaussian:
    """Return the density of a word by its spelling alone, known or not; of several as a batch.

    The mean is a regression (a Gaussian process) on the known words whose character n-grams are most alike, rare ones
    counting more. The less the spelling says, the wider the density. What the model itself knows of a word is
    left out. When it is asked first, the words are indexed by their n-grams, which takes some seconds for 100,000.

    Examples
    --------
    >>> wv.density_from_spelling(["doggy", "catty"])
    <2 spherical Gaussians in 2 dimensions>
    >>> "doggy" in wv
    False
    """
    alone = isinstance(word_or_words, str)
    words = [str(word_or_words)] if alone else list(word_or_words)
    if not len(wv):
        raise ValueError("there are no known words to compare the spelling with")
    index = _index_of(wv)
    log_variances = known_log_variances(wv)
    typical = log_variances.mean(axis=0, dtype=np.float64)
    usual = unit_rows(wv.vectors).mean(axis=0)
    asked, known = index.rows(words), index.words.T.tocsc()
    directions, told = np.tile(usual, (len(words), 1)), np.zeros(len(words))
    for first in range(0, len(words), _BATCH):
        alike = (asked[first : first + _BATCH] @ known).tocsr()
        for i, word in enumerate(words[first : first + _BATCH]):
            part = slice(alike.indptr[i], alike.indptr[i + 1])
            rows, cosines = alike.indices[part], alike.data[part]
            others = rows != wv.get_index(word, -1)
            rows, cosines = rows[others], cosines[others]
            nearest = np.argsort(-cosines, kind="stable")[:_NEIGHBOURS]
            rows, towards = rows[nearest], _covariance(cosines[nearest])
            among = _covariance((index.words[rows] @ index.words[rows].T).toarray())
            shares = np.linalg.solve(among + _OWN * np.eye(len(rows)), towards)
            directions[first + i] += shares @ (unit_rows(wv.vectors[rows]) - usual)
            told[first + i] = shares @ towards
    # A direction has variance 1 for its spelling and _OWN of its own; what is not told of both is open.
    length = float(np.median(filled_norms(wv)))
    open_share = (1 + _OWN - told) / (1 + _OWN)
    variances = np.exp(typical) + length**2 / wv.vector_size * open_share[:, None]
    dtype: Any = wv.vectors.dtype
    density = Gaussian((length * unit_rows(directions)).astype(dtype), variances.astype(dtype))
    return density[0] if alone else density


@derived
def _index_of(wv: KeyedDensities) -> SpellingIndex:
    """Return the index of the words."""
    return SpellingIndex.of([str(key) for key in wv.index_to_key])


def _hashed(words: Sequence[str]) -> tuple[npt.NDArray[np.uint32], Integers]:
    """Return the checksums of the n-grams of all words, and where each word's end."""
    checksum = zlib.crc32
    found: list[int] = []
    ends = [0]
    for word in words:
        found += {checksum(gram.encode("utf-8", "surrogatepass")) for gram in ngrams(word)}
        ends.append(len(found))
    return np.array(found, dtype=np.uint32), np.array(ends, dtype=np.int64)


def _matrix(weights: Floats, columns: Integers, ends: Integers) -> csr_matrix:
    """Return the weights of each word's n-grams, scaled to unit length."""
    from scipy.sparse import csr_matrix  # takes longer to import than a model to load

    values = weights[columns]
    squares = np.diff(np.concatenate([[0.0], np.cumsum(values**2)])[ends])
    values = values / np.repeat(np.sqrt(np.maximum(squares, 1e-30)), np.diff(ends))
    return csr_matrix((values.astype(np.float32), columns, ends), (len(ends) - 1, len(weights)))


def _covariance(cosines: Floats) -> Floats:
    """Return the covariance of words' directions from the cosines of their n-grams: stems say more than endings."""
    covariance: Floats = cosines * (1 + 2 * cosines) / 3
    return covariance
