"""The quantities of Gaussians that divergences are made of."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from densvec.gaussian import Gaussian
from densvec.types import Floats

__all__ = ["Moments"]


class Moments:
    """Means and variances of n densities, with the sums over their dimensions that divergences need.

    Parameters
    ----------
    mean : numpy.ndarray, shape (n, D)
    variance : numpy.ndarray, shape (n, 1) or (n, D)
    diagonal : bool, optional
        Whether to keep what involves variances apart for each dimension; a spherical variance then stands for all.
    """

    def __init__(self, mean: Floats, variance: Floats, diagonal: bool = False) -> None:
        self.mean, self.diagonal = mean, diagonal
        self.variance = np.broadcast_to(variance, mean.shape) if diagonal else variance

    @classmethod
    def of(cls, densities: Gaussian, diagonal: bool = False) -> Moments:
        """Return the moments of a batch in float64."""
        return cls(densities.mean.astype(np.float64), densities.variance.astype(np.float64), diagonal)

    @property
    def dimension(self) -> int:
        """The number of dimensions D."""
        return int(self.mean.shape[-1])

    def total(self, terms: Floats) -> Floats:
        """Sum over the dimensions, (n, 1); one number stands for D equal ones."""
        repeats = self.dimension // terms.shape[-1]
        result: Floats = repeats * terms.sum(axis=-1, keepdims=True)
        return result

    @cached_property
    def precision(self) -> Floats:
        """1/v."""
        return 1.0 / self.variance

    @cached_property
    def scaled_mean(self) -> Floats:
        """μ/v."""
        return self.mean * self.precision.astype(self.mean.dtype, copy=False)

    @cached_property
    def squared_norm(self) -> Floats:
        """‖μ‖², (n, 1)."""
        return self.total(self.mean**2)

    @cached_property
    def size(self) -> Floats:
        """‖μ‖² + Σ v, (n, 1): the mean of ‖z‖²."""
        return self.squared_norm + self.total(self.variance)

    @cached_property
    def second_moment(self) -> Floats:
        """μ² + v, (n, D), or its sum, (n, 1), if dimensions are not kept apart."""
        return self.mean**2 + self.variance if self.diagonal else self.size

    @cached_property
    def deviation(self) -> Floats:
        """√v, (n, D), or its sum, (n, 1), if dimensions are not kept apart."""
        deviation = np.sqrt(self.variance)
        return deviation if self.diagonal else self.total(deviation)

    @cached_property
    def log_determinant(self) -> Floats:
        """Σ log v, (n, 1)."""
        return self.total(np.log(self.variance))

    @cached_property
    def scaled_square(self) -> Floats:
        """Σ μ²/v, (n, 1)."""
        return self.total(self.mean**2 / self.variance)
