"""KeyedDensities: words and their densities, gensim's KeyedVectors and more.

The class is put together from one mixin per concept: :mod:`~densvec.keyed.storage` (tables, keys, attributes).
"""

from densvec.keyed.storage import Storage


class KeyedDensities(Storage):
    """Words and their densities."""


__all__ = ["KeyedDensities"]
