"""The training loop of a rank: it trains its own tables on its pieces of the text, and exchanges changes."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from densvec.distributed.exchange import Exchange, Report, Shared
from densvec.distributed.group import Group, RankError, settings
from densvec.distributed.pieces import Ledger, PiecesFeed, agree_on_text, merged
from densvec.distributed.vocabulary import check_shares
from densvec.text.feed import Feed
from densvec.text.pieces import deal, piece_of, pieces_of
from densvec.text.source import as_files
from densvec.training.backend import Backend, StepResult, UnstableTrainingError
from densvec.training.layout import STATE, Layout
from densvec.training.loop import Loop, OnChunk
from densvec.training.run import Run, Tally
from densvec.training.settings import Rates

if TYPE_CHECKING:
    from densvec._corpus import Chunk

#: Words that each worker of a rank trains between two exchanges, unless set: some hundredths of a second.
EXCHANGE_WORDS = 50_000

#: Rank 0 begins alone: so many words, or this part of the run if that is less. Changes can only be combined once
#: ranks agree on what the axes mean; tables that start from noise would take another shape on each of them.
BEGINNING_WORDS, BEGINNING_PART = 2_000_000, 1 / 20

#: Parameters that may differ from rank to rank.
OWN = frozenset({"workers", "backend", "device", "show_progress"})


class RankInterrupt(KeyboardInterrupt):
    """Another rank was interrupted, so this one stops too."""


class RankLoop(Loop):
    """Trains the epochs of a run together with the other ranks, or alone what several began.

    The position in ``run`` moves on when ranks have made their tables equal; in between, the loop counts itself.

    Parameters
    ----------
    model : model
        The model, with its corpus; sentences are this rank's share of it.
    group : Group
        All ranks. RankError is raised if they do not have the same model and corpus.
    run : Run
        The run; the ``pieces`` of its position say what has been trained of the epoch in which it was interrupted.
    backend : Backend
        What trains here.
    open_feed : callable
        Opens the corpus, or one piece of it, at an epoch, leaving out chunks.
    loss_bound : float
        As in `Loop`.
    """

    def __init__(
        self,
        model: Any,
        group: Group,
        run: Run,
        backend: Backend,
        open_feed: Callable[..., Feed],
        *,
        loss_bound: float,
    ) -> None:
        super().__init__(run, backend, open_feed, workers=model._threads, loss_bound=loss_bound)
        self._group = group
        sentences, corpus_file = as_files(*model._corpus)
        if group.size > 1:
            _check_same(group, model, run)
            if sentences is not None:
                check_shares(group, sentences)
        workers = max(group.gather(model._threads)) if group.size > 1 else model._threads
        self._round_words = settings.exchange_words or EXCHANGE_WORDS * workers
        self._own_chunk_words = min(model.batch_words, max(1, self._round_words // workers))
        self._chunk_words: int | None = None  # of the epoch; None is the model's own number
        self._batch_words = min(backend.batch_words, self._round_words)
        self._pieces = None
        self._corpus: dict[str, Any] = {"shares": group.size}
        if corpus_file is not None:
            self._pieces = group.together(lambda: pieces_of(corpus_file))
            self._corpus = agree_on_text(group, self._pieces, model._threads)
        self._check_position()
        self._meeting = threading.Lock()
        self._in_epoch = False
        self._alone = False  # only rank 0 trains
        self._by_pieces = False  # the epoch is divided among ranks
        self._broken = False
        self._ledger: Ledger | None = None
        self._exchange: Exchange | None = None
        if group.size > 1:
            shared = shared_arrays(backend, model.layout())
            self._exchange = Exchange(group, shared, threads=model._threads)
        self._rates = getattr(backend, "rates", None)
        self._count_from(Tally(), Tally())

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
        self._begun = False  # rank 0 has trained the beginning
        self._stopped = False

    # What the loop of one process does otherwise

    def epoch(self, on_chunk: OnChunk) -> Tally:
        """Train this rank's pieces of the epoch, and wait until the others have trained theirs."""
        try:
            try:
                super().epoch(on_chunk)
            finally:
                self._own = replace(self._own, seconds=self.run.tally.seconds)
            with self._meeting:
                while not self._ended:
                    self._meet(done=True)
            self._in_epoch = False
        except BaseException as error:
            self._give_up(error)
            raise
        return self.run.tally

    def agree(self) -> None:
        """Make all tables equal everywhere, with no worker at work here; the others do it when they next exchange."""
        with self._meeting:
            while self._in_epoch and not self._agreed:
                self._meet(full=True)

    def tally(self) -> Tally:
        """Return what all ranks have trained of the epoch, as far as is known here."""
        words, examples = self._position()
        return replace(self._all, words=words, examples=examples)

    def _open(self, epoch: int, start: int) -> Any:
        """Open this rank's pieces of the corpus at an epoch, without what was trained of them before."""
        run, group = self.run, self._group
        pieces = run.position.pieces
        self._count_from(run.tally, run.tally if group.is_main else Tally())
        self._in_epoch, self._ledger = True, None
        self._by_pieces = pieces is not None or start == 0
        self._set_pace(alone=not self._by_pieces or self._begins(run.tally.words, run.tally.examples))
        if not self._by_pieces:  # one process began this epoch: one finishes it
            if group.is_main:
                return self._open_feed(epoch, start)
            return PiecesFeed((), lambda piece, first: self._open_feed(epoch, first), Ledger())
        ledger = pieces["ledger"] if pieces else {"done": [], "begun": {}}
        # Files of earlier versions do not say: all chunks had the model's number of words.
        self._chunk_words = pieces.get("chunk_words") if pieces else self._own_chunk_words
        hand = self._hand(ledger["done"])
        begun = {p: c for p, c in ledger["begun"].items() if int(p) in hand}
        self._ledger = Ledger({"done": ledger["done"], "begun": begun})

        def open_piece(number: int, first: int) -> Feed:
            reader = None if self._pieces is None else self._pieces[number].reader()
            return self._open_feed(epoch, first, reader, self._chunk_words)

        with self._meeting:
            while self._alone and not group.is_main:
                self._meet()
        return PiecesFeed(hand, open_piece, self._ledger)

    def _hand(self, done: list[int]) -> list[int]:
        """Return the pieces that this rank trains of those that are left."""
        if self._pieces is None:
            return [] if self._group.rank in done else [self._group.rank]
        left = [number for number in range(len(self._pieces)) if number not in set(done)]
        sizes, run = [piece.size for piece in self._pieces], self.run
        ahead = 0.0  # bytes that rank 0 trains while the others wait
        if self._alone and run.total_words:
            part = min(BEGINNING_WORDS / run.total_words, BEGINNING_PART * run.epochs)
            ahead = sum(sizes) * max(0.0, part - run.tally.words / run.total_words)
        return deal(sizes, self._group.size, left, int(ahead))[self._group.rank]

    def _begins(self, words: int, examples: int) -> bool:
        """Return whether rank 0 still trains alone with so much of the epoch done."""
        early = words < BEGINNING_WORDS and self.run.progress(words, examples) < BEGINNING_PART
        return early and self._group.size > 1 and self.run.number == 0

    def _set_pace(self, alone: bool) -> None:
        """Let the encoder learn faster, by the square root of the number of ranks, where its weights are averaged.

        What single words teach is averaged away, as it is in larger batches.
        """
        self._alone = alone
        if isinstance(self._rates, Rates):
            factor = 1.0 if alone else self._group.size**0.5
            self.backend.rates = replace(self._rates, encoder=factor * self._rates.encoder)  # type: ignore[attr-defined]

    def _take(self, gate: Any, source: Any) -> Any:
        """Exchange with the others if it is time, and take what the next chunk is made of."""
        if self._since >= self._round_words:
            with gate.pause():  # what was taken is trained, nothing else is
                try:
                    with self._meeting:
                        if self._since >= self._round_words:  # unless it was done for a save in the meantime
                            self._meet()
                except BaseException:
                    gate.stop(wait=False)  # before another worker can come in
                    raise
        return super()._take(gate, source)

    def _alpha(self, chunk: Chunk) -> float:
        """Return the learning rate, which follows the words of all ranks."""
        return self.run.alpha(*self._position())

    def _count(self, chunks: Sequence[Chunk], result: StepResult, at_rest: StepResult | None) -> None:
        """Count chunks that were trained here."""
        self._own = self._own.plus(chunks, result, at_rest)
        self._since += sum(chunk.words for chunk in chunks)
        self._agreed = False
        if self._ledger is not None:
            for chunk in chunks:
                self._ledger.trained(piece_of(chunk.number)[0])

    # Meeting the others

    def _position(self) -> tuple[int, int]:
        """Estimate how many words and examples of the epoch all ranks have trained."""
        (words, examples), active = self._own_then, 1 if self._alone else self._active
        return (
            self._all.words + (self._own.words - words) * active,
            self._all.examples + (self._own.examples - examples) * active,
        )

    def _meet(self, *, done: bool = False, full: bool = False, stop: bool = False) -> None:
        """Take the outcome of the last round and start the next; wait for it if it is a full one."""
        started = time.perf_counter()
        self._since = 0
        report = Report(self._numbers(), done, full, stop)
        try:
            self._take_and_start(report)
        except RankError:
            self._broken = True
            raise
        except RuntimeError as error:
            self._broken = True
            raise RankError(
                f"rank {self._group.rank} has lost the other ranks, one of which has probably ended: {error}"
            ) from error
        finally:
            self._group.rounds += 1
            self._group.seconds_waited += time.perf_counter() - started
        if self._stopped and not stop:
            raise RankInterrupt("another rank was interrupted")

    def _take_and_start(self, report: Report) -> None:
        exchange, document = self._exchange, self._ledger.document() if self._ledger else None
        if exchange is None:
            self._settle([report], [document])
            return
        if exchange.under_way:
            self._read(exchange.take(), False)
        self._own_sent = (self._own.words, self._own.examples)
        if self._full_next:
            meet = exchange.follow if self._alone else exchange.full
            self._settle(*meet(report, document))
        else:  # if only rank 0 trains, the others only need its reports
            exchange.start(report, changes=not self._alone)

    def _numbers(self) -> list[float]:
        """Return what this rank has trained, as numbers."""
        own = self._own
        sums = [value for part in (own.result, own.at_rest) for value in asdict(part).values()]
        return [own.chunks, own.words, own.kept, own.examples, own.seconds, *sums]

    def _read(self, reports: list[Report], full: bool) -> None:
        """Evaluate the reports of all ranks."""
        for rank, report in enumerate(reports):
            if report.error is not None and rank != self._group.rank:
                raise RankError(f"rank {rank} failed: {report.error}")
        self._all = _sum([_tally(report) for report in reports])
        self._own_then = self._own_sent
        self._active = max(1, sum(not report.done for report in reports))
        done = all(report.done for report in reports)
        stop = any(report.stop for report in reports)
        begins = self._begins(self._all.words, self._all.examples) and not reports[0].done
        self._begun = self._alone and self._by_pieces and not begins
        self._full_next = not full and (done or stop or self._begun or any(report.full for report in reports))
        self._agreed = full
        self._ended = full and done
        self._stopped = full and stop
        self.run.position = self.run.position._replace(tally=self._all)

    def _settle(self, reports: list[Report], documents: list[Any]) -> None:
        """Note in the run what all ranks have trained, now that their tables are equal."""
        self._read(reports, True)
        if self._by_pieces:
            ledger = merged(documents)
            pieces = {"corpus": self._corpus, "ledger": ledger, "chunk_words": self._chunk_words}
            self.run.position = self.run.position._replace(pieces=pieces)
            if self._begun:
                self._set_pace(alone=False)

    # When training ends too early

    def _give_up(self, error: BaseException) -> None:
        """Tell the others why training ends here; after an interrupt all ranks end with equal tables.

        If they cannot, the tables are this rank's own, and belong to no position: the model cannot be saved. RankError
        if that is so after an interrupt.
        """
        told = isinstance(error, (RankError, RankInterrupt)) or not self._in_epoch
        try:
            if not told and not self._broken:
                with self._meeting:
                    self._tell(error)
        except (RankError, RuntimeError):
            self._broken = True
        finally:
            if self._exchange is not None:
                self._exchange.close()
            # A model that diverges goes back to where ranks last agreed.
            if self._in_epoch and not self._agreed and not isinstance(error, UnstableTrainingError):
                self.run.position = self.run.position._replace(exact=False)
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
            if self._full_next:  # the others wait for a full round
                self._exchange.full(report, None)
            else:
                self._exchange.start(report, changes=not self._alone)
                self._exchange.take()

    def _check_position(self) -> None:
        """Raise ValueError if the epoch was begun on another corpus, or on other shares of it."""
        pieces, now = self.run.position.pieces, self._corpus
        if pieces is None:
            return
        then = pieces["corpus"]
        known = [name for name in ("shares", "pieces", "bytes", "checksum") if name in then]
        if all(then[name] == now.get(name) for name in known):  # files of earlier versions have no checksum
            return
        if "shares" in then:
            raise ValueError(
                f"this epoch was begun by {then['shares']} ranks, each with sentences of its own: only as many can "
                "finish it. With a corpus_file any number can"
            )
        raise ValueError(
            f"the corpus is not the one that training was interrupted on: that had {then['pieces']} pieces of "
            f"{then['bytes']:,} bytes, this has {now.get('pieces', 'no')} of {now.get('bytes', 0):,}"
            + (", with other words" if then["bytes"] == now.get("bytes") else "")
        )


