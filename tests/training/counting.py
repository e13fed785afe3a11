"""A corpus of 25 chunks, and a backend that only counts."""

from densvec._corpus import Sampler
from densvec.text.feed import Feed
from densvec.training.backend import Backend, StepResult
from densvec.training.run import Run

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
