"""Densities of unknown words from their spelling: character n-grams fitted to the densities of known words."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from densvec.gaussian import Gaussian
from densvec.keyed.lookup import Lookup
from densvec.types import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["SUBWORDS", "SpellingModel", "Subwords", "ngrams"]

SUBWORDS = "subwords."
"""The prefix of its arrays' names among the tensors of a file."""

_RIDGE = 0.5
"""Penalty of the regression, for rows of unit length: chosen on words held out of a model of wiki17m."""

_RARITY = 0.25
"""An n-gram's weight is the number of words that have it, to the power of minus this: stems count more than endings."""

_STEPS = 8
"""Steps of conjugate gradients; more of them change nothing on held-out words."""

_HELD_OUT = 20
"""One word in this many is held out, to learn how far spelling can be trusted."""


def ngrams(word: str, shortest: int = 3, longest: int = 6) -> list[str]:
    """Return the character n-grams of a word, with marks at its beginning and end.

    Examples
    --------
    >>> ngrams("owl", 3, 4)
    ['<ow', 'owl', 'wl>', '<owl', 'owl>']
    """
    marked = f"<{word}>"
    return [
        marked[i : i + n] for n in range(shortest, longest + 1) for i in range(max(len(marked) - n + 1, 0))
    ]


@dataclass(frozen=True)
class SpellingModel:
    """What n-grams say about a word's density.

    Attributes
    ----------
    hashes : numpy.ndarray of uint32, shape (B,)
        The n-grams, as the checksums of their spelling, in order.
    embeddings : numpy.ndarray of float16, shape (B, D + 1 or 2 D)
        What each n-gram adds to mean and log-variance.
    centre : numpy.ndarray, shape (D + 1 or 2 D,)
        Mean and log-variance of a word whose spelling says nothing.
    support : numpy.ndarray, shape (B,)
        How many known words have each n-gram.
    error : numpy.ndarray, shape (2,)
        Logarithm of a mean's squared error per dimension without support, and what full support takes from it.
    lengths : numpy.ndarray of int, shape (2,)
        The shortest and the longest n-grams.
    """

    hashes: npt.NDArray[np.uint32]
    embeddings: Floats
    centre: Floats
    support: Floats
    error: Floats
    lengths: npt.NDArray[np.int64]

    @classmethod
    def fit(
        cls,
        words: Sequence[str],
        means: Floats,
        log_variances: Floats,
        lengths: tuple[int, int],
        min_words: int,
        seed: int = 0,
    ) -> SpellingModel:
        """Fit n-grams to densities by ridge regression; held-out words tell how far they can be trusted."""
        targets = np.concatenate([means, log_variances], axis=1).astype(np.float32)
        centre = targets.mean(axis=0)
        hashes, features, shares = _vocabulary(words, lengths, min_words)
        order = np.random.default_rng(seed).permutation(len(words))
        held, kept = order[: len(words) // _HELD_OUT], order[len(words) // _HELD_OUT :]
        support = _counts(features)
        rows = _scaled(features, support)
        size = means.shape[1]
        error = np.array([np.log(max(float(means.var()), 1e-12)), 0.0])
        if len(held) > 1:
            # Words left out of a first fit say how wrong it is; the fit that is kept uses all words.
            guess = rows[held] @ _ridge(rows[kept], targets[kept] - centre) + centre
            wrong = ((guess[:, :size] - means[held]) ** 2).mean(axis=1, dtype=np.float64)
            known = _supported(features[held], _counts(features[kept])) * shares[held]
            without = ((means[held] - centre[:size]) ** 2).mean(dtype=np.float64)
            error = _error_curve(float(known.mean()), float(wrong.mean()), float(without))
        return cls(
            hashes,
            _ridge(rows, targets - centre).astype(np.float16),
            centre,
            support.astype(np.float32),
            error,
            np.array(lengths, dtype=np.int64),
        )

    def densities(self, words: Sequence[str], size: int) -> Gaussian:
        """Return the densities of words, known or not, by their spelling alone."""
        features, shares = _features(words, (int(self.lengths[0]), int(self.lengths[1])), self.hashes)
        rows = _scaled(features, self.support)
        used = np.unique(rows.indices)  # of a mapped file, only the rows that are needed are read
        found = rows[:, used] @ self.embeddings[used].astype(np.float32) + self.centre
        support = _supported(features, self.support) * shares
        error = np.exp(self.error[0] - self.error[1] * support)
        # A word is a draw around its guess, and its meanings are draws around the word: variances add up.
        variance = np.exp(found[:, size:]) + error[:, None]
        return Gaussian(found[:, :size].astype(np.float32), variance.astype(np.float32))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, as a file has them."""
        names = ("hashes", "embeddings", "centre", "support", "error", "lengths")
        return {SUBWORDS + name: getattr(self, name) for name in names}

    @classmethod
    def restored(cls, tensors: Mapping[str, npt.NDArray[Any]], size: int) -> SpellingModel | None:
        """Return the model that a file holds, if there is one."""
        from densvec.files.schema import tensor

        if SUBWORDS + "embeddings" not in tensors:
            return None
        shapes: dict[str, tuple[int | None, ...]] = {
            "embeddings": (None, None),
            "centre": (None,),
            "support": (None,),
            "error": (2,),
        }
        arrays: dict[str, Any] = {
            name: tensor(tensors, SUBWORDS + name, "f", shape) for name, shape in shapes.items()
        }
        lengths = tensor(tensors, SUBWORDS + "lengths", "i", (2,))
        hashes = tensor(tensors, SUBWORDS + "hashes", "u", (None,))
        buckets, width = arrays["embeddings"].shape
        if width not in (size + 1, 2 * size) or len(arrays["centre"]) != width:
            raise ValueError(
                f"subwords.embeddings has {width} columns; {size} dimensions need {size + 1} or {2 * size}"
            )
        if len(arrays["support"]) != buckets or not buckets:
            raise ValueError(
                f"subwords.support has {len(arrays['support'])} rows, subwords.embeddings {buckets}"
            )
        if not 1 <= lengths[0] <= lengths[1] <= 100:
            raise ValueError(f"subwords.lengths are {lengths.tolist()}: expected 1 <= shortest <= longest")
        return cls(**arrays, hashes=hashes, lengths=lengths)


class Subwords(Lookup):
    """Densities from spelling."""

    def with_subwords(self, min_n: int = 3, max_n: int = 6, min_words: int = 2, *, seed: int = 0) -> Any:
        """Return these densities with a model of spelling, so that unknown words can have a density too.

        Hashed character n-grams, like fastText's, are fitted to the means and log-variances of the known words
        by ridge regression. Nothing else changes: the tables are shared, an unknown word is a KeyError as
        before, and :meth:`density_from_spelling` is what to ask. Saving stores the n-grams in the same file.

        Parameters
        ----------
        min_n, max_n : int, optional
            Lengths of the n-grams, the marks of a word's beginning and end included.
        min_words : int, optional
            An n-gram must occur in this many known words; more make the file smaller.
        seed : int, optional
            Seeds the choice of the words that are held out.

        Returns
        -------
        KeyedDensities

        Examples
        --------
        >>> spelling = wv.with_subwords(min_words=1)
        >>> spelling.density_from_spelling("doggy").dimension
        2
        >>> "doggy" in spelling
        False
        """
        if not 1 <= min_n <= max_n:
            raise ValueError(f"min_n={min_n} and max_n={max_n}: expected 1 <= min_n <= max_n")
        if min_words < 1:
            raise ValueError(f"min_words={min_words}: at least 1 is needed")
        log_variances = self._known_log_variances()
        if len(self) < 2:
            raise ValueError(
                f"spelling is learnt from known words, and there are {len(self)}: two are too few"
            )
        words = [str(key) for key in self.index_to_key]
        whole = self._whole
        made = type(whole).from_arrays(
            self.index_to_key,
            self.vectors,
            log_variances=log_variances,
            encoder=self.encoder,
            context_vectors=self.context_vectors,
            attributes=self.expandos,
            window=self.window,
            index=self.key_to_index,
        )
        made.subwords = SpellingModel.fit(words, self.vectors, log_variances, (min_n, max_n), min_words, seed)
        return made

    def density_from_spelling(self, word_or_words: str | Iterable[str]) -> Gaussian:
        """Return the density of a word by its spelling alone, known or not; of several as a batch.

        The less the spelling says, the wider the density: the variance grows by the error with which the means of
        held-out words were guessed, given how many known words share their n-grams.

        Examples
        --------
        >>> spelling = wv.with_subwords(min_words=1)
        >>> spelling.density_from_spelling(["doggy", "catty"])
        <2 spherical Gaussians in 2 dimensions>
        """
        if self.subwords is None:
            raise ValueError(
                "there is no model of spelling here: wv = wv.with_subwords() fits one in a minute"
            )
        if isinstance(word_or_words, str):
            return self.subwords.densities([word_or_words], self.vector_size)[0]
        return self.subwords.densities(list(word_or_words), self.vector_size)


def _hashed(
    words: Sequence[str], lengths: tuple[int, int]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Return the checksums of the n-grams of all words, and where each word's end."""
    checksum = zlib.crc32
    found: list[int] = []
    ends = [0]
    for word in words:
        found += {checksum(gram.encode("utf-8", "surrogatepass")) for gram in ngrams(word, *lengths)}
        ends.append(len(found))
    return np.array(found, dtype=np.uint32), np.array(ends, dtype=np.int64)


def _vocabulary(
    words: Sequence[str], lengths: tuple[int, int], min_words: int
) -> tuple[npt.NDArray[np.uint32], csr_matrix, Floats]:
    """Return the n-grams that enough words have, which of them each word has, and which share of its own that is."""
    found, ends = _hashed(words, lengths)
    distinct, column, counts = np.unique(found, return_inverse=True, return_counts=True)
    keep = counts >= min_words
    features = _matrix(np.where(keep, np.cumsum(keep) - 1, -1)[column], ends, int(keep.sum()))
    return distinct[keep], features, np.diff(features.indptr) / np.maximum(np.diff(ends), 1)


def _features(
    words: Sequence[str], lengths: tuple[int, int], hashes: npt.NDArray[np.uint32]
) -> tuple[csr_matrix, Floats]:
    """Return which known n-grams words have, (words, n-grams), and which share of each word's is known."""
    found, ends = _hashed(words, lengths)
    place = np.minimum(np.searchsorted(hashes, found), max(len(hashes) - 1, 0))
    known = hashes[place] == found if len(hashes) else np.zeros(len(found), dtype=bool)
    features = _matrix(np.where(known, place, -1), ends, len(hashes))
    return features, np.diff(features.indptr) / np.maximum(np.diff(ends), 1)


def _matrix(columns: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], width: int) -> csr_matrix:
    """Return a matrix of ones in the given columns of each row; -1 stands for none."""
    kept = columns >= 0
    ends = np.concatenate([[0], np.cumsum(kept)])[ends]
    from scipy.sparse import csr_matrix  # takes longer to import than a model to load

    return csr_matrix(
        (np.ones(int(kept.sum()), dtype=np.float32), columns[kept], ends), (len(ends) - 1, width)
    )


