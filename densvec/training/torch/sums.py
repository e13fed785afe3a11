"""The derivatives of a minibatch added up by words."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from densvec.training.torch.gradients import Step

__all__ = ["Sums", "add_up"]


class Sums(NamedTuple):
    """For each of the U words of a minibatch, over all of its uses."""

    means: Tensor  # (U, D) the gradient
    slopes: (
        Tensor  # (U, 1|D) of log-variances, over the Fisher information: each part at its rate, less coverage
    )
    strength: Tensor  # (U, 1) Σ|share|: how much the divergences to that word weigh, whatever their sign
    steepness: Tensor  # (U, 1|D) the curvature of the residual posteriors that go with the word's mean
    met: Tensor  # (U, 1) in how many windows the word is
    company: Tensor  # (U, 1) what the centres of these windows make coverage expect less of it, added up


def add_up(step: Step, own: Tensor, by_contrast: Tensor, coverage: Tensor, company: Tensor) -> Sums:
    """Add the derivatives up; log-variances move at three rates, see `densvec.training.settings.Rates`.

    ``company`` has a number for each word of the vocabulary, see `densvec.training.tables.bayesian_company`.
    """
    windows, rows, contrast, shares = step.windows, step.rows, step.contrast, step.gradients.shares
    words, priors, width = windows.words, step.gradients.priors, rows.log_variances.shape[1]
    met = windows.mask.to(shares.dtype)
    centres = windows.centres.ids.index_select(0, windows.centres.numbers[:, 0])
    kept = met * company.index_select(0, centres)[:, None]
    total, strength, windows_of, company_of = words.totals(shares, shares.abs(), met, kept)
    means = contrast.pulls_of_words(shares, total)
    # share · (1 - stretch) at the contrast's rate, and -stretch at coverage's
    weights, weight = shares * by_contrast, total * by_contrast + windows_of * coverage
    weights.narrow(1, 0, met.shape[1]).add_(met * coverage)
    slopes = by_contrast * total - contrast.stretches_of_words(weights, weight) / rows.fisher

    # what the centres do to their own priors
    there = words.in_last_uses(windows.centres)
    means = means.index_add_(0, there, windows.centres.sums_by_word(priors.means))
    parts = (priors.log_variances * own, priors.shares, priors.steepness)
    rest = torch.cat((slopes, strength, torch.zeros_like(slopes)), 1).index_add_(
        0, there, windows.centres.sums_by_word(torch.cat(parts, 1))
    )
    slopes, strength, steepness = rest.tensor_split((width, width + 1), 1)
    return Sums(means, slopes, strength, steepness, windows_of, company_of)
