"""Densities in faiss (``pip install faiss-cpu``)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from densvec.checks import needs
from densvec.files.streams import open_for_writing
from densvec.search.index import DensityIndex
from densvec.types import Floats, Integers

_FILE = "vectors.faiss"


class FaissIndex(DensityIndex):
    """Densities in a faiss index.

    Parameters
    ----------
    densities, metric, keys, diagonal : optional
        As for :class:`~densvec.search.DensityIndex`.
    factory : str, optional
        What faiss calls a factory string: ``"HNSW32"`` (the default) is a graph, ``"Flat"`` compares with all,
        ``"IVF1024,PQ52"`` keeps a million words in 100 MB.
    ef_construction, ef_search : int, optional
        For a graph, how many candidates are looked at when it is built and when it is queried: a larger number is
        slower and finds more. ``index.vectors`` is faiss's own index, for all other settings.

    Examples
    --------
    >>> index = FaissIndex(wv, metric="kl")
    >>> wv.most_similar("dog", metric="kl", topn=1, indexer=index)
    [('animal', -0.7612...)]
    """

    engine = "faiss"

    def __init__(
        self,
        densities: Any,
        metric: str = "kl",
        *,
        factory: str = "HNSW32",
        ef_construction: int = 80,
        ef_search: int = 64,
        **options: Any,
    ) -> None:
        self._factory, self._ef_construction, self._ef_search = factory, ef_construction, ef_search
        super().__init__(densities, metric, **options)

    def _create(self, size: int) -> None:
        faiss = needs("faiss", "search")
        self.vectors = faiss.index_factory(size, self._factory, faiss.METRIC_L2)
        if hasattr(self.vectors, "hnsw"):
            self.vectors.hnsw.efConstruction = self._ef_construction
            self.vectors.hnsw.efSearch = self._ef_search
        if not self.vectors.is_trained:
            assert self.source is not None
            rng = np.random.default_rng(1)
            rows = np.sort(rng.permutation(len(self.source))[: 1 << 17])
            self.vectors.train(self.lift.rows(self.space.features(self.source.densities(rows))))

    def _add(self, rows: slice, vectors: Floats) -> None:
        self.vectors.add(vectors)

    def _nearest(self, queries: Floats, count: int) -> tuple[Integers, Floats]:
        distances, rows = self.vectors.search(queries, count)
        return rows, distances

    def _save_engine(self, folder: str) -> None:
        faiss = needs("faiss", "search")
        with open_for_writing(os.path.join(folder, _FILE)) as file:
            faiss.write_index(self.vectors, faiss.PyCallbackIOWriter(file.write))

    def _load_engine(self, folder: str, **options: Any) -> None:
        self.vectors = needs("faiss", "search").read_index(os.path.join(folder, _FILE))
