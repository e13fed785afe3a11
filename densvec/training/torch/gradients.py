"""The gradients of the loss in closed form, added up by words."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from densvec.reading import MOST_NARROWING
from densvec.training.torch.step import Contrast, Losses, Model, Posteriors, Rows, Scores, Tables, squares
from densvec.training.torch.windows import Beyond, Windows, Words


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
    shares = _shares(model, violations, pair_weights)
    words, width = windows.words, rows.log_variances.shape[1]

    # ∂/∂μ_q of Σ shares · KL is Σ shares · (μ_q - μ_p)/v_p
    pulls = _bags(words.numbers, contrast.of_words, shares)
    precision = pulls[:, :width]
    pulled = posteriors.mean * precision - pulls[:, width:]
    prior_precision, variance = (-rows.prior_log_variances).exp(), posteriors.log_variance.exp()
    prior_share = model.objective.kl_weight * windows.trained.to(pulled.dtype)
    prior_pull, shift = prior_share * prior_precision, posteriors.shift
    d_mean = pulled + prior_pull * shift

    # What each centre does to its own prior. A residual posterior takes its prior's mean along, by which KL[q‖prior]
    # does not change; a narrowing one's variance goes with its prior's, so only the shift says how wide that must be.
    d_prior = pulled if model.residual else -prior_pull * shift
    steepness = torch.zeros_like(precision)
    if model.residual:
        steepness = _bags(words.numbers, (-rows.log_variances).exp(), shares.abs())
    kept = 1 if model.reading.narrowing else variance * prior_precision
    slopes = prior_share * (1 - kept - squares(shift, width) * prior_precision)

    if model.reading.narrowing:
        assert beyond is not None
        d_head = _head_of_narrowing(posteriors, model.scores(tables, rows, beyond, posteriors.mean))
    else:
        assert posteriors.free is not None
        total = shares.sum(1, keepdim=True) + prior_share
        d_head = rows.fisher * (variance * (precision + prior_pull) - total) * posteriors.free
    embeddings, weights = _encoder(model, tables, windows, rows, posteriors, d_mean, d_head, beyond)

    met = windows.mask.to(shares.dtype)
    total = words.totals(shares)
    # in place, for there are many more words than centres
    pushed = words.sums(contrast.of_posteriors, shares)[:, width:]
    pushed.addcmul_(total, rows.means).mul_(contrast.of_words[:, :width])
    return Step(
        windows,
        rows,
        losses,
        means=words.add_to_last(pushed, d_prior),
        by_contrast=total - _stretches(words, rows, contrast, shares),
        by_prior=words.add_to_last(torch.zeros_like(rows.log_variances), slopes),
        strength=words.add_to_last(words.totals(shares.abs()), prior_share),
        steepness=words.add_to_last(torch.zeros_like(rows.log_variances), steepness),
        stretch=_stretches(words, rows, contrast, met),
        met=words.totals(met),
        company=words.totals(met * company[words.ids[words.numbers[:, -1:]]]),
        embeddings=embeddings,
        weights=weights,
    )


def _bags(numbers: Tensor, of_words: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted sums of the rows with the numbers of (n, C): (n, width)."""
    return F.embedding_bag(numbers, of_words, mode="sum", per_sample_weights=weights)


def _stretches(words: Words, rows: Rows, contrast: Contrast, weights: Tensor) -> Tensor:
    """Return the weighted stretches of each word added up: (U, 1|D)."""
    width = rows.log_variances.shape[1]
    if width == 1:
        return words.totals(weights * contrast.stretch[:, : weights.shape[1]]) / rows.fisher
    moments, opposite = words.sums(contrast.of_posteriors, weights).tensor_split((width,), 1)
    multiplied = moments + opposite * rows.means + words.totals(weights) * contrast.squares
    return multiplied * contrast.of_words[:, :width] / rows.fisher


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
    hidden, dtype = posteriors.hidden, d_mean.dtype
    d_hidden = d_mean @ tables.mean_head.t()
    if model.reading.narrowing:
        assert beyond is not None
        read = hidden[beyond.rows] / posteriors.scale[beyond.rows]
        d_variance_head = (read.t() @ d_head) * tables.variance_head.sign()
        d_variance_bias = torch.zeros_like(tables.variance_bias)
    else:
        d_variance_head, d_variance_bias = hidden.t() @ d_head, d_head.sum(0)
        d_hidden = d_hidden + d_head @ tables.variance_head.t()
    # of each context word's hidden units but for its weight, in their place: the relu lets back what it let through
    d_active = posteriors.active.sign_().mul_(d_hidden[:, None])
    d_context = windows.texts.sums_of_uses(d_active, posteriors.weights).to(dtype)
    d_centre = (posteriors.weights[:, None] @ d_active)[:, 0].to(dtype)
    d_inputs = d_context @ tables.context_layer.t()
    d_inputs = windows.texts.add_to_last(d_inputs, d_centre @ tables.centre_layer.t())
    return d_inputs.to(dtype), [
        rows.embeddings.t() @ d_context,
        rows.centre_embeddings.t() @ d_centre,
        hidden.t() @ d_mean,
        d_mean.sum(0),
        d_variance_head,
        d_variance_bias,
    ]
