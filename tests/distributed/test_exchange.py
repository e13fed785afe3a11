"""Which tables a round exchanges, and that rows may lie apart."""

import pytest
import torch

from densvec.distributed import exchange as exchange_module
from densvec.distributed.combine import adasum, mean_of_changed, total
from densvec.distributed.exchange import Exchange, Report, Shared
from densvec.distributed.parcel import pack
from tests.distributed.ranks import run_ranks


class Alone:
    """A group of one."""

    rank, size = 0, 1

    def wire(self, device):
        return device

    def broadcast(self, tensor):
        pass

    def gather(self, document):
        return [document]

    def gather_tensor(self, tensor):
        return tensor[None].clone()

    def exchange(self, sent):
        return sent.clone()


@pytest.fixture
def packed(monkeypatch):
    """Return a list that gets the widths of all tensors that are sent in one message, and how often it is sent."""
    messages = []

    def noting(tensors):
        messages.append([tensor.shape[-1] for tensor in tensors])
        return pack(tensors)

    monkeypatch.setattr(exchange_module, "pack", noting)
    return messages


#: Numbers in a report of nothing: its flags.
FLAGS = 4


@pytest.mark.parametrize("every", [1, 2])
def test_densities_and_weights_are_exchanged_in_every_round_and_embeddings_in_their_turn(packed, every):
    means, embeddings, squares = torch.ones(9, 4), torch.ones(9, 6), torch.ones(9)
    weights, moments, momentum = torch.ones(5), torch.ones(5), torch.ones(5)
    inputs = [(embeddings, adasum), (squares, total)]
    shared = Shared([(means, adasum)], [weights, moments], [momentum], inputs)
    exchange = Exchange(Alone(), shared, first_band=4, inputs_every=every)
    before = [tensor.clone() for tensor in shared.all()]
    of_means, of_inputs, of_weights = 4, 6 + 1, 5 + 5
    for number in range(3):
        packed.clear()
        for tensor in shared.all():
            tensor.mul_(1.5)
        exchange.start(Report([]))
        exchange.take()
        turn = [of_inputs] if number % every == 0 else []
        sent = [of_means, *turn, of_weights]
        assert packed == [[FLAGS, *sent], sent]  # to those who combine, and back: one message each
    packed.clear()
    exchange.full(Report([]), None)
    assert [sent for head, *sent in packed[::2]] == [
        [of_weights + 5],
        [of_means, 0],
        [of_inputs, 0],
    ]  # the momentum, too
    exchange.close()
    for tensor, old in zip(shared.all(), before, strict=True):  # what is alone stays what it was
        torch.testing.assert_close(tensor, old * 1.5**3, rtol=1e-2, atol=0)


def test_between_two_exchanges_of_rows_weights_are_exchanged_alone(packed):
    means, embeddings, moments, weights = torch.ones(9, 4), torch.ones(9, 6), torch.ones(7), torch.ones(5)
    shared = Shared([(means, adasum)], [moments], [], [(embeddings, adasum)], [weights])
    exchange = Exchange(Alone(), shared, first_band=4, inputs_every=2, rows_every=3)
    before = [tensor.clone() for tensor in shared.all()]
    for number in range(8):
        packed.clear()
        for tensor in shared.all():
            tensor.mul_(1.5)
        exchange.start(Report([]))
        exchange.take()
        if number % 3:
            assert packed == [[FLAGS, 5]]  # to all at once
        else:
            sent = [4, 6, 12] if number % 2 == 0 else [4, 12]
            assert packed == [[FLAGS, *sent], sent]
    packed.clear()
    exchange.full(Report([]), None)
    assert [sent for head, *sent in packed[::2]] == [[12], [4, 0], [6, 0]]
    exchange.close()
    for tensor, old in zip(shared.all(), before, strict=True):
        torch.testing.assert_close(tensor, old * 1.5**8, rtol=1e-2, atol=0)


