"""What a user sees of a run."""

import logging

from densvec.training.loop import Loop
from densvec.training.progress import Progress
from tests.training.counting import Counting, make_run, open_feed


def train_epoch(loop, progress):
    tally = loop.epoch(progress.chunk)
    progress.epoch(loop.run.complete_epoch(), tally)


def test_progress_logs_epochs_and_warns_of_counts_that_were_announced_otherwise(caplog):
    run = make_run(epochs=1, total_words=1000, total_examples=7)
    progress = Progress(run, show=False, report_delay=0.0)
    loop = Loop(run, Counting(), open_feed)
    with caplog.at_level(logging.INFO, logger="densvec.training"):
        train_epoch(loop, progress)
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
        train_epoch(loop, progress)
    progress.close()
    shown = capsys.readouterr().err
    for part in ("epoch 2/2", "100%", "words/s", "error per word 2.00"):
        assert part in shown


def test_progress_bar_is_silent_where_nobody_looks(capsys):
    run = make_run(epochs=1)
    progress = Progress(run)
    train_epoch(Loop(run, Counting(), open_feed), progress)
    progress.close()
    assert capsys.readouterr().err == ""
