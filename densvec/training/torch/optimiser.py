"""The update rule of each table and its accumulators, in torch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from densvec.training.settings import (
    ADAGRAD_EPSILON,
    ADAM_BETAS,
    ADAM_EPSILON,
    LARGEST_RATE,
    LOG_VARIANCE_STEP,
    PRIOR_LOG_VARIANCE_BOUNDS,
    SHRINKAGE,
    TYPICAL_MEMORY,
    Rates,
)
from densvec.training.torch.links import sums_by_centre
from densvec.training.torch.minibatch import Minibatch
from densvec.training.torch.step import Posteriors, Rows
from densvec.types import Array

__all__ = ["Gradients", "Optimiser"]


@dataclass
class Gradients:
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


class _Change(NamedTuple):
    """What a step makes of a table, or of some of its rows."""

    table: Tensor
    before: Tensor
    after: Tensor
    rows: Tensor | None = None

    def make(self, finite: Tensor) -> None:
        """Write it, unless the step is not finite; on a device that is only known there."""
        after = self.after if finite.device.type == "cpu" else torch.where(finite, self.after, self.before)
        if self.rows is None:
            self.table.copy_(after)
        else:
            self.table.index_copy_(0, self.rows, after)


class Optimiser:
    """The update rule of each table and its accumulators."""

    def __init__(
        self, tables: Rows, weights: dict[str, Tensor], state: dict[str, Array], residual: bool = False
    ) -> None:
        self.tables = tables
        self.residual = residual
        self.weights = weights
        self._state = {
            name: torch.from_numpy(np.array(array)).to("cpu" if name == "adam_steps" else tables.means.device)
            for name, array in state.items()
        }
        self.squares = self._state["embedding_squares"]
        self.typical = self._state["typical_word"]
        self.steps = self._state["adam_steps"]
        self.first = {name: self._state[f"adam_first.{name}"] for name in weights}
        self.second = {name: self._state[f"adam_second.{name}"] for name in weights}

    def state(self) -> dict[str, Tensor]:
        """Return the accumulators by name, live."""
        return self._state

    @torch.no_grad()
    def update(
        self,
        batch: Minibatch,
        rows: Rows,
        posteriors: Posteriors,
        gradients: Gradients,
        rates: Rates,
        alpha: float,
    ) -> Tensor:
        """Take a step, or none if a number in it is not finite; return which, without waiting for the device."""
        rates = Rates(**{name: min(alpha * rate, LARGEST_RATE) for name, rate in vars(rates).items()})
        words, encoded = batch.words, batch.words[: batch.encoded]
        weight = _weight(batch, rows, gradients.divergences)
        curvature = weight * (-rows.log_variances).exp()
        if self.residual:
            curvature += _posterior_curvature(batch, rows, gradients.divergences)
        means = _implicit_step(rows.means, gradients.rows.means, curvature, rates.mean)
        log_variances, typical = self._natural_step(batch, rows, posteriors, gradients, weight, rates)
        squares = self.squares.index_select(0, encoded)
        more = squares + gradients.rows.embeddings.square().mean(1)
        embeddings = _adagrad_step(rows.embeddings, gradients.rows.embeddings, more, rates.embedding)
        changes = [
            _Change(self.tables.means, rows.means, means, words),
            _Change(self.tables.log_variances, rows.log_variances, log_variances, words),
            _Change(self.squares, squares, more, encoded),
            _Change(self.tables.embeddings, rows.embeddings, embeddings, encoded),
            _Change(self.typical, self.typical, typical),
            *self._adam_step(gradients.weights, len(batch.centres), rates.encoder),
        ]
        largest = torch.stack([change.after.abs().max() for change in changes if change.after.numel()]).max()
        finite = torch.isfinite(largest + gradients.squared_norm())
        if finite.device.type == "cpu" and not finite:
            return finite
        for change in changes:
            change.make(finite)
        self.steps += 1
        return finite

    def _natural_step(
        self,
        batch: Minibatch,
        rows: Rows,
        posteriors: Posteriors,
        gradients: Gradients,
        weight: Tensor,
        rates: Rates,
    ) -> tuple[Tensor, Tensor]:
        """Return the log-variances after a natural step, and the typical word.

        The step is over the Fisher information of log-variances, D/2 spherical or 1/2 diagonal.

        The denominator is the means', for the curvature in these coordinates is Σ|a|.
        """
        fisher = 0.5 * rows.means.shape[1] / rows.log_variances.shape[1]
        own = _own_slope(batch, rows, posteriors, gradients)
        slope = rates.log_variance * own + rates.contrast * (gradients.rows.log_variances - own)
        stretches, windows = _stretches(batch, rows, posteriors)
        stretch, log_variance = self.typical.unbind()
        cover = stretches - windows * (stretch + SHRINKAGE * (rows.log_variances - log_variance))
        curvature = max(rates.log_variance, rates.contrast) * weight + rates.coverage * windows
        step = (slope / fisher - rates.coverage * cover) / (1 + curvature)
        sums = torch.stack((stretches.mean(1).sum(), (windows * rows.log_variances).mean(1).sum()))
        typical = torch.where(sums.isfinite(), sums / windows.sum(), self.typical)
        typical = self.typical.lerp(typical, len(batch.centres) / (len(batch.centres) + TYPICAL_MEMORY))
        step.clamp_(-LOG_VARIANCE_STEP, LOG_VARIANCE_STEP)
        return torch.clamp(rows.log_variances - step, *PRIOR_LOG_VARIANCE_BOUNDS), typical

    def _adam_step(self, gradients: dict[str, Tensor], centres: int, rate: float) -> Iterator[_Change]:
        """Adam on the mean gradient per centre."""
        beta_first, beta_second = ADAM_BETAS
        steps = int(self.steps) + 1  # on the CPU whatever the device: no wait
        for name, gradient in gradients.items():
            mean_gradient = gradient / centres
            first = self.first[name].lerp(mean_gradient, 1 - beta_first)
            second = (self.second[name] * beta_second).addcmul_(
                mean_gradient, mean_gradient, value=1 - beta_second
            )
            scale = (second / (1 - beta_second**steps)).sqrt_().add_(ADAM_EPSILON)
            weights = self.weights[name].addcdiv(first, scale, value=-rate / (1 - beta_first**steps))
            yield _Change(self.first[name], self.first[name], first)
            yield _Change(self.second[name], self.second[name], second)
            yield _Change(self.weights[name], self.weights[name], weights)


def _weight(batch: Minibatch, rows: Rows, weights: Tensor) -> Tensor:
    """Return Σ|a| of each row, (U, 1): how much the divergences to that word weigh, whatever their sign."""
    total = rows.means.new_zeros(len(rows.means)).index_add_(0, batch.uses.words, weights.abs())
    return total[:, None]


def _posterior_curvature(batch: Minibatch, rows: Rows, weights: Tensor) -> Tensor:
    """Return the curvature of a row's posteriors, Σ|a|/variance over all words they are contrasted with, (U, 1|D).

    A residual posterior moves with its prior's mean, which therefore has the posterior's curvature too.
    """
    precisions = (-rows.log_variances).exp()
    contrasts = weights.abs()
    contrasts[: len(batch.centres)] = 0.0  # not its own prior: the two move together
    of_posteriors = sums_by_centre(batch.uses, precisions, contrasts)  # (B, 1|D)
    return torch.zeros_like(precisions).index_add_(0, batch.centres, of_posteriors)


def _implicit_step(rows: Tensor, gradient: Tensor, curvature: Tensor, rate: float) -> Tensor:
    """SGD with an implicit denominator: at any rate a mean moves at most onto the posteriors that pull it."""
    return torch.addcdiv(rows, gradient, 1 + rate * curvature, value=-rate)


def _own_slope(batch: Minibatch, rows: Rows, posteriors: Posteriors, gradients: Gradients) -> Tensor:
    """Return the part of the log-variances' gradient that is KL[q‖w]'s, from the words' own posteriors."""
    fisher = 0.5 * rows.means.shape[1] / rows.log_variances.shape[1]
    kl_weights = gradients.divergences[: len(batch.centres), None]
    log_variance = posteriors.log_variance
    if posteriors.gain is not None:  # a narrowing posterior's variance goes with its prior's
        log_variance = rows.log_variances.index_select(0, batch.centres)
    own = kl_weights * fisher * (1 - _stretch(rows, batch.centres, posteriors.mean, log_variance))
    return torch.zeros_like(rows.log_variances).index_add_(0, batch.centres, own)


def _stretches(batch: Minibatch, rows: Rows, posteriors: Posteriors) -> tuple[Tensor, Tensor]:
    """Return the sums of the words' stretches by the windows that they are in, (U, 1|D), and how many those are."""
    mean = posteriors.mean.index_select(0, batch.pairs.centres)
    log_variance = posteriors.log_variance.index_select(0, batch.pairs.centres)
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
