"""Rows added up along links, on any device."""

import numpy as np
import pytest

from densvec.training.settings import Objective, Rates
from densvec.training.torch import links as torch_links
from densvec.training.torch.backend import TorchBackend
from tests.training.cases import SENTENCES, make_chunk, make_wv


@pytest.mark.parametrize("pairing", ["shared", "paired"])
def test_devices_that_add_rows_one_by_one_get_the_same_gradients(pairing, monkeypatch):
    wv, chunk = make_wv(10, 4), make_chunk(SENTENCES, pairing=pairing)
    backend = TorchBackend(wv, Objective(pairing=pairing), Rates(), device="cpu")
    expected = backend.gradients(chunk)[1]
    monkeypatch.setattr(torch_links, "BAGS", set())
    for name, gradient in backend.gradients(chunk)[1].items():
        np.testing.assert_allclose(gradient, expected[name], rtol=1e-9, atol=1e-9)
