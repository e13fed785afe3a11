"""The divergences of posteriors from the words that they are contrasted with, and their derivatives.

KL[q‖p] of two Gaussians is ½ Σ ((v_q + (μ_q - μ_p)²)/v_p + log v_p - log v_q - 1). The first term is the stretch of p
by q; here a ``stretch`` is D/2 times it if spherical, and half of it if diagonal. Multiplied out, it consists of
numbers of q, numbers of p, and inner products of a row of each, and so do all sums over the uses of a word or over the
words of a centre: no row has to be looked up for each use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from densvec.training.torch.words import Words, squared_lengths

__all__ = ["Contrast", "Diagonal", "Spherical", "contrast"]


@dataclass
class Spherical:
    """n posteriors and their C targets each, among U words; one variance of each stands for all dimensions."""

    words: Words
    mean: Tensor  # (n, D)
    log_variance: Tensor  # (n, 1)
    means: Tensor  # (U, D)
    log_variances: Tensor  # (U, 1)

    def __post_init__(self) -> None:
        """Compute ``kl`` and ``stretch``, (n, C)."""
        size = self.mean.shape[1]
        moment = 0.5 * (squared_lengths(self.mean)[:, None] + size * self.log_variance.exp())
        square = 0.5 * squared_lengths(self.means)
        log_variance = self.words.of_uses(self.log_variances[:, 0])
        self.precision = (-log_variance).exp()  # (n, C)
        products = self.words.products(self.mean, self.means)
        self.stretch = (moment + self.words.of_uses(square) - products) * self.precision
        self.kl = self.stretch + 0.5 * size * (log_variance - (self.log_variance + 1))

    def pulls(self, shares: Tensor) -> tuple[Tensor, Tensor]:
        """Return Σ share/v_p and Σ share·(μ_q - μ_p)/v_p over the targets of each posterior: (n, 1|D), (n, D)."""
        gains = shares * self.precision
        total = gains.sum(1, keepdim=True)
        return total, self.words.sums_by_row(self.means, gains.neg_()).addcmul_(self.mean, total)

    def steepness(self, shares: Tensor) -> Tensor:
        """Return Σ |share|/v_p over the targets of each posterior: (n, 1|D)."""
        return (shares.abs() * self.precision).sum(1, keepdim=True)

    def pulls_of_words(self, shares: Tensor, total: Tensor) -> Tensor:
        """Return Σ share·(μ_p - μ_q)/v_p over the uses of each word, whose shares add up to ``total``: (U, D)."""
        pushed = self.words.sums_by_word(self.mean, -shares * self.precision)
        return pushed.addcmul_(self.means, total * (-self.log_variances).exp())

    def stretches_of_words(self, weights: Tensor, total: Tensor) -> Tensor:
        """Return Σ weight·stretch over the uses of each word, whose weights add up to ``total``: (U, 1|D)."""
        return self.words.totals(weights * self.stretch)[0]


@dataclass
class Diagonal:
    """The same with a variance for each dimension."""

    words: Words
    mean: Tensor  # (n, D)
    log_variance: Tensor  # (n, D)
    means: Tensor  # (U, D)
    log_variances: Tensor  # (U, D)

    def __post_init__(self) -> None:
        """Compute ``kl`` and ``stretch``, (n, C), the latter summed over dimensions."""
        moment = 0.5 * (self.mean.square() + self.log_variance.exp())
        self.precision = (-self.log_variances).exp()
        self.of_posterior = torch.cat((moment, -self.mean), 1)
        self.of_word = torch.cat((self.precision, self.means * self.precision), 1)
        square = 0.5 * (self.means.square() * self.precision).sum(1)
        self.stretch = self.words.products(self.of_posterior, self.of_word) + self.words.of_uses(square)
        of_posterior = (1 + self.log_variance).sum(1, keepdim=True)
        self.kl = self.stretch + 0.5 * (self.words.of_uses(self.log_variances.sum(1)) - of_posterior)

    def pulls(self, shares: Tensor) -> tuple[Tensor, Tensor]:
        """Return Σ share/v_p and Σ share·(μ_q - μ_p)/v_p over the targets of each posterior."""
        precision, weighted = self.words.sums_by_row(self.of_word, shares).chunk(2, 1)
        return precision, self.mean * precision - weighted

    def steepness(self, shares: Tensor) -> Tensor:
        """Return Σ |share|/v_p over the targets of each posterior."""
        return self.words.sums_by_row(self.precision, shares.abs())

    def pulls_of_words(self, shares: Tensor, total: Tensor) -> Tensor:
        """Return Σ share·(μ_p - μ_q)/v_p over the uses of each word."""
        return (total * self.means - self.words.sums_by_word(self.mean, shares)) * self.precision

    def stretches_of_words(self, weights: Tensor, total: Tensor) -> Tensor:
        """Return Σ weight·stretch over the uses of each word, by dimension."""
        moment, opposite = self.words.sums_by_word(self.of_posterior, weights).chunk(2, 1)
        return (moment + self.means * opposite + 0.5 * total * self.means.square()) * self.precision


#: One of the two, as the densities are.
Contrast: TypeAlias = Spherical | Diagonal


def contrast(
    words: Words, mean: Tensor, log_variance: Tensor, means: Tensor, log_variances: Tensor
) -> Contrast:
    """Contrast the posteriors of n centres with the words that they use."""
    kind = Spherical if log_variance.shape[1] == 1 else Diagonal
    return kind(words, mean, log_variance, means, log_variances)
