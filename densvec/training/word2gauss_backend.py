"""Word2Gauss's backend: trains means and log-variances in place on the CPU, by several threads if asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from densvec.native._word2gauss import ENERGIES, Kernel
from densvec.training.settings import Array, StepResult

if TYPE_CHECKING:
    from densvec._corpus import Chunk
    from densvec.keyed import KeyedDensities

__all__ = ["ENERGIES", "Bounds", "GaussRates", "Word2GaussBackend", "check_energy", "check_margin"]



@dataclass(frozen=True)
class Bounds:
    """What Vilnis & McCallum allow a density to be: m ≤ variance ≤ M in every dimension, |mean| ≤ C."""

    min_variance: float = 0.05
    max_variance: float = 20.0
    max_norm: float = 100.0

    def __post_init__(self) -> None:
        low, high, longest = self.min_variance, self.max_variance, self.max_norm
        if not 1e-4 <= low <= high <= 1e4:
            raise ValueError(
                f"min_variance={low} and max_variance={high} must be in order, and between 0.0001 and 10000"
            )
        if not 0 < longest <= 1e6:
            raise ValueError(f"max_norm={longest} must be above 0, and at most 1000000")


@dataclass(frozen=True)
class GaussRates:
    """Learning rates as multiples of ``alpha``."""

    mean: float = 4.0
    log_variance: float = 2.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"the rate {name}={value} is not a finite number of at least 0")


def check_energy(energy: str) -> str:
    """Return the name of an energy, or say what is wrong with it."""
    if energy not in ENERGIES:
        raise ValueError(f"energy={energy!r} is unknown: use one of {', '.join(ENERGIES)}")
    return energy


def check_margin(margin: float) -> float:
    """Return a margin, or say what is wrong with it."""
    if not (math.isfinite(margin) and margin >= 0):
        raise ValueError(f"margin={margin} is not a finite number of at least 0")
    return margin


class Word2GaussBackend:
    """Max-margin training of Gaussian embeddings.

    The tables belong to ``wv`` and are trained where they lie. With one worker a run is reproducible bit for
    bit; several workers update the same tables without locks (Hogwild).

    The means take gradient steps with an implicit denominator, μ −= r·g/(1 + r·c) with c the curvature of the
    loss, so that no rate overshoots; the log-variances take natural gradient steps of at most 1. After each
    step both are put back within their bounds: the tables stay finite whatever the settings. The loss of a step is
    the hinge, and ``kl`` is 0.

    Parameters
    ----------
    wv : KeyedDensities
        Means and log-variances, both of float32, or both of float64 to check gradients.
    margin : float
        By how much the energy of a word and its context must pass that of the word and a negative.
    energy : {"kl", "reverse_kl", "expected_likelihood"}
        E(w, c) of a word and its context: −KL[c‖w], −KL[w‖c], or log ∫ w(z) c(z) dz.
    bounds, rates : Bounds, GaussRates
        Limits of the densities, and the learning rates as multiples of alpha.
    """

    concurrent = True

    def __init__(
        self,
        wv: KeyedDensities,
        margin: float = 5.0,
        energy: str = "kl",
        bounds: Bounds | None = None,
        rates: GaussRates | None = None,
    ) -> None:
        assert wv.log_variances is not None
        self.rates = rates or GaussRates()
        bounds = bounds or Bounds()
        self._arrays: dict[str, Array] = {"means": wv.vectors, "log_variances": wv.log_variances}
        self._kernel = Kernel(
            self._arrays,
            margin=check_margin(margin),
            energy=check_energy(energy),
            low=math.log(bounds.min_variance),
            high=math.log(bounds.max_variance),
            longest=bounds.max_norm,
        )

    def step(self, chunk: Chunk, alpha: float, worker: int = 0) -> StepResult:
        """Train on one chunk at learning rate `alpha`; any thread may do so."""
        hinge, centres = self._kernel.step(
            chunk, mean=alpha * self.rates.mean, log_variance=alpha * self.rates.log_variance
        )
        return StepResult(hinge, hinge, 0.0, centres)

    def gradients(self, chunk: Chunk) -> tuple[StepResult, dict[str, Array]]:
        """Return the loss of a chunk and its gradients, by the names of the tables; train nothing."""
        into = {name: np.zeros_like(array) for name, array in self._arrays.items()}
        hinge, centres = self._kernel.gradients(chunk, into)
        return StepResult(hinge, hinge, 0.0, centres), into

    def state(self) -> dict[str, Array]:
        """Return no accumulators: the steps need none."""
        return {}

    def synchronise(self) -> None:
        """Do nothing: the tables are trained where they lie."""
