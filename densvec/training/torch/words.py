"""The distinct words among many uses of words: a sparse matrix of rows and words, whose products torch does fast.

Nothing here asks the device how many words there are.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

__all__ = ["Words", "distinct", "is_known", "squared_lengths", "sums_of_rows"]

#: Devices on which torch adds up bags of rows without copying them, in the same order each time.
BAGS = {"cpu", "cuda", "meta"}

#: As many numbers torch sorts on a CPU digit by digit, five times as fast as fewer: these are filled up to that, unless
#: they are few.
MANY, FEW = 32_768, 8000

with warnings.catch_warnings():  # torch says once in a process that its sparse matrices may change
    warnings.simplefilter("ignore", UserWarning)
    torch.sparse_csr_tensor([0, 1], [0], [0.0])


class Words(NamedTuple):
    """U distinct words, ascending, and their N = n·C uses: C in each of n rows."""

    ids: Tensor  # (U,) of which the last may stand there several times: only the first of them has uses
    numbers: Tensor  # (n, C) the word of each use, of 0 … U - 1
    order: Tensor  # (N,) what brings the uses of each word together
    rows: Tensor  # (N,) the rows of the uses in that order
    starts: Tensor  # (U,) where the uses of each word begin in that order

    def counts(self) -> Tensor:
        """Return how many uses each word has: (U,)."""
        return torch.diff(self.starts, append=self.starts.new_full((1,), len(self.order)))

    def in_last_uses(self, others: Words) -> Tensor:
        """Return the word here of each word there, which are those of the same rows' last uses: (U of the others,)."""
        rows = others.rows.index_select(0, others.starts.clamp(max=len(others.rows) - 1))
        return self.numbers[:, -1].index_select(0, rows)

    def of_uses(self, of_words: Tensor) -> Tensor:
        """Return the number of each use's word, of (U,): (n, C)."""
        return of_words.index_select(0, self.numbers.flatten()).view(self.numbers.shape)

    def products(self, of_rows: Tensor, of_words: Tensor) -> Tensor:
        """Return the inner products of row and word for each use: (n, C)."""
        uses, shape = self.numbers.flatten(), (len(of_words), len(of_rows))
        plain = not (
            torch.is_grad_enabled() or torch.compiler.is_compiling()
        )  # neither knows sparse matrices
        if of_rows.device.type == "cpu" and plain and len(uses) <= shape[0] * shape[1]:
            # The products that a sparse matrix has room for: nothing is gathered, which would leave the cache. Word by
            # word, for there are more words than rows. What is in the matrix is multiplied by 0, so it must be finite.
            bounds, nothing = F.pad(self.starts, (0, 1), value=len(uses)), of_rows.new_zeros(len(uses))
            room = torch.sparse_csr_tensor(bounds, self.rows, nothing, shape, check_invariants=False)
            found: Tensor = torch.sparse.sampled_addmm(room, of_words, of_rows.t(), beta=0.0).values()
            return torch.empty_like(found).scatter_(0, self.order, found).view(self.numbers.shape)
        gathered = of_words.index_select(0, uses).view(*self.numbers.shape, -1)
        return (of_rows[:, None] @ gathered.transpose(1, 2))[:, 0]

    def sums_by_row(self, of_words: Tensor, weights: Tensor) -> Tensor:
        """Return, for each row, the sum over its uses of what belongs to the word, times the use's weight."""
        return sums_of_rows(of_words, self.numbers, weights)

    def sums_by_word(self, of_rows: Tensor, weights: Tensor | None = None) -> Tensor:
        """Return, for each word, the sum over its uses of what belongs to the row, times the use's weight: (U, width).

        ``of_rows`` may also have what belongs to each single use, (N, width).
        """
        sources = self.rows if len(of_rows) < len(self.order) else self.order
        if weights is not None:
            weights = weights.flatten().index_select(0, self.order)
        return self._sums(of_rows, sources, weights)

    def totals(self, *of_uses: Tensor) -> list[Tensor]:
        """Return, for each word, the sums over its uses of numbers, as columns: (U, 1) each.

        The numbers of all uses are (n, C); those of the first k of each row, if others have none, (n, k).
        """
        if self.order.device.type == "cpu":  # a CPU adds them up one after the other, and needs no order
            return [
                part.new_zeros(len(self.ids)).scatter_add_(
                    0, self.numbers[:, : part.shape[1]].flatten(), part.flatten()
                )[:, None]
                for part in of_uses
            ]
        count = self.numbers.shape[1]
        columns = torch.stack([F.pad(part, (0, count - part.shape[1])).flatten() for part in of_uses], 1)
        return list(self._sums(columns, self.order, None).tensor_split(len(of_uses), 1))

    def sums_but_last(self, of_uses: Tensor, weights: Tensor) -> Tensor:
        """Return, for each word, the sum over its uses of what belongs to each, (n·(C-1), width), times its weight.

        The last use of each row has nothing.
        """
        # The last use of a row finds what belongs to the next row's first, and adds none of it.
        sources = (self.order - self.rows).clamp_(max=len(of_uses) - 1)
        weights = F.pad(weights, (0, 1)).flatten().index_select(0, self.order)
        return self._sums(of_uses, sources, weights)

    def _sums(self, of_uses: Tensor, sources: Tensor, weights: Tensor | None) -> Tensor:
        """Return, for each word, the weighted sum of the rows that its uses in this order have: (U, width)."""
        if of_uses.device.type in BAGS:
            return F.embedding_bag(sources, of_uses, self.starts, mode="sum", per_sample_weights=weights)
        rows = of_uses.index_select(0, sources)
        if weights is not None:
            rows = rows * weights[:, None]
        numbers = self.numbers.flatten().index_select(0, self.order)
        return rows.new_zeros(len(self.ids), rows.shape[1]).index_add_(0, numbers, rows)


