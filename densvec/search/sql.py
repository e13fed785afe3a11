"""Densities in a table of a database: what the SQL engines share."""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Any

import numpy as np

from densvec.search.index import DensityIndex
from densvec.types import Floats

__all__ = ["TableIndex", "identifier", "literal"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?")


class TableIndex(DensityIndex):
    """A table with the columns ``id``, ``key`` and ``vector``, on a connection that the caller opens and closes."""

    def __init__(
        self,
        densities: Any,
        metric: str = "kl",
        *,
        connection: Any,
        table: str = "densities",
        **options: Any,
    ) -> None:
        self._open(connection, table)
        super().__init__(densities, metric, **options)

    def _open(self, connection: Any, table: str) -> None:
        self.connection, self.table = connection, identifier(table)

    def _load_engine(self, folder: str, **engine: Any) -> None:
        self._open(engine["connection"], engine.get("table", "densities"))

    @property
    @abstractmethod
    def sql(self) -> str:
        """The query, whose parameters are the vector and the count."""


def identifier(name: str) -> str:
    """Return the name of a table, quoted; it may only contain letters, digits and underscores.

    Examples
    --------
    >>> identifier("words"), identifier("public.words")
    ('"words"', '"public"."words"')
    >>> identifier("words; DROP TABLE students")
    Traceback (most recent call last):
    ValueError: 'words; DROP TABLE students' is not a valid name for a table: use letters, digits and underscores
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid name for a table: use letters, digits and underscores")
    return ".".join(f'"{part}"' for part in name.split("."))


def literal(vector: Floats, brackets: str) -> str:
    """Return a vector as text, with enough digits to restore each number.

    Examples
    --------
    >>> literal(np.array([1.5, -0.25], dtype=np.float32), "[]")
    '[1.5,-0.25]'
    """
    numbers = np.asarray(vector, dtype=np.float32)
    return brackets[0] + ",".join(map(str, numbers.tolist())) + brackets[1]
