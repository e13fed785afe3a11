"""Whatever the learning rate and the numbers in the tables: no step writes one that is not finite."""

import numpy as np
import pytest

from densvec import BayesianSkipGram, SkipGram, Word2Gauss
from densvec.datasets import toy_language
from densvec.training.backend import UnstableTrainingError

SENTENCES = list(toy_language(300))
FEW_WORDS = [["a", "b", "a", "b", "b"]] * 100  # every negative is one of two words, again and again


def make(kind, **changes):
    parameters = {"vector_size": 20, "min_count": 2, "sample": 0.01, "workers": 1, "epochs": 2}
    return kind(**{**parameters, **changes})


def arrays(model):
    return {name: array.copy() for name, array in model._arrays().items()}


def assert_finite(model):
    for name, array in model._arrays().items():
        assert np.isfinite(array).all(), name


MODELS = [
    (BayesianSkipGram, {}),
    (BayesianSkipGram, {"covariance": "diagonal"}),
    (BayesianSkipGram, {"residual": False}),
    (BayesianSkipGram, {"residual": False, "covariance": "diagonal"}),
    (BayesianSkipGram, {"pairing": "paired", "negative": 20}),
    (BayesianSkipGram, {"backend": "torch"}),
    (BayesianSkipGram, {"backend": "torch", "covariance": "diagonal", "residual": False}),
    (SkipGram, {}),
    (SkipGram, {"pairing": "shared"}),
    (Word2Gauss, {}),
    (Word2Gauss, {"covariance": "diagonal"}),
    (Word2Gauss, {"energy": "expected_likelihood"}),
]


@pytest.mark.parametrize("alpha", [0.3, 3.0, 1e3, 1e6, 1e30, 1e300])
@pytest.mark.parametrize("text", ["language", "two words"])
@pytest.mark.parametrize(("kind", "changes"), MODELS)
def test_after_divergence_the_model_is_the_last_good_one(kind, changes, text, alpha, tmp_path):
    sentences = SENTENCES if text == "language" else FEW_WORDS
    model = make(kind, **changes, alpha=alpha, min_alpha=0.0)
    if text == "two words":
        model.sample = 0.0
    model.build_vocab(sentences)
    diverged = False
    try:
        model.train()
    except UnstableTrainingError as error:
        diverged = "Lower alpha" in str(error)
    assert_finite(model)
    model.save(tmp_path / "model.dv")
    again = kind.load(tmp_path / "model.dv")
    if not diverged:  # it may have learnt nonsense, but it has learnt
        assert model.epochs_trained == 2
        return
    for one in (model, again):
        one.alpha, one.epochs = 0.025, 4
        one.train(sentences, resume=True)
        assert one.epochs_trained == 4
        assert max(entry.loss for entry in one.loss_history) < 1000
        assert_finite(one)
