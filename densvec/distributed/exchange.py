"""Rounds in which ranks exchange what they changed, while training continues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor

from densvec.distributed.bands import slices
from densvec.distributed.combine import adasum_blocks
from densvec.distributed.group import Group
from densvec.distributed.rows import Parts, Rows, Rule, rows_of
from densvec.training import signals

__all__ = ["Exchange", "Report", "Shared"]

T = TypeVar("T")

#: Rows that are sent at once when all are: bounds the memory that it takes.
SLAB = 1 << 16

#: The encoder's tables and weights are exchanged in one round of this many. It is the means that must not be learnt
#: apart for long.
ENCODER_ROUNDS = 4


@dataclass(frozen=True)
class Shared:
    """The live arrays of a backend, by how the changes of ranks to them become one."""

    #: Tables with a row for each word, with what combines the changes of ranks to some of their rows.
    rows: Sequence[tuple[Tensor, Rule]]
    #: Those of the encoder.
    encoder_rows: Sequence[tuple[Tensor, Rule]]
    #: The weights of the network.
    weights: Sequence[Tensor]
    #: What is averaged: the moments of the weights, counters.
    means: Sequence[Tensor]
    #: How far training has drawn the first of `rows`, the means, if that is known; each rank has its own.
    travelled: Tensor | None = None

    def all(self) -> list[Tensor]:
        """Return all of them."""
        tables = [table for table, _ in (*self.rows, *self.encoder_rows)]
        return [*tables, *self.weights, *self.means]


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

    Every rank trains its own copy of the tables (`densvec.distributed.rows`). In a round each rank receives the changes
    of all ranks to the rows that it owns in this round, combines them, and all ranks get the results: the bytes of an
    all-reduce. A round is started with a snapshot, and runs in a thread of its own while training goes on; its outcome
    is added when the next round is started, so that with one worker for each rank the same run gives the same bits
    again.

    Densities are exchanged in every round, the encoder in one of `ENCODER_ROUNDS`. In a *full* round all rows are
    exchanged while training is paused. After it the tables are equal everywhere.

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
        self._dtype = shared.all()[0].dtype
        self._wire = group.wire(shared.all()[0].device)
        self._adopt()
        self._densities = rows_of(shared.rows, self._wire, shared.travelled) if shared.rows else None
        self._encoder = rows_of(shared.encoder_rows, self._wire) if shared.encoder_rows else None
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
        turn, since = divmod(self.rounds, ENCODER_ROUNDS)
        encoder_too = since == 0
        turns = [(self._densities, self.rounds), (self._encoder if encoder_too else None, turn)]
        chosen = [(rows, slices(len(rows), number, self._first_band)) for rows, number in turns if rows]
        self._sent = self._changed(chosen, weights=encoder_too)
        self.rounds += 1
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
        reports, documents = self._gathered(report, document)
        if not documents:
            return reports, []
        tables = list(filter(None, (self._densities, self._encoder)))
        words = max(map(len, tables), default=1)
        for start in range(0, words, SLAB):
            parts = [(start, min(start + SLAB, words))]
            change = self._changed([(rows, parts) for rows in tables], weights=start == 0)
            self._add(self._run(partial(self._combined, change)), change, settle=True)
        self.rounds += 1
        return reports, documents

    def follow(self, report: Report, document: Any) -> tuple[list[Report], list[Any]]:
        """Make all tables those of rank 0, the only one that has trained; return reports and documents as `full`."""
        reports, documents = self._gathered(report, document)
        if not documents:
            return reports, []
        self._run(self._adopt)
        for rows in filter(None, (self._densities, self._encoder)):
            rows.rebase()
        for old, weight in zip(self._base_weights, self._shared.weights, strict=True):
            old.copy_(weight)
        return reports, documents

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    # In the thread of training

    def _gathered(self, report: Report, document: Any) -> tuple[list[Report], list[Any]]:
        """Wait for the reports and documents of all ranks; there are no documents if one of them has failed."""
        reports = self._run(lambda: self._reports(report)).reports
        if any(each.error is not None for each in reports):
            return reports, []
        return reports, self._run(lambda: self.group.gather(document))

    def _run(self, act: Callable[[], T]) -> T:
        """Do something in the thread of the exchange, and wait for it."""
        return _result(self._thread.submit(act))

    def _changed(self, chosen: Sequence[tuple[Rows, Parts]], weights: bool) -> _Change:
        """Return what has changed in some rows of tables, and in the weights, since ranks agreed."""
        shared = self._shared
        # so many rows that all ranks own equally many
        messages = [_Message(rows, parts, rows.changed(parts, self.group.size)) for rows, parts in chosen]
        dense = None
        if weights:
            changes = [weight - old for weight, old in zip(shared.weights, self._base_weights, strict=True)]
            dense = _Dense(
                [change.to(self._wire) for change in changes],
                [tensor.clone().to(self._wire) for tensor in shared.means],
            )
        return _Change(messages, dense)

    def _add(self, change: _Change, sent: _Change, settle: bool = False) -> None:
        """Move on what ranks agree on, and add to the tables what the others changed.

        A table that has been trained since the snapshot keeps that; one that has not is what ranks agree on.
        """
        for new, own in zip(change.messages, sent.messages, strict=True):
            if settle:
                new.tables.settle(new.parts, new.rows)
            else:
                new.tables.add(new.parts, new.rows, own.rows)
        if change.dense is None or sent.dense is None:
            return
        for weight, old, moved, sent_of in zip(
            self._shared.weights, self._base_weights, change.dense.weights, sent.dense.weights, strict=True
        ):
            old += moved.to(old.device)
            if settle:
                weight.copy_(old)
            else:
                weight.add_((moved - sent_of).to(weight.device))
        for tensor, moved, sent_of in zip(
            self._shared.means, change.dense.means, sent.dense.means, strict=True
        ):
            if settle:
                tensor.copy_(moved)
            else:
                tensor.add_((moved - sent_of).to(tensor.device))

    # In the thread of the exchange

    def _adopt(self) -> None:
        """Overwrite everything that is shared by what rank 0 has."""
        for tensor in self._shared.all():
            for part in torch.split(tensor if tensor.ndim else tensor[None], SLAB):
                sent = part.to(self._wire).contiguous()
                self.group.broadcast(sent)
                part.copy_(sent)

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
        messages = [self._combined_rows(message) for message in change.messages]
        dense = None if change.dense is None else self._combined_dense(change.dense)
        return _Change(messages, dense)

    def _combined_rows(self, message: _Message) -> _Message:
        """Send each owner its part of the rows, combine the own part, and gather all of them."""
        rows = message.rows
        sent = rows.view(torch.uint8).view(self.group.size, len(rows) // self.group.size, -1)
        own = message.tables.combined(self.group.exchange(sent).view(rows.dtype))
        gathered = torch.cat(self.group.gather_tensor(own.view(torch.uint8))).view(rows.dtype)
        return replace(message, rows=gathered)

    def _combined_dense(self, dense: _Dense) -> _Dense:
        """Combine changes of weights like those of rows; average their moments, which are equally good on all ranks."""
        weights, moments = self._dealt(dense.weights), self._dealt(dense.means)
        part = weights.shape[1]
        received = self.group.exchange(torch.cat([weights, moments], 1))
        own = torch.cat([self._combined_weights(received[:, :part]), received[:, part:].mean(0)])
        gathered = torch.stack(self.group.gather_tensor(own))
        return _Dense(
            _like(gathered[:, :part].flatten(), dense.weights),
            _like(gathered[:, part:].flatten(), dense.means),
        )

    def _dealt(self, tensors: Sequence[Tensor]) -> Tensor:
        """Return all numbers of some tensors in as many equal rows as there are owners."""
        empty = torch.empty(0, dtype=self._dtype, device=self._wire)
        flat = torch.cat([empty, *(tensor.flatten().to(empty.dtype) for tensor in tensors)])  # counters too
        part = -(-len(flat) // self.group.size)
        return torch.nn.functional.pad(flat, (0, part * self.group.size - len(flat))).view(
            self.group.size, part
        )

    def _combined_weights(self, changes: Tensor) -> Tensor:
        """Combine changes of own weights by blocks; owners hold parts of them, so they add up their products."""
        size, part = changes.shape
        if not part:
            return changes[0]
        padding = (0, part * size - len(self._blocks))
        blocks = torch.nn.functional.pad(self._blocks, padding).view(size, part)[self.group.rank]

        def add_up(products: Tensor) -> Tensor:
            return torch.stack(self.group.gather_tensor(products)).sum(0)

        return adasum_blocks(changes, blocks, int(self._blocks[-1]) + 1, add_up)


def _like(flat: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return numbers laid out one after another, and what fills them up, in the shapes of some tensors."""
    sizes = [tensor.numel() for tensor in tensors]
    parts = torch.split(flat[: sum(sizes)], sizes)
    return [part.view(tensor.shape).to(tensor.dtype) for part, tensor in zip(parts, tensors, strict=True)]


def weight_blocks(weights: Sequence[Tensor]) -> Tensor:
    """Return for every number of the weights, laid out one after another, the block that it is combined in.

    Examples
    --------
    >>> weight_blocks([torch.zeros(2, 2), torch.zeros(3)])
    tensor([0, 0, 0, 0, 1, 1, 1])
    """
    sizes = torch.tensor([weight.numel() for weight in weights], dtype=torch.int64)
    return torch.repeat_interleave(torch.arange(len(weights)), sizes)


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
class _Message:
    """Changes of some rows of tables, all of them side by side, on the device that ranks exchange from."""

    tables: Rows
    parts: Parts
    rows: Tensor


@dataclass
class _Change:
    """Changes of rows, and of the weights."""

    messages: list[_Message]
    dense: _Dense | None


@dataclass
class _Outcome:
    reports: list[Report]
    change: _Change | None
