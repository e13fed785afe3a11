"""The torch backend: readable, on any device, and the oracle of the faster one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from densvec.training.settings import (
    ADAGRAD_EPSILON,
    ADAM_BETAS,
    ADAM_EPSILON,
    LOG_VARIANCE_STEP,
    PRIOR_LOG_VARIANCE_BOUNDS,
    SHRINKAGE,
    TYPICAL_MEMORY,
    Array,
    Objective,
    Rates,
    StepResult,
)
from densvec.training.torch.links import sums_by_centre
from densvec.training.torch.minibatch import Minibatch, minibatches
from densvec.training.torch.step import Losses, Posteriors, Rows, TorchStep

if TYPE_CHECKING:
    from densvec._corpus import Chunk
    from densvec.keyed import KeyedDensities

__all__ = ["PreparedChunk", "TorchBackend"]

BATCH_CENTRES = {"cpu": 512, "cuda": 4096, "mps": 4096}


@dataclass
class PreparedChunk:
    """A chunk whose minibatches are on their way to the device."""

    chunk: Chunk
    minibatches: list[Minibatch]


class TorchBackend:
    """Trains the tables of a `KeyedDensities` with torch.

    On a CPU the tensors share the memory of the arrays in ``wv``; on another device they are copies, which
    `synchronise` brings home. Only the rows that a minibatch uses are read and written, so that the cost of a
    step does not grow with the vocabulary.

    Parameters
    ----------
    wv
        The densities and their encoder, trained in place. Tables of float64 are trained in float64.
    objective, rates
        The loss, and the learning rates as multiples of the ``alpha`` given to `step`.
    state
        The optimiser's accumulators, as `state` returned them; None starts anew.
    device
        "cpu", "cuda", "cuda:1", "mps" …; None takes CUDA when it is there, else the CPU.
    batch_centres
        Centres per update; None chooses by device.
    """

    concurrent = False

    def __init__(
        self,
        wv: KeyedDensities,
        objective: Objective,
        rates: Rates,
        state: dict[str, Array] | None = None,
        *,
        device: str | None = None,
        batch_centres: int | None = None,
    ) -> None:
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.batch_centres = batch_centres or BATCH_CENTRES.get(self.device.type, 4096)
        self.rates = rates
        assert wv.encoder is not None
        assert wv.log_variances is not None
        weights = {name: array for name, array in wv.encoder.arrays().items() if name != "embeddings"}
        self._homes: dict[str, Array] = {
            "means": wv.vectors,
            "log_variances": wv.log_variances,
            "embeddings": wv.encoder.embeddings,
            **weights,
        }
        tensors = {name: torch.from_numpy(array).to(self.device) for name, array in self._homes.items()}
        self.tables = Rows(tensors["means"], tensors["log_variances"], tensors["embeddings"])
        self.module = TorchStep({name: tensors[name] for name in weights}, objective, wv.encoder.residual)
        self.optimiser = _Optimiser(
            self.tables, dict(self.module.named_parameters()), state, wv.encoder.residual
        )

    @contextmanager
    def threads(self, count: int) -> Iterator[None]:
        """Compute with so many threads on the CPU for as long as the context lasts."""
        before = torch.get_num_threads()
        torch.set_num_threads(count)
        try:
            yield
        finally:
            torch.set_num_threads(before)

    def prepare(self, chunk: Chunk) -> PreparedChunk:
        """Cut a chunk and send it to the device: work for other threads while the device is busy."""
        return PreparedChunk(
            chunk, [self._to_device(batch) for batch in minibatches(chunk, self.batch_centres)]
        )

    def step(self, chunk: Chunk | PreparedChunk, alpha: float, worker: int = 0) -> StepResult:
        """Train on one chunk; a loss of NaN says that an update was left out because it was not finite."""
        prepared = chunk if isinstance(chunk, PreparedChunk) else self.prepare(chunk)
        sums = torch.zeros(
            3, device=self.device, dtype=torch.float32 if self.device.type == "mps" else torch.float64
        )
        centres = 0
        for batch in prepared.minibatches:
            losses, rows, posteriors, gradients = self._differentiate(batch)
            finite = self.optimiser.update(batch, rows, posteriors, gradients, self.rates, alpha)
            sums += torch.where(finite, torch.stack(losses), torch.nan)
            centres += len(batch.centres)
        loss, hinge, kl = sums.tolist()  # the only wait for the device
        return StepResult(loss, hinge, kl, centres)

    def gradients(self, chunk: Chunk) -> tuple[StepResult, dict[str, Array]]:
        """Return the loss of a chunk and the dense gradients of its sum over centres, by parameter."""
        result = StepResult()
        dense = {name: np.zeros_like(array) for name, array in self._homes.items()}
        for batch in minibatches(chunk):
            losses, _, _, gradients = self._differentiate(self._to_device(batch))
            dense["means"][batch.words] = gradients.rows.means.cpu()
            dense["log_variances"][batch.words] = gradients.rows.log_variances.cpu()
            dense["embeddings"][batch.words[: batch.encoded]] = gradients.rows.embeddings.cpu()
            for name, gradient in gradients.weights.items():
                dense[name] = gradient.cpu().numpy()
            loss, hinge, kl = (float(value) for value in losses)
            result = StepResult(loss, hinge, kl, len(batch.centres))
        return result, dense

    def state(self) -> dict[str, Array]:
        """Return the optimiser's accumulators by name, under names that all backends share."""
        return {name: tensor.cpu().numpy().copy() for name, tensor in self.optimiser.state().items()}

    def synchronise(self) -> None:
        """Copy the tables back to ``wv``; on a CPU they never left."""
        if self.device.type == "cpu":
            return
        trained: dict[str, Tensor] = {**self.tables._asdict(), **dict(self.module.named_parameters())}
        for name, home in self._homes.items():
            home[...] = trained[name].detach().cpu().numpy()

    def _to_device(self, batch: Minibatch) -> Minibatch:
        def convert(array: Array) -> Tensor:
            tensor = torch.from_numpy(array)
            if self.device.type == "cuda":
                tensor = tensor.pin_memory()
            return tensor.to(self.device, non_blocking=True)

        return batch.to(convert)

    def _differentiate(self, batch: Minibatch) -> tuple[Losses, Rows, Posteriors, _Gradients]:
        """Return losses and posteriors of a minibatch, the rows that it reads, and the gradients of all of them."""
        rows = Rows(
            self.tables.means.index_select(0, batch.words).requires_grad_(),
            self.tables.log_variances.index_select(0, batch.words).requires_grad_(),
            self.tables.embeddings.index_select(0, batch.words[: batch.encoded]).requires_grad_(),
        )
        weights = dict(self.module.named_parameters())
        with self._autocast():
            losses, divergences, posteriors = self.module(batch, rows)
        wanted = (*rows, *weights.values(), divergences)
        found = torch.autograd.grad(losses.loss, wanted, allow_unused=True, materialize_grads=True)
        gradients = _Gradients(Rows(*found[:3]), dict(zip(weights, found[3:-1], strict=True)), found[-1])
        return Losses(*(value.detach() for value in losses)), rows, posteriors, gradients

    def _autocast(self) -> AbstractContextManager[Any]:
        """Mixed precision where the device gains by it and the tables allow it."""
        if (
            self.device.type == "cuda"
            and self.tables.means.dtype == torch.float32
            and torch.cuda.is_bf16_supported()
        ):
            return torch.autocast("cuda", dtype=torch.bfloat16)
        return nullcontext()


