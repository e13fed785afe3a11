"""What spelling says about a word's density: regression on the known words that share its character n-grams."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from densvec.types import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["SUBWORDS", "Guess", "SpellingIndex", "SpellingModel", "ngrams"]

SUBWORDS = "subwords."
"""The prefix of its arrays' names among the tensors of a file."""

# These were chosen on words held out of a model of 40,000 paragraphs of wiki17m, by the cosine to their means.
_NEIGHBOURS = 100
"""How many of the known words that are spelt most alike are used; more of them change little and take longer."""

_LINEAR = 0.3
"""The kernel is this times the cosine of two words' n-grams, and the rest times its square: stems before endings."""

_PRIOR = 3.0
"""An n-gram's weight is what its words agree in, and what is usual for n-grams that frequent, as if so many had it."""

_RARITY = 0.1
"""What is usual falls with the number of words that have an n-gram, to the power of minus twice this."""

_NOISES = (0.1, 0.3, 1.0, 3.0)
"""What a known word's mean has of its own, over what its spelling says: the best for held-out words is used."""

_RARE = 20.0
"""The mean of a word seen this often is as much noise as meaning; chosen by word similarities other than RW."""

_BATCH = 128
"""How many words are guessed at once."""

_HELD_OUT = (20, 1000)
"""One word in this many is held out, and not more than that, to learn how far spelling can be trusted."""


def ngrams(word: str, shortest: int = 2, longest: int = 6) -> list[str]:
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
class SpellingIndex:
    """Known words by their n-grams."""

    model: SpellingModel
    rows: csr_matrix  # (words, n-grams), of unit length
    columns: csr_matrix  # (n-grams, words), the same


@dataclass(frozen=True)
class Guess:
    """What spelling says about some words."""

    directions: Floats  # (words, D), shorter than 1 where the spelling says less
    log_variances: Floats  # (words, 1 or D)
    explained: Floats  # (words,), from 0, where no n-gram is known


