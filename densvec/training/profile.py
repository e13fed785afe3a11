"""Where the time of training goes: what the host does ahead, what the trainer waits for, what the device does."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["STAGES", "Profile", "profile"]

#: What is timed, by who does it: the threads that read ahead, the thread that trains, the device.
STAGES = {
    "sample": "host, ahead: read text and draw windows and negatives",
    "prepare": "host, ahead: gather chunks and send their ids",
    "wait": "trainer: wait for the next batch",
    "call": "trainer: call operators",
    "finish": "trainer: wait for the device",
    "device": "device: compute",
}


class Profile:
    """Adds up seconds by stage; does nothing until it is enabled.

    Examples
    --------
    >>> from densvec.training.profile import Profile
    >>> profile = Profile()
    >>> profile.enabled = True
    >>> with profile.timed("call"):
    ...     _ = sum(range(1000))
    >>> profile.batch(10_000)
    >>> profile.seconds["call"] > 0, profile.batches
    (True, 1)
    """

    def __init__(self) -> None:
        self.enabled = False
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forget all times."""
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.batches = 0
        self.words = 0

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Time what is done in this context."""
        if not self.enabled:
            yield
            return
        started = time.perf_counter()
        try:
            yield
        finally:
            self.add(stage, time.perf_counter() - started)

    def add(self, stage: str, seconds: float) -> None:
        """Count time that was measured elsewhere."""
        with self._lock:
            self.seconds[stage] += seconds

    def batch(self, words: int) -> None:
        """Count a trained batch."""
        if self.enabled:
            with self._lock:
                self.batches += 1
                self.words += words

    def __str__(self) -> str:
        if not self.batches:
            return "nothing was trained"
        lines = [f"{'time per batch':60}{'ms':>10}", "-" * 70]
        for stage, name in STAGES.items():
            if stage in self.seconds:
                lines.append(f"{name:60}{1000 * self.seconds[stage] / self.batches:>10.2f}")
        lines.append(f"{self.batches:,} batches of {self.words / self.batches:,.0f} words; {self._verdict()}")
        return "\n".join(lines)

    def _verdict(self) -> str:
        """Return what limits the speed."""
        waits, calls, finishes = (self.seconds[stage] for stage in ("wait", "call", "finish"))
        if waits > max(calls, finishes):
            return "the host limits: the trainer waits for batches"
        if calls > finishes:
            return "operators limit: a CPU computes as they are called; elsewhere larger batches or compile=True help"
        return "the device limits: it is busy while the host waits"


#: The times of this process.
profile = Profile()
