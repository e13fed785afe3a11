"""Estimates with bootstrap confidence intervals."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from densvec.statistics.weighted import Statistic
from densvec.types import Floats

_CELLS_AT_ONCE = 1 << 21  # a block of resamples holds about this many weights


@dataclass(frozen=True)
class Estimate:
    """A figure and its confidence interval.

    The interval (percentile bootstrap) says how far the figure depends on which items the benchmark happens
    to contain. It does not include the noise between training seeds: train several for that.

    Examples
    --------
    >>> print(Estimate(0.5, 0.4, 0.6))
    0.500 [0.400, 0.600]
    >>> float(Estimate(0.5))
    0.5
    """

    value: float
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    draws: Floats | None = field(default=None, repr=False, compare=False)
    items: int = field(default=0, repr=False, compare=False)  # fingerprint of what was resampled

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return format(self, ".3f")

    def __format__(self, spec: str) -> str:
        spec = spec or ".3f"
        if self.low is None or self.high is None:
            return format(self.value, spec)
        return f"{self.value:{spec}} [{self.low:{spec}}, {self.high:{spec}}]"

    def minus(self, other: Estimate) -> Estimate:
        """Paired difference of two estimates over the same items and resamples.

        Its interval is much narrower than the two intervals suggest, since items tend to be easy or hard for both.
        """
        if self.draws is None or other.draws is None:
            return Estimate(self.value - other.value)
        if self.items != other.items or len(self.draws) != len(other.draws):
            raise ValueError(
                "cannot pair these estimates: they were made on different items, seeds or resamples; "
                "evaluate both models on one benchmark with one vocabulary, seed and number of resamples"
            )
        return from_draws(self.value - other.value, self.draws - other.draws, self.level, self.items)

    @staticmethod
    def total(parts: Sequence[Estimate]) -> Estimate:
        """Sum of estimates of different benchmarks, resampled independently."""
        value = float(sum(part.value for part in parts))
        draws = [part.draws for part in parts if part.draws is not None]
        if not parts or len(draws) < len(parts):
            return Estimate(value)
        fingerprint = zlib.crc32(np.array([part.items for part in parts], dtype=np.uint32).tobytes())
        return from_draws(value, np.sum(draws, axis=0), parts[0].level, fingerprint)


def from_draws(value: float, draws: Floats, level: float, items: int) -> Estimate:
    """Estimate whose interval contains the middle `level` of the draws (leaving out NaNs)."""
    numbers = draws[np.isfinite(draws)]
    if len(numbers) == 0:
        return Estimate(value, level=level)
    low, high = np.quantile(numbers, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(value, float(low), float(high), level, draws, items)


def difference(first: Estimate, second: Estimate) -> Estimate:
    """Paired difference; without an interval if the two were made on different items."""
    try:
        return first.minus(second)
    except ValueError:
        return Estimate(first.value - second.value)


@dataclass(frozen=True)
class Bootstrap:
    """Settings of the bootstrap: number of resamples (0: none), level, and seed."""

    resamples: int = 1000
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.resamples < 0:
            raise ValueError(f"resamples={self.resamples} must not be negative; 0 makes no intervals")
        if not 0 < self.level < 1:
            raise ValueError(f"level={self.level} must be between 0 and 1, such as .95")

    def weights(self, size: int, salt: int = 0) -> Iterator[npt.NDArray[np.float32]]:
        """Yield blocks (resamples, size) of how often each item is in each resample."""
        rng = np.random.default_rng([self.seed, size, salt])
        block = max(1, _CELLS_AT_ONCE // max(1, size))
        for start in range(0, self.resamples, block):
            rows = min(block, self.resamples - start)
            drawn = rng.integers(size, size=(rows, size), dtype=np.int32)
            drawn += np.arange(rows, dtype=np.int32)[:, None] * np.int32(size)
            counts = np.bincount(drawn.ravel(), minlength=rows * size)
            yield counts.reshape(rows, size).astype(np.float32)

    def estimate(self, statistics: Sequence[Statistic], items: npt.NDArray[Any]) -> list[Estimate]:
        """Estimate several statistics over one list of items.

        `items`, (size, ...), identifies them, so that only estimates over the same items are ever paired.
        """
        items = np.ascontiguousarray(items)
        size = len(items)
        ones = np.ones((1, size), dtype=np.float32)
        values = [float(statistic(ones)[0]) for statistic in statistics]
        if self.resamples == 0 or size == 0:
            return [Estimate(value, level=self.level) for value in values]
        fingerprint = zlib.crc32(items.tobytes(), self.seed & 0xFFFFFFFF)
        draws = [
            [statistic(weights) for statistic in statistics] for weights in self.weights(size, fingerprint)
        ]
        return [
            from_draws(value, np.concatenate(columns), self.level, fingerprint)
            for value, columns in zip(values, zip(*draws, strict=True), strict=True)
        ]
