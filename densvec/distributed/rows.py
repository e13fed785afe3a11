"""Which rows of the tables are exchanged in a round, and how the changes of all ranks to them are combined.

Each table names the rule that makes one change of those that the ranks made to a row:

- ``"adasum"`` (Maleki et al., 2021) makes two independent changes both, and two equal ones once, because each rank has
  already gone the whole way: a ⊕ b = (1 − a·b / 2‖a‖²) a + (1 − a·b / 2‖b‖²) b, in pairs, in a tree over the ranks.
- ``"one_after_another"`` is for rows of which it is known how far each rank drew them. A row that is drawn by steps of
  some shares of its way goes 1 − exp(−t) of it, with t the sum of the shares. Ranks that draw it by t₁, t₂ … one after
  another take it 1 − exp(−Σ t_r) of the way, so the sum of changes that each made alone is scaled by
  (1 − exp(−Σ t_r)) / Σ (1 − exp(−t_r)): small changes are added up, those that went the whole way are averaged.
- ``"mean"`` averages each number over the ranks that changed it, and so keeps it within its bounds.
- ``"sum"`` is for what adds up, such as sums of squares.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from densvec.native import _changes

__all__ = ["FIRST_BAND", "Parts", "Rows", "slices"]

#: Slices of rows, (start, stop).
Parts: TypeAlias = Sequence[tuple[int, int]]

#: Rows that are exchanged in every round: the words that make up most of any text.
FIRST_BAND = 1024

#: Rows of a table that a thread copies at a time.
AT_ONCE = 1024


def slices(rows: int, number: int, first: int = FIRST_BAND) -> list[tuple[int, int]]:
    """Return the rows of a round as slices (start, stop), in order.

    Words are numbered by frequency, and row r changes about in proportion to 1/r (Zipf). So the first rows are
    exchanged in every round, and of every further band, each twice as long as the one before and changing half as
    often, one part in turn: a round costs the same for each band, and grows with the logarithm of the vocabulary.

    Examples
    --------
    >>> [slices(70, number, first=10) for number in (0, 1)]
    [[(0, 10), (10, 20), (20, 30), (40, 48)], [(0, 10), (10, 20), (30, 40), (48, 56)]]
    """
    chosen = [(0, min(first, rows))]
    start, turns = first, 1
    while start < rows:
        stop = min(2 * start, rows)
        part = -(-(stop - start) // turns)
        begin = start + number % turns * part
        if begin < stop:
            chosen.append((begin, min(begin + part, stop)))
        start, turns = stop, 2 * turns
    return chosen


class Rows:
    """Tables in single precision with a row for each word, of which every rank trains its own copy.

    What all ranks agree on is kept beside each table; what a rank has added to it since is its change. A *message* has
    a row for each row that is exchanged, and in it the columns of all tables side by side, as bfloat16, to 3 parts in
    1,000: what rounding leaves stays in the table, and is sent with the next change.

    Parameters
    ----------
    tables : sequence of (Tensor, str)
        The tables, live, on any device, with the rule for their changes. Rows may lie further apart than they are long.
    travelled : Tensor, optional
        How far the rows of the first table were drawn, live: its changes are combined one after another, whatever its
        rule. It is the last column of messages, and begins anew with each of them.
    threads : Executor, optional
        Training waits while changes are taken and added; these copy together.
    """

    def __init__(
        self,
        tables: Sequence[tuple[Tensor, str]],
        travelled: Tensor | None = None,
        threads: Executor | None = None,
    ) -> None:
        self._tables = [table.view(len(table), -1) for table, _ in tables]
        self._agreed = [np.array(table.cpu().numpy(), order="C") for table in self._tables]
        self._rules = [rule for _, rule in tables]
        if travelled is not None:
            self._rules[0] = "one_after_another"
        self._travelled = travelled
        self._each = map if threads is None else threads.map
        widths = [table.shape[1] for table in self._tables]
        self._columns = [sum(widths[:i]) for i in range(len(widths))]
        self._width = sum(widths) + (travelled is not None)

    def __len__(self) -> int:
        return len(self._tables[0])

    def changed(self, parts: Parts, multiple: int = 1) -> Tensor:
        """Return what has changed in some rows since ranks agreed, and zeros up to a multiple of a number of rows."""
        n = sum(j - i for i, j in parts)
        message = torch.zeros(n + -n % multiple, self._width, dtype=torch.bfloat16)
        self._copy(_changes.take, parts, message)
        if self._travelled is not None:
            row = 0
            for i, j in parts:
                message[row : row + j - i, -1] = self._travelled[i:j]
                self._travelled[i:j] = 0
                row += j - i
        return message

    def combined(self, changes: Tensor) -> Tensor:
        """Combine the changes of all ranks: (ranks, rows, columns) to (rows, columns)."""
        message = torch.zeros_like(changes[0])
        for agreed, column, rule in zip(self._agreed, self._columns, self._rules, strict=True):
            _changes.combine(_halves(changes), _halves(message), column, agreed.shape[1], rule)
        return message

    def add(self, parts: Parts, change: Tensor, own: Tensor) -> None:
        """Move on what ranks agree on, and add to the tables what the others changed; what was trained since stays."""
        self._copy(_changes.add, parts, change, own)

    def settle(self, parts: Parts, change: Tensor) -> None:
        """Move on what ranks agree on, and make the tables equal to it."""
        self._copy(_changes.settle, parts, change)

    def rebase(self) -> None:
        """Take the tables as they are for what ranks agree on."""
        for table, agreed in zip(self._tables, self._agreed, strict=True):
            agreed[:] = table.cpu().numpy()
        if self._travelled is not None:
            self._travelled.zero_()

    def _copy(self, act: Callable[..., None], parts: Parts, *messages: Tensor) -> None:
        """Apply a function to blocks of rows of each table and of the messages, in all threads."""
        halves = [_halves(message) for message in messages]

        def copy(job: tuple[int, int, int, int]) -> None:
            number, row, i, j = job
            part = self._tables[number][i:j]
            here = part.cpu()  # itself, or a copy from its device
            of_messages = (half[row : row + j - i] for half in halves)
            act(here.numpy(), self._agreed[number][i:j], *of_messages, self._columns[number])
            if here.data_ptr() != part.data_ptr():
                part.copy_(here)

        jobs = ((number, *rows) for number in range(len(self._tables)) for rows in _at_once(parts))
        list(self._each(copy, jobs))


def _halves(message: Tensor) -> Any:
    """Return a message as an array of 16-bit words: NumPy has no bfloat16."""
    return message.view(torch.int16).numpy().view(np.uint16)


def _at_once(parts: Parts) -> Iterator[tuple[int, int, int]]:
    """Yield the rows of parts, some at a time: where they are in a message, and from where to where in tables."""
    row = 0
    for start, stop in parts:
        for i in range(start, stop, AT_ONCE):
            j = min(i + AT_ONCE, stop)
            yield row, i, j
            row += j - i