@dataclass
class _Gradients:
    """Gradients of the summed loss; those of the divergences are the weights a with which they enter it."""

    rows: Rows
    weights: dict[str, Tensor]
    divergences: Tensor

    def __iter__(self) -> Iterator[Tensor]:
        return iter((*self.rows, *self.weights.values(), self.divergences))

    def squared_norm(self) -> Tensor:
        """Return the squared norm of all gradients: not finite as soon as one of them is not."""
        flat = [gradient.flatten() for gradient in self]
        return torch.stack([torch.dot(gradient, gradient) for gradient in flat]).sum()


class _Optimiser:
    """The update rule of each table and its accumulators."""

    def __init__(
        self, tables: Rows, weights: dict[str, Tensor], state: dict[str, Array] | None, residual: bool = False
    ) -> None:
        self.tables = tables
        self.residual = residual
        self.weights = weights
        device = tables.means.device
        self.squares = torch.zeros(len(tables.embeddings), dtype=tables.embeddings.dtype, device=device)
        self.typical = torch.tensor([1.0, 0.0], dtype=tables.means.dtype, device=device)
        self.steps = torch.zeros(1, dtype=torch.int64)
        self.first = {name: torch.zeros_like(weight) for name, weight in weights.items()}
        self.second = {name: torch.zeros_like(weight) for name, weight in weights.items()}
        for name, tensor in self.state().items():
            if state is not None and name in state:
                tensor.copy_(torch.from_numpy(np.ascontiguousarray(state[name])))

    def state(self) -> dict[str, Tensor]:
        """Return the accumulators by name."""
        state = {
            "embedding_squares": self.squares,
            "typical_word": self.typical,  # stretch and log-variance
            "adam_steps": self.steps,
        }
        state.update({f"adam_first.{name}": tensor for name, tensor in self.first.items()})
        state.update({f"adam_second.{name}": tensor for name, tensor in self.second.items()})
        return state

    @torch.no_grad()
    def update(
        self,
        batch: Minibatch,
        rows: Rows,
        posteriors: Posteriors,
        gradients: _Gradients,
        rates: Rates,
        alpha: float,
    ) -> Tensor:
        """Take a step, or none when a gradient is not finite; return which, with no wait for the device."""
        finite = torch.isfinite(gradients.squared_norm())
        if finite.device.type != "cpu":  # to look at it would be to wait
            for gradient in gradients:
                gradient.masked_fill_(~finite, 0.0)
        elif not finite:
            return finite
        encoded = batch.words[: batch.encoded]
        weight = _weight(batch, rows, gradients.divergences)
        curvature = weight * (-rows.log_variances).exp()
        if self.residual:
            curvature += _steepness(batch, rows, gradients.divergences)
        means = _implicit_step(rows.means, gradients.rows.means, curvature, alpha * rates.mean)
        log_variances = self._natural_step(batch, rows, posteriors, gradients, weight, rates, alpha)
        log_variances = torch.where(finite, log_variances, rows.log_variances)
        self.tables.means.index_copy_(0, batch.words, means)
        self.tables.log_variances.index_copy_(0, batch.words, log_variances)
        squares = self.squares.index_select(0, encoded) + gradients.rows.embeddings.square().mean(1)
        self.squares.index_copy_(0, encoded, squares)
        embeddings = _adagrad_step(
            rows.embeddings, gradients.rows.embeddings, squares, alpha * rates.embedding
        )
        self.tables.embeddings.index_copy_(0, encoded, embeddings)
        self._adam_step(gradients.weights, len(batch.centres), alpha * rates.encoder)
        return finite

    def _natural_step(
        self,
        batch: Minibatch,
        rows: Rows,
        posteriors: Posteriors,
        gradients: _Gradients,
        weight: Tensor,
        rates: Rates,
        alpha: float,
    ) -> Tensor:
        """Return the log-variances after a natural step: over their Fisher information, D/2 spherical or 1/2 diagonal.

        The denominator is the means', for the curvature in these coordinates is Σ|a|.
        """
        fisher = 0.5 * rows.means.shape[1] / rows.log_variances.shape[1]
        own = _own_slope(batch, rows, posteriors, gradients)
        slope = rates.log_variance * own + rates.contrast * (gradients.rows.log_variances - own)
        stretches, windows = _stretches(batch, rows, posteriors)
        stretch, log_variance = self.typical.unbind()
        cover = stretches - windows * (stretch + SHRINKAGE * (rows.log_variances - log_variance))
        curvature = alpha * (max(rates.log_variance, rates.contrast) * weight + rates.coverage * windows)
        step = alpha * (slope / fisher - rates.coverage * cover) / (1 + curvature)
        sums = torch.stack((stretches.mean(1).sum(), (windows * rows.log_variances).mean(1).sum()))
        typical = torch.where(sums.isfinite(), sums / windows.sum(), self.typical)
        self.typical.lerp_(typical, len(batch.centres) / (len(batch.centres) + TYPICAL_MEMORY))
        step.clamp_(-LOG_VARIANCE_STEP, LOG_VARIANCE_STEP)
        return torch.clamp(rows.log_variances - step, *PRIOR_LOG_VARIANCE_BOUNDS)

    def _adam_step(self, gradients: dict[str, Tensor], centres: int, rate: float) -> None:
        """Adam on the mean gradient per centre."""
        beta_first, beta_second = ADAM_BETAS
        self.steps += 1
        steps = int(self.steps)  # on the CPU whatever the device: no wait
        for name, gradient in gradients.items():
            mean_gradient = gradient / centres
            first = self.first[name].lerp_(mean_gradient, 1 - beta_first)
            second = (
                self.second[name]
                .mul_(beta_second)
                .addcmul_(mean_gradient, mean_gradient, value=1 - beta_second)
            )
            scale = (second / (1 - beta_second**steps)).sqrt_().add_(ADAM_EPSILON)
            self.weights[name].addcdiv_(first, scale, value=-rate / (1 - beta_first**steps))


