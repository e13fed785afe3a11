"""Densities in usearch (``pip install usearch``), a small graph index whose files can be mapped."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from densvec.checks import needs
from densvec.files.streams import open_for_writing
from densvec.search.index import DensityIndex
from densvec.types import Floats, Integers

_FILE = "vectors.usearch"


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
        with open_for_writing(os.path.join(folder, _FILE)) as file:
            file.write(self.vectors.save())

    def _load_engine(self, folder: str, **options: Any) -> None:
        self.vectors = needs("usearch.index", "search").Index.restore(
            os.path.join(folder, _FILE), view=options.get("mmap", False)
        )
