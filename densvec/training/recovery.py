"""The last good state of a model, to which it goes back if training diverges."""

from __future__ import annotations

import logging
import math
import os
import tempfile
from collections.abc import Mapping

import numpy as np

from densvec.training.run import EpochLoss, Run, Tally
from densvec.types import Array

logger = logging.getLogger(__name__)

#: Bytes up to which the copy is kept in memory; a larger one lies in a temporary file.
IN_MEMORY = 256 << 20

#: An epoch whose loss is this many times the least one so far is no longer good.
WORSE = 10


class LastGood:
    """Copies of all arrays as they were before training, or at the end of the last good epoch.

    A run that diverges has spoilt its tables before its loss shows it, though every number in them is finite.
    """

    def __init__(self, arrays: Mapping[str, Array], run: Run) -> None:
        self._run = run
        self._start = self._position = run.position
        self._least = math.inf
        self._copies: dict[str, Array] = {}
        in_memory = sum(array.nbytes for array in arrays.values()) <= IN_MEMORY
        try:
            for name, array in arrays.items():
                self._copies[name] = np.empty_like(array) if in_memory else _mapped(array)
                self._copies[name][...] = array
        except OSError as error:
            logger.warning("there is no space for a copy to go back to if training diverges: %s", error)
            self._copies = {}

    def __str__(self) -> str:
        if not self._copies:
            return "The model's numbers are those of a diverging run: load an earlier file."
        if self._position is self._start:
            return "The model's numbers are those before train() was called."
        return f"The model's numbers are those after {self._run.first_epoch + self._position.epoch} epochs."

    def note(self, tally: Tally) -> None:
        """Note the loss of the current epoch so far."""
        self._least = min(self._least, tally.per_centre()[0])

    def take(self, arrays: Mapping[str, Array], loss: EpochLoss) -> None:
        """Copy the arrays at the end of an epoch, if it was a good one."""
        if self._copies and loss.running_loss <= WORSE * self._least:
            for name, array in arrays.items():
                self._copies[name][...] = array
            self._position = self._run.position

    def restore(self, arrays: Mapping[str, Array]) -> None:
        """Put everything back as it was."""
        if self._copies:
            for name, array in arrays.items():
                array[...] = self._copies[name]
            self._run.position = self._position


def _mapped(array: Array) -> Array:
    """Return space for a copy of an array in a temporary file, which is removed when nothing refers to it any more."""
    with tempfile.TemporaryFile() as file:
        if array.nbytes and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, array.nbytes)  # no space is an error now, not a signal later
        return np.memmap(file, array.dtype, "w+", shape=array.shape)
