"""Densities in DuckDB (``pip install duckdb pyarrow``): an exact search, together with everything that SQL can do."""

from __future__ import annotations

import numpy as np

from densvec.search.extras import needs
from densvec.search.sql import TableIndex
from densvec.types import Floats, Integers

__all__ = ["DuckDBIndex"]


class DuckDBIndex(TableIndex):
    """Densities in a table of DuckDB, with the columns ``id``, ``key`` and ``vector``.

    ``index.sql`` is the query that is asked, with the vector and the count as its parameters: join it with your own
    tables, or add a WHERE.

    Parameters
    ----------
    densities, metric, keys, diagonal, least_variance : optional
        As for :class:`~densvec.search.DensityIndex`.
    connection : duckdb.DuckDBPyConnection
        The database connection.
    table : str, optional
        The table to make; one of that name is replaced.
    """

    engine = "duckdb"
    euclidean = False  # all rows are compared, so products are enough

    @property
    def sql(self) -> str:
        """The query: parameters 1 and 2 are the vector and the count."""
        size = self.space.size
        return (
            f"SELECT id, key, array_inner_product(vector, ?::FLOAT[{size}]) AS score FROM {self.table} "
            "ORDER BY score DESC LIMIT ?"
        )

    def _create(self, size: int) -> None:
        key = "VARCHAR" if isinstance(self.keys[0], str) else "BIGINT"
        self.connection.execute(
            f"CREATE OR REPLACE TABLE {self.table} (id BIGINT, key {key}, vector FLOAT[{size}])"
        )

    def _add(self, rows: slice, vectors: Floats) -> None:
        pa = needs("pyarrow", "search")
        keys = self.keys[rows]
        block = pa.table(
            {
                "id": np.arange(rows.start, rows.stop),
                "key": list(keys),
                "vector": pa.FixedSizeListArray.from_arrays(vectors.ravel(), vectors.shape[1]),
            }
        )
        self.connection.register("densvec_block", block)
        self.connection.execute(f"INSERT INTO {self.table} SELECT * FROM densvec_block")
        self.connection.unregister("densvec_block")

    def _nearest(self, queries: Floats, count: int) -> tuple[Integers, Floats]:
        def ask(vector: Floats) -> tuple[Integers, Floats]:
            found = self.connection.execute(self.sql, [vector.tolist(), count]).fetchnumpy()
            return found["id"], found["score"]

        return self._filled(map(ask, queries), len(queries), count)
