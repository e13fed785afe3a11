"""The settings of training: the loss, the learning rates, the limits, and constants that all backends share."""

from __future__ import annotations

import math
from dataclasses import dataclass

from densvec.checks import check_pairing

PRIOR_LOG_VARIANCE_BOUNDS = (-10.0, 10.0)  # the priors' log-variances never leave this interval
LOG_VARIANCE_STEP = 1.0  # the largest change of a prior's log-variance in one update
ADAGRAD_EPSILON = 1e-8
ADAM_BETAS = (0.9, 0.999)
ADAM_EPSILON = 1e-8
LARGEST_RATE = 1e6  # steps are damped or bounded: a greater rate would only overflow
TYPICAL_MEMORY = 2048  # about how many centres the typical word (see `Rates`) is a running mean over
SCORED = 4  # at one position of this many a narrowing posterior is scored: its head has few weights to learn
SHRINKAGE = 0.1  # how strongly coverage draws log-variances to the typical one
COMPANY = 0.05  # how much coverage widens a word for the log-frequency of the words around it


def _not_negative(name: str, value: float) -> float:
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name}={value} is not a finite number of at least 0")
    return value


@dataclass(frozen=True)
class Objective:
    """The loss of one centre word, Eq. 7 of the paper.

    With ``pairing="paired"`` each positive c_j has its own K negatives n_jk::

        Σ_j (a_j/K) Σ_k max(0, KL[q‖c_j] − KL[q‖n_jk] + margin)  +  kl_weight · KL[q‖w]

    which is the paper's at K = 1 and a_j = 1. With ``pairing="shared"`` the K negatives n_k of a centre serve
    all of its positives::

        (1/K) Σ_j a_j Σ_k max(0, KL[q‖c_j] − KL[q‖n_k] + margin)  +  kl_weight · KL[q‖w]

    The weights a_j fall with the distance d of c_j from the centre, a = 1 + nearness·(r + 1 − 2d)/(r + 1) in a
    window of radius r, and are 1 on average. Nearness 0 is the paper; at 1 a word counts as much as it would
    on average if the radius were drawn from 1..r. The windows and the number of negatives are in the chunk.
    """

    margin: float = 5.0
    kl_weight: float = 1.0
    pairing: str = "shared"
    nearness: float = 1.0

    def __post_init__(self) -> None:
        _not_negative("margin", self.margin)
        _not_negative("kl_weight", self.kl_weight)
        check_pairing(self.pairing)
        if not 0 <= self.nearness <= 1:
            raise ValueError(f"nearness={self.nearness} is not between 0 and 1")


@dataclass(frozen=True)
class Rates:
    """Learning rates as multiples of ``alpha``: at alpha=0.025 they are .0625, .075, .045, .01875, .05 and 3e-4.

    Log-variances have three: ``log_variance`` for what the word's own posteriors say of them, ``contrast`` for
    the hinge, where the word is a context word or a negative, and ``coverage``. *Coverage* means that a word's
    variance covers the posteriors of the windows that the word is in. The *stretch* of a word by such a posterior
    q is the second moment of q about the word, in units of the word's variance::

        (v_q + (μ_q − μ_c)²) / v_c

    The *typical word* is the running mean of stretch and log-variance over all words met in training. Coverage
    widens a word whose stretch is greater than the typical one and narrows one whose stretch is smaller. Its
    *company* counts too (`COMPANY`): a word becomes wider in the windows of frequent centres and narrower in
    those of rare ones, since general words keep company with words that are general themselves. Coverage also
    draws log-variances a little towards the typical one (`SHRINKAGE`), which limits all this. It is not part of
    the loss, but settles what the loss leaves open: Eq. 7 does not change when all means and variances, or those
    of words that occur only with each other, are scaled together, and it contrasts words only where the margin is
    not satisfied.
    """

    mean: float = 2.5
    log_variance: float = 3.0
    contrast: float = 1.8
    coverage: float = 0.75
    embedding: float = 2.0
    encoder: float = 0.012

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            _not_negative(f"rates: {name}", value)


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
    """Learning rates of Word2Gauss as multiples of ``alpha``."""

    mean: float = 4.0
    log_variance: float = 2.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            _not_negative(f"the rate {name}", value)
