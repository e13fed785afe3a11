"""Densities in search engines: vectors whose inner products order them, and adapters for several engines.

>>> from densvec import search
>>> x, y = search.features(wv.density(["animal", "car"]), "kl"), search.query(wv.density("dog"), "kl")
>>> search.to_distance(x @ y, wv.density("dog"), "kl").round(4)
array([ 0.7613, 13.    ])

`space` has the vectors, `lift` makes them fit for approximate search, `index` is what the adapters share; then one
module for each engine, imported when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from densvec.distances.space import Space, features, query, to_distance

if TYPE_CHECKING:
    from densvec.search.duckdb import DuckDBIndex
    from densvec.search.faiss import FaissIndex
    from densvec.search.index import DensityIndex
    from densvec.search.lift import Lift
    from densvec.search.postgres import PgvectorIndex, PostgresIndex
    from densvec.search.qdrant import QdrantIndex
    from densvec.search.usearch import UsearchIndex

__all__ = [
    "DensityIndex",
    "DuckDBIndex",
    "FaissIndex",
    "Lift",
    "PgvectorIndex",
    "PostgresIndex",
    "QdrantIndex",
    "Space",
    "UsearchIndex",
    "features",
    "query",
    "to_distance",
]

_MODULES = {
    "DensityIndex": "index",
    "DuckDBIndex": "duckdb",
    "FaissIndex": "faiss",
    "Lift": "lift",
    "PgvectorIndex": "postgres",
    "PostgresIndex": "postgres",
    "QdrantIndex": "qdrant",
    "UsearchIndex": "usearch",
}


def __getattr__(name: str) -> Any:
    """Import an adapter when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module 'densvec.search' has no attribute {name!r}")
    return getattr(import_module(f"densvec.search.{_MODULES[name]}"), name)
