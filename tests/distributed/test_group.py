"""What ranks exchange tensors over."""

import torch

from tests.distributed.ranks import run_ranks


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
