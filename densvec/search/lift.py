"""Reduce search by inner product to search by Euclidean distance, for which engines' graphs and cells are made.

An approximate index walks from neighbour to neighbour, and inner products have no neighbours: the row with the largest
product may be far from the query and from everything else.
One more column gives all rows the same length, and then the nearest row is the one with the largest product (Bachrach
et al., 2014). Centring the rows and giving columns of rows and of queries the same weight does not change the order,
and makes the graph follow what matters to the queries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from densvec.types import Floats


@dataclass(frozen=True)
class Lift:
    """A map of rows and queries into a Euclidean space whose order is that of their inner products.

    Parameters
    ----------
    shift, scale : numpy.ndarray, shape (size,)
        What is subtracted from a row, and what it is then multiplied with; queries are divided by it.
    radius : float
        The length that all rows get.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> rows, query = rng.normal(size=(100, 5)), rng.normal(size=5)
    >>> lift = Lift.fit(rows, rng.normal(size=(20, 5))).with_radius_of([rows])
    >>> distances = np.linalg.norm(lift.rows(rows) - lift.queries(query), axis=1)
    >>> int(distances.argmin()) == int((rows @ query).argmax())
    True
    """

    shift: Floats
    scale: Floats
    radius: float = 0.0

    @classmethod
    def fit(cls, rows: Floats, queries: Floats) -> Lift:
        """Return the lift for rows and queries like these; its radius is still to be found."""
        shift: Floats = rows.mean(axis=0, dtype=np.float64)
        deviation = rows.std(axis=0, dtype=np.float64)
        size = np.sqrt(np.square(queries, dtype=np.float64).mean(axis=0))
        least = 1e-6 * max(float(deviation.max(initial=0.0)), 1e-30)
        # Columns that hardly vary, or that are 0 in all queries, do not matter: their weight stays 1.
        alive = (deviation > least) & (size > 0)
        scale: Floats = np.sqrt(np.where(alive, size, 1.0) / np.where(alive, deviation, 1.0))
        return cls(shift, scale)

    def with_radius_of(self, blocks: Iterable[Floats]) -> Lift:
        """Return the lift with a radius that no row of the blocks exceeds."""
        largest = 0.0
        for block in blocks:
            largest = max(largest, float(np.square(self._moved(block)).sum(axis=-1).max(initial=0.0)))
        return Lift(self.shift, self.scale, float(np.sqrt(largest)))

    @property
    def size(self) -> int:
        """The length of the lifted vectors."""
        return len(self.shift) + 1

    def rows(self, rows: Floats) -> Floats:
        """Return the lifted rows, in float32."""
        moved = self._moved(rows)
        rest = np.maximum(self.radius**2 - np.square(moved).sum(axis=-1, keepdims=True), 0.0)
        return np.concatenate([moved, np.sqrt(rest)], axis=-1, dtype=np.float32, casting="same_kind")

    def queries(self, queries: Floats) -> Floats:
        """Return the lifted queries, of the rows' length, in float32."""
        scaled, length = self._scaled(queries)
        zeros = np.zeros((*scaled.shape[:-1], 1))
        return np.concatenate(
            [scaled * (self.radius / length), zeros], axis=-1, dtype=np.float32, casting="same_kind"
        )

    def scores(self, squared_distances: npt.ArrayLike, queries: Floats) -> Floats:
        """Return the inner products that squared distances between lifted vectors stand for, in float64.

        Parameters
        ----------
        squared_distances : array_like, shape (n, k)
            Of n queries from k rows each.
        queries : numpy.ndarray, shape (n, size - 1)
            The queries before they were lifted.
        """
        _, length = self._scaled(queries)
        cosines = self.radius**2 - 0.5 * np.asarray(squared_distances, dtype=np.float64)
        products: Floats = cosines * length / max(self.radius, 1e-30) + (queries @ self.shift)[..., None]
        return products

    def _moved(self, rows: Floats) -> Floats:
        moved: Floats = (rows.astype(np.float64) - self.shift) * self.scale
        return moved

    def _scaled(self, queries: Floats) -> tuple[Floats, Floats]:
        scaled: Floats = queries.astype(np.float64) / self.scale
        length: Floats = np.linalg.norm(scaled, axis=-1, keepdims=True)
        return scaled, np.where(length > 0, length, 1.0)
