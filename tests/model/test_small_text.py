"""Text of any size trains with the defaults, and the loss falls as the model improves."""

import itertools
import math

import numpy as np
import pytest
from gensim.test.utils import common_texts
from hypothesis import given, settings
from hypothesis import strategies as st

from densvec import BayesianSkipGram, SkipGram, Word2Gauss
from densvec.datasets import toy_language
from densvec.text.thinning import auto_sample, keep_probabilities


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_nine_sentences_of_gensim_train(seed):
    model = BayesianSkipGram(common_texts, vector_size=10, min_count=1, workers=1, seed=seed)
    assert len(model.loss_history) == model.epochs
    assert all(math.isfinite(entry.loss) for entry in model.loss_history)
    assert model.loss_history[-1].loss < model.loss_history[0].loss


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=2, max_size=6), min_size=1, max_size=40))
def test_no_text_with_two_words_in_a_sentence_ends_without_a_loss(sentences):
    model = BayesianSkipGram(sentences, vector_size=4, min_count=1, workers=1, epochs=2)
    assert all(math.isfinite(entry.loss) for entry in model.loss_history)


def test_the_threshold_follows_the_text():
    sizes = [10**power for power in range(1, 10)]
    thresholds = [auto_sample(size) for size in sizes]
    assert all(later <= earlier for earlier, later in itertools.pairwise(thresholds))
    assert thresholds[-1] == auto_sample(17_000_000) == 5e-5
    for size in sizes:  # rare words are never thinned
        counts = np.array([min(90, size), max(0, size - 90)])
        assert keep_probabilities(counts, auto_sample(size))[0] == 1.0


def test_sample_is_chosen_once_there_is_a_vocabulary_and_again_when_it_grows(tmp_path):
    model = BayesianSkipGram(vector_size=4, min_count=1, workers=1, epochs=1)
    assert model.sample == "auto"
    model.build_vocab([["a", "b", "c"]] * 300)
    assert model.sample == auto_sample(900)
    model.build_vocab([["a", "b", "c"]] * 3000, update=True)
    assert model.sample == auto_sample(9900)
    np.testing.assert_allclose(
        model.wv.expandos["keep"], keep_probabilities(model.wv.expandos["count"], model.sample), rtol=1e-6
    )
    model.train([["a", "b", "c"]] * 300, total_examples=300, epochs=1)
    model.save(tmp_path / "model.dv")
    assert BayesianSkipGram.load(tmp_path / "model.dv").sample == model.sample
    given_one = BayesianSkipGram(sample=0.01, min_count=1)
    given_one.build_vocab([["a", "b"]])
    assert given_one.sample == 0.01
    with pytest.raises(ValueError, match="'auto'"):
        BayesianSkipGram(sample="much")


def test_the_loss_at_rest_falls_with_every_epoch():
    model = BayesianSkipGram(toy_language(3000), vector_size=20, workers=1, epochs=6)
    losses = [entry.loss for entry in model.loss_history]
    assert all(later < earlier for earlier, later in itertools.pairwise(losses))
    for entry in model.loss_history:
        assert entry.loss == pytest.approx(entry.hinge + model.kl_weight * entry.kl)
        assert entry.running_loss > 0
    assert model.get_latest_training_loss() == losses[-1]


@pytest.mark.parametrize("model", [SkipGram, Word2Gauss])
def test_so_do_the_losses_of_the_baselines(model):
    losses = [
        entry.loss
        for entry in model(toy_language(3000), vector_size=20, workers=1, epochs=6, alpha=0.05).loss_history
    ]
    assert losses[-1] < losses[1] < losses[0]
