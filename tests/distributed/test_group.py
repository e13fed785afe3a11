"""What ranks exchange tensors over."""

import pytest
import torch
import torch.distributed

from densvec.distributed.group import Group
from tests.distributed.ranks import run_ranks


def wires(own):
    """Return what this rank exchanges from, and one sum over all ranks by way of it."""
    from densvec import distributed
    from densvec.distributed.group import connect

    distributed.init()
    group = connect()
    wire = group.wire(torch.device(own[group.rank]))
    parts = group.gather_tensor(torch.full((3,), group.rank + 1.0, device=wire))
    return wire.type, sum(parts).tolist()


@pytest.mark.parametrize("own", [("cpu", "cpu"), ("cuda", "cpu")])
def test_a_rank_without_a_gpu_lets_all_exchange_from_the_cpu(own):
    assert run_ranks(wires, 2, own) == [("cpu", [3.0] * 3)] * 2


def gathered(most):
    """Return what all ranks gave, in several types and shapes, sent to all at once up to a number of bytes."""
    from densvec import distributed
    from densvec.distributed import group as module

    module.MOST_AT_ONCE = most
    distributed.init()
    group = module.connect()
    given = (
        torch.full((2, 3), group.rank + 1.0),
        torch.tensor(group.rank),
        torch.tensor([], dtype=torch.uint8),
        torch.arange(4, dtype=torch.uint8)[::2] + group.rank,
    )
    before = group.bytes_sent
    found = [[part.tolist() for part in group.gather_tensor(tensor)] for tensor in given]
    return found, group.bytes_sent - before


def test_what_is_sent_to_all_at_once_is_what_goes_around_a_ring():
    at_once = run_ranks(gathered, 3, 1 << 26)
    assert at_once == run_ranks(gathered, 3, -1)
    assert at_once[0] == at_once[1] == at_once[2]
    matrices, numbers, nothing, bytes_ = at_once[0][0]
    assert matrices == [[[rank + 1.0] * 3] * 2 for rank in range(3)]
    assert (numbers, nothing, bytes_) == ([0, 1, 2], [[]] * 3, [[0, 2], [1, 3], [2, 4]])
    assert at_once[0][1] == 2 * (2 * 3 * 4 + 8 + 2)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
def test_gpus_exchange_between_themselves():
    assert run_ranks(wires, 2, ("cuda:0", "cuda:1")) == [("cuda", [3.0] * 3)] * 2


def test_gpus_get_connections_of_nccl_once(monkeypatch):
    opened = []
    monkeypatch.setattr(torch.distributed, "is_nccl_available", lambda: True)
    monkeypatch.setattr(torch.distributed, "new_group", lambda **options: opened.append(options) or "nccl")
    group = Group("gloo", 0, 2)
    monkeypatch.setattr(group, "gather", lambda document: [document, True])
    device = torch.device("cuda:1")
    assert group.wire(device) == group.wire(device) == device
    assert [options["backend"] for options in opened] == ["nccl"]
    assert group.wire(torch.device("cpu")) == torch.device("cpu")
    assert group._over(torch.empty(1)) == "gloo"
    assert group._over(torch.empty(1, device="meta")) == "nccl"  # any other device than the CPU
