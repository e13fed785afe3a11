"""Torch on one thread."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """Small tensors gain nothing by more, and lose much on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
