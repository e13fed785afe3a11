"""Rows of centres and words along the links between them: gathered, multiplied and added up, differentiably.

Torch's own gathers are slow to differentiate on a CPU, where they add rows up one by one. Along links that are
known in the order of both sides, the sum of a row's gradients is a bag of embeddings, which torch does fast.
"""

from __future__ import annotations

import warnings
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from densvec.training.torch.minibatch import Links

__all__ = ["dots", "of_centres", "of_words", "sums_by_centre", "sums_by_word", "totals_by_centre"]

with warnings.catch_warnings():  # torch says once in a process that its sparse matrices may change
    warnings.simplefilter("ignore", UserWarning)
    torch.sparse_csr_tensor([0, 1], [0], [0.0])


#: Devices on which torch adds up bags of rows; on others rows are added one by one.
BAGS = {"cpu", "cuda"}


def sums_by_centre(links: Links, of_words: Tensor, weights: Tensor) -> Tensor:
    """Return, for each centre, the sum of the rows of its words, each times the weight of its link: (B, D)."""
    return _add_up(of_words, links.words, links.centres, links.by_centre, links.centre_starts, weights)


def sums_by_word(links: Links, of_centres: Tensor, weights: Tensor) -> Tensor:
    """Return, for each word, the sum of the rows of its centres, each times the weight of its link: (U, D)."""
    return _add_up(of_centres, links.centres, links.words, links.by_word, links.word_starts, weights)


def of_words(links: Links, rows: Tensor) -> Tensor:
    """Return the row of the word of each link: (n, D)."""
    result: Tensor = _Gather.apply(rows, links.words, links.by_word, links.word_starts)  # type: ignore[no-untyped-call]
    return result


def of_centres(links: Links, rows: Tensor) -> Tensor:
    """Return the row of the centre of each link: (n, D)."""
    result: Tensor = _Gather.apply(rows, links.centres, links.by_centre, links.centre_starts)  # type: ignore[no-untyped-call]
    return result


def totals_by_centre(links: Links, rows: Tensor) -> Tensor:
    """Return, for each centre, the sum of the rows of its links: (B, D)."""
    result: Tensor = _Sum.apply(rows, links.centres, links.by_centre, links.centre_starts)  # type: ignore[no-untyped-call]
    return result


def dots(links: Links, of_centres: Tensor, of_words: Tensor) -> Tensor:
    """Return the inner product of the two rows of each link: (n,)."""
    result: Tensor = _Dots.apply(of_centres, of_words, links)  # type: ignore[no-untyped-call]
    return result


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, index: Tensor, order: Tensor, starts: Tensor) -> Tensor:
        ctx.save_for_backward(index, order, starts)
        return rows.index_select(0, index)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        return _add_up(gradient, None, *ctx.saved_tensors), None, None, None


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, index: Tensor, order: Tensor, starts: Tensor) -> Tensor:
        ctx.save_for_backward(index)
        return _add_up(rows, None, index, order, starts)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (index,) = ctx.saved_tensors
        return gradient.index_select(0, index), None, None, None


class _Dots(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, of_centres: Tensor, of_words: Tensor, links: Links) -> Tensor:
        ctx.save_for_backward(of_centres, of_words)
        ctx.links = links
        count, shape = len(links.words), (len(of_centres), len(of_words))
        if of_centres.device.type != "cpu" or count > shape[0] * shape[1]:
            return (of_centres.index_select(0, links.centres) * of_words.index_select(0, links.words)).sum(1)
        # The products that a sparse matrix has room for: the rows are never gathered.
        columns = links.words.index_select(0, links.by_centre)
        room = torch.sparse_csr_tensor(
            links.centre_starts, columns, of_centres.new_zeros(count), shape, check_invariants=False
        )
        products = torch.sparse.sampled_addmm(room, of_centres, of_words.t(), beta=0.0).values()
        return torch.empty_like(products).index_copy_(0, links.by_centre, products)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        of_centres, of_words = ctx.saved_tensors
        return (
            sums_by_centre(ctx.links, of_words, gradient),
            sums_by_word(ctx.links, of_centres, gradient),
            None,
        )


def _add_up(
    rows: Tensor,
    source: Tensor | None,
    target: Tensor,
    order: Tensor,
    starts: Tensor,
    weights: Tensor | None = None,
) -> Tensor:
    """Return totals with ``totals[target[i]] += weights[i] * rows[source[i]]`` for every link i.

    ``order`` sorts the links by target, and the links of target t then begin at ``starts[t]``.
    """
    if rows.device.type in BAGS:
        return F.embedding_bag(
            order if source is None else source.index_select(0, order),
            rows,
            starts[:-1],
            mode="sum",
            per_sample_weights=None if weights is None else weights.index_select(0, order),
        )
    if source is not None:
        rows = rows.index_select(0, source)
    if weights is not None:
        rows = rows * weights[:, None]
    return rows.new_zeros(len(starts) - 1, rows.shape[1]).index_add_(0, target, rows)