@dataclass(frozen=True)
class SpellingModel:
    """How much each n-gram says, and how far spelling can be trusted.

    A word's direction is thought of as a draw from a Gaussian process whose covariance is the similarity of spelling,
    so that the guess is a weighted sum of known words, and what it leaves unexplained is known as well.

    Attributes
    ----------
    hashes : numpy.ndarray of uint32, shape (B,)
        The n-grams, as the checksums of their spelling, in order.
    weights : numpy.ndarray, shape (B + 1,)
        How much each of them counts, and, last, one that no known word has.
    centre : numpy.ndarray, shape (D + 1 or 2 D,)
        Direction and log-variance of a word whose spelling says nothing.
    trust : numpy.ndarray, shape (4,)
        What a known word has of its own; the length of a mean; its squared error per dimension where spelling says
        nothing; how fast that falls with what it says.
    lengths : numpy.ndarray of int, shape (2,)
        The shortest and the longest n-grams.
    """

    hashes: npt.NDArray[np.uint32]
    weights: Floats
    centre: Floats
    trust: Floats
    lengths: npt.NDArray[np.int64]

    @classmethod
    def fit(
        cls,
        words: Sequence[str],
        means: Floats,
        log_variances: Floats,
        counts: npt.NDArray[Any] | None,
        lengths: tuple[int, int],
        min_words: int,
        seed: int = 0,
    ) -> SpellingModel:
        """Weigh n-grams by the known words that have them; held-out words tell how far they can be trusted."""
        hashes, features = _vocabulary(words, lengths, min_words)
        directions = _unit(means)
        centre = np.concatenate([directions.mean(axis=0), log_variances.mean(axis=0)]).astype(np.float32)
        order = np.random.default_rng(seed).permutation(len(words))
        count = min(len(words) // _HELD_OUT[0], _HELD_OUT[1])
        held, kept = np.sort(order[:count]), np.sort(order[count:])

        def model(rows: npt.NDArray[np.int64] | slice, trust: Floats) -> SpellingModel:
            weights = _weights(features[rows], directions[rows] - centre[: means.shape[1]])
            return cls(hashes, weights, centre, trust, np.array(lengths, dtype=np.int64))

        length = float(np.linalg.norm(means, axis=1).mean())
        spread = float(((means - length * centre[: means.shape[1]]) ** 2).mean(dtype=np.float64))
        trust = np.array([1.0, length, max(spread, 1e-12), 0.0])
        if count > 1:
            # Words left out of a first fit say how wrong it is; the fit that is kept uses all words.
            partial = model(kept, trust)
            index = partial._indexed(features[kept])
            asked = partial._scaled(features[held])
            tables = means[kept], log_variances[kept], None if counts is None else counts[kept]
            guesses = {noise: partial._guessed(index, asked, None, *tables, noise) for noise in _NOISES}
            cosines = {
                noise: (_unit(guess.directions) * directions[held]).sum(axis=1)
                for noise, guess in guesses.items()
            }
            trust[0] = best = max(cosines, key=lambda noise: float(cosines[noise].mean()))
            trust[1:] = _calibrated(guesses[best], means[held], centre[: means.shape[1]])
        return model(slice(None), trust)

    def index(self, words: Sequence[str]) -> SpellingIndex:
        """Return known words by their n-grams."""
        return self._indexed(self._features(words))

    def guess(
        self,
        index: SpellingIndex,
        words: Sequence[str],
        own: npt.NDArray[np.int64],
        means: Floats,
        log_variances: Floats,
        counts: npt.NDArray[Any] | None,
    ) -> Guess:
        """Return what the spelling of words says; `own` are their rows, or -1, and what these hold is left out."""
        asked = self._scaled(self._features(words))
        return self._guessed(index, asked, own, means, log_variances, counts, float(self.trust[0]))

    def spelt(self, guess: Guess) -> tuple[Floats, Floats]:
        """Return means and variances by spelling alone."""
        # A word is a draw around its guess, and its meanings are draws around the word: variances add up.
        error = self.trust[2] * self._unexplained(guess)
        return self.trust[1] * guess.directions, np.exp(guess.log_variances) + error[:, None]

    def combined(
        self, guess: Guess, known: npt.NDArray[np.int64], means: Floats, log_variances: Floats, counts: Floats
    ) -> tuple[Floats, Floats]:
        """Return means and variances by spelling and, for the known words among the asked, by what is known of them."""
        all_means, all_variances = self.spelt(guess)
        unexplained = self._unexplained(guess)[known]
        noise = _RARE / np.maximum(counts, 1.0)
        share = (unexplained / (unexplained + noise))[:, None]  # of what is known of the word itself
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        direction = share * _unit(means) + (1 - share) * guess.directions[known]
        all_means[known] = (share * lengths + (1 - share) * self.trust[1]) * direction
        typical = share * log_variances + (1 - share) * guess.log_variances[known]
        error = self.trust[2] * unexplained[:, None] * (1 - share)
        all_variances[known] = np.exp(typical) + error
        return all_means, all_variances

    def _unexplained(self, guess: Guess) -> Floats:
        """Return the share of a word's own that spelling does not say."""
        left: Floats = np.exp(-self.trust[3] * guess.explained)
        return left

    def _features(self, words: Sequence[str]) -> csr_matrix:
        """Return which n-grams words have, (words, known n-grams and how many others)."""
        found, ends = _hashed(words, (int(self.lengths[0]), int(self.lengths[1])))
        place = np.minimum(np.searchsorted(self.hashes, found), len(self.hashes) - 1)
        return _matrix(np.where(self.hashes[place] == found, place, -1), ends, len(self.hashes))

    def _scaled(self, features: csr_matrix) -> csr_matrix:
        """Return rows of unit length, of weighted n-grams."""
        scaled = features.copy()
        scaled.data = self.weights[features.indices].astype(np.float64)
        lengths = np.diff(features.indptr)
        # A column stands for one n-gram, except for the last one, which has the number of all others.
        squares = np.bincount(
            np.repeat(np.arange(len(lengths)), lengths), features.data * scaled.data**2, len(lengths)
        )
        scaled.data /= np.repeat(np.sqrt(np.maximum(squares, 1e-30)), lengths)
        scaled.data[features.indices == len(self.hashes)] = 0.0  # no two words share what is not known
        scaled.data = scaled.data.astype(np.float32)
        return scaled

    def _indexed(self, features: csr_matrix) -> SpellingIndex:
        rows = self._scaled(features)
        return SpellingIndex(self, rows, rows.T.tocsr())

    def _guessed(
        self,
        index: SpellingIndex,
        asked: csr_matrix,  # (words, n-grams), of unit length
        own: npt.NDArray[np.int64] | None,
        means: Floats,
        log_variances: Floats,
        counts: npt.NDArray[Any] | None,
        noise: float,
    ) -> Guess:
        """Return the regression of each word on the known words that are spelt most alike."""
        size = means.shape[1]
        direction, spread = self.centre[:size].astype(np.float64), self.centre[size:].astype(np.float64)
        count = asked.shape[0]
        guess = Guess(np.tile(direction, (count, 1)), np.tile(spread, (count, 1)), np.zeros(count))
        for first in range(0, count, _BATCH):
            part = slice(first, first + _BATCH)
            rows, towards, among = _neighbours(index, asked[part], None if own is None else own[part])
            rare = 0.0 if counts is None else _RARE / np.maximum(counts[rows], 1)
            among[:, np.arange(rows.shape[1]), np.arange(rows.shape[1])] += noise * (1.0 + rare)
            weights = _solved(among, towards)
            near = _unit(means[rows].astype(np.float64)) - direction
            guess.directions[part] += np.einsum("ij,ijk->ik", weights, near)
            guess.log_variances[part] += np.einsum("ij,ijk->ik", weights, log_variances[rows] - spread)
            guess.explained[part] = np.einsum("ij,ij->i", weights, towards)
        return guess

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays by name, as a file has them."""
        names = ("hashes", "weights", "centre", "trust", "lengths")
        return {SUBWORDS + name: getattr(self, name) for name in names}

    @classmethod
    def restored(cls, tensors: Mapping[str, npt.NDArray[Any]], size: int) -> SpellingModel | None:
        """Return the model that a file holds, if there is one; an earlier version's cannot be used and is none."""
        from densvec.files.schema import tensor

        if SUBWORDS + "weights" not in tensors:
            return None
        hashes = tensor(tensors, SUBWORDS + "hashes", "u", (None,))
        weights = tensor(tensors, SUBWORDS + "weights", "f", (None,))
        centre = tensor(tensors, SUBWORDS + "centre", "f", (None,))
        trust = tensor(tensors, SUBWORDS + "trust", "f", (4,))
        lengths = tensor(tensors, SUBWORDS + "lengths", "i", (2,))
        if len(centre) not in (size + 1, 2 * size):
            raise ValueError(
                f"subwords.centre has {len(centre)} values; {size} dimensions need {size + 1} or {2 * size}"
            )
        if len(weights) != len(hashes) + 1 or not len(hashes):
            raise ValueError(
                f"subwords.weights has {len(weights)} values, but there are {len(hashes)} n-grams: expected one more"
            )
        if not 1 <= lengths[0] <= lengths[1] <= 100:
            raise ValueError(f"subwords.lengths are {lengths.tolist()}: expected 1 <= shortest <= longest")
        if not (trust >= 0).all() or trust[0] == 0 or trust[2] == 0:
            raise ValueError(f"subwords.trust is {trust.tolist()}: such values cannot have been fitted")
        return cls(hashes, weights, centre, trust, lengths)


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
) -> tuple[npt.NDArray[np.uint32], csr_matrix]:
    """Return the n-grams that enough words have, and which of them each word has."""
    found, ends = _hashed(words, lengths)
    distinct, column, counts = np.unique(found, return_inverse=True, return_counts=True)
    keep = counts >= min_words
    if not keep.any():
        raise ValueError(
            f"no character n-gram occurs in {min_words} known words: lower min_words, or give shorter lengths"
        )
    return distinct[keep], _matrix(np.where(keep, np.cumsum(keep) - 1, -1)[column], ends, int(keep.sum()))


