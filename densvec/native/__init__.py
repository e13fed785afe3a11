"""The compiled kernels, one for each model and number type, and the scan that scores a whole table."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

K = TypeVar("K")


def kernel_for(array: npt.NDArray[Any], single: type[K], double: type[K]) -> type[K]:
    """Return the kernel for an array's numbers: float32 is trained, float64 is for checking gradients."""
    if array.dtype == np.float32:
        return single
    if array.dtype == np.float64:
        return double
    raise ValueError(f"the tables are {array.dtype}: the kernels train float32 and float64")
