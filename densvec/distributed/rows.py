"""The rows of all tables as ranks exchange them: what a rank has changed, and what all have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from densvec.distributed.combine import adasum, mean_of_changed, one_after_another, total
from densvec.native import _changes

__all__ = ["NativeRows", "Parts", "Rows", "Rule", "rows_of"]

#: Makes one change of those of all ranks: (ranks, rows, columns) to (rows, columns).
Rule: TypeAlias = Callable[[Tensor], Tensor]

#: Slices of rows, (start, stop).
Parts: TypeAlias = Sequence[tuple[int, int]]

#: The names of the rules in native code.
NATIVE_RULES: dict[Rule, str] = {adasum: "adasum", mean_of_changed: "mean", total: "sum"}


#: Rows of a table that a thread copies at a time.
AT_ONCE = 1024


def rows_of(
    tables: Sequence[tuple[Tensor, Rule]],
    wire: torch.device,
    travelled: Tensor | None = None,
    threads: Executor | None = None,
) -> Rows:
    """Return the rows of tables, in native code where it can, which copies them in threads."""
    native = all(
        table.device.type == "cpu"
        and table.dtype == torch.float32
        and _has_whole_rows(table)
        and rule in NATIVE_RULES
        for table, rule in tables
    )
    if native and wire.type == "cpu":
        return NativeRows(tables, wire, travelled, threads)
    return Rows(tables, wire, travelled)


class Rows:
    """Tables with a row for each word, by PyTorch.

    Every rank trains its own copy. ``base`` is what all ranks agree on; what a rank has added to it since is its
    change. A *message* has a row for each row that is exchanged, and in it the columns of all tables side by side.
    Single precision is sent as bfloat16, to 3 parts in 1,000: what rounding leaves stays in the table, and is sent
    with the next change.

    Parameters
    ----------
    tables : sequence of (Tensor, Rule)
        The tables, live, with what combines changes of ranks to some of their rows. Rows may lie further apart
        than they are long.
    wire : device
        Where messages are.
    travelled : Tensor, optional
        How far the rows of the first table were drawn, live: its changes are combined by that, and not by its rule.
        It is the last column of messages, and begins anew with each of them.
    """

    def __init__(
        self, tables: Sequence[tuple[Tensor, Rule]], wire: torch.device, travelled: Tensor | None = None
    ) -> None:
        self._tables = [table.view(len(table), -1) for table, _ in tables]
        self._rules = [rule for _, rule in tables]
        self._bases = [table.clone(memory_format=torch.contiguous_format) for table in self._tables]
        self._widths = [table.shape[1] for table in self._tables]
        self._travelled = travelled
        self._wire = wire
        self._sent = torch.bfloat16 if tables[0][0].dtype == torch.float32 else tables[0][0].dtype

    def __len__(self) -> int:
        return len(self._tables[0])

    def changed(self, parts: Parts, multiple: int = 1) -> Tensor:
        """Return what has changed in some rows since ranks agreed, and zeros up to a multiple of a number of rows."""
        n = sum(j - i for i, j in parts)
        width = sum(self._widths) + (self._travelled is not None)
        message = torch.empty(n + -n % multiple, width, dtype=self._sent, device=self._wire)
        message[n:] = 0
        self._take(parts, message)
        if self._travelled is not None:
            for (i, j), into in _cut(message[:, -1], parts):
                into.copy_(self._travelled[i:j])
                self._travelled[i:j] = 0
        return message

    def _take(self, parts: Parts, message: Tensor) -> None:
        for table, base, columns in zip(self._tables, self._bases, self._columns(message), strict=True):
            for (i, j), into in _cut(columns, parts):
                into.copy_(table[i:j] - base[i:j])

    def combined(self, changes: Tensor) -> Tensor:
        """Return the one change that those of all ranks make, (ranks, rows, columns) to (rows, columns)."""
        message = torch.empty_like(changes[0])
        message[:, sum(self._widths) :] = 0  # nobody needs to know how far all went
        dtype = self._tables[0].dtype
        rules = list(self._rules)
        if self._travelled is not None:
            rules[0] = partial(one_after_another, travelled=changes[..., -1].to(dtype))
        for rule, into, of_all in zip(rules, self._columns(message), self._columns(changes), strict=True):
            into.copy_(rule(of_all.to(dtype)))
        return message

    def add(self, parts: Parts, change: Tensor, own: Tensor) -> None:
        """Move on what ranks agree on, and add to the tables what the others changed; what was trained since stays."""
        for table, base, new, old in zip(
            self._tables, self._bases, self._columns(change), self._columns(own), strict=True
        ):
            for ((i, j), of_all), (_, of_self) in zip(_cut(new, parts), _cut(old, parts), strict=True):
                moved = of_all.to(table)
                base[i:j] += moved
                table[i:j] += moved - of_self.to(table)

    def settle(self, parts: Parts, change: Tensor) -> None:
        """Move on what ranks agree on, and make the tables equal to it."""
        for table, base, new in zip(self._tables, self._bases, self._columns(change), strict=True):
            for (i, j), of_all in _cut(new, parts):
                base[i:j] += of_all.to(table)
                table[i:j] = base[i:j]

    def rebase(self) -> None:
        """Take the tables as they are for what ranks agree on."""
        for table, base in zip(self._tables, self._bases, strict=True):
            base.copy_(table)
        if self._travelled is not None:
            self._travelled.zero_()

    def _columns(self, message: Tensor) -> tuple[Tensor, ...]:
        """Return the columns of each table."""
        return torch.split(message[..., : sum(self._widths)], self._widths, -1)


class NativeRows(Rows):
    """The same in one pass each, for tables of the CPU in single precision.

    Training waits while changes are taken and added, so several threads may copy meanwhile.
    """

    def __init__(
        self,
        tables: Sequence[tuple[Tensor, Rule]],
        wire: torch.device,
        travelled: Tensor | None = None,
        threads: Executor | None = None,
    ) -> None:
        super().__init__(tables, wire, travelled)
        self._threads = threads

    def _arrays(self) -> Iterator[tuple[Any, Any, int]]:
        """Yield the tables, with what ranks agree on and their first columns in messages."""
        column = 0
        for table, base, width in zip(self._tables, self._bases, self._widths, strict=True):
            yield table.numpy(), base.numpy(), column
            column += width

    def _copy(self, act: Callable[..., None], parts: Parts, *messages: Tensor) -> None:
        """Do something with some rows of each table and of messages at a time, in all threads."""
        halves = [_halves(message) for message in messages]
        jobs = [
            (table[i:j], base[i:j], *(half[row : row + j - i] for half in halves), column)
            for table, base, column in self._arrays()
            for row, i, j in _at_once(parts)
        ]
        each = map if self._threads is None else self._threads.map
        list(each(lambda job: act(*job), jobs))

    def _take(self, parts: Parts, message: Tensor) -> None:
        self._copy(_changes.take, parts, message)

    def combined(self, changes: Tensor) -> Tensor:
        """Return the one change that those of all ranks make, (ranks, rows, columns) to (rows, columns)."""
        message = torch.empty_like(changes[0])
        message[:, sum(self._widths) :] = 0  # nobody needs to know how far all went
        for rule, width, (_, _, column) in zip(self._rules, self._widths, self._arrays(), strict=True):
            by_travel = self._travelled is not None and column == 0
            name = "one_after_another" if by_travel else NATIVE_RULES[rule]
            _changes.combine(_halves(changes), _halves(message), column, width, name)
        return message

    def add(self, parts: Parts, change: Tensor, own: Tensor) -> None:
        """Move on what ranks agree on, and add to the tables what the others changed; what was trained since stays."""
        self._copy(_changes.add, parts, change, own)

    def settle(self, parts: Parts, change: Tensor) -> None:
        """Move on what ranks agree on, and make the tables equal to it."""
        self._copy(_changes.settle, parts, change)


def _has_whole_rows(table: Tensor) -> bool:
    """Return whether the numbers of each row lie together."""
    flat = table.view(len(table), -1)
    return flat.shape[1] == 1 or flat.stride(1) == 1


def _halves(message: Tensor) -> Any:
    """Return a message as NumPy, which has no bfloat16, sees it."""
    return message.view(torch.int16).numpy().view(np.uint16)


def _at_once(parts: Parts) -> Iterator[tuple[int, int, int]]:
    """Yield the rows of parts, some at a time: where they are in a message, and from where to where in tables."""
    row = 0
    for start, stop in parts:
        for i in range(start, stop, AT_ONCE):
            j = min(i + AT_ONCE, stop)
            yield row, i, j
            row += j - i


def _cut(message: Any, parts: Parts) -> Iterator[tuple[tuple[int, int], Any]]:
    """Yield each part with its rows of a message."""
    row = 0
    for i, j in parts:
        yield (i, j), message[row : row + j - i]
        row += j - i
