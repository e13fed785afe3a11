"""Windows made on the device: what each centre reads and is contrasted with, as arrays of one shape for all centres."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from densvec.training.torch.minibatch import Minibatch

with warnings.catch_warnings():  # torch says once in a process that its sparse matrices may change
    warnings.simplefilter("ignore", UserWarning)
    torch.sparse_csr_tensor([0, 1], [0], [0.0])


class Words(NamedTuple):
    """The distinct words among C uses of words in each of n rows."""

    ids: Tensor  # (U,) ascending; behind them there may be zeros, which no use has
    numbers: Tensor  # (n, C) the word of each use, of 0 … U - 1
    order: Tensor  # (n·C,) what brings the uses of each word together
    rows: Tensor  # (n·C,) the rows of the uses in that order
    starts: Tensor  # (U,) where the uses of each word begin in it

    @classmethod
    def of(cls, uses: Tensor, count: int) -> Words:
        """Return the words of (n, C) ids, of which at most `count` are distinct: no device is asked how many."""
        ids, order = uses.flatten().sort()
        if ids.device.type == "cpu":  # which can be asked
            ids, number, counts = torch.unique_consecutive(ids, return_inverse=True, return_counts=True)
            starts = counts.cumsum(0) - counts
        else:
            number = F.pad((ids[1:] != ids[:-1]).cumsum(0), (1, 0))
            ids = ids.new_zeros(count).scatter_(0, number, ids)
            starts = torch.searchsorted(number, torch.arange(count, device=ids.device))
        numbers = torch.empty_like(order).scatter_(0, order, number).view(uses.shape)
        return cls(ids.long(), numbers, order, order // uses.shape[1], starts)

    def products(self, of_rows: Tensor, of_words: Tensor) -> Tensor:
        """Return the inner products of each row and the words of its uses: (n, C)."""
        shape, empty = (len(of_words), len(of_rows)), of_rows.new_zeros(len(self.order))
        if of_rows.device.type != "cpu" or torch.is_grad_enabled() or len(empty) > shape[0] * shape[1]:
            return (of_rows[:, None] @ F.embedding(self.numbers, of_words).mT)[:, 0]
        # The products that a sparse matrix has room for, so that nothing is gathered, which would leave the cache.
        starts = F.pad(self.starts, (0, 1), value=len(empty))
        room = torch.sparse_csr_tensor(starts, self.rows, empty, shape, check_invariants=False)
        found = torch.sparse.sampled_addmm(room, of_words, of_rows.t(), beta=0.0).values()
        return torch.empty_like(found).scatter_(0, self.order, found).view(self.numbers.shape)

    def sums(self, of_rows: Tensor, weights: Tensor) -> Tensor:
        """Sum by words what belongs to rows, (n, width), times the weights of their first c uses, (n, c)."""
        missing = self.numbers.shape[1] - weights.shape[1]
        return self._sums(of_rows, self.rows, F.pad(weights, (0, missing)))

    def sums_of_uses(self, of_uses: Tensor, weights: Tensor) -> Tensor:
        """Sum by words what belongs to the first c uses of each row, (n, c, width), times their weights, (n, c)."""
        missing = self.numbers.shape[1] - of_uses.shape[1]
        flat = of_uses.flatten(0, 1)
        # the other uses of a row find what is not theirs, and take none of it
        sources = (self.order - self.rows * missing).clamp(max=len(flat) - 1)
        return self._sums(flat, sources, F.pad(weights, (0, missing)))

    def totals(self, of_uses: Tensor) -> Tensor:
        """Sum by words the numbers of the first c uses of each row, (n, c), to (U, 1)."""
        numbers = self.numbers[:, : of_uses.shape[1]].flatten()
        return of_uses.new_zeros(len(self.ids)).index_add_(0, numbers, of_uses.flatten())[:, None]

    def add_to_last(self, of_words: Tensor, of_rows: Tensor) -> Tensor:
        """Add to what belongs to words, in place, what belongs to the last use of each row, which is the centre."""
        return of_words.index_add_(0, self.numbers[:, -1], of_rows.to(of_words.dtype))

    def _sums(self, values: Tensor, sources: Tensor, weights: Tensor) -> Tensor:
        """Sum by words the values that their uses find in these places: (U, width)."""
        weights = weights.flatten()[self.order].to(values.dtype)
        return F.embedding_bag(sources, values, self.starts, mode="sum", per_sample_weights=weights)


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
