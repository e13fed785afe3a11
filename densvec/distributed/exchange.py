"""Rounds in which ranks exchange what they changed, while training continues."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

import torch
from torch import Tensor

from densvec.distributed.bands import slices
from densvec.distributed.combine import adasum_blocks
from densvec.distributed.group import Group
from densvec.training import signals

__all__ = ["Exchange", "Report", "Shared"]

T = TypeVar("T")

#: Makes one change of those of all ranks: (ranks, rows, columns) to (rows, columns).
Rule: TypeAlias = Callable[[Tensor], Tensor]

#: Rows that are exchanged at once when all are: bounds the memory that it takes.
SLAB = 1 << 16


@dataclass(frozen=True)
class Shared:
    """The live arrays of a backend, by how the changes of ranks to them become one."""

    #: Tables with a row for each word, with what combines the changes of ranks to some of their rows.
    rows: Sequence[tuple[Tensor, Rule]]
    #: The weights of the network.
    weights: Sequence[Tensor]
    #: What is averaged: the moments of the weights, counters.
    means: Sequence[Tensor]

    def all(self) -> list[Tensor]:
        """Return all of them."""
        return [*(table for table, _ in self.rows), *self.weights, *self.means]


@dataclass
class Report:
    """What a rank reports in a round."""

    numbers: Sequence[float]  # what it has trained; their meaning is the caller's
    done: bool = False  # it has no text left in this epoch
    full: bool = False  # it wants all rows to be equal everywhere
    stop: bool = False  # it was interrupted
    error: str | None = None  # why it cannot go on

    def vector(self) -> Tensor:
        """Return everything except the error's text as numbers."""
        flags = [self.done, self.full, self.stop, self.error is not None]
        return torch.tensor([*map(float, flags), *self.numbers], dtype=torch.float64)

    @classmethod
    def of_vector(cls, vector: Tensor) -> Report:
        """Return the report of its numbers."""
        done, full, stop, error, *numbers = vector.tolist()
        return cls(numbers, bool(done), bool(full), bool(stop), "" if error else None)


