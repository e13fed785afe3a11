"""Gaussian: one density with a spherical or diagonal covariance, or a batch of them, and its divergences.

Each divergence takes two :class:`Gaussian` objects and broadcasts their batches, as NumPy does. Spherical and
diagonal densities can be mixed. Everything is computed in float64 from plain differences, so nearly equal densities
keep their digits: ``kl`` is never negative, and zero only for equal densities. The same divergences by matrix
products, for one density against a whole vocabulary, are in :mod:`densvec.distances.pairwise`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from densvec.types import Floats

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


class Gaussian:
    """A Gaussian density, or a batch of them, with a spherical or diagonal covariance.

    Parameters
    ----------
    mean : array_like, shape (..., D)
        The mean; axes in front of the last one are the batch.
    variance : float or array_like, shape (..., 1) or (..., D)
        The variance (not the standard deviation): one number per density (spherical) or one per dimension
        (diagonal). A single number serves every density of the batch.

    Attributes
    ----------
    mean : numpy.ndarray, shape (..., D)
    variance : numpy.ndarray, shape (..., 1) or (..., D)

    Examples
    --------
    >>> from densvec import Gaussian
    >>> dog, animal = Gaussian([1.0, 0.0], 0.5), Gaussian([0.0, 0.0], 2.0)
    >>> dog
    Gaussian(mean=[1., 0.], variance=[0.5])
    >>> bool(dog.kl(animal) < animal.kl(dog))  # an animal explains a dog better than the other way round
    True
    >>> batch = Gaussian([[1.0, 0.0], [0.0, 0.0]], [[0.5], [2.0]])
    >>> len(batch), batch[0] == dog
    (2, True)
    """

    __slots__ = ("mean", "variance")
    # Makes NumPy leave expressions such as `array == gaussian` to this class.
    __array_ufunc__ = None

    mean: Floats
    variance: Floats

    def __init__(self, mean: npt.ArrayLike, variance: npt.ArrayLike) -> None:
        self.mean = _floating(mean)
        self.variance = _floating(variance)
        if self.mean.ndim == 0:
            raise ValueError("mean must have at least one axis, its last of size D: got a single number")
        batch, dimension = self.mean.shape[:-1], self.mean.shape[-1]
        if self.variance.ndim == 0:
            self.variance = np.broadcast_to(self.variance, (*batch, 1))
        if self.variance.shape not in {(*batch, 1), (*batch, dimension)}:
            raise ValueError(
                f"variance has shape {self.variance.shape}; for a mean of shape {self.mean.shape} it must be "
                f"{(*batch, 1)} (spherical) or {(*batch, dimension)} (diagonal)"
            )
        if not np.all((self.variance > 0) & np.isfinite(self.variance)):
            bad = self.variance[~((self.variance > 0) & np.isfinite(self.variance))]
            raise ValueError(f"every variance must be positive and finite: got {bad.flat[0]}")

    @property
    def dimension(self) -> int:
        """The number of dimensions D.

        Examples
        --------
        >>> Gaussian([1.0, 0.0], 0.5).dimension
        2
        """
        return int(self.mean.shape[-1])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the batch: () for one density.

        Examples
        --------
        >>> Gaussian([1.0, 0.0], 0.5).shape, Gaussian([[1.0, 0.0]], 0.5).shape
        ((), (1,))
        """
        return self.mean.shape[:-1]

    @property
    def is_spherical(self) -> bool:
        """Whether one variance serves all dimensions.

        Examples
        --------
        >>> Gaussian([1.0, 0.0], 0.5).is_spherical, Gaussian([1.0, 0.0], [0.5, 2.0]).is_spherical
        (True, False)
        """
        return bool(self.variance.shape[-1] == 1)

    @property
    def log_determinant(self) -> Floats:
        """Logarithm of the determinant of the covariance: how much space the density occupies.

        Examples
        --------
        >>> float(Gaussian([1.0, 0.0], 1.0).log_determinant)
        0.0
        """
        return _total(np.log(self.variance.astype(np.float64)), self)

    def entropy(self) -> Floats:
        """Return the differential entropy, in nats.

        Examples
        --------
        >>> round(float(Gaussian([0.0], 1.0).entropy()), 4)
        1.4189
        """
        return 0.5 * (self.dimension * (1.0 + LOG_2_PI) + self.log_determinant)

    def log_prob(self, x: npt.ArrayLike) -> Floats:
        """Return the log-density at `x`.

        The last axis of `x` has size D, its other axes broadcast with the batch.

        Examples
        --------
        >>> round(float(Gaussian([0.0], 1.0).log_prob([0.0])), 4)
        -0.9189
        """
        point = np.asarray(x, dtype=np.float64)
        if point.shape[-1:] != self.mean.shape[-1:]:
            raise ValueError(f"x has shape {point.shape}; its last axis must have size {self.dimension}")
        variance = self.variance.astype(np.float64)
        squares = _total((point - self.mean) ** 2 / variance, self)
        return -0.5 * (squares + self.dimension * LOG_2_PI + self.log_determinant)

    def sample(self, n: int = 1, seed: int | np.random.Generator | None = None) -> Floats:
        """Draw `n` points from each density, (n, ..., D); `seed` may be a generator to draw from.

        Examples
        --------
        >>> points = Gaussian([5.0, 0.0], 0.01).sample(1000, seed=1)
        >>> points.shape, abs(points.mean(axis=0).round(1))
        ((1000, 2), array([5., 0.]))
        """
        noise = np.random.default_rng(seed).standard_normal((n, *self.mean.shape))
        return (self.mean + np.sqrt(self.variance) * noise).astype(self.mean.dtype, copy=False)

    kl = kl
    reverse_kl = reverse_kl
    jeffreys = jeffreys
    expected_likelihood = expected_likelihood
    wasserstein = wasserstein

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("one density has no length; only a batch has")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Gaussian:
        """Return the densities at `index` of the batch; the dimensions themselves are not indexed."""
        if not self.shape:
            raise TypeError("one density cannot be indexed; only a batch can")
        index = index if isinstance(index, tuple) else (index,)
        if sum(i is not None and i is not Ellipsis for i in index) > len(self.shape):
            raise IndexError(f"too many indices for a batch of shape {self.shape}: {len(index)}")
        if not any(i is Ellipsis for i in index):
            index = (*index, Ellipsis)
        full = (*index, slice(None))
        return Gaussian(self.mean[full], self.variance[full])

    def __iter__(self) -> Iterator[Gaussian]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gaussian):
            return NotImplemented
        return np.array_equal(self.mean, other.mean) and np.array_equal(self.variance, other.variance)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        if self.shape:
            kind = "spherical" if self.is_spherical else "diagonal"
            batch = " × ".join(str(n) for n in self.shape)
            return f"<{batch} {kind} Gaussians in {self.dimension} dimensions>"
        mean, variance = (
            np.array2string(a, precision=4, threshold=8, edgeitems=3, separator=", ")
            for a in (self.mean, self.variance)
        )
        return f"Gaussian(mean={mean}, variance={variance})"

    def _repr_html_(self) -> str:
        from densvec.files.html import table

        places = [*itertools.islice(np.ndindex(self.shape), 5)]
        shown = [self[place] for place in places] if self.shape else [self]
        rows = [
            (_shortened(each.mean), _shortened(each.variance), f"{float(each.entropy()):.4g}")
            for each in shown
        ]
        if self.shape and np.prod(self.shape) > len(shown):
            rows.append(("…", "…", "…"))
        title = repr(self) if self.shape else f"Gaussian in {self.dimension} dimensions"
        return table(title.strip("<>"), ["mean", "variance", "entropy"], rows)


def _shortened(values: Floats) -> str:
    return np.array2string(values, precision=3, threshold=6, edgeitems=2, separator=", ")


def _floating(values: npt.ArrayLike) -> Floats:
    """Return an array of float32 or wider: floats as they are, everything else as float64."""
    array = np.asarray(values)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    return array
