"""What is sent: single precision in two bytes, double precision as it is."""

import pytest
import torch

from densvec.distributed.exchange import packed, unpacked


@pytest.fixture
def changes():
    sizes = torch.logspace(-30, 30, 61, dtype=torch.float64)[:, None]
    return sizes * torch.randn(61, 7, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def test_single_precision_takes_two_bytes_and_keeps_eight_bits(changes):
    single = changes.float()
    sent = packed(single)
    assert sent.dtype == torch.uint8
    assert sent.shape == (61, 14)
    torch.testing.assert_close(unpacked(sent, torch.float32), single, rtol=2**-8, atol=0)


def test_double_precision_is_sent_as_it_is(changes):
    assert torch.equal(unpacked(packed(changes), torch.float64), changes)


def test_what_was_rounded_once_is_not_rounded_again(changes):
    once = unpacked(packed(changes.float()), torch.float32)
    assert torch.equal(unpacked(packed(once), torch.float32), once)


def test_no_change_and_unbounded_ones_arrive(changes):
    special = torch.tensor([[0.0, float("inf"), -float("inf")]])
    assert torch.equal(unpacked(packed(special), torch.float32), special)
