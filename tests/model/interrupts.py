"""Interrupts at random moments of millisecond epochs: every run ends as if nothing had happened.

    python -m tests.model.interrupts --count 10000

A timer of the system strikes while a model is built up by ``train()``, with checkpoints now and then. The run is
resumed, in memory or from the file, and interrupted again, until it is finished. Then it must have all its epochs
and, with one worker, the very bits and losses of a run that was left alone.
"""

import argparse
import faulthandler
import random
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from densvec import BayesianSkipGram
from densvec.callbacks import Checkpoint
from densvec.datasets import toy_language

SENTENCES = list(toy_language(60))
EPOCHS = 4
HUNG = 60  # seconds without an answer


def new_model(workers, backend):
    model = BayesianSkipGram(
        vector_size=4,
        min_count=2,
        sample=0.01,
        epochs=EPOCHS,
        workers=workers,
        batch_words=150,
        backend=backend,
    )
    model.build_vocab(SENTENCES)
    return model


def outcome(model):
    """All that two equal runs share."""
    losses = [(entry.epoch, entry.loss, entry.hinge, entry.kl, entry.words) for entry in model.loss_history]
    return losses, {name: array.copy() for name, array in model._arrays().items()}


def same(a, b):
    return repr(a[0]) == repr(b[0]) and all(np.array_equal(a[1][name], b[1][name]) for name in a[1] | b[1])


class Interrupter:
    """Raises KeyboardInterrupt after a random time; the range of times follows how long a run takes."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.longest = 0.05
        signal.signal(signal.SIGALRM, signal.default_int_handler)

    def arm(self):
        signal.setitimer(signal.ITIMER_REAL, self.random.uniform(1e-5, self.longest))

    def disarm(self, struck):
        signal.setitimer(signal.ITIMER_REAL, 0)
        self.longest *= 1.02 if struck else 0.98  # so that about half of them find the run still going


def interrupted_run(model, interrupter, path, counts):
    """Train to the end in spite of all interrupts; return the model, which may have been loaded on the way."""
    while True:
        struck = False
        try:
            try:
                interrupter.arm()
                model.train(callbacks=[Checkpoint(path)] if interrupter.random.random() < 0.2 else [])
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            struck = True
            counts["interrupts"] += 1
        interrupter.disarm(struck)
        faulthandler.dump_traceback_later(HUNG, exit=True)
        if signal.getsignal(signal.SIGALRM) is not signal.default_int_handler:
            counts["handlers that were not put back"] += 1
            signal.signal(signal.SIGALRM, signal.default_int_handler)
        if not struck:
            return model
        if interrupter.random.random() < 0.1:
            model.save(path)
            model = BayesianSkipGram.load(path)
            model._corpus = (SENTENCES, None)
            counts["loaded"] += 1


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--backend", default="native")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    expected = outcome(new_model(options.workers, options.backend).train())
    interrupter, counts = Interrupter(options.seed), Counter(interrupts=0, differences=0, incomplete=0)
    faulthandler.dump_traceback_later(HUNG, exit=True)
    with tempfile.TemporaryDirectory() as folder:
        while counts["interrupts"] < options.count:
            model = new_model(options.workers, options.backend)
            model = interrupted_run(model, interrupter, Path(folder, "model.dv"), counts)
            found = outcome(model)
            counts["runs"] += 1
            counts["incomplete"] += [entry[0] for entry in found[0]] != list(range(1, EPOCHS + 1))
            counts["incomplete"] += [entry[-1] for entry in found[0]] != [entry[-1] for entry in expected[0]]
            if options.workers == 1:
                counts["differences"] += not same(found, expected)
    faulthandler.cancel_dump_traceback_later()
    print(", ".join(f"{number} {name}" for name, number in counts.items()))
    bad = counts["differences"] + counts["incomplete"] + counts["handlers that were not put back"]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
