"""The torch backend against a direct evaluation of Eq. 7, and its own promises."""

import numpy as np
import pytest
import torch

from densvec.training.settings import Objective, Rates
from densvec.training.torch_backend import TorchBackend
from tests.backend_cases import SENTENCES, BackendCases, arrays_of, make_chunk, make_wv


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