def _check_same(group: Group, model: Any, run: Run) -> None:
    """Raise RankError on all ranks unless they have the same model."""
    words = "\n".join(map(str, model.wv.index_to_key)).encode("utf-8", "surrogatepass")
    document = {
        "class": type(model).__name__,
        "number of words": len(model.wv),
        "vocabulary": hashlib.sha256(words).hexdigest(),
        **{name: getattr(model, name) for name in model.parameter_names() if name not in OWN},
        "number of epochs": run.epochs,
        "total_words": run.total_words,
        "exchange_words": settings.exchange_words or "by workers",
        "position": [run.epoch, run.tally.chunks, run.position.pieces],
    }
    group.check_same("model", json.loads(json.dumps(document, default=str)))


def _sum(tallies: list[Tally]) -> Tally:
    """Add up what all ranks have trained; the time is that of the slowest."""
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


def shared_arrays(backend: Backend, layout: Layout) -> Shared:
    """Return the arrays of a backend by how they are combined, which follows from the model's layout."""
    kinds = {table.name.removeprefix(STATE).removeprefix("encoder."): table for table in layout}
    rows: list[tuple[torch.Tensor, str]] = []
    means: list[torch.Tensor] = []
    moments: list[torch.Tensor] = []
    for name, array in backend.arrays().items():
        tensor, kind = _tensor(array), kinds.get(name)
        if kind is not None and kind.per_word:
            rule = "sum" if kind.is_state else "mean" if name == "log_variances" else "adasum"
            rows.append((tensor, rule))
        else:
            (moments if name.startswith(("adam_first", "adam_second")) else means).append(tensor)
    return Shared(rows, means, moments)


def _tensor(array: Any) -> torch.Tensor:
    return torch.from_numpy(array) if isinstance(array, np.ndarray) else array.detach()
