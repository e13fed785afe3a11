"""The torch backend against a direct evaluation of Eq. 7, and its own promises."""

import numpy as np

from densvec.training.settings import Objective, Rates
from densvec.training.torch.backend import TorchBackend
from tests.training.cases import SENTENCES, BackendCases, arrays_of, make_chunk, make_wv


class TestTorchBackend(BackendCases):
    def backend(self, wv, objective=None, rates=None, state=None):
        backend = TorchBackend(wv, objective or Objective(), rates or Rates(), state, device="cpu")
        backend.centres = None  # a chunk at once, as one tile of the native kernel is
        return backend


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