def rounds_of_random_training(apart):
    """Return what the tables of this rank are after following rank 0, two rounds and a full one."""
    from densvec import distributed
    from densvec.distributed import exchange as module
    from densvec.distributed.group import connect

    distributed.init(timeout=60)
    module.SLAB = 4  # several parts
    group = connect()
    whole = torch.full((9, 16), 7.0) if apart else None
    means, log_variances = (
        (torch.empty(9, 5), torch.empty(9, 1)) if whole is None else (whole[:, :5], whole[:, 5:6])
    )
    generator = torch.Generator().manual_seed(group.rank)
    for table in (means, log_variances):
        table.copy_(torch.randn(table.shape, generator=generator))
    shared = Shared([(means, adasum), (log_variances, mean_of_changed)], [], travelled=torch.zeros(9))
    exchange = Exchange(group, shared, first_band=4)

    def train():
        for table in (means, log_variances):
            table += 0.1 * torch.randn(table.shape, generator=generator)
        shared.travelled.add_(0.1)

    if group.is_main:
        train()
    exchange.follow(Report([]), None)
    for _ in range(2):
        train()
        exchange.start(Report([]))
        train()
        exchange.take()
    exchange.full(Report([]), None)
    exchange.close()
    between = None if whole is None else whole[:, 6:].unique().tolist()
    return means.tolist(), log_variances.tolist(), between


def test_ranks_whose_rows_lie_apart_end_as_others_do():
    first, second = run_ranks(rounds_of_random_training, 2, False)
    assert first == second
    assert isinstance(first[0], list), first
    apart = run_ranks(rounds_of_random_training, 2, True)
    assert [result[:2] for result in apart] == [first[:2]] * 2
    assert [result[2] for result in apart] == [[7.0]] * 2


def averages():
    """Return weights and momentum of this rank: after a round, during which training went on, and after a full one."""
    from densvec import distributed
    from densvec.distributed.group import connect

    distributed.init(timeout=60)
    group = connect()
    weights, counter, momentum = torch.zeros(2, 3), torch.tensor(0), torch.zeros(3)
    exchange = Exchange(group, Shared([], [weights, counter], [momentum]), first_band=4)
    weights += group.rank
    counter += 4 * group.rank
    momentum += group.rank
    exchange.start(Report([]))
    weights += 10
    exchange.take()
    found = [weights.tolist(), counter.tolist(), momentum.tolist()]
    exchange.full(Report([]), None)
    exchange.close()
    return [*found, weights.tolist(), counter.tolist(), momentum.tolist()]


def test_weights_are_averaged_and_momentum_is_each_rank_s_own_until_all_is_made_equal():
    for rank, found in enumerate(run_ranks(averages, 3)):
        rows = [[11.0] * 3] * 2
        assert found == [rows, 4, [float(rank)] * 3, rows, 4, [1.0] * 3]


def forgetting():
    """Return second moments of this rank that forgot most of what they were while a round was under way."""
    from densvec import distributed
    from densvec.distributed.group import connect

    distributed.init(timeout=60)
    group = connect()
    moments = torch.zeros(3)
    exchange = Exchange(group, Shared([], [], moments=[moments]), first_band=4)
    moments += torch.tensor([[1.0, 0.0, 2.0], [3.0, 0.0, 1e-42]][group.rank])
    exchange.start(Report([]))
    moments *= 0.25
    exchange.take()
    found = moments.tolist()
    exchange.full(Report([]), None)
    exchange.close()
    return found, moments.tolist()


def test_second_moments_that_forget_meanwhile_stay_above_0():
    (first, equal), (second, equal_too) = run_ranks(forgetting, 2)
    assert first == [0.5, 0.0, 0.25]  # of 1 and 3: 2, a quarter of which is left
    assert second == pytest.approx([0.5, 0.0, 0.0])
    assert equal == equal_too == pytest.approx([0.5, 0.0, 0.125])


def sums():
    """Return the weights of this rank: after a round, during which training went on, after another and a full one."""
    from densvec import distributed
    from densvec.distributed.group import connect

    distributed.init(timeout=60)
    group = connect()
    weights = torch.full((3,), 100.0 * group.rank)  # those of rank 0 are taken over
    exchange = Exchange(group, Shared([], [], weights=[weights]), first_band=4, rows_every=2)
    exchange.weights.gain = group.size
    weights += 1 + group.rank
    exchange.start(Report([]))
    weights += 10 * (1 + group.rank)
    exchange.take()
    found = [weights.tolist()]
    exchange.start(Report([]))
    exchange.take()
    found.append(weights.tolist())
    weights += 0.1 * (1 + group.rank)
    exchange.full(Report([]), None)
    exchange.close()
    return [*found, weights.tolist()]


def test_weights_are_added_up():
    results = run_ranks(sums, 3)
    for rank, (first, second, _) in enumerate(results):
        assert first == [6.0 + 10 * (1 + rank)] * 3
        assert second == [66.0] * 3
    last = [result[2] for result in results]
    assert last == [last[0]] * 3  # to the bit
    assert last[0] == pytest.approx([66.6] * 3)
