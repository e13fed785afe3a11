"""Chunks cut into minibatches."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from densvec.training.settings import Objective, Rates
from densvec.training.torch.backend import TorchBackend
from densvec.training.torch.minibatch import Minibatches
from tests.training.cases import SENTENCES, draw_chunk, make_chunk, make_wv


@pytest.mark.parametrize("pairing", ["shared", "paired"])
def test_minibatches_of_any_size_see_the_same_centres(pairing):
    """At rate 0 the sums over minibatches must not depend on how the chunk was cut."""
    wv = make_wv(10, 8)
    chunk = make_chunk(SENTENCES, pairing=pairing)
    results = [
        TorchBackend(wv, Objective(pairing=pairing), Rates(), device="cpu", centres=size).step(chunk, 0.0)
        for size in (1, 3, 7, 1000)
    ]
    for result in results:
        assert result.centres == 19
        assert result.loss == pytest.approx(results[0].loss, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), most=st.integers(1, 20))
def test_no_two_windows_of_a_minibatch_meet(data, most):
    chunk = draw_chunk(data, 12)
    owners, contexts = chunk.centres_and_contexts()
    for batch in Minibatches(12).of([chunk], most):
        centres = np.arange(batch.first, len(batch.tokens), batch.stride)
        assert len(centres) <= most
        read = np.concatenate([centres, contexts[np.isin(owners, centres)]])
        assert len(read) == len(set(read.tolist()))
