"""A model to save, one that was interrupted, and what must be the same when they come back."""

import numpy as np
import pytest

from densvec import BayesianSkipGram, KeyedDensities
from densvec.datasets import toy_language
from densvec.files import packing, persistence
from densvec.keyed.saving import tensors_of

SENTENCES = list(toy_language(600, seed=3))
FEW = SENTENCES[:100]
SETTINGS = {
    "vector_size": 6,
    "min_count": 2,
    "epochs": 5,
    "workers": 1,
    "sample": 1e-2,
    "batch_words": 500,
    "seed": 11,
}


class Interrupt:
    """Interrupts training as Ctrl-C would: after an epoch, or after so many chunks."""

    def __init__(self, epoch=None, chunk=None):
        self.epoch, self.chunk, self.chunks = epoch, chunk, 0

    def on_epoch_end(self, model):
        if model.epochs_trained == self.epoch:
            raise KeyboardInterrupt

    def on_batch_end(self, model):
        self.chunks += 1
        if self.chunks == self.chunk:
            raise KeyboardInterrupt


def interrupted(sentences=SENTENCES, **when):
    """Return a model that was stopped on its way through 5 epochs."""
    settings = {**SETTINGS, **when.pop("settings", {})}
    model = BayesianSkipGram(**settings)
    model.build_vocab(sentences)
    with pytest.raises(KeyboardInterrupt):
        model.train(callbacks=[Interrupt(**when)])
    return model


def assert_same_tables(a, b):
    first, second = (tensors_of(x) if isinstance(x, KeyedDensities) else x._tensors() for x in (a, b))
    assert set(first) == set(second)
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)
        assert array.dtype == second[name].dtype


def losses(model):
    return [(entry.epoch, entry.loss, entry.hinge, entry.kl, entry.words) for entry in model.loss_history]


def rewrite(path, edit):
    tensors, header = persistence.read(path)
    edit(tensors, header)
    persistence.write(path, tensors, header)


def put(*keys, value):
    """Return an edit of the header: ``header[keys...] = value``."""

    def edit(tensors, header):
        *way, last = keys
        for key in way:
            header = header[key]
        header[last] = value

    return edit


def drop(*keys):
    def edit(tensors, header):
        *way, last = keys
        for key in way:
            header = header[key]
        del header[last]

    return edit


def replace(name, change):
    def edit(tensors, header):
        tensors[name] = change(tensors[name])

    return edit


def count_raw_words(count):
    def edit(tensors, header):
        tensors |= {f"raw_{name}": array for name, array in packing.pack_words(["rare"]).items()}
        tensors["raw_vocabulary.counts"] = np.array([count])

    return edit
