"""The encoder and the loss of a minibatch, Eq. 7: what docs/model.md says, for all centres at once.

Everything here can be differentiated by autograd, which is how `gradients` is tested; training does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from densvec.encoder import LOG_VARIANCE_BOUNDS
from densvec.reading import MOST_NARROWING, Reading
from densvec.training.settings import Objective
from densvec.training.torch.windows import Beyond, Windows


class Tables(NamedTuple):
    """What is trained: V words, D dimensions, an encoder with E inputs and H hidden units."""

    means: Tensor  # (V, D)
    log_variances: Tensor  # (V, 1) spherical or (V, D) diagonal
    embeddings: Tensor  # (V, E)
    context_layer: Tensor  # (E, H)
    centre_layer: Tensor  # (E, H)
    mean_head: Tensor  # (H, D)
    mean_bias: Tensor  # (D,)
    variance_head: Tensor  # (H, 1|D)
    variance_bias: Tensor  # (1|D,)


class Rows(NamedTuple):
    """The densities of the U words of a minibatch, the priors of its n centres, and the encoder's inputs."""

    means: Tensor  # (U, D)
    log_variances: Tensor  # (U, 1|D)
    prior_means: Tensor  # (n, D)
    prior_log_variances: Tensor  # (n, 1|D)
    embeddings: Tensor  # (words that are read, E)
    centre_embeddings: Tensor  # (n, E)

    @classmethod
    def of(cls, tables: Tables, windows: Windows) -> Rows:
        """Look them up."""
        means, log_variances = (F.embedding(windows.words.ids, table) for table in tables[:2])
        priors = windows.words.numbers[:, -1]
        embeddings = F.embedding(windows.texts.ids, tables.embeddings)
        centres = embeddings[windows.texts.numbers[:, -1]]
        return cls(means, log_variances, means[priors], log_variances[priors], embeddings, centres)

    @property
    def fisher(self) -> float:
        """The Fisher information of a log-variance: D/2 if one stands for all dimensions, 1/2 if not."""
        return 0.5 * self.means.shape[1] / self.log_variances.shape[1]


class Posteriors(NamedTuple):
    """The posteriors of n centres, and what they were made of."""

    mean: Tensor  # (n, D)
    shift: Tensor  # (n, D) of the mean from the prior's
    log_variance: Tensor  # (n, 1|D)
    active: Tensor  # (n, S, H) hidden units of each context word
    weights: Tensor  # (n, S) of the context words in the sum
    scale: Tensor  # (n, 1) of that sum
    hidden: Tensor  # (n, H)
    free: Tensor | None  # (n, 1|D) where the log-variance is within its bounds; None for a narrowing encoder
    told: Tensor | None  # (n, 1|D) what the context says to a narrowing encoder
    gain: Tensor | None  # (n, 1|D) by which that raises the prior's precision, less 1


class Contrast(NamedTuple):
    """The divergences of n posteriors from their C targets, and the factors that they are made of.

    The stretch of a target is the posterior's second moment about it in units of its variance,
    (v_q + (μ_q - μ_p)²) / v_p: the mean over dimensions if one variance stands for all. Multiplied out, it is an
    inner product of a row of the posterior and one of the word, and so are all its sums over the uses of a word or
    the targets of a centre: no difference of two means is ever stored.
    """

    kl: Tensor  # (n, C)
    stretch: Tensor  # (n, C) times F, summed over dimensions
    of_posteriors: Tensor  # (n, 1|D + D): F·(v_q + μ_q²), -μ_q
    of_words: Tensor  # (U, 1|D + D): 1/v_p, μ_p/v_p
    squares: Tensor  # (U, 1|D): F·μ_p²


class Losses(NamedTuple):
    """Sums over the centres of a minibatch."""

    loss: Tensor
    hinge: Tensor
    kl: Tensor


class Scores(NamedTuple):
    """How far the words beyond the windows lie from the posterior and from the prior; see `Model.score`."""

    of_posterior: Tensor  # (m, 1|D)
    of_prior: Tensor  # (m, 1|D)
    total: Tensor  # (m, 1) what they are measured in
    known: Tensor  # (m, 1) whether there is such a word
    rows: Tensor  # (k,) which of the centres these are


