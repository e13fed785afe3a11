"""A model that is being trained guards itself: what it cannot bear is refused, what it can works."""

import copy
import threading

import numpy as np
import pytest

from densvec import BayesianSkipGram, SkipGram, Word2Gauss
from densvec.callbacks import Callback
from densvec.datasets import toy_language

SENTENCES = list(toy_language(300))


def make(kind=BayesianSkipGram, **changes):
    parameters = {
        "vector_size": 4,
        "min_count": 2,
        "sample": 0.01,
        "workers": 1,
        "epochs": 3,
        "batch_words": 500,
    }
    model = kind(**{**parameters, **changes})
    model.build_vocab(SENTENCES)
    return model


class At(Callback):
    """Does something to the model at the end of the first epoch, and remembers what came of it."""

    def __init__(self, act):
        self.act = act
        self.error = None
        self.done = False

    def on_epoch_end(self, model):
        if not self.done:
            self.done = True
            try:
                self.act(model)
            except Exception as error:
                self.error = error


CHANGES = {
    "train": lambda model: model.train(),
    "train on": lambda model: model.train(SENTENCES, total_examples=300, epochs=1),
    "build_vocab": lambda model: model.build_vocab(SENTENCES),
    "build_vocab update": lambda model: model.build_vocab([["entirely", "new"]] * 9, update=True),
    "build_vocab_from_freq": lambda model: model.build_vocab_from_freq({"a": 9}),
    "scan_vocab": lambda model: model.scan_vocab(SENTENCES),
    "prepare_vocab": lambda model: model.prepare_vocab(),
    "init_weights": lambda model: model.init_weights(),
    "update_weights": lambda model: model.update_weights(),
    "reset_from": lambda model: model.reset_from(make()),
    "add_vectors": lambda model: model.wv.add_vectors(["new"], np.ones((1, 4))),
    "add_vector": lambda model: model.wv.add_vector("new", np.ones(4)),
    "set item": lambda model: model.wv.__setitem__("new", np.ones(4)),
    "vectors": lambda model: setattr(model.wv, "vectors", np.ones_like(model.wv.vectors)),
    "means": lambda model: setattr(model.wv, "means", np.ones_like(model.wv.vectors)),
    "log_variances": lambda model: setattr(model.wv, "log_variances", None),
    "encoder": lambda model: setattr(model.wv, "encoder", None),
    "sort": lambda model: model.wv.sort_by_descending_frequency(),
    "wv": lambda model: setattr(model, "wv", make().wv),
}


@pytest.mark.filterwarnings("ignore:adding keys one by one")
@pytest.mark.parametrize("change", CHANGES)
def test_a_callback_that_would_spoil_training_is_told_so_and_training_is_as_without_it(change, tmp_path):
    callback = At(CHANGES[change])
    model = make().train(callbacks=[callback])
    assert isinstance(callback.error, RuntimeError), callback.error
    assert "train" in str(callback.error)
    untouched = make().train()
    assert model.wv.index_to_key == untouched.wv.index_to_key
    for name, array in untouched._arrays().items():
        np.testing.assert_array_equal(model._arrays()[name], array, err_msg=name)
    model.save(tmp_path / "model.dv")
    assert BayesianSkipGram.load(tmp_path / "model.dv").epochs_trained == 3
    if change not in (
        "train",
        "wv",
        "encoder",
        "log_variances",
        "prepare_vocab",
    ):  # afterwards all of it is allowed again
        CHANGES[change](model)


@pytest.mark.parametrize("kind", [BayesianSkipGram, SkipGram, Word2Gauss])
def test_only_one_thread_trains(kind):
    model, errors, ready = make(kind, epochs=30), [], threading.Barrier(4)

    def train():
        ready.wait()
        try:
            model.train()
        except RuntimeError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=train) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("running in another thread" in error for error in errors)
    assert [entry.epoch for entry in model.loss_history] == list(range(1, 31))
    once = make(kind, epochs=30).train()
    for name, array in once._arrays().items():
        np.testing.assert_array_equal(model._arrays()[name], array, err_msg=name)


def test_a_refused_call_leaves_the_model_free():
    model = make()
    model.train(callbacks=[At(CHANGES["train"])])
    with pytest.raises(ValueError, match="epochs"):
        model.train(SENTENCES, total_examples=300, epochs=-1)
    assert model.train(SENTENCES, total_examples=300, epochs=1).epochs_trained == 4


def test_writing_into_the_tables_and_copying_the_model_work_while_it_is_trained():
    copies = []

    def act(model):
        model.wv.vectors[0] = 0.5
        copies.append(copy.deepcopy(model))
        copies.append(copy.deepcopy(model.wv))
        copies[1].add_vectors(["new"], np.ones((1, 4)))  # a copy is free

    callback = At(act)
    model = make().train(callbacks=[callback])
    assert callback.error is None
    assert copies[0].epochs_trained == 1
    copies[0]._corpus = (SENTENCES, None)
    for name, array in copies[0].train()._arrays().items():
        np.testing.assert_array_equal(model._arrays()[name], array, err_msg=name)
