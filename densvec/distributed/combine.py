"""How the changes that several ranks made to the same rows become one change.

Two independent changes of a row should both be made; two equal changes should be made once, because each rank has
already gone the whole way. Adasum (Maleki et al., 2021) does that, and everything between::

    a ⊕ b = (1 − a·b / 2‖a‖²) a + (1 − a·b / 2‖b‖²) b

It is the sum of orthogonal changes and the mean of equal ones. More than two are combined in pairs, in a tree over
the ranks, so that the result does not depend on which rank computes it.

Where it is known how far rows were drawn, that says more than the angle between changes. A row that is drawn by steps
of some shares of its way goes 1 − exp(−t) of it, with t the sum of the shares. Ranks that draw it by t₁, t₂ … one after
another would take it 1 − exp(−t₁ − t₂ …) of the way, and from changes that each made alone that is::

    (1 − exp(−Σ t_r)) / Σ (1 − exp(−t_r)) · Σ change_r

the sum of small changes, whatever their angle, and the mean of those that went the whole way.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

__all__ = ["adasum", "adasum_blocks", "mean_of_changed", "one_after_another", "total"]


def adasum(changes: Tensor) -> Tensor:
    """Combine the changes of some rows, (ranks, rows, columns), row by row.

    Examples
    --------
    >>> adasum(torch.tensor([[[1.0, 0.0]], [[0.0, 2.0]]]))  # orthogonal: the sum
    tensor([[1., 2.]])
    >>> adasum(torch.tensor([[[1.0, 1.0]], [[1.0, 1.0]]]))  # equal: the mean
    tensor([[1., 1.]])
    >>> adasum(torch.tensor([[[0.0, 0.0]], [[3.0, 1.0]]]))  # one rank alone: its change
    tensor([[3., 1.]])
    """
    parts: list[Tensor] = list(changes)
    while len(parts) > 1:
        pairs = [_pair(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def mean_of_changed(changes: Tensor) -> Tensor:
    """Combine single numbers, which is what Adasum does with them: the mean over the ranks that changed them.

    What was within bounds on all ranks still is afterwards.

    Examples
    --------
    >>> mean_of_changed(torch.tensor([[[1.0, 0.0]], [[2.0, 5.0]]]))
    tensor([[1.5000, 5.0000]])
    """
    return changes.sum(0).div_((changes != 0).sum(0).clamp_min_(1))


def one_after_another(changes: Tensor, travelled: Tensor) -> Tensor:
    """Combine the changes of some rows, (ranks, rows, columns), by how far each was drawn, (ranks, rows).

    Examples
    --------
    >>> changes = torch.tensor([[[1.0, 1.0]], [[1.0, 1.0]]])
    >>> one_after_another(changes, torch.tensor([[0.001], [0.001]]))  # hardly on their way: the sum
    tensor([[1.9990, 1.9990]])
    >>> one_after_another(changes, torch.tensor([[20.0], [20.0]]))  # all the way: the mean
    tensor([[1., 1.]])
    """
    apart = -torch.expm1(-travelled).sum(0)
    scale = -torch.expm1(-travelled.sum(0)) / apart.clamp_min(1e-30)
    return changes.sum(0) * torch.where(apart > 0, scale, 1.0)[:, None]


def total(changes: Tensor) -> Tensor:
    """Combine what adds up, such as sums of squares."""
    return changes.sum(0)


def adasum_blocks(
    changes: Tensor,
    blocks: Tensor,
    count: int,
    add_up: Callable[[Tensor], Tensor] = lambda products: products,
) -> Tensor:
    """Combine changes of weights, each block of them as a whole.

    Parameters
    ----------
    changes : Tensor, (ranks, weights)
        What each rank changed.
    blocks : Tensor, (weights,)
        The block that each weight belongs to.
    count : int
        How many blocks there are.
    add_up : callable
        Adds up the products of changes over those who hold other weights of the same blocks.

    Examples
    --------
    >>> changes = torch.tensor([[1.0, 0.0, 2.0], [0.0, 1.0, 2.0]])
    >>> adasum_blocks(changes, torch.tensor([0, 0, 1]), 2)
    tensor([1., 1., 2.])
    """
    parts: list[Tensor] = list(changes)
    runs, lengths = torch.unique_consecutive(blocks, return_counts=True)
    while len(parts) > 1:
        pairs = list(zip(parts[::2], parts[1::2], strict=False))
        products = changes.new_zeros(len(pairs), 3, count, dtype=torch.float64)
        for of_pair, (a, b) in zip(products, pairs, strict=True):
            for of_block, (x, y) in zip(of_pair, ((a, b), (a, a), (b, b)), strict=True):
                for block, run in zip(runs.tolist(), torch.split(x * y, lengths.tolist()), strict=True):
                    of_block[block] += run.sum(dtype=torch.float64)
        common, first, second = add_up(products).unbind(1)
        weights = [(1 - common / 2 / square.clamp_min(1e-60)).to(changes.dtype) for square in (first, second)]
        combined = [
            (a * of_a[blocks]).addcmul_(b, of_b[blocks])
            for (a, b), of_a, of_b in zip(pairs, *weights, strict=True)
        ]
        parts = combined + parts[len(pairs) * 2 :]
    return parts[0]


def _pair(a: Tensor, b: Tensor) -> Tensor:
    common = (a * b).sum(-1, keepdim=True).div_(2)
    return (a * _weight(common, a)).addcmul_(b, _weight(common, b))


def _weight(common: Tensor, change: Tensor) -> Tensor:
    square = change.square().sum(-1, keepdim=True)
    # A row that a rank did not change is orthogonal to everything.
    return 1 - common / square.clamp_min_(1e-30)
