"""The torch backend against a direct evaluation of Eq. 7, and its own promises."""

import numpy as np
import pytest
import torch

from densvec.training.settings import Objective, Rates
from densvec.training.torch import links as torch_links
from densvec.training.torch.backend import TorchBackend
from tests.training.cases import SENTENCES, BackendCases, arrays_of, make_chunk, make_wv


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Small tensors gain nothing by more, and lose much on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class TestTorchBackend(BackendCases):
    def backend(self, wv, objective=None, rates=None, state=None):
        return TorchBackend(wv, objective or Objective(), rates or Rates(), state, device="cpu")


def test_prepared_chunk_gives_the_same_step():
    tables = []
    for prepare in (False, True):
        wv = make_wv(10, 8, dtype=np.float32)
        backend = TorchBackend(wv, Objective(), Rates(), device="cpu")
        chunk = make_chunk(SENTENCES)
        backend.step(backend.prepare(chunk) if prepare else chunk, 0.025)
        tables.append(arrays_of(wv))
    for name in tables[0]:
        np.testing.assert_array_equal(tables[0][name], tables[1][name])


@pytest.mark.parametrize("pairing", ["shared", "paired"])
def test_minibatches_of_any_size_see_the_same_centres(pairing):
    """At rate 0 the sums over minibatches must not depend on how the chunk was cut."""
    wv = make_wv(10, 8)
    chunk = make_chunk(SENTENCES, pairing=pairing)
    results = [
        TorchBackend(wv, Objective(pairing=pairing), Rates(), device="cpu", batch_centres=size).step(
            chunk, 0.0
        )
        for size in (1, 3, 7, 1000)
    ]
    for result in results:
        assert result.centres == 19
        assert result.loss == pytest.approx(results[0].loss, rel=1e-12)


@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
@pytest.mark.parametrize("residual", [False, True])
def test_small_steps_follow_the_gradients(covariance, residual):
    """In the limit of small rates each rule is its textbook form, whatever holds large steps back."""
    alpha, rates = 1e-9, Rates(3.0, log_variance=2.0, contrast=2.0, coverage=0.0, embedding=0.5, encoder=0.1)
    wv = make_wv(10, 4, embedding=3, hidden=5, covariance=covariance, residual=residual)
    before = {name: array.copy() for name, array in arrays_of(wv).items()}
    backend = TorchBackend(wv, Objective(), rates, device="cpu", batch_centres=1000)
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


@pytest.mark.parametrize("pairing", ["shared", "paired"])
def test_devices_that_add_rows_one_by_one_get_the_same_gradients(pairing, monkeypatch):
    wv, chunk = make_wv(10, 4), make_chunk(SENTENCES, pairing=pairing)
    backend = TorchBackend(wv, Objective(pairing=pairing), Rates(), device="cpu")
    expected = backend.gradients(chunk)[1]
    monkeypatch.setattr(torch_links, "BAGS", set())
    for name, gradient in backend.gradients(chunk)[1].items():
        np.testing.assert_allclose(gradient, expected[name], rtol=1e-9, atol=1e-9)


def test_mixed_precision_trains_about_as_well(monkeypatch):
    """What CUDA does where it gains by it, on the CPU: matrix products in bfloat16, the rest in float32."""
    losses = []
    for mixed in (False, True):
        wv = make_wv(10, 8, dtype=np.float32)
        backend = TorchBackend(wv, Objective(), Rates(), device="cpu")
        if mixed:
            monkeypatch.setattr(backend, "_autocast", lambda: torch.autocast("cpu", dtype=torch.bfloat16))
        losses.append([backend.step(make_chunk(SENTENCES, seed=seed), 0.025).loss for seed in range(30)][-1])
        assert {array.dtype for array in arrays_of(wv).values()} == {np.dtype(np.float32)}
    assert losses[1] == pytest.approx(losses[0], rel=0.1)