def sums_of_rows(rows: Tensor, numbers: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted sums of the rows with the numbers of (n, C): (n, width)."""
    if rows.device.type in BAGS:
        return F.embedding_bag(numbers, rows, mode="sum", per_sample_weights=weights.to(rows.dtype))
    gathered = rows.index_select(0, numbers.flatten()).view(*numbers.shape, -1)
    return (weights[:, None] @ gathered)[:, 0].to(rows.dtype)


def squared_lengths(rows: Tensor) -> Tensor:
    """Return the sum of each row's squares, without a copy of all of them."""
    lengths: Tensor = torch.linalg.vector_norm(rows, dim=-1)
    return lengths.square()


def distinct(uses: Tensor, count: int) -> Words:
    """Return the words of these uses, (n,) or (n, C) ids, of which there are at most ``count`` distinct ones.

    What is missing of them has the last word's id, and no uses; on a CPU, which can be asked, none is missing.
    """
    ids, order = _sorted(uses.flatten())
    if is_known(ids):
        ids, number, counts = torch.unique_consecutive(ids, return_inverse=True, return_counts=True)
        starts = counts.cumsum(0).sub_(counts)
    else:  # Each word's first use writes where it stands, and all others behind the end.
        first = F.pad(ids[1:] != ids[:-1], (1, 0), value=True)
        number = first.cumsum(0).sub_(1)
        starts = order.new_full((count + 1,), len(order)).scatter_(
            0, torch.where(first, number, count), torch.arange(len(order), device=uses.device)
        )[:count]
        ids = ids.index_select(0, starts.clamp(max=len(order) - 1))
    ids = ids.long()
    numbers = torch.empty_like(order).scatter_(0, order, number).view(len(uses), -1)
    count_of_rows, width = numbers.shape
    rows = torch.arange(count_of_rows, device=uses.device)[:, None].expand(-1, width).flatten()
    rows = rows.index_select(0, order)  # faster than dividing by the width
    return Words(ids, numbers, order, rows, starts)


def _sorted(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Sort; return also where each stood, those of equal ids in the order that they had."""
    missing = MANY - len(ids)
    if is_known(ids) and 0 < missing <= MANY - FEW:
        ids, order = torch.cat((ids, ids.max().expand(missing))).sort(stable=True)
        return ids[:-missing], order[:-missing]
    ids, order = ids.sort(stable=True)
    return ids, order


def is_known(value: Tensor) -> bool:
    """Return whether the host may ask for it: it need not wait for a device, and no compiler has to follow."""
    return value.device.type == "cpu" and not torch.compiler.is_compiling()
