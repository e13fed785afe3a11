"""Windows made on the device: what each centre reads and is contrasted with, as arrays of one shape for all centres."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from densvec.training.torch.minibatch import Minibatch


class Words(NamedTuple):
    """The distinct words among many uses of words."""

    ids: Tensor  # (U,) ascending; behind them there may be zeros, which no use has
    numbers: Tensor  # (n, C) the word of each use, of 0 … U - 1

    @classmethod
    def of(cls, uses: Tensor, count: int) -> Words:
        """Return the words of (n, C) ids, of which at most `count` are distinct: no device is asked how many."""
        ids, order = uses.flatten().sort()
        number = F.pad((ids[1:] != ids[:-1]).cumsum(0), (1, 0))
        distinct = ids.new_zeros(count).scatter_(0, number, ids)
        return cls(distinct.long(), torch.empty_like(order).scatter_(0, order, number).view(uses.shape))

    def sums(self, of_uses: Tensor) -> Tensor:
        """Sum by words what belongs to all uses of each row, or to the first of them: (n, c, width) to (U, width)."""
        return self._sums(of_uses.flatten(0, 1), self.numbers[:, : of_uses.shape[1]].flatten())

    def sums_of_last(self, of_rows: Tensor) -> Tensor:
        """Sum by words what belongs to the last use of each row, which is the centre: (n, width) to (U, width)."""
        return self._sums(of_rows, self.numbers[:, -1])

    def _sums(self, values: Tensor, numbers: Tensor) -> Tensor:
        return values.new_zeros(len(self.ids), values.shape[1]).index_add_(0, numbers, values)


class Windows(NamedTuple):
    """The windows of n centres with S = 2·reach places each, of which a mask says which exist.

    A centre reads the words of its window (it stands itself where there is none), and itself. Its targets are all
    words of its loss: the S words of its window, its negatives (K, or S·K if each place has its own), and at last the
    centre itself, its prior.
    """

    texts: Words  # the distinct words of the (n, S + 1) that the centres read
    words: Words  # those of their (n, C) targets
    mask: Tensor  # (n, S) whether there is a context word
    distances: Tensor  # (S,) how far the places are from the centre
    radii: Tensor  # (n,)
    trained: Tensor  # (n, 1) whether a centre has context
    negative: int  # K


class Beyond(NamedTuple):
    """The word to the left and the one to the right of every window that is scored."""

    ids: Tensor  # (k, 2)
    exist: Tensor  # (k, 2)
    rows: Tensor  # (k,) which of the centres these are


def windows(batch: Minibatch, *, paired: bool) -> Windows:
    """Return the windows of a minibatch."""
    tokens, reach, sizes = batch.tokens, batch.sizes.reach, batch.sizes
    part = slice(batch.first, None, batch.stride)
    here = torch.arange(batch.first, len(tokens), batch.stride, device=tokens.device, dtype=torch.int32)
    offsets = torch.arange(-reach, reach, device=tokens.device, dtype=torch.int32)
    offsets = offsets + (offsets >= 0)  # -reach … -1, 1 … reach
    places = here[:, None] + offsets
    start, stop = _sentences(batch, here)
    centres, radii = tokens[part, None], batch.radii[part]
    mask = (places >= start) & (places < stop) & (offsets.abs() <= radii[:, None])
    contexts = torch.where(mask, tokens[places.clamp(0, len(tokens) - 1)], centres)
    negatives = _of_pairs(batch, mask) if paired else batch.negatives[part]
    return Windows(
        Words.of(torch.cat((contexts, centres), 1), sizes.texts),
        Words.of(torch.cat((contexts, negatives, centres), 1), sizes.words),
        mask,
        offsets.abs(),
        radii,
        (radii[:, None] > 0) & (stop - start > 1),
        batch.negatives.shape[1],
    )


def beyond(batch: Minibatch) -> Beyond:
    """Return the words just outside of windows, but in their sentences."""
    tokens = batch.tokens
    scored = range(batch.first, len(tokens), batch.stride)[batch.scored]
    here = torch.arange(scored.start, scored.stop, scored.step, device=tokens.device, dtype=torch.int32)
    radii = batch.radii[batch.first :: batch.stride][batch.scored]
    places = torch.stack((here - radii - 1, here + radii + 1), 1)
    start, stop = _sentences(batch, here)
    exist = (places >= start) & (places < stop) & (radii > 0)[:, None]
    rows = (here - batch.first).div(batch.stride, rounding_mode="floor")
    return Beyond(tokens[places.clamp(0, len(tokens) - 1)], exist, rows)


def _sentences(batch: Minibatch, here: Tensor) -> tuple[Tensor, Tensor]:
    """Return where the sentences of positions begin and end, as columns."""
    after = torch.searchsorted(batch.sentences, here, right=True)[:, None]
    return batch.sentences[after - 1], batch.sentences[after]


def _of_pairs(batch: Minibatch, mask: Tensor) -> Tensor:
    """Return the negatives of each place, (n, S·K): pairs are numbered centre by centre, from left to right."""
    here = torch.arange(len(batch.tokens), device=mask.device, dtype=torch.int32)
    start, stop = (bound[:, 0] for bound in _sentences(batch, here))
    pairs = torch.minimum(here - start, batch.radii) + torch.minimum(stop - 1 - here, batch.radii)
    before = (pairs.cumsum(0) - pairs)[batch.first :: batch.stride, None]
    # a place without a pair may have the negatives of any
    pair = (before + mask.cumsum(1) - 1).clamp(0, len(batch.negatives) - 1)
    negatives: Tensor = batch.negatives.index_select(0, pair.flatten())
    return negatives.view(len(mask), -1)
