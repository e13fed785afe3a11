"""The training loop: one for all backends and models."""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias

from densvec._corpus import Chunk
from densvec.text.feed import Ahead, Feed
from densvec.training import signals
from densvec.training.backend import Backend, StepResult, UnstableTrainingError
from densvec.training.gate import Gate
from densvec.training.run import Run, Tally

logger = logging.getLogger(__name__)

#: Opens the corpus at an epoch, leaving out its first chunks; loops of several processes give more arguments.
OpenFeed: TypeAlias = Callable[..., Feed]

#: Called after each chunk with the tally of the current epoch and the seconds it has taken.
OnChunk: TypeAlias = Callable[[Tally, float], None]

#: Threads that prepare chunks for a backend that is not concurrent, and how often they may be ahead of it.
PREPARING, AHEAD = 1, 2

#: A chunk's mean loss per centre beyond this means that training diverges: healthy losses are some tens at most.
LOSS_BOUND = 1e6

#: Seconds after which the main thread looks for signals while no chunk is finished.
ATTENTION = 0.1

#: How many seconds to wait for workers that are waiting for a corpus themselves.
PATIENCE = 2.0

#: One chunk in this many is measured before it is trained on.
MEASURED = 32


class Loop:
    """Trains the epochs of a run: threads take chunks from the feed and step the backend on them.

    A concurrent backend is stepped by all workers at once. Any other is stepped by one thread, in the order
    of the corpus, while another gathers and prepares chunks for it; all further workers are threads of its own.

    The position in ``run`` moves on with every chunk. When training stops in the middle, by an error or by
    Ctrl-C, every chunk that was begun is finished, so that the position is exact and the run can be resumed.
    Whoever calls `epoch` in the main thread defers signals (see `signals`): they are answered between two chunks.
    """

    def __init__(
        self,
        run: Run,
        backend: Backend,
        open_feed: OpenFeed,
        *,
        workers: int = 1,
        loss_bound: float = LOSS_BOUND,
    ) -> None:
        self.run = run
        self.backend = backend
        self.gate = Gate()  # of the current epoch
        self.process = os.getpid()  # where the workers are
        self._open_feed = open_feed
        self._workers = workers if backend.concurrent else 1
        self._batch_words = backend.batch_words
        self._loss_bound = loss_bound
        self._counting = threading.Lock()

    def epoch(self, on_chunk: OnChunk) -> Tally:
        """Train what is left of the current epoch, and return what was trained; `Run.complete_epoch` moves on."""
        run = self.run
        earlier, started = run.tally.seconds, time.perf_counter()

        def seconds() -> float:
            return earlier + time.perf_counter() - started

        self.gate = Gate()
        feed = self._open(run.number, run.tally.chunks)
        try:
            self._train(feed, lambda: on_chunk(self.tally(), seconds()))
        finally:
            run.count_seconds(seconds())
        return run.tally

    def tally(self) -> Tally:
        """Return what has been trained of the current epoch."""
        return self.run.tally

    def agree(self) -> None:
        """Make the position in ``run`` that of the tables, which between two chunks it is; for loops of several."""

    def _train(self, feed: Feed, on_chunk: Callable[[], None]) -> None:
        """Let the workers train until the feed ends; raise the first error of any of them."""
        source = (
            _Source(feed)
            if self.backend.concurrent
            else _Prepared(feed, self.backend.prepare, self._batch_words)
        )
        trained: queue.Queue[bool] = queue.Queue()  # a chunk; False: a worker has ended
        errors: list[BaseException] = []
        gate = self.gate
        workers = [
            threading.Thread(
                target=self._work,
                args=(gate, source, number, trained, errors),
                name=f"densvec-worker-{number}",
                daemon=True,
            )
            for number in range(self._workers)
        ]
        try:
            for worker in workers:
                worker.start()
            running = len(workers)
            while running:
                signals.deliver()
                if self._take_report(trained):
                    on_chunk()
                else:
                    running -= 1
        finally:
            self._end(gate, source, workers)
        if errors:
            raise errors[0]

    def _take_report(self, trained: queue.Queue[bool]) -> bool:
        """Wait until a worker has trained a chunk, or has ended (False); answer signals in the meantime.

        Not a SimpleQueue: one that a signal interrupts at the end of its timeout waits for ever.
        """
        while True:
            try:
                return trained.get(timeout=ATTENTION)
            except queue.Empty:
                signals.deliver()

    def _end(self, gate: Gate, source: _Source, workers: list[threading.Thread]) -> None:
        """Wait until the workers have finished the chunks they have begun; they begin no other."""
        gate.stop()
        source.close()
        deadline = time.monotonic() + PATIENCE
        started = [worker for worker in workers if worker.ident is not None]
        for worker in started:
            worker.join(max(0.0, deadline - time.monotonic()))
        if any(worker.is_alive() for worker in started):  # it is outside the gate, and will never pass it
            logger.warning(
                "the corpus does not return its next sentence; the threads that wait for it are abandoned"
            )

    def _work(
        self,
        gate: Gate,
        source: _Source,
        worker: int,
        trained: queue.Queue[bool],
        errors: list[BaseException],
    ) -> None:
        try:
            while (taken := gate.enter(lambda: self._take(gate, source))) is not None:
                try:
                    self._train_chunks(*source.finish(taken), worker)
                except BaseException:
                    gate.stop(wait=False)  # before another worker can come in
                    raise
                finally:
                    gate.leave()
                trained.put(True)
        except BaseException as error:  # it belongs to the thread that called train()
            errors.append(error)
            gate.stop(wait=False)
        finally:
            trained.put(False)

    def _take(self, gate: Gate, source: _Source) -> Any:
        """Take what the next chunk is made of; it is this worker's turn."""
        return source.take()

    def _train_chunks(self, chunks: Sequence[Chunk], prepared: Any, worker: int) -> None:
        """Train on a chunk, or on several at once, and count them."""
        alpha = self._alpha(chunks[0])
        measured = next((chunk for chunk in chunks if chunk.number % MEASURED == 0), None)
        at_rest = None
        if measured is not None:
            at_rest = self.backend.measure(prepared if len(chunks) == 1 else measured, worker)
        result = self.backend.step(prepared, alpha, worker)
        check_loss(result, self._loss_bound)
        with self._counting:
            self._count(chunks, result, at_rest)

    # What a loop of several processes does otherwise

    def _open(self, epoch: int, start: int) -> Feed:
        """Open the text of an epoch, leaving out its first chunks."""
        return self._open_feed(epoch, start)

    def _alpha(self, chunk: Chunk) -> float:
        """Return the learning rate of a chunk."""
        return self.run.alpha(chunk.words_before, self.run.tally.examples)

    def _count(self, chunks: Sequence[Chunk], result: StepResult, at_rest: StepResult | None) -> None:
        """Count chunks that were trained together; one thread at a time."""
        self.run.count(chunks, result, at_rest)


