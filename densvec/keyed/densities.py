"""What only densities can answer: variance, generality, divergence, entailment."""

from __future__ import annotations

from typing import Any

import numpy as np

from densvec.keyed.lookup import Lookup
from densvec.types import Floats

__all__ = ["Densities"]


class Densities(Lookup):
    """Questions about the prior densities of the keys."""

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
