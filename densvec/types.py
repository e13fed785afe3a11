"""Types of arrays that many modules name."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.floating[Any]]
Integers: TypeAlias = npt.NDArray[np.integer[Any]]
