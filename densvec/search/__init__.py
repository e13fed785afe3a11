"""Densities in search engines: vectors whose inner products order them, and adapters for faiss and usearch.

>>> from densvec import search
>>> x, y = search.features(wv.density(["animal", "car"]), "kl"), search.query(wv.density("dog"), "kl")
>>> search.to_distance(x @ y, wv.density("dog"), "kl").round(4)
array([ 0.7613, 13.    ])

`features`, `query` and `to_distance` serve any engine that knows inner products. `lift` makes the vectors fit for
approximate search, `index` is what the two adapters share; they are imported when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from densvec.distances.space import Space, features, query, to_distance

if TYPE_CHECKING:
    from densvec.search.faiss import FaissIndex
    from densvec.search.index import DensityIndex
    from densvec.search.lift import Lift
    from densvec.search.usearch import UsearchIndex

__all__ = [
    "DensityIndex",
    "FaissIndex",
    "Lift",
    "Space",
    "UsearchIndex",
    "features",
    "query",
    "to_distance",
]

_MODULES = {
    "DensityIndex": "index",
    "FaissIndex": "faiss",
    "Lift": "lift",
    "UsearchIndex": "usearch",
}


def __getattr__(name: str) -> Any:
    """Import an adapter when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module 'densvec.search' has no attribute {name!r}")
    return getattr(import_module(f"densvec.search.{_MODULES[name]}"), name)
