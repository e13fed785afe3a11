"""Eq. 7 for a minibatch of centres, as a torch module."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from densvec.encoder import LOG_VARIANCE_BOUNDS
from densvec.reading import MOST_NARROWING, Reading
from densvec.training.settings import Objective
from densvec.training.torch.links import dots, of_centres, of_words, totals_by_centre
from densvec.training.torch.minibatch import Minibatch

__all__ = ["Losses", "Posteriors", "Rows", "TorchStep"]


class Rows(NamedTuple):
    """The rows of the tables that a minibatch uses: U words, the first of which the encoder reads."""

    means: Tensor  # (U, D)
    log_variances: Tensor  # (U, 1) spherical or (U, D) diagonal
    embeddings: Tensor  # (encoded, E)


class Posteriors(NamedTuple):
    """The posteriors of the centres of a minibatch."""

    mean: Tensor  # (B, D)
    log_variance: Tensor  # (B, 1|D)
    gain: Tensor | None = None  # (B, 1|D) by which a narrowing encoder raises the prior's precision, less 1


class Losses(NamedTuple):
    """Sums over the centres of a minibatch."""

    loss: Tensor
    hinge: Tensor
    kl: Tensor


class TorchStep(nn.Module):
    """The posterior network and the loss of one minibatch.

    The first layer is linear before its relu, so words are projected once each, by one matrix product, and a
    pair costs a gather, an addition and a relu instead of a product of its own.
    """

    def __init__(
        self,
        weights: dict[str, Tensor],
        objective: Objective,
        residual: bool = False,
        reading: Reading | None = None,
    ) -> None:
        super().__init__()
        self.objective = objective
        self.residual = residual
        self.reading = reading or Reading()
        self.context_layer = nn.Parameter(weights["context_layer"])  # (E, H)
        self.centre_layer = nn.Parameter(weights["centre_layer"])  # (E, H)
        self.mean_head = nn.Parameter(weights["mean_head"])  # (H, D)
        self.mean_bias = nn.Parameter(weights["mean_bias"])  # (D,)
        self.variance_head = nn.Parameter(weights["variance_head"])  # (H, 1|D)
        self.variance_bias = nn.Parameter(weights["variance_bias"])  # (1|D,)

    def forward(self, batch: Minibatch, rows: Rows) -> tuple[Losses, Tensor, Posteriors]:
        """Return the losses, and the divergences that they were made of, one for each of ``batch.uses``."""
        posteriors = self.posteriors(batch, rows)
        divergences = self.divergences(batch, rows, posteriors.mean, posteriors.log_variance)
        return self.losses(batch, divergences), divergences, posteriors

    def posteriors(self, batch: Minibatch, rows: Rows) -> Posteriors:
        """Infer the posterior of each centre."""
        embeddings, pairs = rows.embeddings, batch.pairs
        from_context = embeddings @ self.context_layer  # (encoded, H)
        from_centre = F.embedding(batch.centres, embeddings) @ self.centre_layer  # (B, H)
        active = of_words(pairs, from_context).add_(of_centres(pairs, from_centre)).relu_()  # (P, H)
        weights, scale = self._weights(batch, active.dtype)
        hidden = totals_by_centre(pairs, active if weights is None else active * weights[:, None])  # (B, H)
        mean = hidden @ self.mean_head + self.mean_bias
        dtype = embeddings.dtype  # autocast may have left it for the products; the divergences need it back
        if self.reading.narrowing:
            # The loss takes the variance as given; `score` alone teaches the head.
            told = (hidden.detach() @ self.variance_head.abs()).to(dtype)
            if scale is not None:
                told = told / scale[:, None]
            gain = told / (1 + told / MOST_NARROWING)
            prior = F.embedding(batch.centres, rows.log_variances.detach())
            log_variance = (prior - gain.detach().log1p()).clamp(*LOG_VARIANCE_BOUNDS)
            return Posteriors(mean.to(dtype) + F.embedding(batch.centres, rows.means), log_variance, gain)
        log_variance = hidden @ self.variance_head + self.variance_bias
        mean, log_variance = mean.to(dtype), log_variance.to(dtype)
        if self.residual:
            mean = mean + F.embedding(batch.centres, rows.means)
            # given, not learnt: a prior that its posterior's hinge could widen would widen without end
            log_variance = log_variance + F.embedding(batch.centres, rows.log_variances.detach())
        return Posteriors(mean, log_variance.clamp(*LOG_VARIANCE_BOUNDS))

    def _weights(self, batch: Minibatch, dtype: torch.dtype) -> tuple[Tensor | None, Tensor | None]:
        """Return the weight of each pair in its centre's sum, and the scale in it of each centre; see `Reading`."""
        reading, pairs = self.reading, batch.pairs
        if not reading.nearness and math.isinf(reading.saturation):
            return None, None
        weights = 1 + reading.nearness * (1 - 2 * batch.distances.to(dtype) / (reading.window + 1))
        if math.isinf(reading.saturation):
            return weights, None
        totals = weights.new_zeros(len(batch.centres)).index_add_(0, pairs.centres, weights)
        scale = (2 * reading.window + reading.saturation) / (totals + reading.saturation)
        return weights * scale.index_select(0, pairs.centres), scale

    def score(self, batch: Minibatch, rows: Rows, posteriors: Posteriors) -> Tensor:
        """Return what a narrowing encoder's variances are taught by, and how they move the priors'; 0 for any other.

        It is no part of the loss that is reported; see `Objective`.
        """
        if posteriors.gain is None:
            return posteriors.mean.new_zeros(())
        gain, means = posteriors.gain, rows.means.detach()
        beyond = F.embedding(batch.beyond, means)
        of_prior = beyond - F.embedding(batch.centres, means).index_select(0, batch.beyond_of)
        of_posterior = beyond - posteriors.mean.detach().index_select(0, batch.beyond_of)
        nothing = torch.zeros_like(posteriors.mean)
        p = nothing.index_add(0, batch.beyond_of, of_prior.square())
        q = nothing.index_add(0, batch.beyond_of, of_posterior.square())
        total = p.mean(1, keepdim=True)
        if gain.shape[1] == 1:
            p, q = total, q.mean(1, keepdim=True)
        known = total > 0
        total = torch.where(known, total, 1)
        score = torch.where(known, (q * (1 + gain) - p * gain.log1p()) / total, 0).sum()
        # A narrowing posterior's variance goes with its prior's, so KL[q‖w] moves the prior's by the shift alone.
        log_prior = F.embedding(batch.centres, rows.log_variances)
        fisher = 0.5 * means.shape[1] / gain.shape[1]
        slope = fisher * ((posteriors.log_variance - log_prior.detach()).exp() - 1)
        return score + self.objective.kl_weight * (slope * log_prior).sum()

    def divergences(self, batch: Minibatch, rows: Rows, mean: Tensor, log_variance: Tensor) -> Tensor:
        """Return KL[q‖N(word)] of each centre's posterior q to every word in its loss: (n,).

        KL = ½ Σ (μ_q² + v_q)/v − Σ μ_q·μ/v + ½ Σ (μ²/v + log v) − ½ Σ (log v_q + 1): numbers of the posterior
        and of the word, and inner products of a row of each, which need no row to be gathered.
        """
        uses, size = batch.uses, mean.shape[1]
        precision = (-rows.log_variances).exp()
        if log_variance.shape[1] == 1:  # spherical: a word's variance leaves the sums
            moment = mean.square().sum(1, keepdim=True) + size * log_variance.exp()
            of_word = rows.means.square().sum(1, keepdim=True) * precision + size * rows.log_variances
            of_posterior = size * (1 + log_variance)
            product = (0.5 * of_centres(uses, moment)[:, 0] - dots(uses, mean, rows.means)) * of_words(
                uses, precision
            )[:, 0]
        else:
            moment = mean.square() + log_variance.exp()
            weighted = rows.means * precision
            of_word = (rows.means * weighted + rows.log_variances).sum(1, keepdim=True)
            of_posterior = (1 + log_variance).sum(1, keepdim=True)
            product = dots(uses, torch.cat((0.5 * moment, -mean), 1), torch.cat((precision, weighted), 1))
        return product + 0.5 * (of_words(uses, of_word) - of_centres(uses, of_posterior))[:, 0]

    def losses(self, batch: Minibatch, divergences: Tensor) -> Losses:
        """Return the loss of Eq. 7 and its two parts; see `Objective`."""
        centres, pairs = len(batch.centres), len(batch.pairs.words)
        priors, positives, negatives = divergences.tensor_split((centres, centres + pairs))
        negatives = negatives.view(-1, batch.negative)
        if self.objective.pairing == "shared":
            negatives = negatives.index_select(0, batch.pairs.centres)
        violations = (positives[:, None] - negatives + self.objective.margin).relu().sum(1)  # (P,)
        if self.objective.nearness:
            reach = (batch.radii + 1).to(violations.dtype)
            violations = violations * (1 + self.objective.nearness * (1 - 2 * batch.distances / reach))
        hinge = violations.sum() / batch.negative
        kl = priors.sum()
        return Losses(hinge + self.objective.kl_weight * kl, hinge, kl)
