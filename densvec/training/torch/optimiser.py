"""The update rule of each table and its accumulators, in torch."""

from __future__ import annotations

import math
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
from densvec.training.torch.gradients import Step
from densvec.training.torch.minibatch import Minibatch
from densvec.training.torch.step import Tables
from densvec.training.torch.sums import Sums, add_up
from densvec.training.torch.words import is_known, squared_lengths
from densvec.types import Array

__all__ = ["Optimiser", "StepRates"]

#: Centres between two steps of the encoder in the native kernel. A step on more than that stands for several.
TILE = 256

#: The encoder's weights come after the tables that have a row for each word.
FIRST_WEIGHT = Tables._fields.index("context_layer")


class StepRates(NamedTuple):
    """The learning rates of a step, as numbers on the device: they change from step to step, what computes does not."""

    mean: Tensor
    log_variance: Tensor
    contrast: Tensor
    coverage: Tensor
    embedding: Tensor
    encoder: Tensor

    @classmethod
    def of(cls, rates: Rates, alpha: float, like: Tensor) -> StepRates:
        """Return the rates at this alpha, in the type and on the device of a table."""
        values = [min(alpha * getattr(rates, name), LARGEST_RATE) for name in cls._fields]
        numbers = torch.tensor(values, dtype=like.dtype)
        if like.device.type == "cuda":
            numbers = numbers.pin_memory()
        return cls(*numbers.to(like.device, non_blocking=True).unbind())


class Pace(NamedTuple):
    """How large a minibatch is, as numbers on the device: these differ, too, and what computes does not."""

    centres: Tensor
    tiles: Tensor  # how many steps of the native kernel's encoder it stands for
    parts: Tensor  # over how many minibatches the windows with an occurrence of a word are dealt out

    @classmethod
    def of(cls, batches: list[Minibatch], like: Tensor) -> list[Pace]:
        """Return those of minibatches, in the type and on the device of a table."""
        values = [
            (
                batch.sizes.centres,
                max(1, round(batch.sizes.centres / TILE)),
                min(batch.stride, 2 * batch.sizes.reach + 1),
            )
            for batch in batches
        ]
        numbers = torch.tensor(values, dtype=like.dtype)
        if like.device.type == "cuda":
            numbers = numbers.pin_memory()
        return [cls(*row.unbind()) for row in numbers.to(like.device, non_blocking=True).unbind()]


class _Change(NamedTuple):
    """What a step makes of a table, or adds to some of its rows."""

    table: Tensor
    after: Tensor
    rows: Tensor | None = None

    def make(self, finite: Tensor) -> None:
        """Write it, unless the step is not finite; on a device that is only known there."""
        known = is_known(finite)
        if self.rows is None:
            self.table.copy_(self.after if known else torch.where(finite, self.after, self.table))
        else:
            self.table.index_add_(0, self.rows, self.after if known else torch.where(finite, self.after, 0))


