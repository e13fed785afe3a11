"""The gradients of the loss in closed form, added up by words."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from densvec.reading import MOST_NARROWING
from densvec.training.torch.step import Losses, Model, Posteriors, Rows, Scores, Tables, squares
from densvec.training.torch.windows import Beyond, Windows


class Step(NamedTuple):
    """The losses of a minibatch, and its derivatives, summed over the uses of each of its U words.

    Slopes are derivatives by log-variances, over the Fisher information; each kind has a rate of its own, see
    `densvec.training.settings.Rates`.
    """

    windows: Windows
    rows: Rows
    losses: Losses
    means: Tensor  # (U, D) the gradient
    by_contrast: Tensor  # (U, 1|D) slopes by the hinge
    by_prior: Tensor  # (U, 1|D) slopes by KL[q‖prior]
    strength: Tensor  # (U, 1) Σ|share|: how much the divergences to that word weigh, whatever their sign
    steepness: Tensor  # (U, 1|D) the curvature of the residual posteriors that go with the word's mean
    stretch: Tensor  # (U, 1|D) of the word in all windows that it is in
    met: Tensor  # (U, 1) in how many windows that is
    company: Tensor  # (U, 1) what the centres of these windows make coverage expect less of it
    embeddings: Tensor  # (words that are read, E) the gradient
    weights: list[Tensor]  # those of the encoder's six, in the order of `Tables`


@torch.no_grad()
def differentiate(
    model: Model, tables: Tables, windows: Windows, beyond: Beyond | None, company: Tensor
) -> Step:
    """Return the losses of a minibatch and their derivatives.

    ``company`` has a number for each word of the vocabulary, see `densvec.training.tables.bayesian_company`.
    """
    rows = Rows.of(tables, windows)
    posteriors = model.posteriors(tables, windows, rows)
    contrast = model.contrast(windows, rows, posteriors)
    losses, violations, pair_weights = model.compare(windows, contrast.kl)
    shares = _shares(model, violations, pair_weights)[:, :, None]  # (n, C, 1)

    # ∂/∂μ_q of Σ shares · KL is Σ shares · (μ_q - μ_p)/v_p
    gains = shares * contrast.precision
    pulls = contrast.shifts.mul_(gains)  # in place: they are large
    pulled, precision = pulls.sum(1), gains.sum(1)
    prior_precision, variance = (-rows.prior_log_variances).exp(), posteriors.log_variance.exp()
    prior_share = model.objective.kl_weight * windows.trained.to(pulled.dtype)
    prior_pull, shift = prior_share * prior_precision, posteriors.shift
    d_mean = pulled + prior_pull * shift

    # What each centre does to its own prior. A residual posterior takes its prior's mean along, by which KL[q‖prior]
    # does not change; a narrowing one's variance goes with its prior's, so only the shift says how wide that must be.
    d_prior = pulled if model.residual else -prior_pull * shift
    steepness = gains.abs().sum(1) if model.residual else torch.zeros_like(precision)
    kept = 1 if model.reading.narrowing else variance * prior_precision
    slopes = prior_share * (1 - kept - squares(shift, variance.shape[1]) * prior_precision)

    if model.reading.narrowing:
        assert beyond is not None
        d_head = _head_of_narrowing(posteriors, model.scores(tables, rows, beyond, posteriors.mean))
    else:
        assert posteriors.free is not None
        total = shares.sum(1) + prior_share
        d_head = rows.fisher * (variance * (precision + prior_pull) - total) * posteriors.free
    embeddings, weights = _encoder(model, tables, windows, rows, posteriors, d_mean, d_head, beyond)

    words, met = windows.words, windows.mask[:, :, None].to(shares.dtype)
    centres = words.ids[words.numbers[:, -1]]
    return Step(
        windows,
        rows,
        losses,
        means=words.sums_of_last(d_prior) - words.sums(pulls),
        by_contrast=words.sums(shares * (1 - contrast.stretch)),
        by_prior=words.sums_of_last(slopes),
        strength=words.sums(shares.abs()) + words.sums_of_last(prior_share),
        steepness=words.sums_of_last(steepness),
        stretch=words.sums(met * contrast.stretch[:, : met.shape[1]]),
        met=words.sums(met),
        company=words.sums(met * company[centres][:, None, None]),
        embeddings=embeddings,
        weights=weights,
    )


def _shares(model: Model, violations: Tensor, weights: Tensor) -> Tensor:
    """Return the derivative of the loss by each divergence: positive for what pulls, negative for what pushes."""
    active = violations.sign() * weights[:, :, None]  # where the margin is violated, else 0
    negatives = active if model.objective.pairing == "paired" else active.sum(1)
    return torch.cat((active.sum(2), -negatives.flatten(1), torch.zeros_like(active[:, :1, 0])), 1)


def _head_of_narrowing(posteriors: Posteriors, scores: Scores) -> Tensor:
    """Return the derivative of the score by what the context says."""
    assert posteriors.gain is not None
    assert posteriors.told is not None
    gain = posteriors.gain[scores.rows]
    by_gain = (scores.of_posterior - scores.of_prior / (1 + gain)) / scores.total
    slope = (1 + posteriors.told[scores.rows] / MOST_NARROWING).square()
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
        read = hidden[beyond.rows] / posteriors.scale[beyond.rows]
        d_variance_head = (read.t() @ d_head) * tables.variance_head.sign()
        d_variance_bias = torch.zeros_like(tables.variance_bias)
    else:
        d_variance_head, d_variance_bias = hidden.t() @ d_head, d_head.sum(0)
        d_hidden = d_hidden + d_head @ tables.variance_head.t()
    d_active = torch.where(posteriors.active > 0, posteriors.weights * d_hidden[:, None], 0).to(dtype)
    d_context = windows.texts.sums(d_active)
    d_centre = windows.texts.sums_of_last(d_active.sum(1))
    d_inputs = d_context @ tables.context_layer.t() + d_centre @ tables.centre_layer.t()
    return d_inputs.to(dtype), [
        inputs.t() @ d_context,
        inputs.t() @ d_centre,
        hidden.t() @ d_mean,
        d_mean.sum(0),
        d_variance_head,
        d_variance_bias,
    ]
