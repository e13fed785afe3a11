"""The training loop: one for all backends and models."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from typing import Any, TypeAlias

from densvec._corpus import Chunk
from densvec.text.feed import Feed
from densvec.training.backend import Backend, StepResult, UnstableTrainingError
from densvec.training.gate import Gate
from densvec.training.prefetch import Prefetched
from densvec.training.run import EpochLoss, Run, Tally

__all__ = ["Loop", "thread_limits"]

#: Opens the corpus at an epoch, leaving out its first chunks.
OpenFeed: TypeAlias = Callable[[int, int], Feed]

#: Called after each chunk with the tally of the current epoch and the seconds it has taken.
OnChunk: TypeAlias = Callable[[Tally, float], None]

#: Threads that prepare chunks for a backend that is not concurrent.
PREPARING = 1

#: A chunk's mean loss per centre beyond this is no longer training: healthy losses are some tens at most.
LOSS_BOUND = 1e6

#: One chunk in this many is measured before it is trained on.
MEASURED = 32


class Loop:
    """Trains the epochs of a run: threads take chunks from the feed and step the backend on them.

    A concurrent backend is stepped by all workers at once. Any other is stepped by one thread, in the order
    of the corpus, while another prepares chunks for it; all further workers are threads of its own.

    The position in ``run`` moves on with every chunk. When training stops in the middle, by an error or by
    Ctrl-C, every chunk that was begun is finished, so that the position is exact and the run can be resumed.
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
        self.gate = Gate()
        self._open_feed = open_feed
        self._workers = workers
        self._loss_bound = loss_bound
        self._stop = threading.Event()
        self._counting = threading.Lock()

    def epoch(self, on_chunk: OnChunk) -> tuple[EpochLoss, Tally]:
        """Train what is left of the current epoch; return its losses and its tally."""
        run, tally = self.run, self.run.tally
        earlier, started = tally.seconds, time.perf_counter()

        def seconds() -> float:
            return earlier + time.perf_counter() - started

        try:
            with self._open_feed(run.number, tally.chunks) as feed, self._source(feed) as source:
                self._train(feed, source, lambda: on_chunk(tally, seconds()))
        finally:
            tally.seconds = seconds()
        return run.complete_epoch(), tally

    def _source(self, feed: Feed) -> AbstractContextManager[Iterator[tuple[Chunk, Any]]]:
        """Return an iterator over chunks, each with what the backend makes of it beforehand."""
        if self.backend.concurrent:
            return nullcontext(_Unprepared(feed))
        prepare = self.backend.prepare
        return closing(Prefetched(feed, prepare, start=self.run.tally.chunks, threads=PREPARING))

    def _train(self, feed: Feed, source: Iterator[tuple[Chunk, Any]], on_chunk: Callable[[], None]) -> None:
        """Let the workers train until the feed ends; raise the first error of any of them."""
        self._stop.clear()
        trained: queue.SimpleQueue[bool] = queue.SimpleQueue()  # a chunk; False: a worker has ended
        errors: list[BaseException] = []
        workers: list[_Worker] = []
        running = self._workers if self.backend.concurrent else 1
        try:
            for i in range(running):
                workers.append(_Worker(i, lambda i: self._work(source, i, trained, errors)))
                workers[-1].start()
            while running:
                try:
                    chunk = trained.get(timeout=0.5)  # where waits cannot be interrupted, Ctrl-C is seen here
                except queue.Empty:
                    continue
                if chunk:
                    on_chunk()
                else:
                    running -= 1
        finally:
            try:
                self._end(feed, workers)
            except (
                KeyboardInterrupt
            ):  # the workers finish their chunks all the same; the next one is obeyed at once
                self._end(feed, workers)
                raise
        if errors:
            raise errors[0]

    def _end(self, feed: Feed, workers: list[_Worker]) -> None:
        """Wait until the workers have finished the chunks they have begun; they begin no other."""
        self._stop.set()
        feed.close()
        for worker in workers:
            worker.end()

    def _work(
        self,
        source: Iterator[tuple[Chunk, Any]],
        worker: int,
        trained: queue.SimpleQueue[bool],
        errors: list[BaseException],
    ) -> None:
        run = self.run
        try:
            while not self._stop.is_set():
                with self.gate:
                    taken = next(source, None)
                    if taken is None:
                        break
                    chunk, prepared = taken
                    alpha = run.alpha(chunk.words_before, run.tally.examples)
                    measured = chunk.number % MEASURED == 0
                    at_rest = self.backend.measure(prepared, worker) if measured else None
                    result = self.backend.step(prepared, alpha, worker)
                    check_loss(result, self._loss_bound)
                    with self._counting:
                        run.tally.add(chunk, result, at_rest)
                trained.put(True)
        except BaseException as error:  # it belongs to the thread that called train()
            errors.append(error)
            self._stop.set()
        finally:
            trained.put(False)


class _Worker(threading.Thread):
    """A thread that can be waited for even if Ctrl-C came while it was being started."""

    #: Seconds that a thread is given to begin; one that Ctrl-C kept from being made never does.
    PATIENCE = 1.0

    def __init__(self, number: int, work: Callable[[int], None]) -> None:
        super().__init__(name=f"densvec-worker-{number}", daemon=True)
        self._number = number
        self._work = work
        self._begun = threading.Event()

    def run(self) -> None:
        self._begun.set()
        self._work(self._number)

    def end(self) -> None:
        """Wait for the end of a thread whose `start` was called."""
        if self._begun.wait(self.PATIENCE):
            self.join()


class _Unprepared:
    """Chunks that need no preparation; several threads may call ``next()``."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def __iter__(self) -> _Unprepared:
        return self

    def __next__(self) -> tuple[Chunk, Any]:
        chunk = next(self._feed)
        return chunk, chunk


def check_loss(result: StepResult, bound: float = LOSS_BOUND) -> None:
    """Raise UnstableTrainingError if the loss of a chunk is not finite or beyond reason."""
    loss, hinge, kl = result.per_centre()
    if result.centres and not loss <= bound:
        raise UnstableTrainingError(
            f"training diverges: the loss per word is {loss:.3g} (hinge {hinge:.3g}, kl {kl:.3g}). Lower "
            "alpha. The densities are finite: an update that would have made them infinite or NaN was skipped"
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