class Optimiser:
    """The update rule of each table and its accumulators."""

    def __init__(self, tables: Tables, state: dict[str, Array], company: Array) -> None:
        self.tables = tables
        device = tables.means.device
        self._state = {name: torch.from_numpy(np.array(array)).to(device) for name, array in state.items()}
        self.company = torch.from_numpy(company).to(device)
        self.squares = self._state["embedding_squares"]
        self.typical = self._state["typical_word"]
        self.steps = self._state["adam_steps"]
        self.first, self.second = self._in_a_row("adam_first"), self._in_a_row("adam_second")

    def _in_a_row(self, prefix: str) -> Tensor:
        """Lay the moments of all weights side by side, for one update of all; those by name are parts of it."""
        names = [f"{prefix}.{name}" for name in Tables._fields[FIRST_WEIGHT:]]
        flat = torch.cat([self._state[name].flatten() for name in names])
        start = 0
        for name in names:
            shape = self._state[name].shape
            self._state[name] = flat[start : start + math.prod(shape)].view(shape)
            start += math.prod(shape)
        return flat

    def state(self) -> dict[str, Tensor]:
        """Return the accumulators by name, live."""
        return self._state

    @torch.no_grad()
    def update(self, step: Step, pace: Pace, rates: StepRates) -> Tensor:
        """Take a step, or none if a number in it is not finite; return which, without waiting for the device."""
        sums = add_up(step, rates.log_variance, rates.contrast, rates.coverage, self.company)
        weights, moments = self._adam(step.gradients.weights, pace, rates.encoder)
        changes = [
            *self._densities(step, sums, pace.centres, rates),
            *self._embeddings(step, pace, rates.embedding),
            *moments,
        ]
        finite = self._is_finite(step, weights, changes)
        if is_known(finite) and not finite:
            return finite
        for change in changes:
            change.make(finite)
        self._write_weights(weights, finite)
        self.steps.add_((finite * pace.tiles).long())
        return finite

    def _is_finite(self, step: Step, weights: Tensor, changes: list[_Change]) -> Tensor:
        """Return whether all changes are finite.

        Means and embeddings, which are many, have squares elsewhere that overflow long before they do: in the
        stretches of densities, and in what is added to the embeddings' mean squares.
        """
        many = {id(self.tables.means), id(self.tables.embeddings)}
        parts = [weights, *(change.after for change in changes if id(change.table) not in many)]
        sizes_of = [torch.linalg.vector_norm(part) for part in parts]
        return torch.stack([*sizes_of, step.contrast.stretch.sum(), step.losses.loss]).sum().isfinite()

    def _densities(self, step: Step, sums: Sums, centres: Tensor, rates: StepRates) -> list[_Change]:
        """Return the changes of means, log-variances and the typical word.

        Means: SGD, as if the posteriors drew one after the other: each would take a mean some share of the way to it,
        and all of them take it 1 - exp(-sum of shares), never beyond.
        Log-variances: a natural step, held back likewise, for the curvature in these coordinates is Σ|share|.
        """
        rows, ids = step.rows, step.windows.words.ids
        curvature = sums.strength * (-rows.log_variances).exp() + sums.steepness
        means = sums.means.mul_(-rates.mean * _held_back(rates.mean * curvature))

        stretch, log_variance = self.typical.unbind()
        pull = (sums.met - sums.company) * stretch + sums.met * SHRINKAGE * (
            rows.log_variances - log_variance
        )
        damping = (
            torch.maximum(rates.log_variance, rates.contrast) * sums.strength + rates.coverage * sums.met
        )
        moved = (sums.slopes + rates.coverage * pull) * _held_back(damping)
        moved = moved.clamp(-LOG_VARIANCE_STEP, LOG_VARIANCE_STEP)
        log_variances = (rows.log_variances - moved).clamp(*PRIOR_LOG_VARIANCE_BOUNDS)

        mask, width = step.windows.mask, rows.log_variances.shape[1]
        stretched = (step.contrast.stretch[:, : mask.shape[1]] * mask).sum() / rows.fisher
        means_of_all = torch.stack((stretched, (sums.met * rows.log_variances).sum())) / (
            width * sums.met.sum()
        )
        means_of_all = torch.where(means_of_all.isfinite(), means_of_all, self.typical)
        typical = self.typical.lerp(means_of_all, centres / (centres + TYPICAL_MEMORY))
        return [
            _Change(self.tables.means, means, ids),
            _Change(self.tables.log_variances, log_variances - rows.log_variances, ids),
            _Change(self.typical, typical),
        ]

    def _embeddings(self, step: Step, pace: Pace, rate: Tensor) -> list[_Change]:
        """Row-wise Adagrad: one accumulator of mean squares per row, which grows as fast as the native kernel's.

        There a tile has all windows that an occurrence of a word is in, and squares the sum of their gradients. Here
        they are in as many minibatches; while one for several tiles has several occurrences, in some of the tiles.
        """
        ids, gradient = step.windows.texts.ids, step.gradients.embeddings
        uses = step.windows.texts.counts().clamp(min=1)
        mean_square = squared_lengths(gradient) / gradient.shape[1]
        square = mean_square * (pace.parts * (pace.tiles + uses - 1) / (pace.tiles * uses))
        squares = self.squares.index_select(0, ids) + square
        moved = gradient.mul_(-rate * (squares + ADAGRAD_EPSILON).rsqrt()[:, None])
        return [_Change(self.squares, square, ids), _Change(self.tables.embeddings, moved, ids)]

    def _adam(self, gradients: list[Tensor], pace: Pace, rate: Tensor) -> tuple[Tensor, list[_Change]]:
        """Adam on the mean gradient per centre: the weights afterwards, and the changes of the moments.

        A step for several tiles forgets as much as theirs, and goes as far as they would in random directions.
        """
        # 1 - beta^t, without losing digits in single precision
        newest, newest_second = (-(pace.tiles * math.log(beta)).expm1() for beta in ADAM_BETAS)
        steps = self.steps + pace.tiles
        so_far, so_far_second = (-(steps * math.log(beta)).expm1() for beta in ADAM_BETAS)
        gradient = torch.cat([part.flatten() for part in gradients]).to(self.first.dtype) / pace.centres
        first = self.first.lerp(gradient, newest)
        second = self.second.lerp(gradient.square(), newest_second)
        before = torch.cat([weight.flatten() for weight in self.tables[FIRST_WEIGHT:]])
        scale = (second / so_far_second).sqrt() + ADAM_EPSILON
        weights = before - rate * pace.tiles.sqrt() / so_far * first / scale
        return weights, [_Change(self.first, first), _Change(self.second, second)]

    def _write_weights(self, weights: Tensor, finite: Tensor) -> None:
        """Write the encoder's weights, which lie side by side."""
        start = 0
        for table in self.tables[FIRST_WEIGHT:]:
            part = weights[start : start + table.numel()].view(table.shape)
            _Change(table, part).make(finite)
            start += table.numel()


def _held_back(shares: Tensor) -> Tensor:
    """Return (1 - exp(-x)) / x: how much of a sum of shares x of a way is left if they are gone one after the other."""
    return torch.where(shares > 0, -torch.expm1(-shares) / shares, 1)
