"""What an item of a question stands for, a vector or a density, and the tables that it is compared with."""

from __future__ import annotations

from typing import Any

import numpy as np

from densvec.distances.table import DensityTable
from densvec.gaussian import Gaussian
from densvec.keyed.keys import KEY_TYPES, refuse_bytes
from densvec.keyed.tables import Tables
from densvec.text.spelling import UnknownKeyError
from densvec.types import Floats

__all__ = ["Lookup", "cosine", "unit"]


class Lookup(Tables):
    """What the parts of KeyedDensities that answer questions have in common."""

    # Densities

    def density(self, key_or_keys: Any) -> Gaussian:
        """Return the prior density of a key, or those of a list of keys as a batch.

        Training or writing into the tables afterwards does not change it.

        Examples
        --------
        >>> wv.density("dog")
        Gaussian(mean=[2., 1.], variance=[1.])
        >>> wv.density(["dog", "cat"])
        <2 spherical Gaussians in 2 dimensions>
        """
        log_variances = self._known_log_variances()
        rows = self._row_or_rows(key_or_keys)
        return Gaussian(self.vectors[rows].copy(), np.exp(log_variances[rows]))

    def _known_log_variances(self) -> Floats:
        """Return the log-variances, or say that there are none."""
        if self.log_variances is None:
            raise ValueError(
                "there are only means here, no variances: cosine answers work, questions about densities do "
                "not; load the variances too (load_word2vec_format(..., variances=...)) or set log_variances"
            )
        return self.log_variances

    def _row_or_rows(self, key_or_keys: Any) -> Any:
        """Return the row of a key, or the list of rows of several."""
        return self.get_index(key_or_keys) if isinstance(key_or_keys, KEY_TYPES) else self._rows(key_or_keys)

    def _one_density(self, item: Any) -> Gaussian:
        """Return the density of a key, a density as it is, or that of a vector, with a typical variance."""
        if isinstance(item, Gaussian):
            if item.shape:
                raise ValueError(f"one density is needed here: got a batch of shape {item.shape}")
            return item
        if isinstance(item, KEY_TYPES):
            return self.density(item)
        return Gaussian(np.asarray(item, dtype=self.vectors.dtype), self._typical_variance())

    def _density_or_densities(self, item: Any) -> Gaussian:
        """Return the density of one item, or those of a list of keys as a batch; a batch as it is."""
        if isinstance(item, Gaussian):
            return item
        if isinstance(item, KEY_TYPES) or (isinstance(item, np.ndarray) and item.dtype.kind == "f"):
            return self._one_density(item)
        refuse_bytes(item)
        return self.density(list(item))

    @staticmethod
    def _check_paired(a: Gaussian, b: Gaussian) -> None:
        """Raise ValueError if two batches cannot be compared pair by pair."""
        if a.shape and b.shape and a.shape != b.shape:
            raise ValueError(
                f"two lists are compared pair by pair, so they must have the same length: got {len(a)} and {len(b)}"
            )

    def _typical_variance(self) -> Floats:
        """Return the geometric mean of all variances."""
        log_variances = self._known_log_variances()
        mean = log_variances.mean(dtype=np.float64) if len(log_variances) else 0.0
        return np.exp([mean]).astype(self.vectors.dtype)

    def _density_table(self) -> DensityTable:
        """Return the table of all densities, which caches its terms of the divergences."""
        derived = self._derived
        if derived.densities is None:
            derived.densities = DensityTable(self.vectors, log_variances=self._known_log_variances())
        return derived.densities

    # Vectors

    def get_mean_vector(
        self,
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
            Keys or vectors.
        weights : sequence of float, optional
            Weight of each; 1 if not given. The sum is divided by the sum of their absolute values.
        pre_normalize : bool, optional
            Whether the keys' vectors are scaled to unit length first.
        post_normalize : bool, optional
            Whether the mean is.
        ignore_missing : bool, optional
            Whether unknown keys are skipped.

        Raises
        ------
        KeyError
            For an unknown key, unless `ignore_missing`.
        ValueError
            If there are no keys, or not as many weights as keys.

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
            raise ValueError(
                f"keys and weights must have the same length: got {len(keys)} and {len(weights)}"
            )
        total, weight_of_all = np.zeros(self.vector_size, dtype=self.vectors.dtype), 0.0
        for key, weight in zip(keys, weights, strict=True):
            if isinstance(key, np.ndarray):
                total += weight * key
            elif key in self:
                total += weight * self.get_vector(key, norm=pre_normalize)
            elif not ignore_missing:
                raise UnknownKeyError(key, self.key_to_index, " in vocabulary")
            else:
                continue
            weight_of_all += abs(weight)
        if weight_of_all > 0:
            total = total / weight_of_all
        return (unit(total) if post_normalize else total).astype(self.vectors.dtype)

    def _vector_of(self, item: Any) -> Floats:
        """Return the vector of a key or of a density; a vector as it is."""
        if isinstance(item, KEY_TYPES):
            return self.get_vector(item)
        if isinstance(item, Gaussian):
            return item.mean
        vector = np.asarray(item, dtype=self.vectors.dtype)
        if vector.shape != (self.vector_size,):
            raise ValueError(f"a vector must have shape {(self.vector_size,)}: got {vector.shape}")
        return vector

    def _cosines(self, unit_vector: Floats, rows: Any) -> Floats:
        """Return the cosines of the rows with a vector of unit length."""
        cosines: Floats = self.vectors[rows] @ unit_vector.astype(self.vectors.dtype, copy=False)
        cosines /= self._divisors()[rows]
        return cosines

    def _divisors(self) -> Floats:
        """Return the norms, with 1 in place of 0: a zero vector then has cosine 0 to everything."""
        derived = self._derived
        if derived.divisors is None:
            norms = self._filled_norms()
            derived.divisors = norms if norms.all() else np.where(norms == 0, 1, norms)
        return derived.divisors


def cosine(a: Floats, b: Floats) -> Any:
    """Return the cosine of two vectors: exactly 1 if they are equal, 0 if one is zero."""
    first, second = a.astype(np.float64), b.astype(np.float64)
    squares = (first @ first) * (second @ second)
    return a.dtype.type(first @ second / np.sqrt(squares) if squares > 0 else 0.0)


def unit(vector: Floats) -> Floats:
    """Return a vector scaled to unit length; the zero vector as it is.

    Examples
    --------
    >>> unit(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else vector
