"""Rounds in which ranks exchange what they changed, while training continues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor

from densvec.distributed.bands import slices
from densvec.distributed.group import Group
from densvec.distributed.parcel import pack, unpack
from densvec.distributed.rows import Parts, Rows, Rule, rows_of
from densvec.distributed.weights import Weights
from densvec.training import signals

__all__ = ["Exchange", "Report", "Shared"]

T = TypeVar("T")

#: Rows that are sent at once when all are: bounds the memory that it takes.
SLAB = 1 << 16


#: A second moment that is not above this says nothing about how others are to change it.
NOTHING = 1e-30


@dataclass(frozen=True)
class Shared:
    """The live arrays of a backend, by how the changes of ranks to them become one."""

    #: Tables with a row for each word, with what combines the changes of ranks to some of their rows.
    rows: Sequence[tuple[Tensor, Rule]]
    #: What is averaged: counters, and the weights of the encoder unless they are below.
    means: Sequence[Tensor]
    #: The momentum of the weights, which each rank has of its own until all tables are made equal. If ranks took each
    #: other's over, all of them would go on with what only one has to.
    momentum: Sequence[Tensor] = ()
    #: Like `rows`, what only the encoder reads: it may be exchanged less often.
    inputs: Sequence[tuple[Tensor, Rule]] = ()
    #: The weights of the encoder, if the changes of ranks to them are added up.
    weights: Sequence[Tensor] = ()
    #: The second moments of the weights, which are averaged, and never below 0. They forget: what they were when a
    #: round began says by what part to change them when it has ended, not by how much.
    moments: Sequence[Tensor] = ()
    #: How far training has drawn the first of `rows`, the means, if that is known; each rank has its own.
    travelled: Tensor | None = None

    def all(self) -> list[Tensor]:
        """Return all of them."""
        tables = [table for table, _ in (*self.rows, *self.inputs)]
        return [*tables, *self.means, *self.moments, *self.momentum, *self.weights]


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
    all-reduce, in two messages; two ranks need only one. A round is started with a snapshot, and runs in a thread of
    its own while training goes on; its outcome is added when the next round is started, so that with one worker for
    each rank the same run gives the same bits again.

    In a *full* round all rows are exchanged while training is paused. After it the tables are equal everywhere.

    Parameters
    ----------
    group : Group
        All ranks.
    shared : Shared
        What they exchange.
    first_band : int
        Rows that are exchanged in every round; see `densvec.distributed.bands`.
    inputs_every : int
        Of so many rounds with rows, one exchanges what only the encoder reads.
    rows_every : int
        Of so many rounds, one exchanges rows and what is averaged; the others have the encoder's weights alone.
    threads : int
        How many copy changes while training waits.

    Attributes
    ----------
    weights : Weights
        Those weights of the encoder that are added up.
    """

    def __init__(
        self,
        group: Group,
        shared: Shared,
        *,
        first_band: int,
        inputs_every: int = 1,
        rows_every: int = 1,
        threads: int = 1,
    ) -> None:
        self.group = group
        self.rounds = 0
        self._shared = shared
        self._first_band = first_band
        self._rows_every = rows_every
        self._dtype = shared.all()[0].dtype
        self._wire = group.wire(shared.all()[0].device)
        self._adopt()
        self.weights = Weights(shared.weights)
        self._copying = ThreadPoolExecutor(threads, "densvec-copy") if threads > 1 else None
        self._tables: list[_Turns] = []
        if shared.rows:
            rows = rows_of(shared.rows, self._wire, shared.travelled, self._copying)
            self._tables.append(_Turns(rows, rows_every))
        if shared.inputs:
            inputs = rows_of(shared.inputs, self._wire, threads=self._copying)
            self._tables.append(_Turns(inputs, rows_every * inputs_every))
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
        changes = self.weights.rounded_changes()
        if self.rounds % self._rows_every:
            self._sent = self._changed([], (), changes)
            # weights alone, to all in one message: there is no time for several
            self._pending = self._thread.submit(self._round, report, self._sent, True)
        else:
            chosen = [
                (rows, slices(len(rows), self.rounds // every, self._first_band))
                for rows, every in self._tables
                if self.rounds % every == 0
            ]
            averaged = [*self._shared.means, *self._shared.moments]
            self._sent = self._changed(chosen, averaged, changes)
            self._pending = self._thread.submit(self._round, report, self._sent, False)
        self.rounds += 1

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
        averaged = [*self._shared.means, *self._shared.moments, *self._shared.momentum]
        change = self._run(partial(self._combined, self._changed([], averaged, self.weights.changes())))
        self._settle(change)
        self.weights.settle(change.weights)
        for rows, _ in self._tables:
            for start in range(0, len(rows), SLAB):
                change = self._changed([(rows, [(start, min(start + SLAB, len(rows)))])])
                self._settle(self._run(partial(self._combined, change)))
        self.rounds += 1
        return reports, documents

    def follow(self, report: Report, document: Any) -> tuple[list[Report], list[Any]]:
        """Make all tables those of rank 0, the only one that has trained; return reports and documents as `full`."""
        reports, documents = self._gathered(report, document)
        if not documents:
            return reports, []
        self._run(self._adopt)
        for rows, _ in self._tables:
            rows.rebase()
        self.weights.rebase()
        return reports, documents

    def close(self) -> None:
        """End the threads."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._copying is not None:
            self._copying.shutdown(wait=False)

    # In the thread of training

    def _gathered(self, report: Report, document: Any) -> tuple[list[Report], list[Any]]:
        """Wait for the reports and documents of all ranks; there are no documents if one of them has failed."""
        reports = self._run(lambda: self._reports(report))
        if any(each.error is not None for each in reports):
            return reports, []
        return reports, self._run(lambda: self.group.gather(document))

    def _run(self, act: Callable[[], T]) -> T:
        """Do something in the thread of the exchange, and wait for it."""
        return _result(self._thread.submit(act))

    def _changed(
        self,
        chosen: Sequence[tuple[Rows, Parts]],
        averaged: Sequence[Tensor] = (),
        weights: Sequence[Tensor] = (),
    ) -> _Change:
        """Return what has changed in some rows since ranks agreed, a copy of what is averaged, and changed weights."""
        # so many rows that all ranks own equally many
        messages = [_Message(rows, parts, rows.changed(parts, self.group.size)) for rows, parts in chosen]
        values = [tensor.clone().to(self._wire) for tensor in averaged]
        return _Change(messages, averaged, values, [change.to(self._wire) for change in weights])

    def _add(self, change: _Change, sent: _Change) -> None:
        """Move on what ranks agree on, and add to the tables what the others changed; what was trained since stays."""
        for of_all, of_self in zip(change.messages, sent.messages, strict=True):
            of_all.rows.add(of_all.parts, of_all.values, of_self.values)
        count = len(self._shared.means) if change.averaged else 0
        parts = list(zip(change.averaged, change.values, sent.values, strict=True))
        for tensor, mean, own in parts[:count]:
            tensor.add_((mean - own).to(tensor.device))
        for tensor, mean, own in parts[count:]:
            tensor.mul_(torch.where(own > NOTHING, mean / own, 1).to(tensor.device))
        self.weights.add(change.weights, sent.weights)

    def _settle(self, change: _Change) -> None:
        """Move on what ranks agree on, and make the tables equal to it."""
        for message in change.messages:
            message.rows.settle(message.parts, message.values)
        for tensor, mean in zip(change.averaged, change.values, strict=True):
            tensor.copy_(mean)

    # In the thread of the exchange

    def _adopt(self) -> None:
        """Overwrite everything that is shared by what rank 0 has."""
        for tensor in self._shared.all():
            for part in torch.split(tensor if tensor.ndim else tensor[None], SLAB):
                sent = part.to(self._wire).contiguous()
                self.group.broadcast(sent)
                part.copy_(sent)

    def _reports(self, report: Report) -> list[Report]:
        """Return the reports of all ranks, with why those that cannot go on cannot."""
        vectors = self._heard(self.group.gather_tensor, report.vector())
        return self._read(report, vectors)

    def _read(self, report: Report, vectors: Tensor) -> list[Report]:
        reports = [Report.of_vector(vector) for vector in vectors]
        if any(each.error is not None for each in reports):
            for each, text in zip(reports, self.group.gather(report.error), strict=True):
                each.error = text
        return reports

    def _heard(self, send: Callable[[Tensor], Tensor], message: Tensor) -> Tensor:
        """Send something to all, and return what they sent; RankError names those that are not there."""
        try:
            return send(message)
        except RuntimeError:
            self.group.name_missing()
            raise

    def _round(self, report: Report, change: _Change, to_all: bool) -> _Outcome:
        """Exchange changes, and reports with them; nothing is combined if a rank cannot go on."""
        vectors, combined = self._exchanged(change, report.vector(), to_all)
        reports = self._read(report, vectors)
        failed = any(each.error is not None for each in reports)
        return _Outcome(reports, None if failed else combined())

    def _combined(self, change: _Change) -> _Change:
        """Return the combined changes of all ranks."""
        return self._exchanged(change, torch.empty(0))[1]()

    def _exchanged(
        self, change: _Change, head: Tensor, to_all: bool = False
    ) -> tuple[Tensor, Callable[[], _Change]]:
        """Send changes to those who combine them, in one message; return the heads of all ranks', and what combines.

        Each rank combines a part of the rows, and sends the outcome to all. Two send each other everything, and both
        combine all of it: as many bytes in one message instead of two. `to_all` lets more of them do so, who have no
        time for two.
        """
        size = self.group.size
        averages = [*change.values, *change.weights]
        flat = self._flat(averages, self.weights.sent if to_all else self._dtype)
        tensors = [*(message.values for message in change.messages), flat]
        head = head.to(self._wire)
        to_all = to_all or size == 2
        if to_all:
            sent = [each[None] for each in (head, *tensors)]
            received = self._heard(self.group.gather_tensor, pack(sent)[0])
        else:
            dealt = [each.view(size, len(each) // size, *each.shape[1:]) for each in tensors]
            sent = [head.expand(size, -1), *dealt]
            received = self._heard(self.group.exchange, pack(sent))
        heads, *changes, means = unpack(received, sent)

        def combined() -> _Change:
            pairs = zip(change.messages, changes, strict=True)
            results = [message.rows.combined(of_all) for message, of_all in pairs]
            results.append(means.to(self._dtype).mean(0))
            if not to_all:
                own = [each[None] for each in results]
                of_all = unpack(self.group.gather_tensor(pack(own)[0]), own)
                results = [each.flatten(0, 1) for each in of_all]
            *rows, mean = results
            of_averages = _like(mean, averages)
            return replace(
                change,
                messages=[
                    replace(message, values=values)
                    for message, values in zip(change.messages, rows, strict=True)
                ],
                values=of_averages[: len(change.values)],
                weights=of_averages[len(change.values) :],
            )

        return heads, combined

    def _flat(self, tensors: Sequence[Tensor], dtype: torch.dtype) -> Tensor:
        """Return the numbers of tensors one after another, counters too, and zeros so that ranks have equally many."""
        nothing = torch.empty(0, dtype=dtype, device=self._wire)
        flat = torch.cat([nothing, *(tensor.flatten().to(dtype) for tensor in tensors)])
        return torch.nn.functional.pad(flat, (0, -len(flat) % self.group.size))


def _like(flat: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return numbers laid out one after another, and what fills them up, in the shapes of some tensors."""
    sizes = [tensor.numel() for tensor in tensors]
    parts = torch.split(flat[: sum(sizes)], sizes)
    return [part.view(tensor.shape).to(tensor.dtype) for part, tensor in zip(parts, tensors, strict=True)]


def _result(future: Future[T], meanwhile: Callable[[], None] = lambda: None) -> T:
    """Wait for a result, and call something now and then."""
    while True:
        try:
            return future.result(timeout=0.1)
        except NotYet:
            if future.done():  # the error is its own
                raise
            meanwhile()


class _Turns(NamedTuple):
    """Tables that are exchanged together, in one of so many rounds."""

    rows: Rows
    every: int


@dataclass
class _Message:
    """Changes of some rows, those of tables that are exchanged together side by side."""

    rows: Rows
    parts: Parts
    values: Tensor


@dataclass
class _Change:
    """Changes of some rows, what is averaged, with its values at that time, and changes of weights."""

    messages: list[_Message]
    averaged: Sequence[Tensor]
    values: list[Tensor]
    weights: list[Tensor]


@dataclass
class _Outcome:
    reports: list[Report]
    change: _Change | None
