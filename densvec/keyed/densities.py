"""What only densities can answer: variance, generality, divergence, entailment."""

from __future__ import annotations

from typing import Any

import numpy as np

from densvec.gaussian import Gaussian
from densvec.keyed.growth import Growth
from densvec.keyed.tables import KEY_TYPES
from densvec.pairwise import DensityTable as Table
from densvec.types import Floats


class Densities(Growth):
    """Questions about the prior densities of the keys."""

    _table: Table | None

    @property
    def variances(self) -> Floats:
        """The prior variances, (V, 1) spherical or (V, D) diagonal.

        Examples
        --------
        >>> wv.variances[:, 0].round(2)
        array([4., 1., 1., 1.], dtype=float32)
        """
        variances: Floats = np.exp(self._known_log_variances())
        return variances

    def get_variance(self, key_or_keys: Any) -> Floats:
        """Return the prior variance of a key, (1,) or (D,), or of a list of keys as rows.

        Examples
        --------
        >>> wv.get_variance("animal").round(2)
        array([4.], dtype=float32)
        """
        log_variances = self._known_log_variances()
        variance: Floats = np.exp(log_variances[self._row_or_rows(key_or_keys)])
        return variance

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

    def kl_divergence(self, a: Any, b: Any) -> float:
        """Return KL[a‖b] between the densities of two keys.

        Parameters
        ----------
        a, b : str, int or Gaussian
            Keys, or densities such as a posterior.

        Examples
        --------
        >>> wv.kl_divergence("dog", "animal") < wv.kl_divergence("animal", "dog")
        True
        >>> wv.kl_divergence("dog", "dog")
        0.0
        """
        return float(self._one_density(a).kl(self._one_density(b)))

    def generality(self, key_or_keys: Any) -> Any:
        """Return how general a key is: the log-determinant of its covariance, larger for wider densities.

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
        generality = self.density(key_or_keys).log_determinant
        return generality if generality.ndim else float(generality)

    def entailment(self, a: Any, b: Any) -> float:
        """Return how well `a` entails `b`, −KL[a‖b]: near 0 if every `a` is a `b`, ever more negative if not.

        Examples
        --------
        >>> wv.entailment("dog", "animal") > wv.entailment("dog", "car")
        True
        """
        return 0.0 - self.kl_divergence(a, b)

    def direction(self, a: Any, b: Any) -> float:
        """Return KL[b‖a] − KL[a‖b]: positive if `a` entails `b` rather than the other way round.

        Examples
        --------
        >>> wv.direction("dog", "animal") > 0  # a dog is an animal
        True
        >>> wv.direction("animal", "dog") > 0
        False
        """
        return self.kl_divergence(b, a) - self.kl_divergence(a, b)

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
        """Return the density of a key, a density itself, or a vector's: its own has a typical variance."""
        if isinstance(item, Gaussian):
            if item.shape:
                raise ValueError(f"one density is needed here: got a batch of shape {item.shape}")
            return item
        if isinstance(item, KEY_TYPES):
            return self.density(item)
        return Gaussian(np.asarray(item, dtype=self.vectors.dtype), self._typical_variance())

    def _typical_variance(self) -> Floats:
        """Return the geometric mean of all variances."""
        log_variances = self._known_log_variances()
        mean = log_variances.mean(dtype=np.float64) if len(log_variances) else 0.0
        return np.exp([mean]).astype(self.vectors.dtype)

    def _density_table(self) -> Table:
        """Return the table of all densities, which remembers its terms of the divergences."""
        table = self._table
        if table is None:
            table = self._table = Table(self.vectors, log_variances=self._known_log_variances())
        return table

    def _forget_derived(self) -> None:
        super()._forget_derived()
        self._table = None
