"""Ranks that die or hang, under torchrun and without."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from densvec import BayesianSkipGram
from densvec.files import persistence
from tests.distributed.cases import QUICK, Trouble, start
from tests.distributed.ranks import run_ranks

OPTIONS = [
    "--vector-size",
    "8",
    "--sample",
    "0.01",
    "--workers",
    "1",
    "--set",
    "batch_words=500",
    "--epochs",
    "40",
]


def torchrun(*arguments, ranks, restarts=0):
    """Start `densvec` on some ranks."""
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}"]
    return subprocess.Popen(
        [sys.executable, *launcher, f"--max-restarts={restarts}", "-m", "densvec", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_epoch(path, process, epoch=2):
    """Wait until a checkpoint has so many epochs."""
    while process.poll() is None:
        if path.exists():
            run = persistence.read(path, only=())[1]["run"]
            if run is not None and run["epoch"] >= epoch:
                return
        time.sleep(0.05)
    raise AssertionError(process.stderr.read())


def pid_of_rank(launcher, rank):
    """Find the process of a rank among the children of its launcher."""
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == launcher and f"RANK={rank}".encode() in (entry / "environ").read_bytes().split(
                b"\0"
            ):
                return int(entry.name)
        except (OSError, ValueError, IndexError):
            continue
    raise AssertionError(f"there is no rank {rank}")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds ranks in /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_training_goes_on_after_a_rank_was_killed_and_after_an_interrupt(corpus, tmp_path, how):
    path = tmp_path / "model.dv"
    command = ["train", corpus, "-o", path, "--exchange-words", "2000", *OPTIONS]
    with torchrun(*command, ranks=2, restarts=1) as process:
        wait_for_epoch(path, process)
        os.kill(pid_of_rank(process.pid, 1) if how == signal.SIGKILL else process.pid, how)
        _, errors = process.communicate(timeout=300)
    if how == signal.SIGINT:
        assert process.returncode != 0
        stopped = BayesianSkipGram.load(path)
        assert 2 <= stopped.epochs_trained < 40
        # One process finishes what two began.
        subprocess.run([sys.executable, "-m", "densvec", "train", "-o", path, "--resume", "-q"], check=True)
    else:
        assert process.returncode == 0, errors
    model = BayesianSkipGram.load(path)
    words = sum(len(line.split()) for line in corpus.open(encoding="utf-8"))
    assert [entry.words for entry in model.loss_history] == [words] * 40  # all of them, and none twice
    assert errors.count("counting the words") == 1  # not again after the restart


def hang(corpus):
    start(timeout=8.0)
    sleep = Trouble(1, 9, lambda model: time.sleep(30))
    BayesianSkipGram(corpus_file=corpus, callbacks=[sleep], **QUICK)


def test_a_rank_that_hangs_is_named(corpus):
    (name, text), _ = run_ranks(hang, 2, corpus)
    assert name == "RankError"
    assert "rank 0 has waited in vain for the other ranks" in text
    assert "Ranks 1 failed" in text or "Rank 1 failed" in text or "rank 1" in text