def _weight(batch: Minibatch, rows: Rows, weights: Tensor) -> Tensor:
    """Return Σ|a| of each row, (U, 1): how much the divergences to that word weigh, whatever their sign."""
    total = rows.means.new_zeros(len(rows.means)).index_add_(0, batch.uses.words, weights.abs())
    return total[:, None]


def _steepness(batch: Minibatch, rows: Rows, weights: Tensor) -> Tensor:
    """Return Σ|a|/variance over all that a row's posteriors are contrasted with, (U, 1|D).

    A residual posterior moves with its prior's mean, which therefore has the posterior's curvature too.
    """
    precisions = (-rows.log_variances).exp()
    contrasts = weights.abs()
    contrasts[: len(batch.centres)] = 0.0  # its own prior, from which it keeps its distance
    of_posteriors = sums_by_centre(batch.uses, precisions, contrasts)  # (B, 1|D)
    return torch.zeros_like(precisions).index_add_(0, batch.centres, of_posteriors)


def _implicit_step(rows: Tensor, gradient: Tensor, curvature: Tensor, rate: float) -> Tensor:
    """SGD with an implicit denominator: at any rate a mean moves at most onto the posteriors that pull it."""
    return torch.addcdiv(rows, gradient, 1 + rate * curvature, value=-rate)


