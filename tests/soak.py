"""A long time of everything at once: train, ask, save, load, grow and interrupt at random, under watch.

    python -m tests.soak --minutes 30

One model at a time lives in the main thread; other threads ask it and save it whenever they like. After every round
the numbers must be finite, a saved model must be equal to the one that was saved, no thread may be left, and memory
must not grow from round to round.
"""

import argparse
import faulthandler
import gc
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from densvec import BayesianSkipGram, SkipGram, Word2Gauss
from densvec.datasets import toy_language
from densvec.training.backend import UnstableTrainingError
from tests.model.test_round_trip import assert_equal

TEXTS = [list(toy_language(300, seed=seed)) for seed in range(4)]
HUNG = 300  # seconds
WARM_UP = 20  # rounds before memory is compared
GROWTH = 150  # MB that memory may grow by afterwards


def resident_megabytes():
    """Memory of this process now."""
    status = Path("/proc/self/status").read_text().split("VmRSS:")[1]
    return int(status.split()[0]) / 1024


class Others(threading.Thread):
    """Asks and saves a model until told to stop."""

    def __init__(self, model, path, counts, seed):
        super().__init__(daemon=True)
        self.model, self.path, self.counts = model, path, counts
        self.random, self.stop, self.error = random.Random(seed), False, None

    def run(self):
        try:
            while not self.stop:
                self.act()
        except BaseException as error:
            self.error = error

    def act(self):
        wv = self.model.wv
        word = self.random.choice(wv.index_to_key)
        choice = self.random.random()
        if choice < 0.05:
            self.model.save(self.path)
            type(self.model).load(self.path)
            self.counts["saved by another thread"] += 1
        elif choice < 0.5:
            wv.most_similar(word, topn=3)
            self.counts["queries"] += 1
        elif wv.encoder is not None:
            wv.infer([self.random.choice(wv.index_to_key) for _ in range(5)], word=word)
            self.counts["inferences"] += 1
        time.sleep(self.random.random() * 0.01)


class Soak:
    """Rounds of random actions."""

    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        self.path = Path(folder, "model.dv")
        self.other_path = Path(folder, "other.dv")
        self.counts = Counter()

    def new_model(self):
        kind = self.random.choice([BayesianSkipGram, BayesianSkipGram, SkipGram, Word2Gauss])
        changes = {"backend": "torch"} if kind is BayesianSkipGram and self.random.random() < 0.1 else {}
        if kind is not SkipGram:
            changes["covariance"] = self.random.choice(["spherical", "diagonal"])
        model = kind(
            vector_size=self.random.choice([4, 16, 50]), min_count=2, sample=0.01, epochs=self.random.randint(1, 5),
            workers=self.random.randint(1, 3), batch_words=self.random.choice([100, 1000, 10_000]), **changes,
        )  # fmt: skip
        model.build_vocab(self.random.choice(TEXTS))
        return model

    def round(self):
        """Build up one model in spite of everything, and check it."""
        model = self.new_model()
        others = [Others(model, self.other_path, self.counts, self.random.random()) for _ in range(2)]
        for other in others:
            other.start()
        try:
            for _ in range(self.random.randint(1, 4)):
                self.train(model)
        finally:
            for other in others:
                other.stop = True
            for other in others:
                other.join()
        for other in others:
            if other.error is not None:
                raise other.error
        for _ in range(self.random.randint(0, 2)):
            self.grow(model)
            self.train(model)
        for name, array in model._arrays().items():
            assert np.isfinite(array).all(), name
        model.save(self.path)
        assert_equal(model, type(model).load(self.path))
        self.counts["saved and loaded"] += 1

    def train(self, model):
        """Train, perhaps interrupted, perhaps much too fast."""
        if self.random.random() < 0.7:
            signal.setitimer(signal.ITIMER_REAL, self.random.uniform(1e-4, 0.5))
        try:
            try:
                if self.random.random() < 0.1:
                    model.train(self.random.choice(TEXTS), total_examples=300, epochs=1, start_alpha=50.0)
                else:
                    model.alpha = 0.025
                    text = self.random.choice(TEXTS)
                    model.train(text, total_examples=len(text), epochs=self.random.randint(1, 3))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            self.counts["trained"] += 1
        except KeyboardInterrupt:
            self.counts["interrupted"] += 1
        except UnstableTrainingError:
            self.counts["diverged"] += 1
        model.alpha = 0.025

    def grow(self, model):
        """Add words, by a text or by hand, or sort them."""
        choice = self.random.random()
        self.counts["grown"] += 1
        if choice < 0.5:
            new = [f"word{self.random.randrange(1000)}" for _ in range(10)]
            model.build_vocab([new, new, *self.random.choice(TEXTS)], update=True)
        elif choice < 0.8:
            model.wv.add_vectors([f"hand{self.random.randrange(1000)}"], np.ones((1, model.vector_size)))
        else:
            model.wv.sort_by_descending_frequency()


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    deadline, warm, rounds = time.monotonic() + 60 * options.minutes, None, 0
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(folder, options.seed)
        while time.monotonic() < deadline:
            faulthandler.dump_traceback_later(HUNG, exit=True)
            soak.round()
            rounds += 1
            left = [thread.name for thread in threading.enumerate() if thread.name.startswith("densvec")]
            assert not left, f"threads are left: {left}"
            gc.collect()
            if rounds == WARM_UP:
                warm = resident_megabytes()
            assert warm is None or resident_megabytes() < warm + GROWTH, "memory grows from round to round"
    faulthandler.cancel_dump_traceback_later()
    print(
        f"{rounds} rounds: " + ", ".join(f"{number} {name}" for name, number in sorted(soak.counts.items()))
    )
    print(
        f"memory: {warm and round(warm)} MB after {WARM_UP} rounds, {round(resident_megabytes())} MB at the end"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
