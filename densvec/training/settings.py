"""What a training run is told: the objective, the learning rates, and what a step reports back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

if TYPE_CHECKING:
    from densvec._corpus import Chunk

__all__ = [
    "ADAGRAD_EPSILON",
    "ADAM_BETAS",
    "ADAM_EPSILON",
    "LOG_VARIANCE_STEP",
    "PRIOR_LOG_VARIANCE_BOUNDS",
    "SHRINKAGE",
    "TYPICAL_MEMORY",
    "Array",
    "Backend",
    "DivergenceError",
    "Objective",
    "Rates",
    "StepResult",
]

Array = NDArray[Any]

PRIOR_LOG_VARIANCE_BOUNDS = (-10.0, 10.0)  # the priors' log-variances never leave this interval
LOG_VARIANCE_STEP = 1.0  # the largest change of a prior's log-variance in one update
ADAGRAD_EPSILON = 1e-8
ADAM_BETAS = (0.9, 0.999)
ADAM_EPSILON = 1e-8
TYPICAL_MEMORY = 2048  # centres over which the typical word is averaged, about
SHRINKAGE = 0.1  # how strongly coverage draws log-variances to the typical one


class DivergenceError(RuntimeError):
    """Training was stopped because the loss was no longer a finite, reasonable number."""


@dataclass(frozen=True)
class Objective:
    """The loss of one centre word, Eq. 7 of the paper.

    With ``pairing="paired"`` each positive c_j has its own K negatives n_jk::

        Σ_j (a_j/K) Σ_k max(0, KL[q‖c_j] − KL[q‖n_jk] + margin)  +  kl_weight · KL[q‖w]

    which is the paper's at K = 1 and a_j = 1. With ``pairing="shared"`` the K negatives n_k of a centre serve
    all of its positives::

        (1/K) Σ_j a_j Σ_k max(0, KL[q‖c_j] − KL[q‖n_k] + margin)  +  kl_weight · KL[q‖w]

    The weights a_j fall with the distance d of c_j from the centre, a = 1 + nearness·(r + 1 − 2d)/(r + 1) in a
    window of radius r, and are 1 on average. Nearness 0 is the paper; at 1 a word counts as often as it would
    be in a window whose radius is drawn from 1..r. The windows and the number of negatives are in the chunk.
    """

    margin: float = 5.0
    kl_weight: float = 1.0
    pairing: str = "shared"
    nearness: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.margin) and self.margin >= 0):
            raise ValueError(f"margin={self.margin} is not a finite number of at least 0")
        if not (math.isfinite(self.kl_weight) and self.kl_weight >= 0):
            raise ValueError(f"kl_weight={self.kl_weight} is not a finite number of at least 0")
        if self.pairing not in ("shared", "paired"):
            raise ValueError(f"pairing={self.pairing!r} is unknown: use 'shared' or 'paired'")
        if not 0 <= self.nearness <= 1:
            raise ValueError(f"nearness={self.nearness} is not between 0 and 1")


@dataclass(frozen=True)
class Rates:
    """Learning rates as multiples of ``alpha``: at alpha=0.025 they are .075, .075, .0375, .0225, .05 and 3e-4.

    Log-variances have three: ``log_variance`` for what the word's own posteriors say of them, ``contrast`` for
    the hinge, where the word is a context word or a negative, and ``coverage``. A word's variance should cover
    the posteriors of the windows that the word is in. The second moment of such a posterior q about the word,
    in units of the word's variance, is its *stretch*::

        (v_q + (μ_q − μ_c)²) / v_c

    Coverage widens a word whose stretch is greater than that of the typical word, and narrows one whose stretch
    is smaller; both only so far, for it also draws log-variances a little to the typical one (`SHRINKAGE`). It
    is not part of the loss. What it holds is what the loss leaves loose: Eq. 7 does not change when all means and
    variances, or those of words that keep to themselves, are scaled together, and it contrasts words only where
    the margin is not kept.
    """

    mean: float = 3.0
    log_variance: float = 3.0
    contrast: float = 1.5
    coverage: float = 0.9
    embedding: float = 2.0
    encoder: float = 0.012

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"rates: {name}={value} is not a finite number of at least 0")


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


class Backend(Protocol):
    """What trains the tables of a ``KeyedDensities``: one class per way of computing the step."""

    concurrent: bool  # whether step() may run in several threads at once, each with its own worker number

    def step(self, chunk: Chunk, alpha: float, worker: int = 0) -> StepResult:
        """Train on one chunk at learning rate ``alpha``."""
        ...

    def gradients(self, chunk: Chunk) -> tuple[StepResult, dict[str, Array]]:
        """Return the loss of a chunk and the gradients of its sum over centres; train nothing."""
        ...

    def state(self) -> dict[str, Array]:
        """Return the optimiser's accumulators by name, as saved in a model file."""
        ...

    def synchronise(self) -> None:
        """Bring the arrays of the ``KeyedDensities`` up to date with what was trained."""
        ...