def _own_slope(batch: Minibatch, rows: Rows, posteriors: Posteriors, gradients: _Gradients) -> Tensor:
    """Return the part of the log-variances' gradient that is KL[q‖w]'s, from the words' own posteriors."""
    fisher = 0.5 * rows.means.shape[1] / rows.log_variances.shape[1]
    kl_weights = gradients.divergences[: len(batch.centres), None]
    own = kl_weights * fisher * (1 - _stretch(rows, batch.centres, *posteriors))
    return torch.zeros_like(rows.log_variances).index_add_(0, batch.centres, own)


def _stretches(batch: Minibatch, rows: Rows, posteriors: Posteriors) -> tuple[Tensor, Tensor]:
    """Return the sums of the words' stretches by the windows that they are in, (U, 1|D), and how many those are."""
    mean, log_variance = (part.index_select(0, batch.pairs.centres) for part in posteriors)
    words = batch.pairs.words
    stretch = _stretch(rows, words, mean, log_variance)
    windows = rows.means.new_zeros(len(rows.means)).index_add_(0, words, rows.means.new_ones(len(words)))
    return torch.zeros_like(rows.log_variances).index_add_(0, words, stretch), windows[:, None]


def _stretch(rows: Rows, words: Tensor, mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return the second moment of each posterior about its word, in units of the word's variance: (n, 1|D)."""
    square = (mean - rows.means.index_select(0, words)).square()
    if log_variance.shape[1] == 1:
        square = square.mean(1, keepdim=True)
    return (log_variance.exp() + square) * (-rows.log_variances.index_select(0, words)).exp()


def _adagrad_step(rows: Tensor, gradient: Tensor, squares: Tensor, rate: float) -> Tensor:
    """Row-wise Adagrad: one accumulator of mean squares per row."""
    return rows - rate * gradient * (squares + ADAGRAD_EPSILON).rsqrt()[:, None]