def _matrix(columns: npt.NDArray[np.int64], ends: npt.NDArray[np.int64], width: int) -> csr_matrix:
    """Return a matrix of ones in the given columns of each row; the last column counts those that are -1."""
    from scipy.sparse import csr_matrix  # takes longer to import than a model to load

    made = csr_matrix(
        (np.ones(len(columns), dtype=np.float32), np.where(columns < 0, width, columns), ends),
        (len(ends) - 1, width + 1),
    )
    made.sum_duplicates()
    return made


def _weights(features: csr_matrix, directions: Floats) -> Floats:
    """Return how much each n-gram counts: the more, the more alike the words are that have it."""
    counts = np.bincount(features.indices, minlength=features.shape[1]).astype(np.float64)
    counts[-1] = 0  # n-grams that are not known have nothing in common
    columns = features.T.tocsr()
    sums = columns @ directions
    squares = columns @ np.einsum("ij,ij->i", directions, directions)
    pairs = np.maximum(counts * (counts - 1), 1)
    alike = np.maximum((np.einsum("ij,ij->i", sums, sums, dtype=np.float64) - squares) / pairs, 0)
    usual = np.maximum(counts, 1) ** (-2 * _RARITY)
    shared = counts > 1
    usual *= alike[shared].sum() / max(usual[shared].sum(), 1e-30)
    others = np.maximum(counts - 1, 0)
    squared = (alike * others + usual * _PRIOR) / (others + _PRIOR)
    weights: Floats = np.sqrt(np.maximum(squared, 1e-6)).astype(np.float32)
    return weights


