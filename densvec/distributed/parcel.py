"""Several tensors in one message: sending a message costs more than most of what is in it."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["pack", "unpack"]

#: Bytes that a tensor begins at a multiple of, so that it can be read where it lies.
STEP = 8


def pack(tensors: Sequence[Tensor]) -> Tensor:
    """Return tensors of any types, (k, ...) each, as k messages: (k, bytes).

    Examples
    --------
    >>> numbers, halves = torch.ones(2, 3), torch.ones(2, 1, dtype=torch.bfloat16)
    >>> messages = pack([numbers, halves])
    >>> messages.shape
    torch.Size([2, 24])
    >>> [part.shape for part in unpack(messages[:1], [numbers, halves])]
    [torch.Size([1, 3]), torch.Size([1, 1])]
    """
    parts = []
    for tensor in tensors:
        part = tensor.reshape(len(tensor), -1).contiguous().view(torch.uint8)
        parts += [part, part.new_zeros(len(part), -part.shape[1] % STEP)]
    return torch.cat(parts, 1)


def unpack(messages: Tensor, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Return what is in messages, (n, bytes), that were packed of tensors like these: (n, ...) each."""
    found, start = [], 0
    for tensor in tensors:
        size = tensor[0].nbytes
        part = messages[:, start : start + size]
        found.append((part.view(tensor.dtype) if size else tensor).view(len(part), *tensor.shape[1:]))
        start += size + -size % STEP
    return found
