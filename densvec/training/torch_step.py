"""Eq. 7 for a minibatch of centres, as a torch module."""

from __future__ import annotations

from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from densvec.encoder import LOG_VARIANCE_BOUNDS
from densvec.training.minibatch import Minibatch
from densvec.training.settings import Objective

__all__ = ["Divergences", "Losses", "Rows", "TorchStep"]


class Rows(NamedTuple):
    """The rows of the tables that a minibatch uses: U words, the first of which the encoder reads."""

    means: Tensor  # (U, D)
    log_variances: Tensor  # (U, 1) spherical or (U, D) diagonal
    embeddings: Tensor  # (encoded, E)


class Divergences(NamedTuple):
    """KL[q‖N(word)] of each centre's posterior q to every word that its loss speaks of."""

    priors: Tensor  # (B,) the centre word itself
    positives: Tensor  # (P,)
    negatives: Tensor  # (B, K) or (P, K)


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

    def __init__(self, weights: dict[str, Tensor], objective: Objective, residual: bool = False) -> None:
        super().__init__()
        self.objective = objective
        self.residual = residual
        self.context_layer = nn.Parameter(weights["context_layer"])  # (E, H)
        self.centre_layer = nn.Parameter(weights["centre_layer"])  # (E, H)
        self.mean_head = nn.Parameter(weights["mean_head"])  # (H, D)
        self.mean_bias = nn.Parameter(weights["mean_bias"])  # (D,)
        self.variance_head = nn.Parameter(weights["variance_head"])  # (H, 1|D)
        self.variance_bias = nn.Parameter(weights["variance_bias"])  # (1|D,)

    def forward(self, batch: Minibatch, rows: Rows) -> tuple[Losses, Divergences]:
        """Return the losses, and the divergences that they were made of."""
        divergences = self.divergences(batch, rows)
        return self.losses(batch, divergences), divergences

    def posteriors(self, batch: Minibatch, rows: Rows) -> tuple[Tensor, Tensor]:
        """Return mean (B, D) and log-variance (B, 1|D) of the posterior of each centre."""
        embeddings = rows.embeddings
        from_context = embeddings @ self.context_layer  # (encoded, H)
        from_centre = F.embedding(batch.centres, embeddings) @ self.centre_layer  # (B, H)
        pre = from_context.index_select(0, batch.contexts) + from_centre.index_select(
            0, batch.owners
        )  # (P, H)
        hidden = pre.new_zeros(from_centre.shape).index_add(0, batch.owners, pre.relu())  # (B, H)
        mean = hidden @ self.mean_head + self.mean_bias
        log_variance = hidden @ self.variance_head + self.variance_bias
        dtype = embeddings.dtype  # autocast may have left it for the products; the divergences need it back
        mean = mean.to(dtype)
        if self.residual:
            mean = mean + F.embedding(batch.centres, rows.means)
        return mean, log_variance.to(dtype).clamp(*LOG_VARIANCE_BOUNDS)

    def divergences(self, batch: Minibatch, rows: Rows) -> Divergences:
        """Return KL[q‖N(word)] for the prior, the positives and the negatives of each centre."""
        mean, log_variance = self.posteriors(batch, rows)
        pair_mean, pair_log_variance = (
            mean.index_select(0, batch.owners),
            log_variance.index_select(0, batch.owners),
        )
        if self.objective.pairing == "shared":
            near_mean, near_log_variance = mean, log_variance
        else:
            near_mean, near_log_variance = pair_mean, pair_log_variance
        return Divergences(
            kl(mean, log_variance, *_priors(rows, batch.centres)),
            kl(pair_mean, pair_log_variance, *_priors(rows, batch.contexts)),
            kl(near_mean[:, None], near_log_variance[:, None], *_priors(rows, batch.negatives)),
        )

    def losses(self, batch: Minibatch, divergences: Divergences) -> Losses:
        """Return the loss of Eq. 7 and its two parts; see `Objective`."""
        negatives = divergences.negatives
        if self.objective.pairing == "shared":
            negatives = negatives.index_select(0, batch.owners)
        violations = divergences.positives[:, None] - negatives + self.objective.margin  # (P, K)
        hinge = violations.relu().sum() / negatives.shape[1]
        total_kl = divergences.priors.sum()
        return Losses(hinge + self.objective.kl_weight * total_kl, hinge, total_kl)


def kl(mean: Tensor, log_variance: Tensor, prior_mean: Tensor, prior_log_variance: Tensor) -> Tensor:
    """Return KL[N(mean, variance)‖N(prior_mean, prior_variance)] over the last axis."""
    squares = (mean - prior_mean).square()
    dimensions = 1
    if log_variance.shape[-1] < mean.shape[-1]:  # spherical: one variance stands for all D dimensions
        dimensions = mean.shape[-1]
        squares = squares.sum(-1, keepdim=True)
    ratio = (dimensions * log_variance.exp() + squares) * (-prior_log_variance).exp()
    return 0.5 * (ratio + dimensions * (prior_log_variance - log_variance - 1)).sum(-1)


def _priors(rows: Rows, index: Tensor) -> tuple[Tensor, Tensor]:
    """Return the means and log-variances of the words at an index of any shape."""
    return F.embedding(index, rows.means), F.embedding(index, rows.log_variances)
