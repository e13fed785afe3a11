"""The last good state of a model, to which training goes back when it diverges."""

from __future__ import annotations

import logging
import math
import os
import tempfile
import time
from collections.abc import Mapping

import numpy as np

from densvec.training.run import Position, Run
from densvec.types import Array

__all__ = ["LastGood"]

logger = logging.getLogger(__name__)

#: Bytes up to which the copy is kept in memory; a larger one lies in a temporary file.
IN_MEMORY = 256 << 20

#: A new copy is made after this many times as long as copying took: copying takes a hundredth of the time at most.
SHARE = 100

#: Seconds between two copies, at least.
SHORTEST = 30.0

#: A loss this many times the best one so far is no longer good.
WORSE = 10


class LastGood:
    """A copy of all arrays that training changes, and the position in the run that belongs to it.

    A run that diverges has spoilt its tables before its loss shows it, though every number in them is finite. The
    copy is made before the first chunk, and again from time to time while the loss is what it should be.
    """

    def __init__(self, arrays: Mapping[str, Array], run: Run) -> None:
        self._run = run
        self._best = math.inf  # the least running loss per centre between two copies
        self._copies = _room(arrays)
        self._take(arrays)

    def __str__(self) -> str:
        if self._copies is None:
            return "All numbers of the model are finite, but they are those of a diverging run: load an earlier file"
        number, words = self._run.first_epoch + self._position.epoch, self._position.tally.words
        return (
            f"The model is what it was after {number} epochs"
            + (f" and {words} words" if words else "")
            + ", "
            "before it diverged"
        )

    def due(self) -> bool:
        """Whether it is time for a new copy, and the loss is still good."""
        if self._copies is None or time.monotonic() - self._taken < max(SHORTEST, SHARE * self._cost):
            return False
        return self._recent_loss() <= WORSE * self._best

    def take(self, arrays: Mapping[str, Array]) -> None:
        """Copy everything as it is now."""
        self._best = min(self._best, self._recent_loss())
        self._take(arrays)

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Put everything back as it was."""
        if self._copies is None:
            return
        for name, copy in self._copies.items():
            arrays[name][...] = copy
        self._run.position = self._position

    def _recent_loss(self) -> float:
        """Return the running loss per centre since the last copy, or since the epoch began; NaN if there is none."""
        now, then = self._run.position, self._position
        result, before = now.tally.result, then.tally.result
        if now.epoch != then.epoch:
            return result.per_centre()[0]
        centres = result.centres - before.centres
        return (result.loss - before.loss) / centres if centres else float("nan")

    def _take(self, arrays: Mapping[str, Array]) -> None:
        started = time.monotonic()
        for name, copy in (self._copies or {}).items():
            copy[...] = arrays[name]
        self._position: Position = self._run.position
        self._taken = time.monotonic()
        self._cost = self._taken - started


def _room(arrays: Mapping[str, Array]) -> dict[str, Array] | None:
    """Return arrays for a copy of these, or None if there is no space for them."""
    if sum(array.nbytes for array in arrays.values()) <= IN_MEMORY:
        return {name: np.empty_like(array) for name, array in arrays.items()}
    try:
        return {name: _mapped(array) for name, array in arrays.items()}
    except OSError as error:
        logger.warning("there is no space for a copy to go back to if training diverges: %s", error)
        return None


def _mapped(array: Array) -> Array:
    """Return space for a copy of an array in a temporary file, which is removed when nothing refers to it any more."""
    with tempfile.TemporaryFile() as file:
        if array.nbytes and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, array.nbytes)  # no space is an error now, not a signal later
        return np.memmap(file, array.dtype, "w+", shape=array.shape)
