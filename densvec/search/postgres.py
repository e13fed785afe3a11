"""Densities in PostgreSQL (``pip install psycopg``), with the extension pgvector where the server has it."""

from __future__ import annotations

from typing import Any

from densvec.search.sql import TableIndex, literal
from densvec.types import Floats, Integers

__all__ = ["PgvectorIndex", "PostgresIndex"]

_INNER_PRODUCT = """
CREATE OR REPLACE FUNCTION densvec_inner_product(a real[], b real[]) RETURNS double precision
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS 'SELECT sum(x::double precision * y) FROM unnest(a, b) AS pairs(x, y)'
"""


class _PostgresIndex(TableIndex):
    """A table with the columns ``id``, ``key`` and ``vector``."""

    _column: str  # the type of the vectors, with their size
    _brackets: str  # how a vector is written as text

    def _create(self, size: int) -> None:
        key = "text" if isinstance(self.keys[0], str) else "bigint"
        column = self._column.format(size=size)
        with self.connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {self.table}")
            cursor.execute(f"CREATE TABLE {self.table} (id bigint PRIMARY KEY, key {key}, vector {column})")

    def _add(self, rows: slice, vectors: Floats) -> None:
        statement = f"COPY {self.table} (id, key, vector) FROM STDIN"
        with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row, vector in zip(range(rows.start, rows.stop), vectors, strict=True):
                copy.write_row((row, self.keys[row], literal(vector, self._brackets)))

    def _nearest(self, queries: Floats, count: int) -> tuple[Integers, Floats]:
        def ask(vector: Floats) -> tuple[list[int], list[float]]:
            asked = {"vector": literal(vector, self._brackets), "count": count}
            cursor.execute(self.sql, asked, prepare=False)  # a plan kept for later outlives the table
            found = cursor.fetchall()
            return [row for row, _, _ in found], [value for _, _, value in found]

        with self.connection.cursor() as cursor:
            return self._filled(map(ask, queries), len(queries), count)


class PostgresIndex(_PostgresIndex):
    """Densities in PostgreSQL as it is: arrays of numbers, and a function in SQL that multiplies them.

    All rows are compared: suitable for some tens of thousands of densities, or for those that a WHERE leaves.

    Parameters
    ----------
    densities, metric, keys, diagonal, least_variance : optional
        As for :class:`~densvec.search.DensityIndex`.
    connection : psycopg.Connection
        The database connection; committing is up to the caller.
    table : str, optional
        The table to make; one of that name is replaced.
    """

    engine = "postgresql"
    euclidean = False
    _column, _brackets = "real[]", "{}"

    @property
    def sql(self) -> str:
        """The query: its parameters are ``vector``, as text, and ``count``."""
        return (
            f"SELECT id, key, densvec_inner_product(vector, %(vector)s::real[]) AS score FROM {self.table} "
            "ORDER BY score DESC LIMIT %(count)s"
        )

    def _create(self, size: int) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(_INNER_PRODUCT)
        super()._create(size)


class PgvectorIndex(_PostgresIndex):
    """Densities in PostgreSQL with the extension pgvector, and its graph index over them.

    Parameters
    ----------
    densities, metric, keys, diagonal, least_variance : optional
        As for :class:`~densvec.search.DensityIndex`.
    connection : psycopg.Connection
        The database connection; committing is up to the caller. The extension must be installed, or the user must be
        allowed to install it.
    table : str, optional
        The table to make; one of that name is replaced.
    m, ef_construction, ef_search : int, optional
        Settings of the graph; ``m=0`` builds none, and all rows are compared.
    """

    engine = "pgvector"
    _column, _brackets = "vector({size})", "[]"

    def __init__(
        self,
        densities: Any,
        metric: str = "kl",
        *,
        connection: Any,
        table: str = "densities",
        m: int = 16,
        ef_construction: int = 64,
        ef_search: int = 64,
        **options: Any,
    ) -> None:
        self._graph, self._ef_search = (m, ef_construction), ef_search
        super().__init__(densities, metric, connection=connection, table=table, **options)

    @property
    def sql(self) -> str:
        """The query: its parameters are ``vector``, as text, and ``count``."""
        return (
            f"SELECT id, key, (vector <-> %(vector)s::vector) ^ 2 AS distance FROM {self.table} "
            "ORDER BY vector <-> %(vector)s::vector LIMIT %(count)s"
        )

    def _create(self, size: int) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
        super()._create(size)

    def _finish(self) -> None:
        m, ef_construction = self._graph
        if m:
            with self.connection.cursor() as cursor:
                cursor.execute(
                    f"CREATE INDEX ON {self.table} USING hnsw (vector vector_l2_ops) "
                    f"WITH (m = {int(m)}, ef_construction = {int(ef_construction)})"
                )

    def _nearest(self, queries: Floats, count: int) -> tuple[Integers, Floats]:
        with self.connection.cursor() as cursor:
            ef_search = min(max(int(self._ef_search), count), 1000)  # the most that pgvector accepts
            cursor.execute(f"SET hnsw.ef_search = {ef_search}")
        return super()._nearest(queries, count)

    def _load_engine(self, folder: str, **engine: Any) -> None:
        super()._load_engine(folder, **engine)
        self._graph, self._ef_search = (0, 0), engine.get("ef_search", 64)
