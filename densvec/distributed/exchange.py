"""Exchanging changes with the other ranks in rounds, while training continues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor

from densvec.distributed.group import Group
from densvec.distributed.rows import Parts, Rows, slices
from densvec.training import signals

T = TypeVar("T")

#: When all rows are sent, so many go at once, which bounds the memory.
SLAB = 1 << 16

#: Alignment of tensors in a message, in bytes, so that they can be read in place.
STEP = 8


@dataclass(frozen=True)
class Shared:
    """The live arrays of a backend, by how the changes of the ranks are combined."""

    #: Tables with a row for each word, with the rule for the changes of their rows, see `densvec.distributed.rows`.
    rows: Sequence[tuple[Tensor, str]]
    #: What is averaged: the weights of the encoder, and counters.
    means: Sequence[Tensor] = ()
    #: Adam's moments of the weights. Each rank keeps its own, as each worker of a process does, until all tables are
    #: made equal, when they are averaged.
    moments: Sequence[Tensor] = ()

    def all(self) -> list[Tensor]:
        """Return all shared arrays."""
        return [*(table for table, _ in self.rows), *self.means, *self.moments]


@dataclass
class Report:
    """What a rank reports in a round."""

    numbers: Sequence[float]  # what it has trained; their meaning is the caller's
    done: bool = False  # it has no text left in this epoch
    full: bool = False  # it wants all tables to be equal everywhere
    stop: bool = False  # it was interrupted
    error: str | None = None  # why it cannot go on

    def vector(self) -> Tensor:
        """Return everything except the error's text as numbers."""
        flags = [self.done, self.full, self.stop, self.error is not None]
        return torch.tensor([*map(float, flags), *self.numbers], dtype=torch.float64)

    @classmethod
    def of_vector(cls, vector: Tensor) -> Report:
        """Return the report that `vector` made numbers of."""
        done, full, stop, error, *numbers = vector.tolist()
        return cls(numbers, bool(done), bool(full), bool(stop), "" if error else None)


@dataclass
class _Change:
    """Changes of some rows, and the values that are averaged."""

    parts: Parts
    rows: Tensor
    averaged: Sequence[Tensor]
    values: Tensor  # of all of these, one after another


