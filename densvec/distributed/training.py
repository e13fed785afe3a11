"""Training one model on all ranks: a backend that trains this rank's copy and meets the others."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from densvec.distributed.bands import first_band
from densvec.distributed.combine import adasum, mean_of_changed, total
from densvec.distributed.exchange import Exchange, Report, Shared
from densvec.distributed.feed import PiecesFeed
from densvec.distributed.group import Group, RankError, settings
from densvec.distributed.intervals import (
    adds_weights,
    chunk_words,
    default_words,
    inputs_every,
    rows_every,
)
from densvec.distributed.ledger import Ledger, merged
from densvec.distributed.rows import Rule
from densvec.distributed.vocabulary import check_shares
from densvec.text.feed import Feed
from densvec.text.pieces import deal, piece_of, pieces_of
from densvec.text.source import as_files
from densvec.training.backend import Backend, StepResult, UnstableTrainingError
from densvec.training.layout import STATE, Layout
from densvec.training.run import Run, Tally
from densvec.types import Array

if TYPE_CHECKING:
    from densvec._corpus import Chunk

__all__ = ["RankInterrupt", "TogetherBackend", "share"]


#: Parameters that may differ from rank to rank.
OWN = frozenset({"workers", "backend", "device", "show_progress"})


#: Rank 0 begins alone: the words that it trains before the others join in, and the part of the whole run that they
#: are at most. Tables that start from noise take shape in them; ranks that began apart would each give them another.
ALONE, MOST_ALONE = 2_000_000, 1 / 20


#: Words that a device is sent at once, at least, if it has use for them: fewer are trained slowly, and more between two
#: exchanges cost quality.
BATCH_WORDS = 100_000

#: Ranks that average the encoder's weights learn them faster, by this power of the number of ranks: what single words
#: teach is averaged away.
ENCODER_POWER = 0.5

#: The changes of so many ranks to these weights are added up; those of more count as those of so many.
MOST_ADDED = 8


class RankInterrupt(KeyboardInterrupt):
    """Another rank was interrupted, so this one stops too."""


def share(
    model: Any, group: Group, run: Run, backend: Backend, open_feed: Callable[..., Feed]
) -> TogetherBackend:
    """Return what trains a model on all ranks; RankError if they do not have the same model and corpus."""
    if group.size > 1:
        words = "\n".join(map(str, model.wv.index_to_key)).encode("utf-8", "surrogatepass")
        document = {
            "class": type(model).__name__,
            "number of words": len(model.wv),
            "vocabulary": hashlib.sha256(words).hexdigest(),
            **{name: getattr(model, name) for name in model.parameter_names() if name not in OWN},
            "number of epochs": run.epochs,
            "total_words": run.total_words,
            "exchange_words": settings.exchange_words or "by workers and text",
            "position": [run.epoch, run.tally.chunks, run.shared],
        }
        group.check_same("model", json.loads(json.dumps(document, default=str)))
        if model._corpus[0] is not None:
            check_shares(group, model._corpus[0])
    workers = group.gather(model.workers) if group.size > 1 else [1]
    text = (run.total_words or 0) * run.epochs / group.size  # not known: as if there were little
    interval = settings.exchange_words or default_words(group.size, max(workers), text)
    chunk = model.batch_words
    rounds = None
    if group.size > 1:
        # Others train large batches: more words between two exchanges than can be added up.
        often = model.wv.encoder is not None and all(group.gather(backend.concurrent))
        if often and adds_weights(interval, group.size):
            rounds = rows_every(interval)
        chunk = chunk_words(interval // (rounds or 1) // max(workers), chunk)
    corpus = as_files(*model._corpus)
    return TogetherBackend(
        group,
        run,
        backend,
        model.layout(),
        corpus,
        open_feed,
        exchange_words=interval,
        rows_every=rounds,
        chunk_words=chunk,
        threads=model.workers,
    )


class TogetherBackend(Backend):
    """Trains this rank's copy of the tables by another backend, and exchanges the changes with the other ranks.

    Parameters
    ----------
    group : Group
        All ranks.
    run : Run
        The run; its ``shared`` says what has been trained of the epoch in which it was interrupted.
    backend : Backend
        What trains here.
    layout : Layout
        The layout of the model's tables.
    corpus : (sentences, corpus_file)
        The corpus; sentences are this rank's share of it.
    open_feed : callable
        Opens the corpus, or one piece of it, at an epoch, leaving out chunks.
    exchange_words : int
        Words that this rank trains between two rounds that exchange rows, the same number on all ranks.
    rows_every : int, optional
        Of how many rounds one exchanges rows; in all of them changes of the encoder's weights are added up. None if
        these are averaged, with the rows.
    chunk_words : int
        Words of a chunk, likewise. What is left of an epoch is cut into chunks as its beginning was.
    threads : int
        Workers of this rank.
    """

    def __init__(
        self,
        group: Group,
        run: Run,
        backend: Backend,
        layout: Layout,
        corpus: tuple[Any, Any],
        open_feed: Callable[..., Feed],
        *,
        exchange_words: int,
        rows_every: int | None,
        chunk_words: int,
        threads: int,
    ) -> None:
        self.concurrent = backend.concurrent
        self.batch_words = backend.batch_words
        if group.size > 1:
            self.batch_words = min(self.batch_words, max(exchange_words, BATCH_WORDS))
        self._group = group
        self._run = run
        self._inner = backend
        self._open = open_feed
        self._pieces = None
        if corpus[1] is not None:
            self._pieces = group.together(lambda: pieces_of(corpus[1]))
            group.check_same("corpus", self._corpus_now())
        self._counting = threading.Lock()
        self._meeting = threading.Lock()
        self._measured: dict[int, StepResult | None] = {}
        self._ledger: Ledger | None = Ledger()  # None in an epoch that was begun by one process
        self._in_epoch = False
        self._broken = False
        self._own = self._all = Tally()
        self._since = 0
        self._alone = False  # whether rank 0 trains and the others wait for it
        self._round_words = max(1, exchange_words // (rows_every or 1))
        self._adds_weights = rows_every is not None
        self._own_chunk_words = chunk_words
        self._chunk_words: int | None = chunk_words  # of the epoch; None is the model's own number
        self._count_from(self._all, self._own)
        self._check_position()
        self._exchange: Exchange | None = None
        if group.size > 1:
            shared = shared_arrays(backend, layout, self._adds_weights)
            if not all(group.gather(shared.travelled is not None)):
                shared = replace(shared, travelled=None)
            self._exchange = Exchange(
                group,
                shared,
                first_band=first_band(exchange_words, group.size),
                inputs_every=inputs_every(exchange_words),
                rows_every=rows_every or 1,
                threads=threads,
            )

    # What the loop asks of a backend

    def prepare(self, *chunks: Chunk, progress: float = 0.0) -> Any:
        """Return what `step` takes for chunks: the same on all ranks in the whole epoch."""
        return self._inner.prepare(*chunks, progress=self._run.progress(0, 0))

    def threads(self, count: int) -> AbstractContextManager[None]:
        """Let `step` compute with this many threads of its own."""
        return self._inner.threads(count)

    def step(self, chunk: Any, alpha: float, worker: int = 0) -> StepResult:
        """Train on chunks, at the learning rate that the words of all ranks call for."""
        taken = getattr(chunk, "chunks", (chunk,))
        result = self._inner.step(chunk, self._run.alpha(*self._position()), worker)
        with self._counting:
            self._own = self._own.plus(taken, result, self._measured.pop(worker, None))
            self._since += sum(each.words for each in taken)
            self._agreed = False
            if self._ledger is not None:
                for each in taken:
                    self._ledger.trained(piece_of(each.number)[0])
        return result

    def measure(self, chunk: Any, worker: int = 0) -> StepResult | None:
        """Return the loss of a chunk as the tables are, and change nothing."""
        result = self._measured[worker] = self._inner.measure(chunk, worker)
        return result

    def gradients(self, chunk: Chunk) -> tuple[StepResult, dict[str, Array]]:
        """Return the loss of a chunk and its gradients; train nothing."""
        return self._inner.gradients(chunk)

    def arrays(self) -> dict[str, Any]:
        """Return all trained arrays of this rank."""
        return self._inner.arrays()

    def state(self) -> dict[str, Array]:
        """Return the optimiser's accumulators by name."""
        return self._inner.state()

    def synchronise(self) -> None:
        """Bring the arrays of the ``KeyedDensities`` up to date with what this rank has."""
        self._inner.synchronise()

    def overall(self, tally: Tally) -> Tally:
        """Return what all ranks have trained, as far as is known here."""
        words, examples = self._position()
        return Tally(
            self._all.chunks,
            words,
            self._all.kept,
            examples,
            tally.seconds,
            self._all.result,
            self._all.at_rest,
        )

    def exchange_is_due(self) -> bool:
        """Return whether this rank has trained as many words as it is to train between two rounds, or waits for one."""
        if self._alone:
            return not self._group.is_main or not self._words_alone()
        return self._since >= self._round_words

    def exchange(self) -> None:
        """Take the outcome of the last round, and start the next one."""
        with self._meeting:
            if self.exchange_is_due():  # unless it was done for a save in the meantime
                self._meet()

    def agree(self) -> None:
        """Make all tables equal everywhere, with no worker at work here; the others do it when they next exchange."""
        with self._meeting:
            while self._in_epoch and not self._agreed:
                self._meet(full=True)

    def finish_epoch(self, tally: Tally) -> Tally:
        """Wait until the others have trained their pieces too; return what all have trained."""
        self._own = replace(self._own, seconds=tally.seconds)
        with self._meeting:
            while not self._ended:
                self._meet(done=True)
        self._in_epoch = False
        return self._all

    def give_up(self, error: BaseException) -> None:
        """Tell the others why training ends here; after an interrupt all ranks end with equal tables.

        If they cannot, the model is this rank's own, without a position: the run is lost, and the model cannot be
        saved. RankError if that is so after an interrupt.
        """
        told = isinstance(error, (RankError, RankInterrupt)) or not self._in_epoch
        try:
            if not told and not self._broken:
                with self._meeting:
                    self._tell(error)
        except (RankError, RuntimeError):
            self._broken = True
        finally:
            self.close()
            # A model that diverges goes back to where ranks last agreed.
            self._run.lost = (
                self._in_epoch and not self._agreed and not isinstance(error, UnstableTrainingError)
            )
        if not told and self._broken and isinstance(error, KeyboardInterrupt):
            raise RankError(
                "interrupted, and the other ranks have ended: the model is that of the last checkpoint"
            ) from error

    def _tell(self, error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt):
            while not self._stopped:
                self._meet(stop=True)
        elif self._exchange is None:
            self._meet(full=True)
        else:
            if self._exchange.under_way:
                self._read(self._exchange.take(), False)
            report = Report(self._numbers(), error=f"{type(error).__name__}: {error}")
            if self._alone or self._full_next:  # what the others wait for is not an ordinary round
                self._exchange.full(report, None)
            else:
                self._exchange.start(report)
                self._exchange.take()

    def close(self) -> None:
        """End the exchange."""
        if self._exchange is not None:
            self._exchange.close()

    # The pieces of this rank

    def open_feed(self, epoch: int, start: int) -> Any:
        """Open this rank's pieces of the corpus at an epoch, without what was trained of them before."""
        run, group = self._run, self._group
        before = run.tally
        self._count_from(before, before if group.is_main else Tally())
        self._in_epoch = True
        if run.shared is None and start:  # one process began this epoch: one finishes it
            self._ledger = None
            self._set_pace()
            if group.is_main:
                return self._open(epoch, start)
            return PiecesFeed((), lambda piece, first: self._open(epoch, first), Ledger())
        self._alone = group.size > 1 and run.number == 0 and self._words_alone() > 0
        if self._alone:
            self._active = 1
        document = run.shared["ledger"] if run.shared else {"done": [], "begun": {}}
        # Files of earlier versions do not say: all chunks had the model's number of words.
        self._chunk_words = run.shared.get("chunk_words") if run.shared else self._own_chunk_words
        hand = self._hand(document)
        own = {
            "done": document["done"],
            "begun": {p: c for p, c in document["begun"].items() if int(p) in hand},
        }
        self._ledger = Ledger(own)
        self._set_pace()

        def open_piece(piece: int, first: int) -> Feed:
            part = None if self._pieces is None else self._pieces[piece]
            return self._open(epoch, first, part, piece, self._chunk_words)

        return PiecesFeed(hand, open_piece, self._ledger)

    def _set_pace(self) -> None:
        """Let the encoder learn as fast as is right for the ranks that train."""
        alone = self._alone or self._ledger is None
        # Long chunks, of an epoch that fewer ranks began, change too much to be added up.
        often = self._chunk_words is not None and self._chunk_words <= self._own_chunk_words
        added = min(self._group.size, MOST_ADDED) if self._adds_weights and often else 1
        self._inner.encoder_ranks = 1 if alone else added
        self._inner.encoder_factor = 1.0 if alone or added > 1 else self._group.size**ENCODER_POWER
        if self._exchange is not None:
            self._exchange.weights.gain = self._group.size if alone else added

    def _hand(self, document: dict[str, Any]) -> list[int]:
        """Return the pieces that this rank trains of those that are left."""
        done = set(document["done"])
        if self._pieces is None:
            return [] if self._group.rank in done else [self._group.rank]
        left = [number for number in range(len(self._pieces)) if number not in done]
        sizes = [piece.size for piece in self._pieces]
        ahead = 0  # bytes that rank 0 trains while the others wait
        if self._alone and self._run.total_words:
            ahead = sum(sizes) * self._words_alone() // self._run.total_words
        return deal(sizes, self._group.size, left, ahead)[self._group.rank]

    def _words_alone(self) -> int:
        """Return how many words rank 0 has still to train before the others join in."""
        words, examples = self._position()
        run, most = self._run, ALONE
        if run.progress(words, examples) >= MOST_ALONE:
            return 0
        if run.total_words:
            most = min(most, int(MOST_ALONE * run.epochs * run.total_words))
        return max(0, most - words)

    def _corpus_now(self) -> dict[str, int]:
        """Return how the corpus is cut, by which it is recognised."""
        if self._pieces is None:
            return {"shares": self._group.size}
        return {"pieces": len(self._pieces), "bytes": sum(piece.size for piece in self._pieces)}

    def _check_position(self) -> None:
        """Raise ValueError if the epoch was begun on another corpus, or on other shares of it."""
        if self._run.shared is None:
            return
        then, now = self._run.shared["corpus"], self._corpus_now()
        if then == now:
            return
        if "shares" in then:
            raise ValueError(
                f"this epoch was begun by {then['shares']} ranks, each with sentences of its own: only as many can "
                "finish it. With a corpus_file any number can"
            )
        raise ValueError(
            f"the corpus is not the one that training was interrupted on: that had {then['pieces']} pieces of "
            f"{then['bytes']:,} bytes, this has {now.get('pieces', 'no')} of {now.get('bytes', 0):,}"
        )

    # Meeting the others

    def _count_from(self, everyone: Tally, own: Tally) -> None:
        """Start counting: what all ranks and this one have trained of the epoch before."""
        self._all = everyone
        self._own = own
        self._own_then = self._own_sent = (self._own.words, self._own.examples)
        self._active = self._group.size  # ranks that have text left
        self._since = 0  # words since the last round
        self._full_next = False
        self._agreed = False
        self._ended = False
        self._stopped = False

    def _position(self) -> tuple[int, int]:
        """Return how many words and examples of the epoch all ranks have trained, as this one must guess."""
        (words, examples), active = self._own_then, self._active
        return (
            self._all.words + (self._own.words - words) * active,
            self._all.examples + (self._own.examples - examples) * active,
        )

    def _meet(self, *, done: bool = False, full: bool = False, stop: bool = False) -> None:
        """Take the outcome of the last round, and start the next; a full one is waited for."""
        started = time.perf_counter()
        try:
            self._take_and_start(done, full, stop)
        finally:
            self._group.rounds += 1
            self._group.seconds_waited += time.perf_counter() - started

    def _take_and_start(self, done: bool, full: bool, stop: bool) -> None:
        exchange, document = self._exchange, self._ledger.document() if self._ledger else None
        self._since = 0
        report = Report(self._numbers(), done, full, stop)
        if exchange is None:
            self._read([report], True)
            self._settle([document])
            return
        try:
            if exchange.under_way:
                self._read(exchange.take(), False)
            self._own_sent = (self._own.words, self._own.examples)
            if self._alone or self._full_next:
                meet = exchange.follow if self._alone else exchange.full
                self._alone = False
                self._set_pace()
                reports, documents = meet(report, document)
                self._read(reports, True)
                self._settle(documents)
            else:
                exchange.start(report)
        except RankError:
            self._broken = True
            raise
        except RuntimeError as error:
            self._broken = True
            raise RankError(
                f"rank {self._group.rank} has lost the other ranks, one of which has probably ended: {error}"
            ) from error
        if self._stopped and not stop:
            raise RankInterrupt("another rank was interrupted")

    def _numbers(self) -> list[float]:
        """Return what this rank has trained, as numbers."""
        own = self._own
        sums = [value for part in (own.result, own.at_rest) for value in asdict(part).values()]
        return [own.chunks, own.words, own.kept, own.examples, own.seconds, *sums]

    def _read(self, reports: list[Report], full: bool) -> None:
        """Take note of the reports of all ranks."""
        for rank, report in enumerate(reports):
            if report.error is not None and rank != self._group.rank:
                raise RankError(f"rank {rank} failed: {report.error}")
        self._all = _sum([_tally(report) for report in reports])
        self._own_then = self._own_sent
        self._active = max(1, sum(not report.done for report in reports))
        done = all(report.done for report in reports)
        stop = any(report.stop for report in reports)
        self._full_next = not full and (done or stop or any(report.full for report in reports))
        self._agreed = full
        self._ended = full and done
        self._stopped = full and stop

    def _settle(self, documents: list[Any]) -> None:
        """Note in the run what all ranks have trained, as the tables now are."""
        if self._ledger is None:
            return
        self._run.shared = {
            "corpus": self._corpus_now(),
            "ledger": merged(documents),
            "chunk_words": self._chunk_words,
            "tally": asdict(self._all),
        }


