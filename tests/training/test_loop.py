"""The loop against a backend that only counts: every chunk once, exact positions, clean stops."""

import logging
import threading
import time

import pytest

from densvec._corpus import Sampler
from densvec.text.feed import Feed
from densvec.training.backend import Backend, StepResult, UnstableTrainingError
from densvec.training.gate import Gate
from densvec.training.loop import Loop, thread_limits
from densvec.training.prefetch import Prefetched
from densvec.training.progress import Progress
from densvec.training.run import Run
from densvec.training.settings import Objective, Rates

SENTENCES = [["a", "b", "c"], ["b", "c"], ["a", "c", "x", "b"], ["a", "a"]] * 25  # 100 sentences, 275 words
CHUNK_WORDS = 11  # whole sentences until there are this many: 25 chunks of 4


class Counting(Backend):
    """A backend that learns nothing and remembers what it was given."""

    def __init__(self, concurrent=True, act=None):
        self.concurrent = concurrent
        self.act = act
        self.steps = []

    def step(self, chunk, alpha, worker=0):
        result = self.act(chunk) if self.act else None
        self.steps.append((chunk.epoch, chunk.number, alpha, worker, chunk.tokens.tolist()))
        return result or StepResult(2.0 * len(chunk), 1.5 * len(chunk), 0.5 * len(chunk), len(chunk))

    def gradients(self, chunk):
        return StepResult(), {}


def open_feed(epoch, start):
    sampler = Sampler([1.0] * 3, [1.0] * 3, window=2, negative=2, seed=5)
    return Feed(
        SENTENCES,
        index={"a": 0, "b": 1, "c": 2},
        sampler=sampler,
        epoch=epoch,
        chunk_words=CHUNK_WORDS,
        start=start,
    )


def make_run(epochs=2, **changes):
    given = {
        "epochs": epochs,
        "start_alpha": 0.1,
        "end_alpha": 0.0,
        "total_words": 275,
        "total_examples": 100,
    }
    return Run(**{**given, **changes})


def train(backend, run, workers=1, on_chunk=lambda tally, seconds: None):
    loop = Loop(run, backend, open_feed, workers=workers)
    losses = []
    while not run.finished:
        losses.append(loop.epoch(on_chunk)[0])
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


def test_a_pause_waits_for_the_workers_and_holds_them():
    gate, inside, seen = Gate(), [], []
    stop = threading.Event()

    def work():
        while not stop.is_set():
            with gate:
                inside.append(1)
                time.sleep(0.001)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        with gate.pause():
            seen.append(len(inside))
            time.sleep(0.002)
            seen.append(len(inside))
    stop.set()
    for thread in threads:
        thread.join()
    assert set(seen) == {0}


def test_prefetching_keeps_the_order_and_prepares_everything():
    with open_feed(0, 5) as feed:
        source = Prefetched(feed, lambda chunk: -chunk.number, start=5, threads=4)
        found = [(chunk.number, prepared) for chunk, prepared in source]
        source.close()
    assert found == [(number, -number) for number in range(5, 25)]


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


def test_progress_logs_epochs_and_warns_of_counts_that_were_announced_otherwise(caplog):
    run = make_run(epochs=1, total_words=1000, total_examples=7)
    progress = Progress(run, show=False, report_delay=0.0)
    loop = Loop(run, Counting(), open_feed)
    with caplog.at_level(logging.INFO, logger="densvec.training"):
        progress.epoch(*loop.epoch(progress.chunk))
    progress.close()
    text = caplog.text
    assert "EPOCH 1 - PROGRESS: at" in text
    assert "EPOCH 1: training on 275 raw words (250 effective words)" in text
    assert "supplied example count (100) did not equal expected count (7)" in text
    assert "supplied raw word count (275) did not equal expected count (1000)" in text


def test_progress_bar_shows_percent_speed_and_losses(capsys):
    run = make_run(epochs=2)
    progress = Progress(run, show=True)
    loop = Loop(run, Counting(), open_feed)
    while not run.finished:
        progress.epoch(*loop.epoch(progress.chunk))
    progress.close()
    shown = capsys.readouterr().err
    for part in ("epoch 2/2", "100%", "words/s", "loss=2.000", "hinge=1.500", "kl=0.500"):
        assert part in shown


def test_progress_bar_is_silent_where_nobody_looks(capsys):
    run = make_run(epochs=1)
    progress = Progress(run)
    progress.epoch(*Loop(run, Counting(), open_feed).epoch(progress.chunk))
    progress.close()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "settings",
    [
        lambda: Objective(margin=-1),
        lambda: Objective(margin=float("nan")),
        lambda: Objective(kl_weight=-1),
        lambda: Objective(pairing="both"),
        lambda: Objective(nearness=1.5),
        lambda: Rates(mean=float("inf")),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(ValueError, match=r"margin|kl_weight|pairing|nearness|mean"):
        settings()
