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

import torch
from torch import Tensor

__all__ = ["adasum", "mean_of_changed", "one_after_another", "total"]


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


def _pair(a: Tensor, b: Tensor) -> Tensor:
    common = (a * b).sum(-1, keepdim=True).div_(2)
    return (a * _weight(common, a)).addcmul_(b, _weight(common, b))


def _weight(common: Tensor, change: Tensor) -> Tensor:
    square = change.square().sum(-1, keepdim=True)
    # A row that a rank did not change is orthogonal to everything.
    return 1 - common / square.clamp_min_(1e-30)
