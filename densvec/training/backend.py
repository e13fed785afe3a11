"""The contract between the training loop and what computes its steps, and what a step reports back."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from densvec.types import Array

if TYPE_CHECKING:
    from densvec._corpus import Chunk


class UnstableTrainingError(RuntimeError):
    """Training was stopped because the loss was no longer a finite, reasonable number."""


#: Another name for `UnstableTrainingError`. It has nothing to do with divergences of densities.
DivergenceError = UnstableTrainingError


@dataclass
class StepResult:
    """Sums over the centres of one chunk, or of many added together.

    ``loss`` is ``hinge + kl_weight · kl``; a centre without context has no loss and is not counted.
    """

    loss: float = 0.0
    hinge: float = 0.0
    kl: float = 0.0
    centres: int = 0

    def __add__(self, other: StepResult) -> StepResult:
        return StepResult(
            self.loss + other.loss, self.hinge + other.hinge, self.kl + other.kl, self.centres + other.centres
        )

    def per_centre(self) -> tuple[float, float, float]:
        """Return loss, hinge and kl per centre; NaN when there was none."""
        if not self.centres:
            return math.nan, math.nan, math.nan
        return self.loss / self.centres, self.hinge / self.centres, self.kl / self.centres


class Backend(ABC):
    """Trains the tables of a ``KeyedDensities``: one subclass for each way of computing the step."""

    #: Whether `step` may run in several threads at once, each with its own worker number.
    concurrent: bool

    #: How many words of text `step` trains on at once, if it is not concurrent: chunks are gathered until they have
    #: as many. 0 takes each chunk alone.
    batch_words: int = 0

    def prepare(self, *chunks: Chunk) -> Any:
        """Return what `step` takes for the chunks that it trains on at once.

        Other threads call it ahead of a backend that is not concurrent.
        """
        (chunk,) = chunks
        return chunk

    def threads(self, count: int) -> AbstractContextManager[None]:
        """Let `step` compute with this many threads of its own for as long as the context lasts."""
        return nullcontext()

    @abstractmethod
    def step(self, chunk: Any, alpha: float, worker: int = 0) -> StepResult:
        """Train at learning rate ``alpha`` on one chunk, as it is, or on what `prepare` returned."""

    @abstractmethod
    def gradients(self, chunk: Chunk) -> tuple[StepResult, dict[str, Array]]:
        """Return the loss of a chunk and the gradients of its sum over centres, by table; train nothing."""

    def measure(self, chunk: Any, worker: int = 0) -> StepResult | None:
        """Return the loss of a chunk, as `step` takes it, with the tables as they are, and change nothing.

        None, unless overridden: the losses of the steps are then all there is.
        """
        return None

    def arrays(self) -> dict[str, Any]:
        """Return all trained tables and accumulators by name, live: NumPy arrays, or tensors on the device."""
        raise NotImplementedError

    def state(self) -> dict[str, Array]:
        """Return the optimiser's accumulators by name, as saved in a model file; none unless overridden."""
        return {}

    def synchronise(self) -> None:  # noqa: B027 - tables that are trained in place need nothing
        """Bring the arrays of the ``KeyedDensities`` up to date with what was trained."""
