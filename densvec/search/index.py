"""An index of densities in a search engine: what all adapters share."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from densvec.distances.metrics import find_metric
from densvec.distances.space import Space
from densvec.distances.table import DensityTable
from densvec.gaussian import Gaussian
from densvec.types import Floats, Integers

if TYPE_CHECKING:
    from typing_extensions import Self

    from densvec.tables import Tables

_BLOCK = 1 << 15
"""Rows whose vectors are computed and handed to an engine at a time."""

_SAMPLE = 1 << 14
"""Rows from which the scales of the columns are estimated."""

_FILE = "index.dv"


def _table(densities: Tables | Gaussian) -> DensityTable:
    """Return what is to be indexed as a table; means alone get the variance 1, which cosine ignores."""
    if isinstance(densities, Gaussian):
        if len(densities.shape) != 1:
            raise ValueError(f"an index needs a batch with one axis: got the shape {densities.shape}")
        return DensityTable(densities.mean, variances=densities.variance)
    means = densities.vectors
    if densities.log_variances is None:
        return DensityTable(means, variances=np.ones((len(means), 1), means.dtype))
    return DensityTable(means, log_variances=densities.log_variances)


@dataclass(frozen=True)
class Lift:
    """A map of rows and queries into a Euclidean space whose order is that of their inner products.

    Engines' graphs and cells are made for Euclidean distance. An approximate index walks from neighbour to neighbour,
    and inner products have no neighbours: the row with the largest product may be far from the query and from
    everything else. One more column gives all rows the same length, and then the nearest row is the one with the
    largest product (Bachrach et al., 2014). Centring the rows and giving columns of rows and of queries the same
    weight does not change the order, and makes the graph follow what matters to the queries.

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
        """Return the inner products that squared distances between lifted vectors stand for, in float64."""
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