def _neighbours(
    index: SpellingIndex, asked: csr_matrix, own: npt.NDArray[np.int64] | None
) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """Return the known words that are spelt most alike, (words, K), and the covariances with and among them.

    Where fewer than K words share an n-gram, the first known word fills up, without any covariance.
    """
    count, among_all = asked.shape[0], index.rows.shape[0]
    width = min(_NEIGHBOURS, among_all)
    found = np.zeros((count, width), dtype=np.int64)
    towards, among = np.zeros((count, width)), np.zeros((count, width, width))
    alike = (asked @ index.columns).tocsr()
    for i in range(count):
        part = slice(alike.indptr[i], alike.indptr[i + 1])
        rows, cosines = alike.indices[part], alike.data[part]
        if own is not None:
            others = rows != own[i]
            rows, cosines = rows[others], cosines[others]
        if len(rows) > width:
            nearest = np.argpartition(cosines, -width)[-width:]
            rows, cosines = rows[nearest], cosines[nearest]
        near = index.rows[rows]
        found[i, : len(rows)] = rows
        towards[i, : len(rows)] = _kernel(cosines.astype(np.float64))
        among[i, : len(rows), : len(rows)] = _kernel((near @ near.T).toarray().astype(np.float64))
    return found, towards, among


def _solved(matrices: Floats, right: Floats) -> Floats:
    """Return the solutions of symmetric positive definite systems by conjugate gradients, all of them at once.

    LAPACK solves such small systems one by one, in threads that wait for each other where other programs run.
    """
    solution = np.zeros_like(right)
    left, step = right.copy(), right.copy()
    square = np.einsum("ij,ij->i", left, left)
    enough = 1e-14 * square
    for _ in range(2 * right.shape[1]):
        if (square <= enough).all():
            break
        moved = np.einsum("ijk,ik->ij", matrices, step)
        size = square / np.maximum(np.einsum("ij,ij->i", step, moved), 1e-300)
        solution += size[:, None] * step
        left -= size[:, None] * moved
        new = np.einsum("ij,ij->i", left, left)
        step = left + (new / np.maximum(square, 1e-300))[:, None] * step
        square = new
    return solution


def _kernel(cosines: Floats) -> Floats:
    """Return the covariance of two words' directions from the cosine of their n-grams."""
    return cosines * (_LINEAR + (1 - _LINEAR) * cosines)


def _unit(rows: Floats) -> Floats:
    """Return rows of unit length; rows of zeros stay."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    divided: Floats = rows / np.where(lengths > 0, lengths, 1)
    return divided


def _calibrated(guess: Guess, means: Floats, centre: Floats) -> Floats:
    """Return the length of a mean, its squared error where nothing is explained, and how fast that falls."""
    length = float((means * guess.directions).sum() / max(float((guess.directions**2).sum()), 1e-30))
    length = max(length, 0.0)
    without = max(float(((means - length * centre) ** 2).mean(dtype=np.float64)), 1e-12)
    error = float(((means - length * guess.directions) ** 2).mean(dtype=np.float64))
    fall = np.log(without / min(max(error, 1e-12), without)) / max(float(guess.explained.mean()), 1e-6)
    return np.array([length, without, fall])
