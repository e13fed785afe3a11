"""The search engines: faiss (``pip install faiss-cpu``), and usearch, a small graph whose files can be mapped."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from densvec.checks import needs
from densvec.files.streams import open_for_writing
from densvec.search.index import DensityIndex
from densvec.types import Floats, Integers


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
        with open_for_writing(os.path.join(folder, "vectors.faiss")) as file:
            faiss.write_index(self.vectors, faiss.PyCallbackIOWriter(file.write))

    def _load_engine(self, folder: str, **options: Any) -> None:
        self.vectors = needs("faiss", "search").read_index(os.path.join(folder, "vectors.faiss"))


class UsearchIndex(DensityIndex):
    """Densities in a usearch index.

    Parameters
    ----------
    densities, metric, keys, diagonal : optional
        As for :class:`~densvec.search.DensityIndex`.
    dtype : {"f32", "f16", "bf16", "i8"}, optional
        How usearch keeps the vectors.
    connectivity, expansion_add, expansion_search : int, optional
        Neighbours of a node in the graph, and how many candidates are looked at when it is built and when it is
        queried.
    """

    engine = "usearch"

    def __init__(
        self,
        densities: Any,
        metric: str = "kl",
        *,
        dtype: str = "f32",
        connectivity: int = 32,
        expansion_add: int = 80,
        expansion_search: int = 64,
        **options: Any,
    ) -> None:
        self._settings = {
            "dtype": dtype,
            "connectivity": connectivity,
            "expansion_add": expansion_add,
            "expansion_search": expansion_search,
        }
        super().__init__(densities, metric, **options)

    def _create(self, size: int) -> None:
        self.vectors = needs("usearch.index", "search").Index(ndim=size, metric="l2sq", **self._settings)

    def _add(self, rows: slice, vectors: Floats) -> None:
        self.vectors.add(np.arange(rows.start, rows.stop, dtype=np.uint64), vectors)

    def _nearest(self, queries: Floats, count: int) -> tuple[Integers, Floats]:
        found = self.vectors.search(queries, count)
        rows = np.full((len(queries), count), -1, dtype=np.int64)
        squares = np.full((len(queries), count), np.inf)
        # Of one query, usearch returns no batch.
        for i, match in enumerate([found] if len(queries) == 1 else found):
            rows[i, : len(match.keys)], squares[i, : len(match.keys)] = match.keys, match.distances
        return rows, squares

    def _save_engine(self, folder: str) -> None:
        with open_for_writing(os.path.join(folder, "vectors.usearch")) as file:
            file.write(self.vectors.save())

    def _load_engine(self, folder: str, **options: Any) -> None:
        self.vectors = needs("usearch.index", "search").Index.restore(
            os.path.join(folder, "vectors.usearch"), view=options.get("mmap", False)
        )
