"""The loop against a backend that only counts: every chunk once, exact positions, clean stops."""

import threading
import time
from contextlib import contextmanager

import pytest

from densvec._corpus import Sampler
from densvec.text.feed import Feed
from densvec.training.backend import StepResult, UnstableTrainingError
from densvec.training.loop import Loop, thread_limits
from densvec.training.run import Run
from tests.training.counting import SENTENCES, Counting, make_run, open_feed


def train(backend, run, workers=1, on_chunk=lambda tally, seconds: None):
    loop = Loop(run, backend, open_feed, workers=workers)
    losses = []
    while not run.finished:
        loop.epoch(on_chunk)
        losses.append(run.complete_epoch())
    return losses


@pytest.mark.parametrize("concurrent", [True, False])
@pytest.mark.parametrize("workers", [1, 4])
def test_every_chunk_of_every_epoch_is_trained_once(concurrent, workers):
    backend, run = Counting(concurrent), make_run(epochs=3)
    losses = train(backend, run, workers)
    assert sorted((epoch, number) for epoch, number, *_ in backend.steps) == [
        (epoch, number) for epoch in range(3) for number in range(25)
    ]
    assert [loss.words for loss in losses] == [275] * 3
    assert [loss.epoch for loss in losses] == [1, 2, 3]
    for loss in losses:
        assert (loss.loss, loss.hinge, loss.kl) == (2.0, 1.5, 0.5)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_backend_that_is_not_concurrent_gets_chunks_in_order_from_one_thread(workers):
    backend = Counting(concurrent=False)
    train(backend, make_run(epochs=1), workers)
    assert [number for _, number, *_ in backend.steps] == list(range(25))
    assert {worker for *_, worker, _ in backend.steps} == {0}


def test_chunks_and_their_learning_rates_do_not_depend_on_the_number_of_workers():
    backends = [Counting(), Counting()]
    for backend, workers in zip(backends, (1, 4), strict=True):
        train(backend, make_run(), workers)
    one, four = (
        {(e, n): (alpha, tokens) for e, n, alpha, _, tokens in backend.steps} for backend in backends
    )
    assert one == four


def test_learning_rate_falls_linearly_over_all_epochs():
    backend = Counting()
    train(backend, make_run(epochs=2))
    alphas = [alpha for *_, alpha, _, _ in backend.steps]
    expected = [0.1 * (1 - (epoch * 275 + number * 11) / 550) for epoch in range(2) for number in range(25)]
    assert alphas == pytest.approx(expected)


def test_learning_rate_falls_by_examples_when_words_are_not_known():
    backend = Counting()
    train(backend, make_run(epochs=1, total_words=None))
    assert [alpha for *_, alpha, _, _ in backend.steps] == pytest.approx(
        [0.1 * (1 - k / 25) for k in range(25)]
    )


def test_learning_rate_stays_within_bounds_when_the_corpus_is_longer_than_announced():
    backend = Counting()
    train(backend, make_run(epochs=1, total_words=50))
    alphas = [alpha for *_, alpha, _, _ in backend.steps]
    assert min(alphas) == 0.0
    assert alphas == sorted(alphas, reverse=True)


@pytest.mark.parametrize("concurrent", [True, False])
@pytest.mark.parametrize("workers", [1, 4])
def test_an_interrupted_run_resumes_at_the_next_chunk(concurrent, workers):
    backend, run = Counting(concurrent), make_run()
    seen = []

    def interrupt(tally, seconds):
        seen.append(tally.chunks)
        if len(seen) == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(backend, run, workers, interrupt)
    assert run.epoch == 1
    done = 25 + run.tally.chunks
    assert len(backend.steps) == done
    assert 30 <= done <= 50
    train(backend, Run.from_header(run.header()), workers)
    assert sorted((epoch, number) for epoch, number, *_ in backend.steps) == [
        (epoch, number) for epoch in range(2) for number in range(25)
    ]


