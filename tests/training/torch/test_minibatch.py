"""Chunks cut into minibatches."""

import pytest

from densvec.training.settings import Objective, Rates
from densvec.training.torch import Options
from densvec.training.torch.backend import TorchBackend
from tests.training.cases import SENTENCES, make_chunk, make_wv


@pytest.mark.parametrize("pairing", ["shared", "paired"])
def test_minibatches_of_any_size_see_the_same_centres(pairing):
    """At rate 0 the sums over minibatches must not depend on how the chunk was cut."""
    wv = make_wv(10, 8)
    chunk = make_chunk(SENTENCES, pairing=pairing)
    results = [
        TorchBackend(
            wv, Objective(pairing=pairing), Rates(), device="cpu", options=Options(batch_centres=size)
        ).step(chunk, 0.0)
        for size in (1, 3, 7, 1000)
    ]
    for result in results:
        assert result.centres == 19
        assert result.loss == pytest.approx(results[0].loss, rel=1e-12)
