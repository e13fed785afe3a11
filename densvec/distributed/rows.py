"""Which rows of the tables are exchanged in a round, and how the changes of all ranks to them are combined.

Each table names the rule that makes one change of those that the ranks made to a row:

- ``"adasum"`` (Maleki et al., 2021) makes two independent changes both, and two equal ones once, because each rank has
  already gone the whole way: a ⊕ b = (1 − a·b / 2‖a‖²) a + (1 − a·b / 2‖b‖²) b, in pairs, in a tree over the ranks.
- ``"mean"`` averages each number over the ranks that changed it, and so keeps it within its bounds.
- ``"sum"`` is for what adds up, such as sums of squares.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import TypeAlias

import torch
from torch import Tensor
from torch.linalg import vecdot

#: Slices of rows, (start, stop).
Parts: TypeAlias = Sequence[tuple[int, int]]

#: Rows that are exchanged in every round: the words that make up most of any text.
FIRST_BAND = 1024

#: Rows of a table that a thread copies at a time.
AT_ONCE = 1024

#: Squared lengths up to this are of rows that have not changed.
NOTHING = 1e-30


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
    threads : Executor, optional
        Training waits while changes are taken and added; these copy together.
    """

    def __init__(self, tables: Sequence[tuple[Tensor, str]], threads: Executor | None = None) -> None:
        self._tables = [table.view(len(table), -1) for table, _ in tables]
        self._agreed = [table.cpu().clone(memory_format=torch.contiguous_format) for table in self._tables]
        self._rules = [RULES[rule] for _, rule in tables]
        self._each = map if threads is None else threads.map
        ends = list(itertools.accumulate(table.shape[1] for table in self._tables))
        self._columns = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]

    def __len__(self) -> int:
        return len(self._tables[0])

    def changed(self, parts: Parts, multiple: int = 1) -> Tensor:
        """Return what has changed in some rows since ranks agreed, and zeros up to a multiple of a number of rows."""
        n = sum(j - i for i, j in parts)
        message = torch.zeros(n + -n % multiple, self._columns[-1].stop, dtype=torch.bfloat16)

        def take(table: Tensor, agreed: Tensor, change: Tensor) -> None:
            change.copy_(table.cpu() - agreed)

        self._copy(take, parts, message)
        return message

    def combined(self, changes: Tensor) -> Tensor:
        """Combine the changes of all ranks: (ranks, rows, columns) to (rows, columns)."""
        changes = changes.float()
        each = zip(self._rules, self._columns, strict=True)
        return torch.cat([rule(changes[:, :, columns]) for rule, columns in each], 1).bfloat16()

    def add(self, parts: Parts, change: Tensor, own: Tensor) -> None:
        """Move on what ranks agree on, and add to the tables what the others changed; what was trained since stays."""

        def add(table: Tensor, agreed: Tensor, change: Tensor, own: Tensor) -> None:
            moved = change.float()
            agreed += moved
            table += (moved - own.float()).to(table.device)

        self._copy(add, parts, change, own)

    def settle(self, parts: Parts, change: Tensor) -> None:
        """Move on what ranks agree on, and make the tables equal to it."""

        def settle(table: Tensor, agreed: Tensor, change: Tensor) -> None:
            agreed += change
            table.copy_(agreed)

        self._copy(settle, parts, change)

    def rebase(self) -> None:
        """Take the tables as they are for what ranks agree on."""
        for table, agreed in zip(self._tables, self._agreed, strict=True):
            agreed.copy_(table)

    def _copy(self, act: Callable[..., None], parts: Parts, *messages: Tensor) -> None:
        """Apply a function to blocks of rows of each table and of the messages, in all threads."""

        def copy(job: tuple[int, int, int, int]) -> None:
            number, row, i, j = job
            columns = self._columns[number]
            of_messages = (message[row : row + j - i, columns] for message in messages)
            act(self._tables[number][i:j], self._agreed[number][i:j], *of_messages)

        jobs = ((number, *rows) for number in range(len(self._tables)) for rows in _at_once(parts))
        list(self._each(copy, jobs))


def adasum(changes: Tensor) -> Tensor:
    """Combine changes, (ranks, rows, columns), row by row, in pairs of ranks."""
    while len(changes) > 1:
        last = len(changes) // 2 * 2
        a, b = changes[:last:2], changes[1:last:2]
        common = vecdot(a, b) / 2
        # a row that a rank did not change is orthogonal to everything
        of_a, of_b = ((1 - common / vecdot(x, x).clamp(min=NOTHING))[..., None] for x in (a, b))
        changes = torch.cat([(of_a * a).addcmul_(of_b, b), changes[last:]])
    return changes[0]


def mean(changes: Tensor) -> Tensor:
    """Average each number over the ranks that changed it."""
    return changes.sum(0) / changes.count_nonzero(0).clamp(min=1)


#: How changes of all ranks become one, by name.
RULES: dict[str, Callable[[Tensor], Tensor]] = {
    "adasum": adasum,
    "mean": mean,
    "sum": lambda changes: changes.sum(0),
}


def _at_once(parts: Parts) -> Iterator[tuple[int, int, int]]:
    """Yield the rows of parts, some at a time: where they are in a message, and from where to where in tables."""
    row = 0
    for start, stop in parts:
        for i in range(start, stop, AT_ONCE):
            j = min(i + AT_ONCE, stop)
            yield row, i, j
            row += j - i
