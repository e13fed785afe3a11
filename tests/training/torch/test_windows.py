"""Windows made on the device, against those of the chunk."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from densvec.training.settings import SCORED
from densvec.training.torch.minibatch import Minibatches
from densvec.training.torch.windows import beyond, windows
from tests.training.cases import draw_chunk


def pieces(chunk, most):
    """The minibatches of a chunk as tensors."""
    for batch in Minibatches(12).of([chunk], most):
        arrays = [torch.from_numpy(np.array(array)) for array in batch.arrays()]
        yield type(batch)(*arrays, batch.first, batch.stride, batch.sizes)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("most", [None, 1, 5])
def test_every_pair_and_its_negatives_are_there_once(data, most):
    chunk = draw_chunk(data, 12)
    owners, contexts = chunk.centres_and_contexts()
    rows = np.arange(chunk.pairs) if chunk.pairing == "paired" else owners
    expected = [
        (chunk.tokens[i], chunk.tokens[j], abs(i - j), chunk.radii[i], *chunk.negatives[row])
        for i, j, row in zip(owners, contexts, rows, strict=True)
    ]
    found = []
    for batch in pieces(chunk, most):
        around = windows(batch, paired=chunk.pairing == "paired")
        targets, (count, places) = around.words.ids[around.words.numbers], around.mask.shape
        negatives = targets[:, places:-1].view(count, -1, chunk.negative).expand(count, places, -1)
        for i, s in around.mask.nonzero().tolist():
            pair = (targets[i, -1], targets[i, s], around.distances[s], around.radii[i], *negatives[i, s])
            found.append(tuple(map(int, pair)))
        assert batch.sizes.centres == around.trained.sum()
    assert sorted(found) == sorted(expected)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("most", [None, 1, 5])
def test_scored_windows_have_the_words_just_outside_of_them(data, most):
    chunk = draw_chunk(data, 12)
    expected = []
    for a, b in zip(chunk.sentences, chunk.sentences[1:], strict=False):
        for i in range(a, b):
            places = (i - chunk.radii[i] - 1, i + chunk.radii[i] + 1)
            expected += [(chunk.tokens[i], chunk.tokens[j]) for j in places if a <= j < b and i % SCORED == 0]
    found = []
    for batch in pieces(chunk, most):
        outside = beyond(batch)
        centres = batch.tokens[batch.first :: batch.stride][batch.scored]
        found += [(int(centres[i]), int(outside.ids[i, s])) for i, s in outside.exist.nonzero().tolist()]
    assert sorted(found) == sorted(expected)