def test_losses_of_an_interrupted_epoch_are_those_of_the_whole_epoch():
    def act(chunk):
        time.sleep(0.002)  # so that the interruption comes in the middle
        return StepResult(chunk.number * len(chunk), 0.0, 0.0, len(chunk))

    whole = train(Counting(act=act), make_run(epochs=1))

    def interrupt(tally, seconds):
        if tally.chunks >= 10:
            raise KeyboardInterrupt

    run = make_run(epochs=1)
    with pytest.raises(KeyboardInterrupt):
        train(Counting(act=act), run, on_chunk=interrupt)
    parts = train(Counting(act=act), Run.from_header(run.header()))
    assert parts[0][:5] == whole[0][:5]


@pytest.mark.parametrize("concurrent", [True, False])
@pytest.mark.parametrize("workers", [1, 4])
def test_an_error_of_a_worker_reaches_the_caller_and_no_thread_is_left(concurrent, workers):
    before = threading.active_count()

    def fail(chunk):
        if chunk.number == 7:
            raise ZeroDivisionError("in chunk 7")

    with pytest.raises(ZeroDivisionError, match="in chunk 7"):
        train(Counting(concurrent, fail), make_run(), workers)
    assert threading.active_count() == before


def test_an_error_of_the_corpus_reaches_the_caller():
    def sentences():
        yield from SENTENCES[:40]
        raise OSError("the disk is gone")

    def feed(epoch, start):
        sampler = Sampler([1.0] * 3, [1.0] * 3, seed=5)
        return Feed(sentences(), index={"a": 0, "b": 1, "c": 2}, sampler=sampler, epoch=epoch, chunk_words=11)

    loop = Loop(make_run(), Counting(), feed, workers=2)
    with pytest.raises(OSError, match="the disk is gone"):
        loop.epoch(lambda tally, seconds: None)


@pytest.mark.parametrize("loss", [float("nan"), float("inf"), 1e12])
def test_a_loss_beyond_reason_stops_training_and_says_what_to_lower(loss):
    def act(chunk):
        return StepResult(loss * len(chunk), 0.0, 0.0, len(chunk)) if chunk.number == 3 else None

    run = make_run()
    with pytest.raises(UnstableTrainingError, match="Lower alpha"):
        train(Counting(act=act), run)
    assert run.tally.chunks == 3


def test_blas_has_one_thread_while_workers_train_and_all_afterwards():
    from threadpoolctl import threadpool_info

    def threads():
        return {
            info["filepath"]: info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"
        }

    before = threads()
    with thread_limits(Counting(), workers=2):
        assert set(threads().values()) <= {1}
    assert threads() == before


class Preparing(Counting):
    """Its steps take what `prepare` returns, and it has threads of its own."""

    def __init__(self):
        super().__init__(concurrent=False)
        self.allowed, self.together = [], []

    def prepare(self, *chunks):
        self.together.append(len(chunks))
        return ["prepared", chunks[0]]

    def step(self, chunk, alpha, worker=0):
        prepared, chunk = chunk
        assert prepared == "prepared"
        return super().step(chunk, alpha, worker)

    @contextmanager
    def threads(self, count):
        self.allowed.append(count)
        yield
        self.allowed.append(None)


@pytest.mark.parametrize(("words", "together"), [(0, [1] * 25), (3 * 11, [3] * 8 + [1])])
def test_a_backend_steps_on_what_it_has_prepared_of_as_much_text_as_it_wants(words, together):
    backend, run = Preparing(), make_run(epochs=1)
    backend.batch_words = words
    train(backend, run)
    assert [number for _, number, *_ in backend.steps] == list(range(0, 25, together[0]))
    assert backend.together == together
    assert run.position.losses[0].words == run.total_words


@pytest.mark.parametrize(("workers", "own"), [(1, 1), (2, 1), (5, 4)])
def test_workers_that_do_not_prepare_chunks_are_threads_of_the_backend(workers, own):
    backend = Preparing()
    with thread_limits(backend, workers):
        assert backend.allowed == [own]
    assert backend.allowed == [own, None]