def _scaled(features: csr_matrix, counts: Floats) -> csr_matrix:
    """Return rows of unit length; the fewer words have an n-gram, the more it counts."""
    scaled = features.copy()
    scaled.data = np.maximum(counts, 1.0)[features.indices] ** -_RARITY
    squares = np.zeros(features.shape[0])
    np.add.at(squares, np.repeat(np.arange(features.shape[0]), np.diff(features.indptr)), scaled.data**2)
    lengths = np.repeat(np.sqrt(np.maximum(squares, 1e-30)), np.diff(features.indptr))
    scaled.data = (scaled.data / lengths).astype(np.float32)
    return scaled


def _counts(features: csr_matrix) -> Floats:
    counts: Floats = np.bincount(features.indices, minlength=features.shape[1]).astype(np.float64)
    return counts


def _supported(features: csr_matrix, counts: Floats) -> Floats:
    """Return how well each word's n-grams are known, from 0 (none of them) to 1 (all of them, in many words)."""
    known = (counts / (counts + 1.0))[features.indices]
    total = np.zeros(features.shape[0])
    lengths = np.diff(features.indptr)
    np.add.at(total, np.repeat(np.arange(len(total)), lengths), known)
    share: Floats = total / np.maximum(lengths, 1)
    return share


def _ridge(rows: csr_matrix, targets: Floats) -> Floats:
    """Return the ridge regression of targets on rows, by conjugate gradients on all columns at once."""
    columns = rows.T.tocsr()
    solution = np.zeros((rows.shape[1], targets.shape[1]), dtype=np.float32)
    left = columns @ targets
    step = left.copy()
    square = np.einsum("ij,ij->j", left, left)
    for _ in range(_STEPS):
        moved = columns @ (rows @ step) + np.float32(_RIDGE) * step
        size = square / np.maximum(np.einsum("ij,ij->j", step, moved), 1e-30)
        solution += size * step
        left -= size * moved
        new = np.einsum("ij,ij->j", left, left)
        step = left + (new / np.maximum(square, 1e-30)) * step
        square = new
    return solution


def _error_curve(support: float, error: float, without: float) -> Floats:
    """Return (a, b) of the error exp(a − b·support) through that without support and that of words held out."""
    without = max(without, 1e-12)
    error = min(max(error, 1e-12), without)
    return np.array([np.log(without), np.log(without / error) / max(support, 1e-6)], dtype=np.float64)
