"""Rounds: what they exchange, what training does meanwhile, and that messages bring what was packed."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from densvec.distributed import exchange as module
from densvec.distributed.exchange import Exchange, Report, Shared, pack, unpack
from densvec.distributed.group import Group
from tests.distributed.ranks import run_ranks

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.uint8, torch.int64)


@given(
    count=st.integers(1, 4),
    kinds=st.lists(
        st.tuples(st.sampled_from(DTYPES), st.lists(st.integers(0, 5), max_size=2)), min_size=1, max_size=5
    ),
    seed=st.integers(0, 1000),
)
def test_what_is_packed_is_found_again(count, kinds, seed):
    generator = torch.Generator().manual_seed(seed)
    tensors = [
        torch.randint(0, 100, (count, *shape), generator=generator).to(dtype) for dtype, shape in kinds
    ]
    messages = pack(tensors)
    assert messages.shape[0] == count
    others = [torch.empty_like(tensor[:1]) for tensor in tensors]  # like these, but for how many there are
    for found, tensor in zip(unpack(messages, others), tensors, strict=True):
        assert found.dtype == tensor.dtype
        assert torch.equal(found, tensor)


class Echo(Group):
    """A group of one that hears itself."""

    def gather(self, document):
        return [document]

    def gather_tensor(self, tensor):
        return tensor[None].clone()

    def exchange(self, sent):
        return sent.clone()

    def broadcast(self, tensor):
        pass


def test_a_rank_alone_stays_what_it_is_and_sends_two_messages_for_each_round(monkeypatch):
    messages = []

    def noting(tensors):
        messages.append([tensor.shape[-1] for tensor in tensors])
        return pack(tensors)

    monkeypatch.setattr(module, "pack", noting)
    means, squares, weights = torch.ones(9, 4), torch.ones(9), torch.ones(5)
    moments = torch.ones(5)
    shared = Shared([(means, "adasum"), (squares, "sum")], [weights], [moments])
    exchange = Exchange(Echo(None, 0, 1), shared)
    for _ in range(3):
        for tensor in shared.all():
            tensor.mul_(1.5)
        exchange.start(Report([7.0]))
        (report,) = exchange.take()
        assert report.numbers == [7.0]
    sent = [4 + 1, 5]
    assert messages == [[5, *sent], sent] * 3  # four flags and a number, rows, and averages
    messages.clear()
    exchange.full(Report([]), None)
    exchange.close()
    assert messages == [[0, 5, 10], [5, 10], [0, 5, 0], [5, 0]]  # the moments, too
    for tensor in shared.all():
        torch.testing.assert_close(tensor, torch.full_like(tensor, 1.5**3), rtol=1e-2, atol=0)


def rounds_of_random_training(apart):
    """Return what the tables of this rank are after two rounds and a full one."""
    from densvec import distributed
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
        table.copy_(torch.randn(table.shape, generator=generator))  # those of rank 0 are taken over
    weights = torch.zeros(3)
    shared = Shared([(means, "adasum"), (log_variances, "mean")], [weights])
    exchange = Exchange(group, shared)

    def train():
        for table in (means, log_variances):
            table += 0.1 * torch.randn(table.shape, generator=generator)

    for changes in (True, False, True):
        train()
        exchange.start(Report([]), changes=changes)
        train()
        exchange.take()
    exchange.full(Report([]), None)
    settled = means.tolist(), log_variances.tolist()
    if group.is_main:
        train()
    exchange.follow(Report([]), None)
    exchange.close()
    between = None if whole is None else whole[:, 6:].unique().tolist()
    return settled, means.tolist(), log_variances.tolist(), between


def test_ranks_whose_rows_lie_apart_end_as_others_do():
    first, second = run_ranks(rounds_of_random_training, 2, False)
    assert first == second
    assert isinstance(first[0], tuple), first
    apart = run_ranks(rounds_of_random_training, 2, True)
    assert [result[:3] for result in apart] == [first[:3]] * 2
    assert [result[3] for result in apart] == [[7.0]] * 2


def averages():
    """Return weights and moments of this rank: after a round, during which training went on, and after a full one."""
    from densvec import distributed
    from densvec.distributed.group import connect

    distributed.init(timeout=60)
    group = connect()
    weights, counter, moments = torch.zeros(2, 3), torch.tensor(0), torch.zeros(3)
    means = (torch.zeros(9, 2), "adasum")
    exchange = Exchange(group, Shared([means], [weights, counter], [moments]))
    weights += group.rank
    counter += 4 * group.rank
    moments += group.rank
    exchange.start(Report([]))
    weights += 10
    exchange.take()
    found = [weights.tolist(), counter.tolist(), moments.tolist()]
    exchange.full(Report([]), None)
    exchange.close()
    return [*found, weights.tolist(), counter.tolist(), moments.tolist()]


def test_weights_are_averaged_and_moments_are_each_rank_s_own_until_all_is_made_equal():
    for rank, found in enumerate(run_ranks(averages, 3)):
        rows = [[11.0] * 3] * 2
        assert found == [rows, 4, [float(rank)] * 3, rows, 4, [1.0] * 3]
