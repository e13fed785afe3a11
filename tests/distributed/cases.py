"""The model that ranks train in the tests, and what happens to it."""

import numpy as np

from densvec.callbacks import Callback

MODEL = {
    "vector_size": 20,
    "sample": 1e-2,
    "alpha": 0.05,
    "epochs": 10,
    "workers": 1,
    "batch_words": 500,
}
QUICK = {**MODEL, "epochs": 2, "vector_size": 8}


def start(exchange_words=2000, timeout=60):
    """Let ranks exchange often, and cut the small corpus into several pieces."""
    from densvec import distributed
    from densvec.text import pieces

    pieces.LEAST_BYTES = 1 << 13
    distributed.init(exchange_words=exchange_words, timeout=timeout)


def everything(model):
    """Return all that training gave, as bytes and numbers."""
    arrays = {name: np.asarray(array).tobytes() for name, array in model._arrays().items()}
    history = [(e.epoch, e.loss, e.hinge, e.kl, e.words, e.running_loss) for e in model.loss_history]
    return arrays, history, (model.epochs_trained, model._run.tally.words)


class Trouble(Callback):
    """Do something on one rank after a number of chunks."""

    def __init__(self, rank, chunks, act):
        self.rank, self.chunks, self.act = rank, chunks, act

    def on_batch_end(self, model):
        from densvec import distributed

        if distributed.rank() == self.rank:
            self.chunks -= 1
            if not self.chunks:
                self.act(model)


def fail(model):
    raise OSError("the disk is gone")


def interrupt(model):
    raise KeyboardInterrupt
