"""Means and log-variances side by side while they are trained, and apart again afterwards."""

import numpy as np
import pytest

from densvec import BayesianSkipGram, SkipGram
from densvec.datasets import toy_language
from densvec.tables import tables_of
from densvec.training.tables import LANES, lay_apart, lay_side_by_side
from tests.training.cases import make_wv

SENTENCES = list(toy_language(300))
OPTIONS = {"vector_size": 10, "min_count": 1, "epochs": 2, "workers": 1, "show_progress": False}


@pytest.mark.parametrize("dimensions", [1, 15, 16, 100])
def test_rows_are_the_same_begin_at_cache_lines_and_are_given_back(dimensions):
    wv = make_wv(20, dimensions, dtype=np.float32)
    means, log_variances = wv.vectors.copy(), wv.log_variances.copy()
    lay_side_by_side(wv)
    for rows, before in ((wv.vectors, means), (wv.log_variances, log_variances)):
        np.testing.assert_array_equal(rows, before)
        assert rows.strides[0] % (LANES * 4) == 0
    assert wv.vectors.ctypes.data % 64 == 0
    assert wv.log_variances.ctypes.data == wv.vectors.ctypes.data + 4 * dimensions
    lay_apart(wv)
    for rows, before in ((wv.vectors, means), (wv.log_variances, log_variances)):
        assert rows.flags.c_contiguous
        np.testing.assert_array_equal(rows, before)


def test_diagonal_densities_stay_where_they_are():
    wv = make_wv(20, 5, covariance="diagonal")
    before = wv.vectors, wv.log_variances
    lay_side_by_side(wv)
    assert (wv.vectors is before[0], wv.log_variances is before[1]) == (True, True)


@pytest.mark.parametrize("model", [BayesianSkipGram, SkipGram])
def test_a_trained_model_has_plain_arrays(model):
    trained = model(SENTENCES, **OPTIONS)
    assert all(table.flags.c_contiguous for table in tables_of(trained.wv).values())


class Saves:
    """Asks the model and saves it while its rows lie side by side."""

    def __init__(self, path):
        self.path = path
        self.laid = []

    def on_epoch_end(self, model):
        self.laid.append(not model.wv.vectors.flags.c_contiguous)
        self.nearest = model.wv.most_similar("dog")
        self.nearest_by_kl = model.wv.most_similar("dog", metric="kl")
        model.save(self.path)


def test_a_model_can_be_asked_and_saved_while_it_is_trained(tmp_path):
    callback = Saves(tmp_path / "model.dv")
    model = BayesianSkipGram(SENTENCES, callbacks=[callback], **OPTIONS)
    assert callback.laid == [True, True]
    assert callback.nearest == model.wv.most_similar("dog")
    assert callback.nearest_by_kl == model.wv.most_similar("dog", metric="kl")
    saved = BayesianSkipGram.load(callback.path)
    for name, table in tables_of(saved.wv).items():
        np.testing.assert_array_equal(table, tables_of(model.wv)[name], err_msg=name)


class Stops:
    def on_epoch_end(self, model):
        raise KeyboardInterrupt


def test_an_interrupted_model_has_plain_arrays_and_goes_on():
    model = BayesianSkipGram(**OPTIONS)
    model.build_vocab(SENTENCES)
    with pytest.raises(KeyboardInterrupt):
        model.train(SENTENCES, total_examples=model.corpus_count, epochs=2, callbacks=[Stops()])
    assert model.wv.vectors.flags.c_contiguous
    assert len(model.train(SENTENCES, total_examples=model.corpus_count, epochs=2).loss_history) >= 2