class _Source:
    """What the workers take chunks from, one after another."""

    def __init__(self, feed: Feed) -> None:
        self.take = feed.take
        self._feed = feed

    def finish(self, taken: Any) -> tuple[Sequence[Chunk], Any]:
        """Return the chunk, or those that are trained together, and what the backend steps on."""
        chunk = self._feed.chunk(taken)
        return (chunk,), chunk

    def close(self) -> None:
        """Stop reading."""
        self._feed.close()


class _Prepared(_Source):
    """Chunks that another thread prepares ahead, several together if they have few words."""

    def __init__(self, feed: Feed, prepare: Callable[..., Any], words: int) -> None:
        super().__init__(feed)
        self._ahead = Ahead(
            lambda: ((chunks, prepare(*chunks)) for chunks in _gathered(feed, words)),
            depth=AHEAD,
            name="densvec-prepare",
        )
        self.take = self._ahead.take

    def finish(self, taken: Any) -> tuple[Sequence[Chunk], Any]:
        chunks, prepared = taken
        return chunks, prepared

    def close(self) -> None:
        super().close()  # first: the thread may wait for it
        self._ahead.close()


def _gathered(feed: Iterable[Chunk], least: int) -> Iterator[list[Chunk]]:
    """Yield chunks, as many together as have so many words."""
    chunks: list[Chunk] = []
    for chunk in feed:
        chunks.append(chunk)
        if sum(chunk.words for chunk in chunks) >= least:
            yield chunks
            chunks = []
    if chunks:
        yield chunks


def check_loss(result: StepResult, bound: float = LOSS_BOUND) -> None:
    """Raise UnstableTrainingError if the loss of a chunk is not finite or beyond reason."""
    loss, hinge, kl = result.per_centre()
    if result.centres and not loss <= bound:
        raise UnstableTrainingError(
            f"training diverges: the loss per word is {loss:.3g} (hinge {hinge:.3g}, kl {kl:.3g}). Lower alpha."
        )


@contextmanager
def thread_limits(backend: Backend, workers: int) -> Iterator[None]:
    """Give BLAS one thread in each of several workers, or torch those that do not prepare chunks for it."""
    limits: AbstractContextManager[Any] = backend.threads(max(1, workers - PREPARING))
    if backend.concurrent:
        from threadpoolctl import threadpool_limits

        limits = threadpool_limits(1, user_api="blas")
    with limits:
        yield
