"""How large the updates are: by the device, and on a CPU by the text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.reading import Reading
from densvec.training.torch import Options
from densvec.training.torch.minibatch import Minibatches
from densvec.training.torch.pieces import FIRST_CENTRES, LEAST_CENTRES, MOST_CENTRES, SPREAD, UPDATES, Pieces
from tests.training.cases import make_chunk, make_wv


def make_counted(words, keep=None, window=5):
    """Tables of 50 words that were counted in a text of so many words."""
    wv = make_wv(50, 2, reading=Reading(window))
    wv.expandos["count"] = np.full(50, words // 50)
    if keep is not None:
        wv.expandos["keep"] = np.full(50, keep, dtype=np.float32)
    return wv


@pytest.mark.parametrize("words", [0, 1000, 100_000])
def test_little_text_is_trained_chunk_by_chunk_in_small_updates(words):
    assert Pieces.of(make_counted(words, keep=0.5), "cpu", Options()) == (LEAST_CENTRES, LEAST_CENTRES, 0)


def test_text_that_was_not_counted_is_taken_for_little():
    assert Pieces.of(make_wv(50, 2), "cpu", Options()) == (LEAST_CENTRES, LEAST_CENTRES, 0)


@pytest.mark.parametrize("keep", [None, 0.5])
@pytest.mark.parametrize("words", [200_000, 500_000, 5_000_000, 10**9])
def test_an_epoch_has_enough_updates(words, keep):
    pieces = Pieces.of(make_counted(words, keep), "cpu", Options())
    kept = words * (keep or 1)
    assert LEAST_CENTRES < pieces.most <= MOST_CENTRES
    assert pieces.first == min(pieces.most, FIRST_CENTRES)
    assert kept / pieces.most >= UPDATES - 1
    assert pieces.most == MOST_CENTRES or kept / pieces.most <= UPDATES + 1


@given(first=st.integers(1, 10**5), more=st.integers(0, 10**6), done=st.floats(0, 1), later=st.floats(0, 1))
def test_updates_grow_as_the_learning_rate_falls(first, more, done, later):
    pieces = Pieces(first, first + more, 0)
    done, later = sorted((done, later))
    assert pieces.centres(0.0) == first
    assert first <= pieces.centres(done) <= pieces.centres(later) <= pieces.centres(1.0) == pieces.most
    if pieces.centres(later) < pieces.most:
        assert pieces.centres(later) * (1 - later) == pytest.approx(first, abs=0.51)


@pytest.mark.parametrize("window", [2, 5, 10])
@pytest.mark.parametrize("keep", [1.0, 0.6])
def test_a_batch_fills_its_updates(window, keep):
    wv = make_counted(300_000, keep, window)
    pieces = Pieces.of(wv, "cpu", Options())
    kept = int(pieces.words * keep)
    text = np.random.default_rng(1).integers(0, 50, kept).tolist()
    chunk = make_chunk([text], window=window, words=50)
    for progress in (0.0, 1.0):
        most = pieces.centres(progress)
        for batch in Minibatches(50).of([chunk], most):
            assert 0.75 * most < batch.sizes.centres <= most


@pytest.mark.parametrize("device", ["cuda", "mps"])
def test_a_device_is_always_sent_as_much(device):
    pieces = Pieces.of(make_counted(1000, keep=0.5), device, Options())
    assert pieces == (FIRST_CENTRES, MOST_CENTRES, SPREAD * 12 * MOST_CENTRES * 2)
    assert (
        Pieces.of(make_wv(50, 2, reading=Reading(5)), device, Options()).words == SPREAD * 12 * MOST_CENTRES
    )


def test_options_go_before_everything():
    options = Options(batch_centres=7, batch_words=900)
    for device in ("cpu", "cuda"):
        assert Pieces.of(make_counted(10**7), device, options) == (7, 7, 900)


def test_a_model_trains_in_updates_that_grow(monkeypatch):
    """The same ones with any number of workers."""
    monkeypatch.setattr("densvec.training.torch.pieces.UPDATES", 4)
    monkeypatch.setattr("densvec.training.torch.pieces.FIRST_CENTRES", 300)
    seen, of = [], Minibatches.of

    def noted(self, chunks, most=None):
        if len(chunks) > 1:  # and not one whose loss is measured
            seen.append((chunks[0].words_before, most))
        return of(self, chunks, most)

    monkeypatch.setattr(Minibatches, "of", noted)
    sizes = {}
    for workers in (1, 3):
        model = BayesianSkipGram(
            backend="torch", device="cpu", vector_size=10, epochs=3, batch_words=500, workers=workers
        )
        model.build_vocab(toy_language(2000))
        model.train(toy_language(2000), total_examples=model.corpus_count, epochs=3)
        sizes[workers], seen = seen, []
    assert sizes[1] == sizes[3]
    assert sizes[1][0] == (0, 300)
    grown = [most for _, most in sizes[1]]
    assert grown == sorted(grown)
    assert grown[-1] > 600


def test_a_model_gathers_chunks_of_a_long_text(monkeypatch):
    """All words are trained, in fewer and larger updates than chunks have."""
    monkeypatch.setattr("densvec.training.torch.pieces.UPDATES", 4)
    model = BayesianSkipGram(backend="torch", device="cpu", vector_size=10, epochs=1, batch_words=500)
    model.build_vocab(toy_language(2000))
    backend = model._make_backend()
    assert backend.batch_words > 5 * 500
    with model._feeds()(0, 0) as feed:
        words = sum(chunk.words for chunk in feed)
    model.train(toy_language(2000), total_examples=model.corpus_count, epochs=1)
    assert model.loss_history[0].words == words
