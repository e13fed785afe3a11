"""Several tensors in one message."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from densvec.distributed.parcel import pack, unpack

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


def test_rows_that_lie_apart_are_packed():
    table = torch.arange(24.0).view(2, 3, 4)[:, :, :2]
    (found,) = unpack(pack([table]), [table])
    assert torch.equal(found, table)
