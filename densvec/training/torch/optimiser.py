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
    LOG_VARIANCE_STEP,
    PRIOR_LOG_VARIANCE_BOUNDS,
    SHRINKAGE,
    TYPICAL_MEMORY,
    Rates,
)
from densvec.training.torch.gradients import Step
from densvec.training.torch.minibatch import Minibatch
from densvec.training.torch.step import Tables
from densvec.types import Array

#: Centres between two steps of the encoder in the native kernel. A step on more than that stands for several.
TILE = 256

#: The encoder's weights come after the tables that have a row for each word.
FIRST_WEIGHT = Tables._fields.index("context_layer")


class Pace(NamedTuple):
    """How large a minibatch is."""

    centres: int
    tiles: int  # how many steps of the native kernel's encoder it stands for
    parts: int  # over how many minibatches the windows with an occurrence of a word are dealt out

    @classmethod
    def of(cls, batch: Minibatch) -> Pace:
        """Return that of a minibatch."""
        centres = batch.sizes.centres
        return cls(centres, max(1, round(centres / TILE)), min(batch.stride, 2 * batch.sizes.reach + 1))


class _Change(NamedTuple):
    """What a step makes of a table, or adds to some of its rows."""

    table: Tensor
    after: Tensor
    rows: Tensor | None = None

    def make(self, finite: Tensor) -> None:
        """Write it, unless the step is not finite; on a device that is only known there."""
        if self.rows is None:
            self.table.copy_(torch.where(finite, self.after, self.table))
        else:
            self.table.index_add_(0, self.rows, torch.where(finite, self.after, 0))


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
        self._moments = {
            name: (self._state[f"adam_first.{name}"], self._state[f"adam_second.{name}"])
            for name in Tables._fields[FIRST_WEIGHT:]
        }

    def state(self) -> dict[str, Tensor]:
        """Return the accumulators by name, live."""
        return self._state

    @torch.no_grad()
    def update(self, step: Step, pace: Pace, rates: Rates) -> Tensor:
        """Take a step, or none if a number in it is not finite; return which, without waiting for the device."""
        changes = [
            *self._densities(step, pace.centres, rates),
            *self._embeddings(step, pace, rates.embedding),
            *self._adam(step.weights, pace, rates.encoder),
        ]
        sizes = [torch.linalg.vector_norm(change.after) for change in changes]
        finite = torch.stack([*sizes, step.losses.loss]).sum().isfinite()
        for change in changes:
            change.make(finite)
        self.steps.add_(finite * pace.tiles)
        return finite

    def _densities(self, step: Step, centres: int, rates: Rates) -> list[_Change]:
        """Return the changes of means, log-variances and the typical word.

        Means: SGD, as if the posteriors drew one after the other: each would take a mean some share of the way to it,
        and all of them take it 1 - exp(-sum of shares), never beyond.
        Log-variances: a natural step, held back likewise, for the curvature in these coordinates is Σ|share|.
        """
        ids, before = step.windows.words.ids, step.rows.log_variances
        curvature = step.strength * (-before).exp() + step.steepness
        means = -rates.mean * _held_back(rates.mean * curvature) * step.means

        typical_stretch, typical_log_variance = self.typical.unbind()
        covered = (step.met - step.company) * typical_stretch - step.stretch
        covered = covered + step.met * SHRINKAGE * (before - typical_log_variance)
        slopes = (
            rates.contrast * step.by_contrast + rates.log_variance * step.by_prior + rates.coverage * covered
        )
        damping = max(rates.log_variance, rates.contrast) * step.strength + rates.coverage * step.met
        moved = (slopes * _held_back(damping)).clamp(-LOG_VARIANCE_STEP, LOG_VARIANCE_STEP)
        log_variances = (before - moved).clamp(*PRIOR_LOG_VARIANCE_BOUNDS)

        uses = before.shape[1] * step.met.sum()
        averages = torch.stack((step.stretch.sum(), (step.met * before).sum())) / uses
        averages = torch.where(averages.isfinite(), averages, self.typical)
        typical = self.typical.lerp(averages, centres / (centres + TYPICAL_MEMORY))
        return [
            _Change(self.tables.means, means, ids),
            _Change(self.tables.log_variances, log_variances - before, ids),
            _Change(self.typical, typical),
        ]

    def _embeddings(self, step: Step, pace: Pace, rate: float) -> list[_Change]:
        """Row-wise Adagrad: one accumulator of mean squares per row, which grows as fast as the native kernel's.

        There a tile has all windows that an occurrence of a word is in, and squares the sum of their gradients. Here
        they are in as many minibatches; while one for several tiles has several occurrences, in some of the tiles.
        """
        texts, gradient = step.windows.texts, step.embeddings
        uses = texts.totals(torch.ones_like(texts.numbers, dtype=gradient.dtype)).clamp(min=1)
        mean_square = gradient.square().mean(1, keepdim=True)
        square = mean_square * (pace.parts * (pace.tiles + uses - 1) / (pace.tiles * uses))
        moved = -rate * gradient * (self.squares[texts.ids][:, None] + square + ADAGRAD_EPSILON).rsqrt()
        return [
            _Change(self.squares, square[:, 0], texts.ids),
            _Change(self.tables.embeddings, moved, texts.ids),
        ]

    def _adam(self, gradients: list[Tensor], pace: Pace, rate: float) -> list[_Change]:
        """Adam on the mean gradient per centre.

        A step for several tiles forgets as much as theirs, and goes as far as they would in random directions.
        """
        tiles = torch.tensor(pace.tiles, dtype=self.tables.means.dtype)
        # 1 - beta^t, without losing digits in single precision
        newest, newest_second = (-(tiles * math.log(beta)).expm1() for beta in ADAM_BETAS)
        steps = self.steps + tiles
        so_far, so_far_second = (-(steps * math.log(beta)).expm1() for beta in ADAM_BETAS)
        changes = []
        for name, weight, summed in zip(
            Tables._fields[FIRST_WEIGHT:], self.tables[FIRST_WEIGHT:], gradients, strict=True
        ):
            moments, gradient = self._moments[name], summed.to(weight.dtype) / pace.centres
            first = moments[0].lerp(gradient, newest)
            second = moments[1].lerp(gradient.square(), newest_second)
            scale = (second / so_far_second).sqrt() + ADAM_EPSILON
            after = weight - rate * tiles.sqrt() / so_far * first / scale
            changes += [_Change(moments[0], first), _Change(moments[1], second), _Change(weight, after)]
        return changes


def _held_back(shares: Tensor) -> Tensor:
    """Return (1 - exp(-x)) / x: how much of a sum of shares x of a way is left if they are gone one after the other."""
    return torch.where(shares > 0, -torch.expm1(-shares) / shares, 1)
