"""The native backends, one for each model: their Cython kernels train a ``KeyedDensities`` in place on the CPU."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.native import (
    _bsg,
    _bsg_double,
    _skipgram,
    _skipgram_double,
    _word2gauss,
    _word2gauss_double,
    kernel_for,
)
from densvec.training.backend import Backend, StepResult
from densvec.training.layout import writable
from densvec.training.settings import Bounds, GaussRates, Objective, Rates
from densvec.training.tables import bayesian_company, bayesian_state, bayesian_tables
from densvec.types import Array

if TYPE_CHECKING:
    from densvec._corpus import Chunk
    from densvec.tables import Tables

ENERGIES = _word2gauss.ENERGIES


@dataclass
class Options:
    """How the native kernels compute, for all models that this process trains; none of this is part of a model.

    Parameters
    ----------
    bfloat16 : bool
        Whether the matrix products of the Bayesian Skip-gram's encoder are computed from numbers of 16 bits while it
        trains, on processors that multiply these twice as fast (AVX-512 BF16: AMD's since Zen 4, Intel's Xeons since
        Sapphire Rapids). Tables, sums, divergences and inference have 32 bits. False trains the same model on every
        processor, up to the order of sums.

    Examples
    --------
    >>> from densvec.training.native import options
    >>> options
    Options(bfloat16=True)
    """

    bfloat16: bool = True


#: What models are trained with; change its attributes.
options = Options()


class NativeBackend(Backend):
    """What the native backends share.

    The tables belong to a ``KeyedDensities`` and are trained where they lie: all of float32, or all of float64 to
    check gradients. With one worker a run is reproducible bit for bit on machines of one kind; several workers update
    the same tables without locks (Hogwild), so no two runs are quite the same.
    """

    concurrent = True

    def __init__(
        self, tables: dict[str, Array], kernel: Any, rates: Rates | GaussRates | None = None
    ) -> None:
        self._tables = tables
        self._kernel = kernel
        self.rates = rates

    def step(self, chunk: Chunk, alpha: float, worker: int = 0) -> StepResult:
        """Train on one chunk at learning rate `alpha`; threads pass different worker numbers."""
        rates = {"alpha": 1.0} if self.rates is None else vars(self.rates)
        rates = {name: alpha * rate for name, rate in rates.items()}
        return self._result(*self._kernel.step(chunk, **rates, worker=worker))

    def measure(self, chunk: Chunk, worker: int = 0) -> StepResult | None:
        """Return the loss of a chunk as the tables are, and change nothing."""
        return self._result(*self._kernel.measure(chunk, worker))

    def gradients(self, chunk: Chunk) -> tuple[StepResult, dict[str, Array]]:
        """Return the loss of a chunk and its gradients, by the names of the tables; train nothing."""
        into = {name: np.zeros_like(table) for name, table in self._tables.items()}
        sums = self._kernel.gradients(chunk, into)
        return self._result(*sums), into

    def arrays(self) -> dict[str, Any]:
        """Return the tables and the optimiser's accumulators, live."""
        return {**self._tables, **self.state()}

    def _result(self, loss: float, centres: int) -> StepResult:
        """Return what a kernel's sums mean; a loss of one part stands in ``hinge`` too, and ``kl`` is 0."""
        return StepResult(loss, loss, 0.0, centres)


class BayesianSkipGramBackend(NativeBackend):
    """The Bayesian Skip-gram, with the update rules of ``docs/recipe.md``.

    Parameters
    ----------
    wv : Tables
        Means, log-variances and encoder.
    objective, rates : Objective, Rates
        The loss, and the learning rates as multiples of alpha.
    state : dict of str to array, optional
        The optimiser's accumulators, as `state` returned them earlier.
    workers : int
        How many threads may call `step` at once. Each has moments of the encoder's weights of its own, which start as
        those of `state`; `state` has those of worker 0 afterwards.
    bfloat16 : bool, optional
        See `Options`; None takes `densvec.training.native.options`.
    """

    def __init__(
        self,
        wv: Tables,
        objective: Objective,
        rates: Rates,
        state: dict[str, Array] | None = None,
        workers: int = 1,
        bfloat16: bool | None = None,
    ) -> None:
        assert wv.encoder is not None
        self.objective = objective
        tables = bayesian_tables(wv)
        given = {
            name: writable(array) for name, array in (state or {}).items()
        }  # some are mapped from a file
        self._state = bayesian_state(tables) | given
        kernel = kernel_for(wv.vectors, _bsg.Kernel, _bsg_double.Kernel)(
            tables,
            self._state,
            margin=objective.margin,
            kl_weight=objective.kl_weight,
            nearness=objective.nearness,
            residual=wv.encoder.residual,
            reading=wv.encoder.reading,
            company=bayesian_company(wv),
            workers=workers,
            bfloat16=options.bfloat16 if bfloat16 is None else bfloat16,
        )
        super().__init__(tables, kernel, rates)

    def state(self) -> dict[str, Array]:
        """Return the optimiser's accumulators, live: copy them to keep them."""
        return self._state

    def _result(self, hinge: float, kl: float, centres: int) -> StepResult:  # type: ignore[override]
        return StepResult(hinge + self.objective.kl_weight * kl, hinge, kl, centres)


def skip_gram_backend(wv: Tables) -> NativeBackend:
    """Return plain stochastic gradient descent on the likelihood of skip-gram with negative sampling."""
    assert wv.context_vectors is not None
    tables = {"means": wv.vectors, "context_vectors": wv.context_vectors}
    return NativeBackend(tables, kernel_for(wv.vectors, _skipgram.Kernel, _skipgram_double.Kernel)(tables))


def word2gauss_backend(
    wv: Tables,
    margin: float = 5.0,
    energy: str = "kl",
    bounds: Bounds | None = None,
    rates: GaussRates | None = None,
) -> NativeBackend:
    """Return max-margin training of Gaussian embeddings; the loss is the hinge.

    The means take gradient steps with an implicit denominator, μ −= r·g/(1 + r·c) with c the curvature of the
    loss, so that no rate overshoots; the log-variances take natural gradient steps of at most 1. After each
    step both are put back within their `bounds`: the tables stay finite whatever the settings. See
    :class:`densvec.word2gauss.Word2Gauss` for margin and energy.
    """
    assert wv.log_variances is not None
    bounds = bounds or Bounds()
    tables = {"means": wv.vectors, "log_variances": wv.log_variances}
    kernel = kernel_for(wv.vectors, _word2gauss.Kernel, _word2gauss_double.Kernel)(
        tables,
        margin=margin,
        energy=energy,
        low=math.log(bounds.min_variance),
        high=math.log(bounds.max_variance),
        longest=bounds.max_norm,
    )
    return NativeBackend(tables, kernel, rates or GaussRates())
