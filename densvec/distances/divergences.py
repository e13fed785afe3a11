"""Divergences between Gaussians, element by element.

Each function takes two :class:`~densvec.gaussian.Gaussian` objects and broadcasts their batches, as NumPy
does. Spherical and diagonal densities can be mixed. Everything is computed in float64 from plain
differences, so nearly equal densities keep their digits: ``kl`` is never negative, and zero only for equal
densities. The same divergences by matrix products, for one density against a whole vocabulary, are in
:mod:`densvec.distances.pairwise`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from densvec.types import Floats

if TYPE_CHECKING:
    from densvec.gaussian import Gaussian

__all__ = ["LOG_2_PI", "expected_likelihood", "jeffreys", "kl", "reverse_kl", "wasserstein"]

LOG_2_PI = math.log(2.0 * math.pi)


def kl(q: Gaussian, p: Gaussian) -> Floats:
    """Return KL[q‖p], how badly `p` stands in for `q`.

    Examples
    --------
    >>> from densvec import Gaussian
    >>> narrow, wide = Gaussian([0.0, 0.0], 1.0), Gaussian([0.0, 0.0], 4.0)
    >>> round(float(kl(narrow, wide)), 4), round(float(kl(wide, narrow)), 4)
    (0.6363, 1.6137)
    """
    mean_q, variance_q, mean_p, variance_p = _float64(q, p)
    squares = (mean_q - mean_p) ** 2 / variance_p
    spread = _excess((variance_q - variance_p) / variance_p)
    return 0.5 * (_total(squares, q) + _total(spread, q))


def reverse_kl(q: Gaussian, p: Gaussian) -> Floats:
    """Return KL[p‖q]: :func:`kl` with its arguments exchanged.

    Examples
    --------
    >>> from densvec import Gaussian
    >>> narrow, wide = Gaussian([0.0, 0.0], 1.0), Gaussian([0.0, 0.0], 4.0)
    >>> round(float(reverse_kl(narrow, wide)), 4)
    1.6137
    """
    return kl(p, q)


def jeffreys(q: Gaussian, p: Gaussian) -> Floats:
    """Return KL[q‖p] + KL[p‖q], the symmetric sum.

    Examples
    --------
    >>> from densvec import Gaussian
    >>> narrow, wide = Gaussian([0.0, 0.0], 1.0), Gaussian([0.0, 0.0], 4.0)
    >>> round(float(jeffreys(narrow, wide)), 4)
    2.25
    """
    return kl(q, p) + kl(p, q)


def expected_likelihood(q: Gaussian, p: Gaussian) -> Floats:
    """Return log ∫ q(z) p(z) dz, the logarithm of the expected likelihood (probability product) kernel.

    The logarithm, because in a hundred dimensions the integral itself is no longer a floating-point number.

    Examples
    --------
    >>> from densvec import Gaussian
    >>> near, far = Gaussian([0.0], 1.0), Gaussian([3.0], 1.0)
    >>> round(float(expected_likelihood(near, near)), 4), round(float(expected_likelihood(near, far)), 4)
    (-1.2655, -3.5155)
    """
    mean_q, variance_q, mean_p, variance_p = _float64(q, p)
    variance = variance_q + variance_p
    squares = (mean_q - mean_p) ** 2 / variance
    return -0.5 * (_total(squares, q) + _total(LOG_2_PI + np.log(variance), q))


def wasserstein(q: Gaussian, p: Gaussian) -> Floats:
    """Return the 2-Wasserstein distance, a true metric in the units of the means.

    Examples
    --------
    >>> from densvec import Gaussian
    >>> float(wasserstein(Gaussian([0.0], 1.0), Gaussian([3.0], 25.0)))
    5.0
    """
    mean_q, variance_q, mean_p, variance_p = _float64(q, p)
    # A difference of roots, without the cancellation of two nearly equal ones.
    deviations = (variance_q - variance_p) / (np.sqrt(variance_q) + np.sqrt(variance_p))
    result: Floats = np.sqrt(_total((mean_q - mean_p) ** 2, q) + _total(deviations**2, q))
    return result


def _float64(q: Gaussian, p: Gaussian) -> tuple[Floats, Floats, Floats, Floats]:
    """Return both densities' arrays in float64; ValueError if their dimensions differ."""
    if q.dimension != p.dimension:
        raise ValueError(f"the densities have different dimensions: {q.dimension} and {p.dimension}")
    arrays = q.mean, q.variance, p.mean, p.variance
    mean_q, variance_q, mean_p, variance_p = (array.astype(np.float64, copy=False) for array in arrays)
    return mean_q, variance_q, mean_p, variance_p


def _total(terms: Floats, density: Gaussian) -> Floats:
    """Sum over the dimensions; one number for all of them (a spherical term) counts `dimension` times."""
    repeats = density.dimension // terms.shape[-1]
    total: Floats = np.multiply(repeats, terms.sum(axis=-1))
    return total


def _excess(t: Floats) -> Floats:
    """Return t − log(1 + t) for t > −1: non-negative, and accurate for small t, where the two terms cancel."""
    small = np.abs(t) < 1e-3
    s = np.where(small, t, 0.0)
    series = s * s * (1 / 2 - s * (1 / 3 - s * (1 / 4 - s * (1 / 5 - s * (1 / 6 - s / 7)))))
    large = np.where(small, 0.0, t)
    return np.where(small, series, large - np.log1p(large))
