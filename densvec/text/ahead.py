"""Items prepared by another thread, ahead of those who take them."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

__all__ = ["Ahead"]

T = TypeVar("T")


class Ahead(Generic[T]):
    """Iterates in another thread, a few items ahead.

    Parameters
    ----------
    items : callable
        Returns what to iterate over. It is called by the thread, which is the only one that touches its iterator.
    depth : int
        How many items may be ready and not yet taken.
    name : str
        Name of the thread.

    Examples
    --------
    >>> ahead = Ahead(lambda: "ab", depth=1, name="letters")
    >>> ahead.take(), ahead.take(), ahead.take()
    ('a', 'b', None)
    """

    #: Seconds that `close` waits for an iterator that does not return.
    PATIENCE = 2.0

    def __init__(self, items: Callable[[], Iterable[T]], *, depth: int, name: str) -> None:
        self._items = items
        self._depth = depth
        self._name = name
        self._ready: deque[T] = deque()
        self._changed = threading.Condition()
        self.closed = False  # nothing more is wanted
        self._finished = False  # nothing more will come
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless it has started; `take` does so too."""
        with self._changed:
            if self._thread is None and not self.closed:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()

    def take(self) -> T | None:
        """Return the next item, waiting for it if necessary; None at the end and after `close`.

        An exception from the iterator is raised here, once the items before it are taken.
        """
        self.start()
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._finished or self.closed)
            if self.closed:
                return None
            if self._ready:
                self._changed.notify_all()
                return self._ready.popleft()
            if self._error is not None:
                raise self._error
            return None

    def _run(self) -> None:
        try:
            for item in self._items():
                with self._changed:
                    self._changed.wait_for(lambda: len(self._ready) < self._depth or self.closed)
                    if self.closed:
                        return
                    self._ready.append(item)
                    self._changed.notify_all()
        except BaseException as error:  # it belongs to the caller of take()
            self._error = error
        finally:
            with self._changed:
                self._finished = True
                self._changed.notify_all()

    def close(self) -> bool:
        """Let the thread end; return whether it has. One that is still waiting for its iterator is left behind."""
        with self._changed:
            self.closed = True
            self._ready.clear()
            self._changed.notify_all()
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(self.PATIENCE)
        return not thread.is_alive()
