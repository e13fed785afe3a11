"""Densities in search engines: vectors whose inner products order them, and adapters for faiss and usearch.

>>> from densvec import search
>>> x, y = search.features(wv.density(["animal", "car"]), "kl"), search.query(wv.density("dog"), "kl")
>>> search.to_distance(x @ y, wv.density("dog"), "kl").round(4)
array([ 0.7613, 13.    ])

`features`, `query` and `to_distance` serve any engine that knows inner products. `Lift` makes the vectors fit for
approximate search, `DensityIndex` is what the two adapters share; an engine is imported when an index is made.
"""

from densvec.distances.space import Space, features, query, to_distance
from densvec.search.engines import FaissIndex, UsearchIndex
from densvec.search.index import DensityIndex, Lift

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
