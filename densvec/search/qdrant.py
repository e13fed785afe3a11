"""Densities in Qdrant (``pip install qdrant-client``): a server, or the client's local mode."""

from __future__ import annotations

from typing import Any

from densvec.search.extras import needs
from densvec.search.index import DensityIndex
from densvec.types import Floats, Integers

__all__ = ["QdrantIndex"]

_BATCH = 1024
"""Points in one request; a server refuses requests of more than 32 MB."""


class QdrantIndex(DensityIndex):
    """Densities in a collection of Qdrant, each point with its key as payload.

    Parameters
    ----------
    densities, metric, keys, diagonal, least_variance : optional
        As for :class:`~densvec.search.DensityIndex`.
    client : qdrant_client.QdrantClient
        Of a server, or ``QdrantClient(":memory:")``.
    collection : str, optional
        The collection to make; one of that name is replaced.
    """

    engine = "qdrant"

    def __init__(
        self,
        densities: Any,
        metric: str = "kl",
        *,
        client: Any,
        collection: str = "densities",
        **options: Any,
    ) -> None:
        self.client, self.collection = client, collection
        super().__init__(densities, metric, **options)

    def _create(self, size: int) -> None:
        models = needs("qdrant_client.models", "search")
        if self.client.collection_exists(self.collection):
            self.client.delete_collection(self.collection)
        self.client.create_collection(
            self.collection,
            vectors_config=models.VectorParams(size=size, distance=models.Distance.EUCLID),
        )

    def _add(self, rows: slice, vectors: Floats) -> None:
        models = needs("qdrant_client.models", "search")
        for first in range(rows.start, rows.stop, _BATCH):
            ids = range(first, min(first + _BATCH, rows.stop))
            batch = models.Batch(
                ids=list(ids),
                vectors=vectors[first - rows.start : ids.stop - rows.start].tolist(),
                payloads=[{"key": self.keys[row]} for row in ids],
            )
            self.client.upsert(self.collection, points=batch)

    def _nearest(self, queries: Floats, count: int) -> tuple[Integers, Floats]:
        def ask(vector: Floats) -> tuple[list[int], list[float]]:
            points = self.client.query_points(self.collection, query=vector.tolist(), limit=count).points
            return [point.id for point in points], [point.score**2 for point in points]

        return self._filled(map(ask, queries), len(queries), count)

    def _load_engine(self, folder: str, **engine: Any) -> None:
        self.client, self.collection = engine["client"], engine.get("collection", "densities")
