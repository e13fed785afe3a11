"""Search by a divergence as search by inner product, for vector search engines.

Every engine can look for the rows x with the largest y·x, and most divergences can be written that way
(:mod:`densvec.distances.metrics`), with a few dimensions more than the densities have. Expected likelihood cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from densvec.distances.metrics import COSINE, Factors, Moments, find_metric
from densvec.gaussian import Gaussian
from densvec.types import Floats


@dataclass(frozen=True)
class Space:
    """Vectors whose inner products order densities by one metric.

    Parameters
    ----------
    metric : str
        ``"kl"``, ``"reverse_kl"``, ``"jeffreys"``, ``"wasserstein"`` or ``"cosine"``.
    dimension : int
        The number of dimensions D of the densities.
    diagonal : bool, optional
        Whether rows and queries may be diagonal. With spherical ones the vectors are about half as long; a
        diagonal query then only works with KL and Wasserstein.

    Examples
    --------
    >>> from densvec import Gaussian
    >>> space = Space("kl", dimension=2)
    >>> dog, animal = Gaussian([2.0, 1.0], 1.0), Gaussian([1.0, 1.0], 4.0)
    >>> score = space.query(dog) @ space.features(animal)
    >>> round(float(space.to_distance(score, dog)), 4), round(float(dog.kl(animal)), 4)
    (0.7613, 0.7613)
    """

    metric: str
    dimension: int
    diagonal: bool = False

    def __post_init__(self) -> None:
        _ = self._factors

    @cached_property
    def size(self) -> int:
        """The length of the vectors.

        Examples
        --------
        >>> Space("kl", 100).size, Space("kl", 100, diagonal=True).size, Space("cosine", 100).size
        (102, 201, 100)
        """
        typical = Moments.of(Gaussian(np.ones(self.dimension), 1.0), self.diagonal)
        return sum(column.shape[-1] for column in self._factors.rows(typical))

    def features(self, densities: Gaussian, dtype: npt.DTypeLike = np.float32) -> Floats:
        """Return the vectors to put into an index, (..., size), one for each density."""
        return self._vectors(self._factors.rows, densities, dtype)

    def query(self, densities: Gaussian, dtype: npt.DTypeLike = np.float32) -> Floats:
        """Return the vectors to ask an index with, (..., size): larger inner products mean nearer densities."""
        return self._vectors(self._factors.queries, densities, dtype)

    def to_distance(self, scores: npt.ArrayLike, densities: Gaussian) -> Floats:
        """Turn inner products into distances (smaller is nearer), as in :mod:`densvec.distances.pairwise`.

        Parameters
        ----------
        scores : array_like, shape (...) or (..., k)
            Inner products of each query with one row, or with k rows.
        densities : Gaussian
            The queries.

        Returns
        -------
        numpy.ndarray
            In float64. For ``"cosine"`` 1 − cosine.
        """
        values = np.asarray(scores, dtype=np.float64)
        own = self.own_terms(densities)
        if values.ndim > own.ndim:
            own = own[..., None]
        if self.metric == "cosine":
            return own - values
        if find_metric(self.metric).squared:
            return np.sqrt(np.maximum(own - 2.0 * values, 0.0))
        return np.maximum(own - values, 0.0)

    def own_terms(self, densities: Gaussian) -> Floats:
        """Return the terms of the distance that depend on the query alone.

        Examples
        --------
        >>> from densvec import Gaussian
        >>> float(Space("kl", 2).own_terms(Gaussian([2.0, 1.0], 1.0)))
        -1.0
        """
        own: Floats = self._factors.own(self._moments(densities))[..., 0]
        return own

    def _moments(self, densities: Gaussian) -> Moments:
        if densities.dimension != self.dimension:
            raise ValueError(
                f"the densities have {densities.dimension} dimensions, those of the index {self.dimension}"
            )
        return Moments.of(densities, self.diagonal)

    def _vectors(
        self, columns: Callable[[Moments], list[Floats]], densities: Gaussian, dtype: npt.DTypeLike
    ) -> Floats:
        parts = columns(self._moments(densities))
        vectors: Floats = np.concatenate(parts, axis=-1, dtype=dtype, casting="same_kind")
        if vectors.shape[-1] != self.size:
            raise ValueError(
                f"these densities are diagonal: by {self.metric}, that takes vectors made with diagonal=True"
            )
        return vectors

    @property
    def _factors(self) -> Factors:
        factors = COSINE if self.metric == "cosine" else find_metric(self.metric).factors
        if factors is None:
            raise ValueError(f"{self.metric} is no inner product: search engines cannot order by it")
        return factors


def features(
    densities: Gaussian, metric: str = "kl", *, dtype: npt.DTypeLike = np.float32, **space: Any
) -> Floats:
    """Return the vectors that stand for densities in a search engine that ranks by inner product.

    Parameters
    ----------
    densities : Gaussian
        One density or a batch.
    metric : str, optional
        The metric that the engine is to rank by; see :class:`Space` for what each can do.
    dtype : dtype, optional
        Type of the result.
    **space
        `diagonal`, as for :class:`Space` (by default the densities' own shape). It must be the same here, in `query`
        and in `to_distance`.

    Examples
    --------
    >>> x = features(wv.density(["animal", "cat", "car"]), "kl")
    >>> y = query(wv.density("dog"), "kl")
    >>> to_distance(x @ y, wv.density("dog"), "kl").round(4)
    array([ 0.7613,  1.    , 13.    ])
    >>> [round(wv.kl_divergence("dog", key), 4) for key in ("animal", "cat", "car")]
    [0.7613, 1.0, 13.0]
    """
    return _space(densities, metric, **space).features(densities, dtype)


def query(
    density: Gaussian, metric: str = "kl", *, dtype: npt.DTypeLike = np.float32, **space: Any
) -> Floats:
    """Return the query vector for an engine that holds :func:`features`; a batch gives one for each density.

    Examples
    --------
    >>> query(wv.density("dog"), "kl")  # the mean, −½(D·v + ‖μ‖²), −½
    array([ 2. ,  1. , -3.5, -0.5], dtype=float32)
    """
    return _space(density, metric, **space).query(density, dtype)


def to_distance(score: npt.ArrayLike, density: Gaussian, metric: str = "kl", **space: Any) -> Floats:
    """Convert an engine's inner products with a query vector into distances.

    Examples
    --------
    >>> dog, cat = wv.density("dog"), wv.density("cat")
    >>> score = query(dog, "wasserstein") @ features(cat, "wasserstein")
    >>> float(to_distance(score, dog, "wasserstein")), float(dog.wasserstein(cat))
    (1.414..., 1.414...)
    """
    return _space(density, metric, **space).to_distance(score, density)


def _space(densities: Gaussian, metric: str, diagonal: bool | None = None) -> Space:
    return Space(metric, densities.dimension, not densities.is_spherical if diagonal is None else diagonal)
