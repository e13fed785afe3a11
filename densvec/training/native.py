"""The native backend: trains a ``KeyedDensities`` in place on the CPU, by several threads if asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from densvec.native._bsg import WEIGHT_NAMES, Kernel
from densvec.training.settings import Array, Objective, Rates, StepResult

if TYPE_CHECKING:
    from densvec._corpus import Chunk
    from densvec.keyed import KeyedDensities

__all__ = ["NativeBackend"]


class NativeBackend:
    """Training by the Cython kernel, with the update rules of ``docs/recipe.md``.

    The tables belong to ``wv`` and are trained where they lie. With one worker a run is reproducible bit for bit;
    several workers update the same tables without locks (Hogwild), so that no two runs are quite the same.

    Parameters
    ----------
    wv : KeyedDensities
        Means, log-variances and encoder; all of float32, or all of float64 to check gradients.
    objective, rates : Objective, Rates
        The loss, and the learning rates as multiples of alpha.
    state : dict of str to array, optional
        The optimiser's accumulators, as `state` returned them earlier.
    workers : int
        How many threads may call `step` at once.
    """

    concurrent = True

    def __init__(
        self,
        wv: KeyedDensities,
        objective: Objective,
        rates: Rates,
        state: dict[str, Array] | None = None,
        workers: int = 1,
    ) -> None:
        assert wv.encoder is not None
        assert wv.log_variances is not None
        self.objective = objective
        self.rates = rates
        self._arrays: dict[str, Array] = {
            "means": wv.vectors,
            "log_variances": wv.log_variances,
            **wv.encoder.arrays(),
        }
        self._state = _fresh_state(self._arrays) | _own(state or {})
        self._kernel = Kernel(
            self._arrays,
            self._state,
            margin=objective.margin,
            kl_weight=objective.kl_weight,
            nearness=objective.nearness,
            residual=wv.encoder.residual,
            workers=workers,
        )

    def step(self, chunk: Chunk, alpha: float, worker: int = 0) -> StepResult:
        """Train on one chunk at learning rate `alpha`; threads pass different worker numbers."""
        rates = self.rates
        hinge, kl, centres = self._kernel.step(
            chunk,
            mean=alpha * rates.mean,
            log_variance=alpha * rates.log_variance,
            contrast=alpha * rates.contrast,
            coverage=alpha * rates.coverage,
            embedding=alpha * rates.embedding,
            encoder=alpha * rates.encoder,
            worker=worker,
        )
        return StepResult(hinge + self.objective.kl_weight * kl, hinge, kl, centres)

    def gradients(self, chunk: Chunk) -> tuple[StepResult, dict[str, Array]]:
        """Return the loss of a chunk and its gradients, by the names of the tables; train nothing."""
        into = {name: np.zeros_like(array) for name, array in self._arrays.items()}
        hinge, kl, centres = self._kernel.gradients(chunk, into)
        return StepResult(hinge + self.objective.kl_weight * kl, hinge, kl, centres), into

    def state(self) -> dict[str, Array]:
        """Return the optimiser's accumulators, live: copy them to keep them."""
        return self._state

    def synchronise(self) -> None:
        """Do nothing: the tables are trained where they lie."""


def _fresh_state(arrays: dict[str, Array]) -> dict[str, Array]:
    dtype = arrays["means"].dtype
    state: dict[str, Array] = {
        "embedding_squares": np.zeros(len(arrays["embeddings"]), dtype),
        "typical_word": np.array([1.0, 0.0], dtype),  # stretch and log-variance
        "adam_steps": np.zeros(1, np.int64),
    }
    for name in WEIGHT_NAMES:
        state[f"adam_first.{name}"] = np.zeros_like(arrays[name])
        state[f"adam_second.{name}"] = np.zeros_like(arrays[name])
    return state


def _own(state: dict[str, Array]) -> dict[str, Array]:
    """Copy what cannot be written in place, such as arrays mapped from a file."""
    return {name: np.require(array, requirements=["C", "W"]) for name, array in state.items()}
