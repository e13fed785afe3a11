"""What the tests of the model's front share: a small corpus and small models."""

import numpy as np

from densvec import BayesianSkipGram
from densvec.callbacks import Callback

SENTENCES = [
    ["human", "interface", "computer"],
    ["survey", "user", "computer", "system", "response", "time"],
    ["eps", "user", "interface", "system"],
    ["system", "human", "system", "eps"],
    ["user", "response", "time"],
    ["trees"],
    ["graph", "trees"],
    ["graph", "minors", "trees"],
    ["graph", "minors", "survey"],
]
MORE = [
    ["computer", "artificial", "intelligence"],
    ["artificial", "trees"],
    ["human", "intelligence"],
    ["artificial", "graph"],
    ["intelligence"],
]
#: Chunks of at least 10 words, of which the corpus has 3, so that there is something within an epoch.
SMALL = {"vector_size": 8, "min_count": 1, "sample": 0, "workers": 1, "batch_words": 10, "epochs": 5}


def make(sentences=None, **changes):
    return BayesianSkipGram(sentences, **{**SMALL, **changes})


def arrays_of(model):
    assert model.wv.encoder is not None
    return {"means": model.wv.vectors, "log_variances": model.wv.log_variances, **model.wv.encoder.arrays()}


def assert_same_bits(one, other):
    first, second = arrays_of(one), arrays_of(other)
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)


class StopAfter(Callback):
    """Ctrl-C after so many epochs or chunks."""

    def __init__(self, epochs=None, chunks=None):
        self.epochs, self.chunks = epochs, chunks

    def on_epoch_end(self, model):
        if self.epochs is not None:
            self.epochs -= 1
            if not self.epochs:
                raise KeyboardInterrupt

    def on_batch_end(self, model):
        if self.chunks is not None:
            self.chunks -= 1
            if not self.chunks:
                raise KeyboardInterrupt