class DensityIndex(ABC):
    """Densities in a search engine, which finds those nearest to another density.

    Subclasses say how vectors get into their engine and out of it again. An index serves as ``indexer=`` of
    :meth:`KeyedDensities.most_similar <densvec.KeyedDensities.most_similar>`.

    Parameters
    ----------
    densities : KeyedDensities or Gaussian
        What to index.
    metric : str, optional
        What to search by; see :class:`~densvec.search.Space`.
    keys : sequence, optional
        The name of each density; words, or the numbers of the rows, by default.
    diagonal : bool, optional
        Whether queries may be diagonal; the densities' own shape by default.
    """

    engine: ClassVar[str]
    """The name of the engine, for messages and files."""

    def __init__(
        self,
        densities: Tables | Gaussian,
        metric: str = "kl",
        *,
        keys: Sequence[Any] | None = None,
        diagonal: bool | None = None,
    ) -> None:
        source = _table(densities)
        if not len(source):
            raise ValueError("there is nothing to index: no densities")
        if keys is None:
            keys = range(len(source)) if isinstance(densities, Gaussian) else densities.index_to_key
        if len(keys) != len(source):
            raise ValueError(f"there are {len(source)} densities, but {len(keys)} keys")
        if metric != "cosine" and getattr(densities, "log_variances", 0) is None:
            raise ValueError(f"there are only means here, no variances: metric={metric!r} needs densities")
        if diagonal is None:
            diagonal = not source.is_spherical
        self.space = Space(metric, source.dimension, diagonal)
        self.keys: Sequence[Any] = keys
        self.source: DensityTable | None = source
        self.lift = self._fitted_lift(source)
        self._create(self.lift.size)
        for rows in _blocks(len(source)):
            self._add(rows, self.lift.rows(self.space.features(source.densities(rows))))

    def __len__(self) -> int:
        return len(self.keys)

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{len(self):,} densities, {self.space.dimension} dimensions, {self.metric}>"

    @property
    def metric(self) -> str:
        """What the index searches by."""
        return self.space.metric

    def most_similar(
        self,
        query: Gaussian | npt.ArrayLike,
        topn: int = 10,
        *,
        weights: npt.ArrayLike | None = None,
    ) -> list[tuple[Any, float]]:
        """Find the nearest densities.

        Parameters
        ----------
        query : Gaussian or vector
            One density; a vector, if the index is one by cosine.
        topn : int, optional
            How many to return.
        weights : array_like, optional
            If given, the query is a batch of densities, and the score of a key is the mean of its scores weighted
            with these.

        Returns
        -------
        list of (key, float)
            Keys and scores, best first: minus the distance, or the cosine.
        """
        density = self._density(query)
        if weights is None:
            if density.shape:
                raise ValueError(f"one density is needed here: got a batch of shape {density.shape}")
            return self.most_similar_batch(Gaussian(density.mean[None], density.variance[None]), topn)[0]
        if self.metric == "cosine" or find_metric(self.metric).squared:
            raise ValueError(
                f"by {self.metric}, a weighted mean of scores is not an inner product: ask one by one"
            )
        shares = np.asarray(weights, dtype=np.float64) / np.abs(weights).sum()
        y = shares @ self.space.query(density, np.float64)
        rows, scores = self._nearest_rows(y[None], topn)
        if self.source is None:
            distances = shares @ self.space.own_terms(density) - scores[0]
        else:
            distances = shares @ self._exact(density, self.source.densities(rows[0])[None])
        return self._named(rows[0], distances, topn)

    def most_similar_batch(self, queries: Gaussian, topn: int = 10) -> list[list[tuple[Any, float]]]:
        """Find the nearest densities of each of a batch; see :meth:`most_similar`."""
        densities = self._density(queries)
        y = self.space.query(densities, np.float64)
        rows, scores = self._nearest_rows(y, topn)
        distances = self._distances(densities, rows, scores)
        return [self._named(*found, topn) for found in zip(rows, distances, strict=True)]

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the index to a folder."""
        from densvec.files import packing, persistence

        os.makedirs(folder, exist_ok=True)
        named = all(isinstance(key, str) for key in self.keys)
        if not named and list(self.keys) != list(range(len(self))):
            raise ValueError("only words, or the numbers of the rows, can be saved as keys")
        tensors = packing.pack_words([str(key) for key in self.keys]) if named else {}
        tensors |= {"shift": self.lift.shift, "scale": self.lift.scale}
        header = {
            "class": type(self).__name__,
            "space": asdict(self.space),
            "radius": self.lift.radius,
            "count": len(self),
            "named": named,
        }
        self._save_engine(os.fspath(folder))
        persistence.write(os.path.join(folder, _FILE), tensors, header)

    @classmethod
    def load(
        cls,
        folder: str | os.PathLike[str],
        densities: Tables | Gaussian | None = None,
        **options: Any,
    ) -> Self:
        """Open what :meth:`save` wrote.

        Parameters
        ----------
        folder : str or PathLike
            The folder.
        densities : KeyedDensities or Gaussian, optional
            What the index was made of, in the same order. With it, scores are computed from the densities again;
            without, they come from the engine and are rounded as it rounds.
        **options
            What the engine takes, such as ``mmap=True`` for usearch.
        """
        from densvec.files import packing, persistence
        from densvec.files.schema import field

        path = os.path.join(folder, _FILE)
        tensors, header = persistence.read(path)
        index = cls.__new__(cls)
        with persistence.faults_of(path):
            if header.get("class") != cls.__name__:
                raise ValueError(f"this is a {header.get('class')}, not a {cls.__name__}")
            space, count = field(header, "space", dict), field(header, "count", int, minimum=1)
            index.space = Space(*(space[name] for name in ("metric", "dimension", "diagonal")))
            index.keys = packing.unpack_vocabulary(tensors)[0] if header.get("named") else range(count)
            index.lift = Lift(tensors["shift"], tensors["scale"], float(header["radius"]))
            if len(index.keys) != count:
                raise ValueError(f"the index has {count} rows, but {len(index.keys)} keys")
        index.source = None if densities is None else _table(densities)
        if index.source is not None and len(index.source) != count:
            raise ValueError(f"the index has {count} densities, but {len(index.source)} were given")
        index._load_engine(os.fspath(folder), **options)
        return index

    # What an engine must do.

    @abstractmethod
    def _create(self, size: int) -> None:
        """Make room for vectors of that size."""

    @abstractmethod
    def _add(self, rows: slice, vectors: Floats) -> None:
        """Add the vectors, (rows, size) in float32, under the numbers of their rows."""

    @abstractmethod
    def _nearest(self, queries: Floats, count: int) -> tuple[Integers, Floats]:
        """Return the numbers of the nearest rows and their squared distances, both (n, count).

        Where fewer are found, the number is −1.
        """

    @abstractmethod
    def _save_engine(self, folder: str) -> None:
        """Write the engine's own files."""

    @abstractmethod
    def _load_engine(self, folder: str, **options: Any) -> None:
        """Open the engine again."""

    # From the engine's numbers to keys and scores.

    def _density(self, query: Gaussian | npt.ArrayLike) -> Gaussian:
        if isinstance(query, Gaussian):
            return query
        if self.metric != "cosine":
            raise ValueError(
                f"an index by {self.metric} is asked with densities: got a {type(query).__name__}"
            )
        return Gaussian(np.asarray(query, dtype=np.float32), 1.0)

    def _nearest_rows(self, y: Floats, topn: int) -> tuple[Integers, Floats]:
        """Ask the engine for a few more rows than wanted: exact scores may put a later one first."""
        count = min(2 * topn + 10, len(self))
        rows, squares = self._nearest(np.ascontiguousarray(self.lift.queries(y)), count)
        return rows, self.lift.scores(squares, y)

    def _distances(self, densities: Gaussian, rows: Integers, scores: Floats) -> Floats:
        """Return the distances of each query from the rows found for it: exact ones, if the densities are here."""
        if self.source is None or self.metric == "cosine":
            return self.space.to_distance(scores, densities)
        found = self.source.densities(rows.ravel())
        shape = (*rows.shape, -1)
        return self._exact(densities, Gaussian(found.mean.reshape(shape), found.variance.reshape(shape)))

    def _exact(self, densities: Gaussian, rows: Gaussian) -> Floats:
        """Return the distances of n queries from rows, a batch of shape (n, k) or (1, k)."""
        return find_metric(self.metric).exact(densities[:, None], rows)

    def _named(self, rows: Integers, distances: Floats, topn: int) -> list[tuple[Any, float]]:
        order = np.argsort(np.where(rows < 0, np.inf, distances), kind="stable")
        scores = 1.0 - distances if self.metric == "cosine" else 0.0 - distances
        return [(self.keys[int(rows[i])], float(scores[i])) for i in order if rows[i] >= 0][:topn]

    def _fitted_lift(self, source: DensityTable) -> Lift:
        """Return the lift for queries that resemble the rows."""
        rng = np.random.default_rng(1)
        count = len(source)
        rows = np.arange(count) if count <= _SAMPLE else np.sort(rng.choice(count, _SAMPLE, replace=False))
        sample = source.densities(rows)
        lift = Lift.fit(self.space.features(sample, np.float64), self.space.query(sample, np.float64))
        return lift.with_radius_of(self.space.features(source.densities(part)) for part in _blocks(count))


def _blocks(count: int) -> Iterator[slice]:
    for first in range(0, count, _BLOCK):
        yield slice(first, min(first + _BLOCK, count))
