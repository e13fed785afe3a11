"""How much text and how many centres are trained at once: by the device, and on a CPU by the text."""

import numpy as np
import pytest

from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.reading import Reading
from densvec.training.settings import Objective, Rates
from densvec.training.torch.backend import (
    CENTRES,
    LEAST_CENTRES,
    UPDATES,
    TorchBackend,
    most_centres,
    words_together,
)
from densvec.training.torch.minibatch import Minibatches
from tests.training.cases import make_chunk, make_wv


def make_counted(words, keep=None, window=5):
    """Tables of 50 words that were counted in a text of so many words."""
    wv = make_wv(50, 2, reading=Reading(window))
    wv.expandos["count"] = np.full(50, words // 50)
    if keep is not None:
        wv.expandos["keep"] = np.full(50, keep, dtype=np.float32)
    return wv


@pytest.mark.parametrize("words", [None, 0, 1000, 100_000])
def test_little_text_is_trained_chunk_by_chunk_in_small_updates(words):
    wv = make_wv(50, 2) if words is None else make_counted(words, keep=0.5)
    assert most_centres(wv, "cpu") == LEAST_CENTRES
    assert words_together(wv, "cpu", LEAST_CENTRES) == 0


@pytest.mark.parametrize("keep", [None, 0.5])
@pytest.mark.parametrize("words", [200_000, 500_000, 10**9])
def test_an_epoch_has_enough_updates(words, keep):
    centres = most_centres(make_counted(words, keep), "cpu")
    kept = words * (keep or 1)
    assert LEAST_CENTRES < centres <= CENTRES
    assert kept / centres >= UPDATES - 1
    assert centres == CENTRES or kept / centres <= UPDATES + 1


@pytest.mark.parametrize("window", [2, 5, 10])
@pytest.mark.parametrize("keep", [1.0, 0.6])
def test_a_batch_fills_its_updates(window, keep):
    wv = make_counted(300_000, keep, window)
    centres = most_centres(wv, "cpu")
    kept = int(words_together(wv, "cpu", centres) * keep)
    text = np.random.default_rng(1).integers(0, 50, kept).tolist()
    for batch in Minibatches(50).of([make_chunk([text], window=window, words=50)], centres):
        assert 0.75 * centres < batch.sizes.centres <= centres


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_device_is_always_sent_as_much(device):
    for wv, times in ((make_counted(1000, keep=0.5), 2), (make_wv(50, 2, reading=Reading(5)), 1)):
        assert most_centres(wv, device) == CENTRES
        assert words_together(wv, device, CENTRES) == 2.5 * 12 * CENTRES * times


def test_a_number_of_centres_that_is_given_goes_before():
    assert TorchBackend(make_wv(10, 4), Objective(), Rates(), device="cpu", centres=7).centres == 7


def test_a_model_gathers_chunks_of_a_long_text(monkeypatch):
    """All words are trained, in fewer and larger updates than chunks have."""
    monkeypatch.setattr("densvec.training.torch.backend.UPDATES", 4)
    model = BayesianSkipGram(backend="torch", device="cpu", vector_size=10, epochs=1, batch_words=500)
    model.build_vocab(toy_language(2000))
    backend = model._make_backend()
    assert backend.batch_words > 5 * 500
    with model._feeds()(0, 0) as feed:
        words = sum(chunk.words for chunk in feed)
    model.train(toy_language(2000), total_examples=model.corpus_count, epochs=1)
    assert model.loss_history[0].words == words