@dataclass(frozen=True)
class Model:
    """The definitions of ``docs/model.md``."""

    objective: Objective
    residual: bool
    reading: Reading

    def losses(self, tables: Tables, windows: Windows) -> Losses:
        """Return the loss of a minibatch, and its two parts."""
        rows = Rows.of(tables, windows)
        posteriors = self.posteriors(tables, windows, rows)
        return self.compare(windows, self.contrast(windows, rows, posteriors).kl)[0]

    def posteriors(self, tables: Tables, windows: Windows, rows: Rows) -> Posteriors:
        """Infer the posterior of each centre."""
        inputs, read = rows.embeddings, windows.texts.numbers
        # The layer is linear before the relu: words are projected once each, and pairs are added up.
        from_context, from_centre = (
            inputs @ tables.context_layer,
            rows.centre_embeddings @ tables.centre_layer,
        )
        active = (F.embedding(read[:, :-1], from_context) + from_centre[:, None]).relu()
        weights, scale = self._reading_weights(windows, inputs.dtype)
        hidden = (weights[:, None] @ active)[:, 0].to(inputs.dtype)
        found = (hidden @ tables.mean_head).to(inputs.dtype) + tables.mean_bias
        if self.residual:
            mean, shift = found + rows.prior_means, found
        else:
            mean, shift = found, found - rows.prior_means
        # given, not learnt: a prior that its posterior's hinge could widen would widen without end
        prior = rows.prior_log_variances.detach()
        made_of = active, weights, scale, hidden
        if self.reading.narrowing:
            # The contrast takes the variance as given; `score` alone teaches its head.
            told = (hidden.detach() @ tables.variance_head.abs()).to(inputs.dtype) / scale
            gain = told / (1 + told / MOST_NARROWING)
            log_variance = (prior - gain.detach().log1p()).clamp(*LOG_VARIANCE_BOUNDS)
            return Posteriors(mean, shift, log_variance, *made_of, None, told, gain)
        log_variance = (hidden @ tables.variance_head).to(inputs.dtype) + tables.variance_bias
        if self.residual:
            log_variance = log_variance + prior
        bounded = log_variance.clamp(*LOG_VARIANCE_BOUNDS)
        return Posteriors(mean, shift, bounded, *made_of, bounded == log_variance, None, None)

    def _reading_weights(self, windows: Windows, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """Return the weight of each place in its centre's sum, 0 for none, and each centre's scale; see `Reading`."""
        reading = self.reading
        weights = 1 + reading.nearness * (1 - 2 * windows.distances.to(dtype) / (reading.window + 1))
        weights = weights * windows.mask
        scale = weights.new_ones(len(weights), 1)
        if reading.saturation != math.inf:
            totals = weights.sum(1, keepdim=True)
            scale = (2 * reading.window + reading.saturation) / (totals + reading.saturation)
        return weights * scale, scale

    def contrast(self, windows: Windows, rows: Rows, posteriors: Posteriors) -> Contrast:
        """Compare each posterior with its targets."""
        numbers, width = windows.words.numbers, rows.log_variances.shape[1]
        precision = (-rows.log_variances).exp()
        moments = rows.fisher * (posteriors.log_variance.exp() + squares(posteriors.mean, width))
        of_posteriors = torch.cat((moments, -posteriors.mean), 1)
        of_words = torch.cat((precision, rows.means * precision), 1)
        own = rows.fisher * squares(rows.means, width)
        of_uses = torch.stack(((own * precision).sum(1), rows.fisher * rows.log_variances.sum(1)), 1)[numbers]
        stretch = windows.words.products(of_posteriors, of_words) + of_uses[:, :, 0]
        of_q = rows.fisher * (1 + posteriors.log_variance).sum(1, keepdim=True)
        return Contrast(stretch + of_uses[:, :, 1] - of_q, stretch, of_posteriors, of_words, own)

    def compare(self, windows: Windows, kl: Tensor) -> tuple[Losses, Tensor, Tensor]:
        """Return the loss and its two parts, by how much contrasts violate the margin, (n, S, K), and their weights."""
        positives, negatives, priors = kl.tensor_split((windows.mask.shape[1], kl.shape[1] - 1), 1)
        if self.objective.pairing == "paired":
            negatives = negatives.reshape(*positives.shape, -1)
        else:
            negatives = negatives[:, None]
        violations = ((positives + self.objective.margin)[:, :, None] - negatives).relu()
        weights = self._pair_weights(windows, kl.dtype)
        hinge = (violations.sum(2) * weights).sum()
        kl_sum = (priors * windows.trained).sum()
        return Losses(hinge + self.objective.kl_weight * kl_sum, hinge, kl_sum), violations, weights

    def _pair_weights(self, windows: Windows, dtype: torch.dtype) -> Tensor:
        """Return how much each contrast of a context word counts in the loss, 0 where there is none: (n, S)."""
        reach = windows.radii[:, None].to(dtype) + 1
        nearness = 1 + self.objective.nearness * (1 - 2 * windows.distances / reach)
        return nearness * windows.mask / windows.negative

    def scores(self, tables: Tables, rows: Rows, beyond: Beyond, mean: Tensor) -> Scores:
        """Return how the words beyond the windows lie to the posteriors and to the priors."""
        there, width = tables.means[beyond.ids].detach(), rows.log_variances.shape[1]

        def apart(means: Tensor) -> Tensor:
            shifts = there - means.detach()[beyond.rows][:, None]
            return (squares(shifts, width) * beyond.exist[:, :, None]).sum(1)

        of_prior, of_posterior = apart(rows.prior_means), apart(mean)
        total = of_prior.mean(1, keepdim=True)
        known = total > 0
        return Scores(of_posterior, of_prior, torch.where(known, total, 1), known, beyond.rows)

    def score(self, scores: Scores, gain: Tensor) -> Tensor:
        """Return what a narrowing encoder's variances learn from; it is not part of the reported loss."""
        gain = gain[scores.rows]
        parts = (scores.of_posterior * (1 + gain) - scores.of_prior * gain.log1p()) / scores.total
        return torch.where(scores.known, parts, 0).sum()


def squares(shifts: Tensor, width: int) -> Tensor:
    """Return the squares of shifts by dimension, or their means over dimensions if one variance stands for all."""
    if width > 1:
        return shifts.square()
    lengths: Tensor = torch.linalg.vector_norm(shifts, dim=-1, keepdim=True)
    return lengths.square() / shifts.shape[-1]
