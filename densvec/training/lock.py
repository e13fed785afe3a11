"""A lock that belongs to one object in one process."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

__all__ = ["OwnLock"]


class OwnLock:
    """A re-entrant lock. A copy of its owner gets a new one, and a forked process finds it open.

    Examples
    --------
    >>> import copy
    >>> lock = OwnLock()
    >>> with lock, lock:
    ...     copy.deepcopy(lock) is lock
    False
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> OwnLock:
        self._lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> Any:
        return OwnLock, ()


_locks: weakref.WeakSet[OwnLock] = weakref.WeakSet()


def _open_all() -> None:
    for lock in list(_locks):
        lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_open_all)
