"""The state of a model before it is trained, to which it goes back if training diverges."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Mapping

import numpy as np

from densvec.types import Array

logger = logging.getLogger(__name__)

#: Bytes up to which the copy is kept in memory; a larger one lies in a temporary file.
IN_MEMORY = 256 << 20


def copies_of(arrays: Mapping[str, Array]) -> dict[str, Array] | None:
    """Return copies of arrays, or None if there is no space for them.

    A run that diverges has spoilt its tables before its loss shows it, though every number in them is finite.
    """
    in_memory = sum(array.nbytes for array in arrays.values()) <= IN_MEMORY
    copies = {}
    try:
        for name, array in arrays.items():
            copies[name] = np.empty_like(array) if in_memory else _mapped(array)
            copies[name][...] = array
    except OSError as error:
        logger.warning("there is no space for a copy to go back to if training diverges: %s", error)
        return None
    return copies


def _mapped(array: Array) -> Array:
    """Return space for a copy of an array in a temporary file, which is removed when nothing refers to it any more."""
    with tempfile.TemporaryFile() as file:
        if array.nbytes and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, array.nbytes)  # no space is an error now, not a signal later
        return np.memmap(file, array.dtype, "w+", shape=array.shape)