class Exchange:
    """Keeps the tables of all ranks together.

    Every rank trains its own copy. ``base`` is what all ranks agree on; what a rank has added to it since is its
    change. In a round each rank receives the changes of all ranks to the rows that it owns in this round, combines
    them, and all ranks get the results: the bytes of an all-reduce. A round is started with a snapshot, and runs in a
    thread of its own while training goes on; its outcome is added when the next round is started, so that with one
    worker for each rank the same run gives the same bits again.

    In a *full* round all rows are exchanged while training is paused. After it the tables are equal everywhere.

    Parameters
    ----------
    group : Group
        All ranks.
    shared : Shared
        What they exchange.
    first_band : int
        Rows that are exchanged in every round; see `densvec.distributed.bands`.
    """

    def __init__(self, group: Group, shared: Shared, *, first_band: int) -> None:
        self.group = group
        self.rounds = 0
        self._shared = shared
        self._first_band = first_band
        self._words = len(shared.rows[0][0])
        self._wire = group.wire(shared.rows[0][0].device)
        for tensor in shared.all():
            sent = tensor.to(self._wire)
            group.broadcast(sent)
            tensor.copy_(sent)
        self._widths = [table[0].numel() for table, _ in shared.rows]
        self._base_rows = [table.clone() for table, _ in shared.rows]
        self._base_weights = [weight.clone() for weight in shared.weights]
        self._blocks = weight_blocks(shared.weights).to(self._wire)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="densvec-exchange")
        self._pending: Future[_Outcome] | None = None
        self._sent: _Change | None = None

    @property
    def under_way(self) -> bool:
        """Whether a round was started whose outcome was not taken yet."""
        return self._pending is not None

    def start(self, report: Report) -> None:
        """Start a round on what has changed by now."""
        assert self._pending is None
        parts = slices(self._words, self.rounds, self._first_band)
        self.rounds += 1
        self._sent = self._changed(parts)
        self._pending = self._thread.submit(self._round, report, self._sent)

    def take(self) -> list[Report]:
        """Wait for the end of the round, and add its outcome to the tables; return the reports of all ranks."""
        assert self._pending is not None
        assert self._sent is not None
        outcome = _result(self._pending, signals.deliver)
        self._pending = None
        if outcome.change is not None:
            self._add(outcome.change, self._sent)
        self._sent = None
        return outcome.reports

    def full(self, report: Report, document: Any) -> tuple[list[Report], list[Any]]:
        """Make all tables equal, everywhere; return the reports and the documents of all ranks."""
        reports = self._run(lambda: self._reports(report)).reports
        if any(each.error is not None for each in reports):
            return reports, []
        documents = self._run(lambda: self.group.gather(document))
        for start in range(0, self._words, SLAB):
            change = self._changed([(start, min(start + SLAB, self._words))], weights=start == 0)
            self._add(self._run(partial(self._combined, change)), change, settle=True)
        self.rounds += 1
        return reports, documents

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _columns(self, rows: Tensor) -> tuple[Tensor, ...]:
        """Return the columns of each table."""
        return torch.split(rows, self._widths, -1)

    # In the thread of training

    def _run(self, act: Callable[[], T]) -> T:
        """Do something in the thread of the exchange, and wait for it."""
        return _result(self._thread.submit(act))

    def _changed(self, parts: list[tuple[int, int]], weights: bool = True) -> _Change:
        """Return what has changed in these rows, and in the weights, since ranks agreed."""
        shared = self._shared
        n = sum(j - i for i, j in parts)
        padding = -n % self.group.size  # so that all ranks own equally many
        rows = shared.rows[0][0].new_empty(n + padding, sum(self._widths), device=self._wire)
        rows[n:] = 0
        for (table, _), old, columns in zip(shared.rows, self._base_rows, self._columns(rows), strict=True):
            for (i, j), change in zip(parts, _cut(columns, parts), strict=True):
                change.copy_((table[i:j] - old[i:j]).view(change.shape))
        dense = None
        if weights:
            changes = [weight - old for weight, old in zip(shared.weights, self._base_weights, strict=True)]
            dense = _Dense(
                [change.to(self._wire) for change in changes],
                [tensor.clone().to(self._wire) for tensor in shared.means],
            )
        return _Change(parts, rows, dense)

    def _add(self, change: _Change, sent: _Change, settle: bool = False) -> None:
        """Move on what ranks agree on, and add to the tables what the others changed.

        A table that has been trained since the snapshot keeps that; one that has not is what ranks agree on.
        """
        for (table, _), old, new, own in zip(
            self._shared.rows,
            self._base_rows,
            self._columns(change.rows),
            self._columns(sent.rows),
            strict=True,
        ):
            for (i, j), of_all, of_self in zip(
                change.parts, _cut(new, change.parts), _cut(own, change.parts), strict=True
            ):
                moved = of_all.reshape(table[i:j].shape).to(table.device)
                old[i:j] += moved
                if settle:
                    table[i:j] = old[i:j]
                else:
                    table[i:j] += moved - of_self.reshape(moved.shape).to(table.device)
        if change.dense is None or sent.dense is None:
            return
        for weight, old, new, own in zip(
            self._shared.weights, self._base_weights, change.dense.weights, sent.dense.weights, strict=True
        ):
            old += new.to(old.device)
            if settle:
                weight.copy_(old)
            else:
                weight.add_((new - own).to(weight.device))
        for tensor, new, own in zip(self._shared.means, change.dense.means, sent.dense.means, strict=True):
            if settle:
                tensor.copy_(new)
            else:
                tensor.add_((new - own).to(tensor.device))

    # In the thread of the exchange

    def _reports(self, report: Report) -> _Outcome:
        self.group.wait_for_all()
        reports = [Report.of_vector(vector) for vector in self.group.gather_tensor(report.vector())]
        if any(each.error is not None for each in reports):
            for each, text in zip(reports, self.group.gather(report.error), strict=True):
                each.error = text
        return _Outcome(reports, None)

    def _round(self, report: Report, change: _Change) -> _Outcome:
        outcome = self._reports(report)
        if any(each.error is not None for each in outcome.reports):
            return outcome
        return _Outcome(outcome.reports, self._combined(change))

    def _combined(self, change: _Change) -> _Change:
        """Return the combined changes of all ranks."""
        rows = self._combined_rows(change.rows)
        dense = None if change.dense is None else self._combined_dense(change.dense)
        return _Change(change.parts, rows, dense)

    def _combined_rows(self, rows: Tensor) -> Tensor:
        """Send each owner its part of the rows, combine the own part, and gather all of them."""
        received = self.group.exchange(packed(rows).view(self.group.size, len(rows) // self.group.size, -1))
        changes = unpacked(received, rows.dtype)
        own = torch.empty_like(changes[0])
        for (_, rule), into, of_all in zip(
            self._shared.rows, self._columns(own), self._columns(changes), strict=True
        ):
            into.copy_(rule(of_all))
        return unpacked(torch.cat(self.group.gather_tensor(packed(own))), rows.dtype)

    def _combined_dense(self, dense: _Dense) -> _Dense:
        """Combine changes of weights like those of rows; average their moments, which are equally good on all ranks."""
        return _Dense(self._combined_weights(dense.weights), self._averaged(dense.means))

    def _combined_weights(self, changes: Sequence[Tensor]) -> list[Tensor]:
        """Combine changes of weights, block by block; owners hold parts of blocks, so they add up their products."""
        if not changes:
            return []
        size, flat = self.group.size, torch.cat([change.flatten() for change in changes])
        part = -(-len(flat) // size)
        padding = (0, part * size - len(flat))
        received = self.group.exchange(torch.nn.functional.pad(flat, padding).view(size, part))
        blocks = torch.nn.functional.pad(self._blocks, padding).view(size, part)[self.group.rank]

        def add_up(products: Tensor) -> Tensor:
            return torch.stack(self.group.gather_tensor(products)).sum(0)

        combined = adasum_blocks(received, blocks, int(self._blocks[-1]) + 1, add_up)
        flat = torch.cat(self.group.gather_tensor(combined))[: len(flat)]
        parts = torch.split(flat, [change.numel() for change in changes])
        return [each.view(change.shape) for each, change in zip(parts, changes, strict=True)]

    def _averaged(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        averaged: list[Tensor] = []
        floats = [tensor for tensor in tensors if tensor.is_floating_point()]
        if floats:
            flat = torch.cat([tensor.flatten() for tensor in floats])
            part = -(-len(flat) // self.group.size)
            padded = torch.nn.functional.pad(flat, (0, part * self.group.size - len(flat)))
            received = self.group.exchange(padded.view(self.group.size, part))
            mean = torch.cat(self.group.gather_tensor(received.mean(0)))[: len(flat)]
            averaged = list(torch.split(mean, [tensor.numel() for tensor in floats]))
        result = []
        for tensor in tensors:
            if tensor.is_floating_point():
                result.append(averaged.pop(0).view(tensor.shape))
            else:  # a counter
                total = torch.stack(self.group.gather_tensor(tensor)).sum(0)
                result.append(total.div(self.group.size, rounding_mode="floor"))
        return result


def packed(changes: Tensor) -> Tensor:
    """Return changes as the bytes that are sent: single precision is rounded to bfloat16, to 3 parts in 1,000.

    Examples
    --------
    >>> unpacked(packed(torch.tensor([[1.0, 0.3]])), torch.float32)
    tensor([[1.0000, 0.3008]])
    """
    sent = changes.to(torch.bfloat16) if changes.dtype == torch.float32 else changes
    return sent.contiguous().view(torch.uint8)


def unpacked(data: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the changes that `packed` made bytes of."""
    return data.view(torch.bfloat16 if dtype == torch.float32 else dtype).to(dtype)


def weight_blocks(weights: Sequence[Tensor]) -> Tensor:
    """Return for every number of the weights, laid out one after another, the block that it is combined in.

    Examples
    --------
    >>> weight_blocks([torch.zeros(2, 2), torch.zeros(3)])
    tensor([0, 0, 0, 0, 1, 1, 1])
    """
    sizes = torch.tensor([weight.numel() for weight in weights], dtype=torch.int64)
    return torch.repeat_interleave(torch.arange(len(weights)), sizes)


def _cut(rows: Tensor, parts: list[tuple[int, int]]) -> Iterator[Tensor]:
    """Yield what rows, laid out one after another, have of each part."""
    row = 0
    for i, j in parts:
        yield rows[row : row + j - i]
        row += j - i


def _result(future: Future[T], meanwhile: Callable[[], None] = lambda: None) -> T:
    """Wait for a result, and call something now and then."""
    while True:
        try:
            return future.result(timeout=0.1)
        except NotYet:
            if future.done():  # the error is its own
                raise
            meanwhile()


@dataclass
class _Dense:
    weights: list[Tensor]
    means: list[Tensor]


@dataclass
class _Change:
    """Changes of some rows, all tables side by side, and of the weights, on the device that ranks exchange from."""

    parts: list[tuple[int, int]]
    rows: Tensor
    dense: _Dense | None


@dataclass
class _Outcome:
    reports: list[Report]
    change: _Change | None