def _sum(tallies: list[Tally]) -> Tally:
    """Return what several ranks have trained, in the time that the slowest took."""
    return Tally(
        sum(tally.chunks for tally in tallies),
        sum(tally.words for tally in tallies),
        sum(tally.kept for tally in tallies),
        sum(tally.examples for tally in tallies),
        max(tally.seconds for tally in tallies),
        sum((tally.result for tally in tallies), StepResult()),
        sum((tally.at_rest for tally in tallies), StepResult()),
    )


def _tally(report: Report) -> Tally:
    chunks, words, kept, examples, seconds, *sums = report.numbers
    result, at_rest = (StepResult(part[0], part[1], part[2], int(part[3])) for part in (sums[:4], sums[4:]))
    return Tally(int(chunks), int(words), int(kept), int(examples), seconds, result, at_rest)


def shared_arrays(backend: Backend, layout: Layout, adds_weights: bool = False) -> Shared:
    """Return the arrays of a backend by how they are combined, which follows from the model's layout.

    The weights of an encoder are added up or averaged.
    """
    arrays = {name: _tensor(array) for name, array in backend.arrays().items()}
    kinds = {table.name.removeprefix(STATE).removeprefix("encoder."): table for table in layout}
    rows: list[tuple[torch.Tensor, Rule]] = []
    inputs: list[tuple[torch.Tensor, Rule]] = []
    means: list[torch.Tensor] = []
    moments: list[torch.Tensor] = []
    momentum: list[torch.Tensor] = []
    weights: list[torch.Tensor] = []
    for name, tensor in arrays.items():
        kind = kinds.get(name)
        if kind is not None and kind.per_word:
            rule = total if kind.is_state else mean_of_changed if name == "log_variances" else adasum
            (inputs if name.startswith("embedding") else rows).append((tensor, rule))
        elif kind is not None and not kind.is_state and adds_weights:
            weights.append(tensor)
        elif name.startswith("adam_first"):
            momentum.append(tensor)
        else:
            (moments if name.startswith("adam_second") else means).append(tensor)
    travelled = backend.note_travel()
    return Shared(
        rows, means, momentum, inputs, weights, moments, None if travelled is None else _tensor(travelled)
    )


def _tensor(array: Any) -> torch.Tensor:
    return torch.from_numpy(array) if isinstance(array, np.ndarray) else array.detach()
