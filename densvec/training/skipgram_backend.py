"""The skip-gram's backend: trains vectors and context vectors in place on the CPU, by several threads if asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from densvec.native._skipgram import Kernel
from densvec.training.settings import Array, StepResult

if TYPE_CHECKING:
    from densvec._corpus import Chunk
    from densvec.keyed import KeyedDensities

__all__ = ["SkipGramBackend"]


class SkipGramBackend:
    """Plain stochastic gradient descent on the negative log-likelihood of skip-gram with negative sampling.

    The tables belong to ``wv`` and are trained where they lie. With one worker a run is reproducible bit for
    bit; several workers update the same tables without locks (Hogwild). The loss of a step is the negative
    log-likelihood; it stands in ``hinge`` too, and ``kl`` is 0.

    Parameters
    ----------
    wv : KeyedDensities
        Its ``vectors`` and ``context_vectors``, both of float32, or both of float64 to check gradients.
    """

    concurrent = True

    def __init__(self, wv: KeyedDensities) -> None:
        assert wv.context_vectors is not None
        self._arrays: dict[str, Array] = {"means": wv.vectors, "context_vectors": wv.context_vectors}
        self._kernel = Kernel(self._arrays)

    def step(self, chunk: Chunk, alpha: float, worker: int = 0) -> StepResult:
        """Train on one chunk at learning rate `alpha`; any thread may do so."""
        loss, centres = self._kernel.step(chunk, alpha)
        return StepResult(loss, loss, 0.0, centres)

    def gradients(self, chunk: Chunk) -> tuple[StepResult, dict[str, Array]]:
        """Return the loss of a chunk and its gradients, by the names of the tables; train nothing."""
        into = {name: np.zeros_like(array) for name, array in self._arrays.items()}
        loss, centres = self._kernel.gradients(chunk, into)
        return StepResult(loss, loss, 0.0, centres), into

    def state(self) -> dict[str, Array]:
        """Return no accumulators: plain gradient descent has none."""
        return {}

    def synchronise(self) -> None:
        """Do nothing: the tables are trained where they lie."""
