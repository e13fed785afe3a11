"""Weights that ranks add up: nothing is lost, and all agree to the bit."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from densvec.distributed.weights import Weights


def mean(changes):
    return [torch.stack(each).mean(0) for each in zip(*changes, strict=True)]


@given(st.integers(1, 5), st.integers(0, 4), st.integers(0, 1000))
def test_all_changes_of_all_ranks_are_in_the_weights(ranks, rounds, seed):
    generator = torch.Generator().manual_seed(seed)

    def train(tensors):
        for tensor, all_of_it in zip(tensors, whole, strict=True):
            change = torch.randn(tensor.shape, generator=generator)
            tensor += change
            all_of_it += change

    begun = [torch.randn(shape, generator=generator) for shape in ((2, 3), (4,))]
    whole = [tensor.clone() for tensor in begun]
    copies = [[tensor.clone() for tensor in begun] for _ in range(ranks)]
    kept = [Weights(tensors, gain=ranks) for tensors in copies]
    for _ in range(rounds):
        for tensors in copies:
            train(tensors)
        sent = [each.rounded_changes() for each in kept]
        for tensors in copies:  # while these are under way
            train(tensors)
        for each, own in zip(kept, sent, strict=True):
            each.add(mean(sent), own)
    for each, means in zip(kept, [mean([each.changes() for each in kept])] * ranks, strict=True):
        each.settle(means)
    for tensors in copies:
        for tensor, first, expected in zip(tensors, copies[0], whole, strict=True):
            assert torch.equal(tensor, first)
            torch.testing.assert_close(tensor, expected, rtol=1e-4, atol=1e-4)


def test_a_gain_of_one_averages():
    one, two = torch.zeros(3), torch.zeros(3)
    kept = [Weights([one]), Weights([two])]
    one += 1
    two += 3
    means = mean([each.changes() for each in kept])
    for each in kept:
        each.settle(means)
    assert one.tolist() == two.tolist() == [2.0] * 3


def test_rebased_weights_have_not_changed():
    weights = torch.zeros(3)
    kept = Weights([weights])
    weights += 1
    kept.rebase()
    assert kept.changes()[0].tolist() == [0.0] * 3
