"""Signals while a model is trained: they wait until they can be handled, not interrupting between any two statements.

Python runs a signal's handler in the main thread, between any two of its instructions, and the handlers of Ctrl-C
and of many timeouts raise. While signals are *deferred* they are only noted down. Their handlers run where the code
says so, by `deliver` or `undeferred`, and at the end: exceptions can only come from these places.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class _Deferral:
    """Stands in for the handlers of all signals that Python code handles."""

    def __init__(self) -> None:
        self.at_once = False  # whether signals are answered as soon as they come
        self.thread = threading.get_ident()
        self._handlers: dict[int, Callable[[int, Any], Any]] = {}  # those that it stands in for
        self._waiting: deque[tuple[int, Any]] = deque()

    def install(self) -> None:
        """Take the place of all handlers."""
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                signal.signal(number, self._note)

    def remove(self) -> None:
        """Put the handlers back, except where somebody has set a newer one."""
        left = list(self._handlers.items())
        try:
            while left:
                self._put_back(*left[-1])
                left.pop()
        except BaseException:  # a handler that is back raised already
            for number, handler in left:
                self._put_back(number, handler)
            raise

    def _put_back(self, number: int, handler: Callable[[int, Any], Any]) -> None:
        if signal.getsignal(number) == self._note:
            signal.signal(number, handler)

    def _note(self, number: int, frame: Any) -> None:
        if not self.at_once:
            self._waiting.append((number, frame))
            return
        self.at_once = False  # if the handler raises, the cleanup after it is not interrupted again
        self._handlers[number](number, frame)
        self.at_once = True

    def deliver(self) -> None:
        while self._waiting:
            number, frame = self._waiting.popleft()
            self._handlers[number](number, frame)


_current: _Deferral | None = None  # the main thread's


def _here() -> _Deferral | None:
    """Return what defers the signals of this thread, if anything does."""
    return _current if _current is not None and _current.thread == threading.get_ident() else None


@contextmanager
def deferred() -> Iterator[None]:
    """Let signals wait for as long as the context lasts; there are none in threads other than the main one.

    Examples
    --------
    >>> try:
    ...     with deferred():
    ...         signal.raise_signal(signal.SIGINT)
    ...         print("not interrupted")
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    not interrupted
    interrupted
    """
    global _current
    outer = _here()
    if outer is not None:
        before, outer.at_once = outer.at_once, False
        try:
            yield
        finally:
            outer.at_once = before
            if before:
                outer.deliver()
    elif threading.current_thread() is not threading.main_thread():
        yield
    else:
        deferral = _Deferral()
        try:
            deferral.install()
            _current = deferral
            yield
        finally:
            _current = None
            deferral.remove()
            deferral.deliver()


@contextmanager
def undeferred() -> Iterator[None]:
    """Within `deferred`, let signals be answered at once while code runs that may be interrupted anywhere."""
    current = _here()
    if current is None:
        yield
        return
    before, current.at_once = current.at_once, True
    try:
        current.deliver()
        yield
    finally:
        current.at_once = before


def deliver() -> None:
    """Within `deferred`, answer the signals that wait: their handlers run here, and may raise."""
    current = _here()
    if current is not None:
        current.deliver()
