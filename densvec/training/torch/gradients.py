"""The gradients of the loss in closed form: what each centre does to its targets, its prior and the encoder."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from densvec.reading import MOST_NARROWING
from densvec.training.torch.contrast import Contrast
from densvec.training.torch.step import Losses, Model, Posteriors, Rows, Scores, Tables
from densvec.training.torch.windows import Beyond, Windows
from densvec.training.torch.words import squared_lengths

__all__ = ["Gradients", "Priors", "Step", "differentiate"]


class Priors(NamedTuple):
    """What each centre does to its own word's prior."""

    means: Tensor  # (n, D) derivatives of the loss
    log_variances: Tensor  # (n, 1|D) derivatives, over the Fisher information
    shares: Tensor  # (n, 1) the derivative of the loss by KL[q‖prior]
    steepness: (
        Tensor  # (n, 1|D) the curvature of a residual posterior's mean, which its prior's has too; else 0
    )


class Gradients(NamedTuple):
    """Derivatives of the summed loss by what each centre uses; sums by words are left to the update rules."""

    shares: Tensor  # (n, C) by the divergence from each target: positive if it pulls; 0 for the prior, see `priors`
    priors: Priors
    embeddings: Tensor  # (words that are read, E)
    weights: list[Tensor]  # of the encoder's six, in the order of `Tables`


class Step(NamedTuple):
    """The losses of a minibatch, their derivatives, and what they come from."""

    windows: Windows
    rows: Rows
    contrast: Contrast
    losses: Losses
    gradients: Gradients


@torch.no_grad()
def differentiate(model: Model, tables: Tables, windows: Windows, beyond: Beyond | None) -> Step:
    """Return the losses of a minibatch and their derivatives."""
    rows = Rows.of(tables, windows)
    posteriors = model.posteriors(tables, windows, rows)
    contrast = model.contrast(windows, rows, posteriors)
    losses, violations, pair_weights = model.compare(windows, contrast.kl)
    shares = _shares(model, violations, pair_weights)

    # ∂/∂μ_q of Σ shares · KL is Σ shares · (μ_q - μ_p)/v_p
    width, variance = rows.log_variances.shape[1], posteriors.log_variance.exp()
    precision, by_contrast = contrast.pulls(shares)
    prior_precision = (-rows.prior_log_variances).exp()
    prior_share = model.objective.kl_weight * windows.trained[:, None].to(shares.dtype)
    prior_pull, shift = prior_share * prior_precision, posteriors.shift
    d_mean = torch.addcmul(by_contrast, prior_pull, shift)

    square = squared_lengths(shift)[:, None] / shift.shape[1] if width == 1 else shift.square()
    # A narrowing posterior's variance goes with its prior's: only the shift says how wide that must be.
    kept = 1 if model.reading.narrowing else variance * prior_precision
    slopes = prior_share * (1 - kept - square * prior_precision)
    if model.residual:  # the posterior takes its prior's mean along: KL[q‖prior] does not change by that
        priors = Priors(by_contrast, slopes, prior_share, contrast.steepness(shares))
    else:
        priors = Priors(-prior_pull * shift, slopes, prior_share, torch.zeros_like(slopes))

    if model.reading.narrowing:
        assert beyond is not None
        d_head = _head_of_narrowing(posteriors, model.scores(tables, rows, beyond, posteriors.mean))
    else:
        assert posteriors.free is not None
        total = shares.sum(1, keepdim=True) + prior_share
        d_head = rows.fisher * (variance * (precision + prior_pull) - total) * posteriors.free
    embeddings, weights = _encoder(model, tables, windows, rows, posteriors, d_mean, d_head, beyond)
    return Step(windows, rows, contrast, losses, Gradients(shares, priors, embeddings, weights))


def _shares(model: Model, violations: Tensor, weights: Tensor) -> Tensor:
    """Return the derivative of the loss by each divergence: positive for what pulls, negative for what pushes."""
    weights = violations.sign_().mul_(weights[:, :, None])  # where the margin is violated, else 0
    negatives = weights if model.objective.pairing == "paired" else weights.sum(1)
    return torch.cat((weights.sum(2), -negatives.flatten(1), torch.zeros_like(weights[:, :1, 0])), 1)


def _head_of_narrowing(posteriors: Posteriors, scores: Scores) -> Tensor:
    """Return the derivative of the score by what the context says."""
    assert posteriors.gain is not None
    assert posteriors.told is not None
    gain = posteriors.gain.index_select(0, scores.rows)
    by_gain = (scores.of_posterior - scores.of_prior / (1 + gain)) / scores.total
    slope = (1 + posteriors.told.index_select(0, scores.rows) / MOST_NARROWING).square()
    return torch.where(scores.known, by_gain / slope, 0)


def _encoder(
    model: Model,
    tables: Tables,
    windows: Windows,
    rows: Rows,
    posteriors: Posteriors,
    d_mean: Tensor,
    d_head: Tensor,
    beyond: Beyond | None,
) -> tuple[Tensor, list[Tensor]]:
    """Return the derivatives by the encoder's inputs, and by its weights."""
    hidden, inputs, dtype = posteriors.hidden, rows.embeddings, d_mean.dtype
    d_hidden = d_mean @ tables.mean_head.t()
    if model.reading.narrowing:
        assert beyond is not None
        scale = posteriors.scale.expand(len(hidden), 1).index_select(0, beyond.rows)
        read = hidden.index_select(0, beyond.rows) / scale
        d_variance_head = (read.t() @ d_head) * tables.variance_head.sign()
        d_variance_bias = torch.zeros_like(tables.variance_bias)
    else:
        d_variance_head, d_variance_bias = hidden.t() @ d_head, d_head.sum(0)
        d_hidden = d_hidden + d_head @ tables.variance_head.t()
    # of each context word's hidden units but for its weight, (n, S, H), in their place: what the relu lets back
    d_active, d_each = posteriors.active, d_hidden[:, None].expand_as(posteriors.active)
    torch.ops.aten.threshold_backward(d_each, d_active, 0, grad_input=d_active)
    d_context = windows.texts.sums_but_last(d_active.flatten(0, 1).to(dtype), posteriors.weights)
    d_centre = windows.centres.sums_by_word((posteriors.weights[:, None] @ d_active)[:, 0].to(dtype))
    d_inputs = (d_context @ tables.context_layer.t()).to(dtype)
    there = windows.texts.in_last_uses(windows.centres)
    d_inputs.index_add_(0, there, (d_centre @ tables.centre_layer.t()).to(dtype))
    return d_inputs, [
        inputs.t() @ d_context,
        rows.centre_embeddings.t() @ d_centre,
        hidden.t() @ d_mean,
        d_mean.sum(0),
        d_variance_head,
        d_variance_bias,
    ]
