"""The update rules."""

import numpy as np
import pytest
import torch

from densvec.training.settings import Objective, Rates
from densvec.training.torch.backend import TorchBackend
from densvec.training.torch.optimiser import _held_back
from tests.training.cases import SENTENCES, arrays_of, make_chunk, make_wv


@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
@pytest.mark.parametrize("residual", [False, True])
def test_small_steps_follow_the_gradients(covariance, residual):
    """In the limit of small rates each rule is its textbook form, whatever holds large steps back."""
    alpha, rates = 1e-9, Rates(3.0, log_variance=2.0, contrast=2.0, coverage=0.0, embedding=0.5, encoder=0.1)
    wv = make_wv(10, 4, embedding=3, hidden=5, covariance=covariance, residual=residual)
    before = {name: array.copy() for name, array in arrays_of(wv).items()}
    backend = TorchBackend(wv, Objective(), rates, device="cpu")
    backend.centres = None  # all at once
    chunk = make_chunk(SENTENCES)
    result, gradients = backend.gradients(chunk)
    backend.step(chunk, alpha)
    steps = {name: (before[name] - array) / alpha for name, array in arrays_of(wv).items()}
    fisher = 2.0 if covariance == "spherical" else 0.5
    np.testing.assert_allclose(steps["means"], 3.0 * gradients["means"], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        steps["log_variances"], 2.0 * gradients["log_variances"] / fisher, rtol=1e-5, atol=1e-5
    )
    scale = np.sqrt(np.square(gradients["embeddings"]).mean(1, keepdims=True) + 1e-8)
    np.testing.assert_allclose(
        steps["embeddings"], 0.5 * gradients["embeddings"] / scale, rtol=1e-5, atol=1e-5
    )
    for name in ("context_layer", "centre_layer", "mean_head", "mean_bias", "variance_head", "variance_bias"):
        mean_gradient = gradients[name] / result.centres
        expected = 0.1 * mean_gradient / (np.abs(mean_gradient) + 1e-8)  # Adam's first step
        np.testing.assert_allclose(steps[name], expected, rtol=1e-5, atol=1e-5, err_msg=name)


def test_rows_of_frequent_words_do_not_overshoot():
    """A word that is in every window of a large minibatch moves no further than its posteriors."""
    wv = make_wv(3, 4, dtype=np.float32)
    chunk = make_chunk([[0, 1, 2] * 200], words=3)
    backend = TorchBackend(wv, Objective(), Rates(), device="cpu")
    losses = [backend.step(chunk, 0.025).loss for _ in range(20)]
    assert losses[-1] < losses[0]
    assert np.abs(wv.log_variances).max() < 5
    assert np.abs(wv.vectors).max() < 50


@pytest.mark.parametrize("total", [0.0, 1e-12, 0.01, 1.0, 5.0, 1e30])
def test_many_steps_at_once_go_as_far_as_one_after_the_other(total):
    """What is drawn by many small shares of what is left of its way."""
    gone, count = 0.0, 100_000
    for _ in range(count):
        gone += min(total / count, 1) * (1 - gone)
    at_once = total * float(_held_back(torch.tensor(total, dtype=torch.float64)))
    assert at_once == pytest.approx(gone, rel=1e-4)
