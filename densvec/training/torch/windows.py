"""Windows made on the device: what each centre reads and is contrasted with, as arrays of one shape for all centres."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from densvec.training.settings import SCORED
from densvec.training.torch.minibatch import Minibatch
from densvec.training.torch.words import Words, distinct

__all__ = ["Beyond", "Windows", "beyond", "windows"]


class Windows(NamedTuple):
    """The windows of n centres with S = 2·reach places each, of which a mask says which exist.

    The targets of a centre are all words of its loss: the S words of its window (the centre itself stands where
    there is none), its negatives (K, or S·K if each place has its own), and at last the centre itself, its prior.
    """

    texts: Words  # the distinct words of the n centres
    words: Words  # those of their (n, C) targets
    places: Tensor  # (n, S) positions of context words, moved into the text where they lie outside
    inside: Tensor  # (n, S) whether they lay inside of the text
    mask: Tensor  # (n, S) whether there is a context word
    distances: Tensor  # (S,) how far the places are from the centre
    radii: Tensor  # (n,)
    trained: Tensor  # (n,) whether a centre has context
    negative: int  # K


class Beyond(NamedTuple):
    """The word to the left and the one to the right of every window that is scored: one centre in `SCORED`."""

    ids: Tensor  # (m, 2)
    exist: Tensor  # (m, 2)


def windows(batch: Minibatch, *, paired: bool) -> Windows:
    """Return the windows of a minibatch."""
    tokens, reach, count = batch.tokens, batch.sizes.reach, len(batch.tokens)
    here = torch.arange(count, device=tokens.device)
    offsets = torch.arange(-reach, reach, device=tokens.device)
    offsets = offsets + (offsets >= 0)  # -reach … -1, 1 … reach
    places = here[:, None] + offsets
    kept = places.clamp(0, count - 1)
    inside = places == kept
    sentence = _numbers(batch.sentences, count)
    together = sentence[kept] == sentence[:, None]
    mask = inside & together & (offsets.abs() <= batch.radii[:, None])
    contexts = torch.where(mask, tokens[kept], tokens[:, None])
    negative = batch.negatives.shape[1]
    negatives = batch.negatives
    if paired:
        # Pairs are numbered centre by centre, from left to right; a place without one may have any of them.
        pair = mask.flatten().cumsum(0).sub_(1).clamp_(0, len(negatives) - 1)
        negatives = negatives.index_select(0, pair).view(count, -1)
    targets = torch.cat((contexts, negatives, tokens[:, None]), 1)
    return Windows(
        distinct(tokens, batch.sizes.tokens),
        distinct(targets, batch.sizes.words),
        kept,
        inside,
        mask,
        offsets.abs(),
        batch.radii,
        mask.any(1),
        negative,
    )


def beyond(batch: Minibatch) -> Beyond:
    """Return the words just outside of windows, but in their sentences."""
    count = len(batch.tokens)
    sentence = _numbers(batch.sentences, count)
    here = torch.arange(0, count, SCORED, device=batch.tokens.device)
    radii = batch.radii[::SCORED]
    places = torch.stack((here - radii - 1, here + radii + 1), 1)
    kept = places.clamp(0, count - 1)
    together = sentence[kept] == sentence[::SCORED, None]
    return Beyond(batch.tokens[kept], (places == kept) & together & (radii > 0)[:, None])


def _numbers(sentences: Tensor, count: int) -> Tensor:
    """Return the number of each position's sentence, in any order that tells sentences apart."""
    marks = sentences.new_zeros(count + 1)
    return marks.index_add_(0, sentences, torch.ones_like(sentences)).cumsum(0, dtype=torch.int32)[:count]
