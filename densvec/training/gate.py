"""Where workers get their chunks, one after another, and where they can be held back between two of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Gate:
    """Workers wait outside for their turn to take something, and are inside while they work on it.

    Things are taken one at a time and in order, and whoever has taken one goes inside before the next is taken. So
    whenever nobody is inside, the things done are the first ones taken, and no others. `pause` and `stop` wait for
    that. Neither waits for a worker that is still waiting for something to take: that may last for ever.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._taking = False  # whether it is somebody's turn
        self._inside = 0
        self._pauses = 0
        self._stopped = False

    def enter(self, take: Callable[[], T | None]) -> T | None:
        """Wait for the turn of this worker, and go inside with what `take` returns; None: it is over, stay outside."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or not self._taking)
            if self._stopped:
                return None
            self._taking = True
        try:
            taken = take()
        except BaseException:
            self._pass_on()
            raise
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or not self._pauses)
            self._pass_on()
            if taken is not None and not self._stopped:
                self._inside += 1
                return taken
        return None

    def _pass_on(self) -> None:
        """Let the next worker have its turn."""
        with self._changed:
            self._taking = False
            self._changed.notify_all()

    def leave(self) -> None:
        """Go outside."""
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Wait until nobody is inside, and keep all workers outside for as long as the context lasts."""
        with self._changed:
            self._pauses += 1
            self._changed.wait_for(lambda: not self._inside)
        try:
            yield
        finally:
            with self._changed:
                self._pauses -= 1
                self._changed.notify_all()

    def stop(self, wait: bool = True) -> None:
        """Close the gate for good, and wait until nobody is inside."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
            if wait:
                self._changed.wait_for(lambda: not self._inside)
