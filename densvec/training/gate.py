"""A pause for all workers, between two chunks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Gate"]


class Gate:
    """Any number of workers pass through it, one chunk at a time; `pause` waits until none is inside."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0
        self._paused = False

    def __enter__(self) -> Gate:
        with self._changed:
            while self._paused:
                self._changed.wait()
            self._inside += 1
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Keep all workers outside for as long as the context lasts."""
        with self._changed:
            while self._paused:
                self._changed.wait()
            self._paused = True
            while self._inside:
                self._changed.wait()
        try:
            yield
        finally:
            with self._changed:
                self._paused = False
                self._changed.notify_all()
