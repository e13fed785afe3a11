"""What a search asks for: positive and negative items with their weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from densvec.gaussian import Gaussian
from densvec.questions.lookup import KEY_TYPES, refuse_bytes

__all__ = ["Query", "parse_query"]


@dataclass(frozen=True)
class Query:
    """Items (keys, vectors or densities) and the weight of each, negative for what is not wanted."""

    items: list[Any]
    signs: list[float]

    @property
    def keys(self) -> list[Any]:
        """The items that are keys."""
        return [item for item in self.items if isinstance(item, KEY_TYPES)]


def parse_query(positive: Any, negative: Any) -> Query:
    """Return the query that gensim's arguments `positive` and `negative` stand for.

    Examples
    --------
    >>> query = parse_query(["king", ("woman", 0.5)], "man")
    >>> query.items, query.signs
    (['king', 'woman', 'man'], [1.0, 0.5, -1.0])
    """
    weighted = [*_weighted(positive, 1.0, "positive"), *_weighted(negative, -1.0, "negative")]
    return Query([item for item, _ in weighted], [weight for _, weight in weighted])


def _weighted(given: Any, weight: float, name: str) -> Iterator[tuple[Any, float]]:
    for item in _listed(given, name):
        if isinstance(item, tuple) and len(item) == 2:
            yield _checked(item[0], name), float(item[1])
        else:
            yield _checked(item, name), weight


def _listed(given: Any, name: str) -> list[Any]:
    """Return the items of an argument that may be a single one or nothing."""
    if given is None:
        return []
    if isinstance(given, KEY_TYPES) or _is_vector(given):
        return [given]
    if isinstance(given, Gaussian):
        return list(given) if given.shape else [given]
    if isinstance(given, (list, np.ndarray)):
        return list(given)
    refuse_bytes(given)
    raise TypeError(
        f"{name} must be a key, a vector, a Gaussian or a list of them: got {type(given).__name__}"
    )


def _checked(item: Any, name: str) -> Any:
    if isinstance(item, KEY_TYPES) or _is_vector(item) or (isinstance(item, Gaussian) and not item.shape):
        return item
    refuse_bytes(item)
    raise TypeError(f"{name} has an item that is not a key, vector, Gaussian or (item, weight): {item!r}")


def _is_vector(item: Any) -> bool:
    return isinstance(item, np.ndarray) and item.ndim == 1
