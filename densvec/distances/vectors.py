"""Vectors as directions: unit length and cosines."""

from __future__ import annotations

import numpy as np

from densvec.types import Floats


def cosine(a: Floats, b: Floats) -> float:
    """Return the cosine of two vectors: exactly 1 if they are equal, 0 if one is zero.

    Examples
    --------
    >>> float(cosine(np.array([3.0, 4.0]), np.array([4.0, 3.0])))
    0.96
    """
    first, second = a.astype(np.float64), b.astype(np.float64)
    squares = (first @ first) * (second @ second)
    result: float = a.dtype.type(first @ second / np.sqrt(squares) if squares > 0 else 0.0)
    return result


def unit(vector: Floats) -> Floats:
    """Return a vector scaled to unit length; the zero vector as it is.

    Examples
    --------
    >>> unit(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    length = np.linalg.norm(vector)
    return vector / length if length > 0 else vector


def unit_rows(vectors: Floats) -> Floats:
    """Return rows scaled to unit length, in float64; zero rows as they are.

    Examples
    --------
    >>> unit_rows(np.array([[3, 4], [0, 0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    rows = vectors.astype(np.float64)
    lengths = np.sqrt(np.einsum("...i,...i->...", rows, rows))[..., None]
    units: Floats = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return units
