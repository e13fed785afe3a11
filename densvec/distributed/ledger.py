"""What has been trained of an epoch that is read in pieces."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Ledger", "merged"]


class Ledger:
    """The pieces of an epoch that are done, and how many chunks of those that are begun; threads may share it.

    Chunks are begun in their order, so that between two of them a number says which ones are trained.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.trained(5)
    >>> ledger.trained(5)
    >>> ledger.document()
    {'done': [], 'begun': {'5': 2}}
    >>> ledger.ended(5, 3)  # it has three
    >>> ledger.trained(5)
    >>> ledger.document()
    {'done': [5], 'begun': {}}
    """

    def __init__(self, document: Mapping[str, Any] | None = None) -> None:
        document = document or {"done": [], "begun": {}}
        self._done: set[int] = set(document["done"])
        self._begun = {int(piece): int(chunks) for piece, chunks in document["begun"].items()}
        self._lengths: dict[int, int] = {}
        self._lock = threading.Lock()

    def chunks(self, piece: int) -> int:
        """Return how many chunks of a piece are trained."""
        with self._lock:
            return self._begun.get(piece, 0)

    def trained(self, piece: int) -> None:
        """Count a trained chunk."""
        with self._lock:
            self._begun[piece] = self._begun.get(piece, 0) + 1
            self._complete(piece)

    def ended(self, piece: int, chunks: int) -> None:
        """Note how many chunks a piece has, which is known once it is read."""
        with self._lock:
            self._lengths[piece] = chunks
            self._complete(piece)

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        with self._lock:
            begun = {str(piece): chunks for piece, chunks in sorted(self._begun.items())}
            return {"done": sorted(self._done), "begun": begun}

    def _complete(self, piece: int) -> None:
        if self._begun.get(piece, 0) == self._lengths.get(piece):
            self._done.add(piece)
            self._begun.pop(piece, None)


def merged(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the ledger of all ranks from those of each."""
    done: set[int] = set()
    begun: dict[str, int] = {}
    for document in documents:
        done.update(document["done"])
        begun.update(document["begun"])
    return {"done": sorted(done), "begun": begun}
