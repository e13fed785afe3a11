"""Densities of unknown words from their spelling: character n-grams fitted to the densities of known words."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from densvec.gaussian import Gaussian
from densvec.keyed.lookup import Lookup
from densvec.types import Floats

__all__ = ["SUBWORDS", "SpellingModel", "Subwords", "ngrams"]

SUBWORDS = "subwords."
"""What the names of its arrays begin with, among the tensors of a file."""

_RIDGE = 0.2
"""Penalty of the regression, for rows of unit length: chosen on words held out of a model of wiki17m."""

_STEPS = 10
"""Steps of the conjugate gradients; more change nothing on words held out."""

_HELD_OUT = 20
"""One word in so many is held out to learn how far spelling leads."""


def ngrams(word: str, shortest: int = 3, longest: int = 6) -> list[str]:
    """Return the character n-grams of a word, its beginning and end being marked.

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
    """What n-grams say of a word's density.

    Attributes
    ----------
    embeddings : numpy.ndarray, shape (B, D + 1 or 2 D)
        What each bucket of n-grams adds to mean and log-variance.
    centre : numpy.ndarray, shape (D + 1 or 2 D,)
        Mean and log-variance of a word whose spelling says nothing.
    support : numpy.ndarray, shape (B,)
        How many known words have each n-gram.
    error : numpy.ndarray, shape (2,)
        Squared error per dimension of a mean without support, and what full support takes from it.
    lengths : numpy.ndarray of int, shape (2,)
        The shortest and the longest n-grams.
    """

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
        buckets: int,
        seed: int = 0,
    ) -> SpellingModel:
        """Fit n-grams to densities by ridge regression; learn on words held out how far they lead."""
        targets = np.concatenate([means, log_variances], axis=1).astype(np.float32)
        centre = targets.mean(axis=0)
        features = _features(words, lengths, buckets)
        order = np.random.default_rng(seed).permutation(len(words))
        held, kept = order[: len(words) // _HELD_OUT], order[len(words) // _HELD_OUT :]
        rows = _unit_rows(features)
        size = means.shape[1]
        # Words that took no part in the fit say how wrong it is; all words take part in the one that is kept.
        embeddings = _ridge(rows[kept], targets[kept] - centre)
        support = _counts(features[kept])
        wrong = np.zeros(0)
        known = np.zeros(0)
        if len(held):
            guess = rows[held] @ embeddings + centre
            wrong = ((guess[:, :size] - means[held]) ** 2).mean(axis=1, dtype=np.float64)
            known = _supported(features[held], support)
        error = _decreasing_line(known, wrong) if len(held) > 1 else np.array([float(means.var()), 0.0])
        return cls(
            _ridge(rows, targets - centre),
            centre,
            _counts(features).astype(np.float32),
            error,
            np.array(lengths, dtype=np.int64),
        )

    def densities(self, words: Sequence[str], size: int) -> Gaussian:
        """Return the densities of words, known or not, by their spelling alone."""
        features = _features(words, (int(self.lengths[0]), int(self.lengths[1])), len(self.embeddings))
        found = _unit_rows(features) @ self.embeddings + self.centre
        support = _supported(features, self.support)
        error = np.maximum(self.error[0] - self.error[1] * support, 1e-12)
        # A word is a draw around its guess, and its meanings are draws around the word: variances add up.
        variance = np.exp(found[:, size:]) + error[:, None]
        return Gaussian(found[:, :size].astype(np.float32), variance.astype(np.float32))

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, as a file has them."""
        names = ("embeddings", "centre", "support", "error", "lengths")
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
        return cls(**arrays, lengths=lengths)


class Subwords(Lookup):
    """Densities from spelling."""

    def with_subwords(self, min_n: int = 3, max_n: int = 6, buckets: int = 1 << 16, *, seed: int = 0) -> Any:
        """Return these densities with a model of spelling, so that unknown words can have a density too.

        Hashed character n-grams, as fastText's, are fitted to the means and log-variances of the known words
        by ridge regression. Nothing else changes: the tables are shared, an unknown word is a KeyError as
        before, and :meth:`density_from_spelling` is what to ask. Saving stores the n-grams in the same file.

        Parameters
        ----------
        min_n, max_n : int, optional
            Lengths of the n-grams, the marks of a word's beginning and end included.
        buckets : int, optional
            How many different n-grams are told apart; more need more memory.
        seed : int, optional
            Of the choice of words that are held out to learn how far spelling leads.

        Returns
        -------
        KeyedDensities

        Examples
        --------
        >>> spelling = wv.with_subwords(buckets=100)
        >>> spelling.density_from_spelling("doggy").dimension
        2
        >>> "doggy" in spelling
        False
        """
        if not 1 <= min_n <= max_n:
            raise ValueError(f"min_n={min_n} and max_n={max_n}: expected 1 <= min_n <= max_n")
        if buckets < 1:
            raise ValueError(f"buckets={buckets}: at least one is needed")
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
        made.subwords = SpellingModel.fit(words, self.vectors, log_variances, (min_n, max_n), buckets, seed)
        return made

    def density_from_spelling(self, word_or_words: str | Iterable[str]) -> Gaussian:
        """Return the density of a word by its spelling alone, known or not; of several as a batch.

        It is the wider the less the spelling says: the variance grows by how wrong the means of known words
        were guessed when they were held out, given how many known words have their n-grams.

        Examples
        --------
        >>> spelling = wv.with_subwords(buckets=100)
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


def _features(words: Sequence[str], lengths: tuple[int, int], buckets: int) -> csr_matrix:
    """Return which buckets the n-grams of each word fall into, (words, buckets)."""
    columns: list[int] = []
    ends = [0]
    for word in words:
        found = {
            zlib.crc32(gram.encode("utf-8", "surrogatepass")) % buckets for gram in ngrams(word, *lengths)
        }
        columns += sorted(found)
        ends.append(len(columns))
    ones = np.ones(len(columns), dtype=np.float32)
    return csr_matrix((ones, np.array(columns, dtype=np.int32), np.array(ends)), (len(words), buckets))


def _unit_rows(features: csr_matrix) -> csr_matrix:
    lengths = np.maximum(np.diff(features.indptr), 1)
    scaled = features.copy()
    scaled.data = np.repeat(1.0 / np.sqrt(lengths), np.diff(features.indptr)).astype(np.float32)
    return scaled


def _counts(features: csr_matrix) -> Floats:
    counts: Floats = np.bincount(features.indices, minlength=features.shape[1]).astype(np.float64)
    return counts


def _supported(features: csr_matrix, counts: Floats) -> Floats:
    """Return how well each word's n-grams are known, from 0 (none of them) to 1 (all of them, in many words)."""
    known = (counts / (counts + 1.0))[features.indices]
    total: Floats = np.add.reduceat(np.append(known, 0.0), features.indptr[:-1])
    lengths = np.diff(features.indptr)
    share: Floats = np.where(lengths > 0, total / np.maximum(lengths, 1), 0.0)
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


def _decreasing_line(x: Floats, y: Floats) -> Floats:
    """Return (a, b) of the line a − b·x through points, with b at least 0 and the line positive up to x = 1."""
    spread = x - x.mean()
    slope = -float(spread @ y) / max(float(spread @ spread), 1e-12)
    slope = max(slope, 0.0)
    start = float(y.mean() + slope * x.mean())
    if start - slope < 0.05 * start:
        slope = 0.95 * start
        start = float(y.mean() + slope * x.mean()) if x.mean() < 1 else start
        slope = min(slope, 0.95 * start)
    return np.array([start, slope], dtype=np.float64)