class Exchange:
    """Keeps the tables of all ranks together.

    Every rank trains its own copy of the tables, which begin as those of rank 0. In a round each rank receives the
    changes of all ranks to a part of the rows, combines them, and all ranks get the results: the bytes of an
    all-reduce, in two messages. A round is started with a snapshot, and runs in a thread of its own while training
    goes on; its outcome is added when the next round is started, so that with one worker for each rank the same run
    gives the same bits again.

    In a *full* round all rows are exchanged while training is paused. After it the tables are equal everywhere.

    Parameters
    ----------
    group : Group
        All ranks.
    shared : Shared
        What they exchange.
    threads : int
        How many copy changes while training waits.
    """

    def __init__(self, group: Group, shared: Shared, *, threads: int = 1) -> None:
        self.group = group
        self._shared = shared
        self._rounds = 0
        self._adopt()
        self._copying = ThreadPoolExecutor(threads, "densvec-copy") if threads > 1 else None
        self._rows = Rows(shared.rows, self._copying)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="densvec-exchange")
        self._pending: Future[tuple[list[Report], _Change | None]] | None = None
        self._sent: _Change | None = None

    @property
    def under_way(self) -> bool:
        """Whether a round has been started and not yet taken."""
        return self._pending is not None

    def start(self, report: Report, *, changes: bool = True) -> None:
        """Start a round: with what has changed so far, or with reports alone."""
        assert self._pending is None
        if changes:
            parts = slices(len(self._rows), self._rounds)
            self._sent = self._changed(parts, self._shared.means)
        else:
            self._sent = self._changed([], [])
        self._pending = self._thread.submit(self._round, report, self._sent)
        self._rounds += 1

    def take(self) -> list[Report]:
        """Wait for the end of the round, and add its outcome to the tables; return the reports of all ranks."""
        assert self._pending is not None
        assert self._sent is not None
        reports, change = _result(self._pending, signals.deliver)
        if change is not None:
            self._add(change, self._sent)
        self._pending = self._sent = None
        return reports

    def full(self, report: Report, document: Any) -> tuple[list[Report], list[Any]]:
        """Make all tables equal, everywhere; return the reports and the documents of all ranks."""
        reports, documents = self._gathered(report, document)
        if documents:
            self._settle(self._changed([], [*self._shared.means, *self._shared.moments]))
            for start in range(0, len(self._rows), SLAB):
                self._settle(self._changed([(start, min(start + SLAB, len(self._rows)))], []))
        return reports, documents

    def follow(self, report: Report, document: Any) -> tuple[list[Report], list[Any]]:
        """Take over the tables of rank 0, the only one that has trained; return what `full` returns."""
        reports, documents = self._gathered(report, document)
        if documents:
            self._run(self._adopt)
            self._rows.rebase()
        return reports, documents

    def close(self) -> None:
        """End the threads."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._copying is not None:
            self._copying.shutdown(wait=False)

    # In the thread of training

    def _gathered(self, report: Report, document: Any) -> tuple[list[Report], list[Any]]:
        """Wait for the reports and documents of all ranks; there are no documents if one of them has failed."""
        vectors = self._run(lambda: self._heard(self.group.gather_tensor, report.vector()))
        reports = self._run(lambda: self._read(report, vectors))
        if any(each.error is not None for each in reports):
            return reports, []
        return reports, self._run(lambda: self.group.gather(document))

    def _run(self, act: Callable[[], T]) -> T:
        """Do something in the thread of the exchange, and wait for it."""
        return _result(self._thread.submit(act))

    def _changed(self, parts: Parts, averaged: Sequence[Tensor]) -> _Change:
        """Return what has changed in some rows since ranks agreed, and a copy of what is averaged.

        Both are padded to a multiple of the number of ranks.
        """
        rows = self._rows.changed(parts, self.group.size)
        values = torch.cat([torch.empty(0), *(tensor.flatten().cpu().float() for tensor in averaged)])
        values = torch.nn.functional.pad(values, (0, -len(values) % self.group.size))
        return _Change(parts, rows, averaged, values)

    def _add(self, change: _Change, sent: _Change) -> None:
        """Move on what ranks agree on, and add to the tables what the others changed; what was trained since stays."""
        self._rows.add(change.parts, change.rows, sent.rows)
        for tensor, mean, own in zip(change.averaged, _split(change), _split(sent), strict=True):
            tensor.add_(mean - own)

    def _settle(self, change: _Change) -> None:
        """Add the combined change everywhere, so that all ranks have the same."""
        _, of_all = self._run(lambda: self._exchanged(torch.empty(0), change))
        outcome = of_all()
        self._rows.settle(change.parts, outcome.rows)
        for tensor, mean in zip(change.averaged, _split(outcome), strict=True):
            tensor.copy_(mean)

    # In the thread of the exchange

    def _adopt(self) -> None:
        """Overwrite everything that is shared by what rank 0 has."""
        for tensor in self._shared.all():
            for part in torch.split(tensor if tensor.ndim else tensor[None], SLAB):
                sent = part.cpu().contiguous()
                self.group.broadcast(sent)
                part.copy_(sent)

    def _read(self, report: Report, vectors: Tensor) -> list[Report]:
        """Return the reports of all ranks, with the errors of those that cannot go on."""
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

    def _round(self, report: Report, change: _Change) -> tuple[list[Report], _Change | None]:
        """Exchange changes, and reports with them; nothing is combined if a rank cannot go on."""
        vectors, of_all = self._exchanged(report.vector(), change)
        reports = self._read(report, vectors)
        return reports, None if any(each.error is not None for each in reports) else of_all()

    def _exchanged(self, head: Tensor, change: _Change) -> tuple[Tensor, Callable[[], _Change]]:
        """Send each rank its share of the changes; return the heads received, and a function that combines."""
        size = self.group.size
        sent = [head.expand(size, -1), *(_dealt(each, size) for each in (change.rows, change.values))]
        heads, rows, values = unpack(self._heard(self.group.exchange, pack(sent)), sent)

        def of_all() -> _Change:
            own = [self._rows.combined(rows)[None], values.mean(0)[None]]
            outcome = unpack(self.group.gather_tensor(pack(own)[0]), own)
            return _Change(change.parts, outcome[0].flatten(0, 1), change.averaged, outcome[1].flatten())

        return heads, of_all


def pack(tensors: Sequence[Tensor]) -> Tensor:
    """Return tensors of any types, (k, ...) each, as k messages, (k, bytes): one message is cheaper than several.

    Examples
    --------
    >>> numbers, halves = torch.ones(2, 3), torch.ones(2, 1, dtype=torch.bfloat16)
    >>> messages = pack([numbers, halves])
    >>> messages.shape
    torch.Size([2, 24])
    >>> [part.shape for part in unpack(messages[:1], [numbers, halves])]
    [torch.Size([1, 3]), torch.Size([1, 1])]
    """
    parts = []
    for tensor in tensors:
        part = tensor.reshape(len(tensor), -1).contiguous().view(torch.uint8)
        parts += [part, part.new_zeros(len(part), -part.shape[1] % STEP)]
    return torch.cat(parts, 1)


def unpack(messages: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return the tensors in messages, (n, bytes), that `pack` made of tensors like these: (n, ...) each."""
    found, start = [], 0
    for tensor in tensors:
        size = tensor[0].nbytes
        part = messages[:, start : start + size]
        found.append((part.view(tensor.dtype) if size else tensor).view(len(part), *tensor.shape[1:]))
        start += size + -size % STEP
    return found


def _dealt(tensor: Tensor, size: int) -> Tensor:
    """Return a view with an equal part for each rank."""
    return tensor.view(size, len(tensor) // size, *tensor.shape[1:])


def _split(change: _Change) -> list[Tensor]:
    """Return the averaged values as tensors of the original shapes."""
    sizes = [tensor.numel() for tensor in change.averaged]
    parts = torch.split(change.values[: sum(sizes)], sizes)
    return [part.view(tensor.shape).to(tensor) for part, tensor in zip(parts, change.averaged, strict=True)]


def _result(future: Future[T], meanwhile: Callable[[], None] = lambda: None) -> T:
    """Wait for a result, and call something now and then."""
    while True:
        try:
            return future.result(timeout=0.1)
        except NotYet:
            if future.done():  # the error is its own
                raise
            meanwhile()
