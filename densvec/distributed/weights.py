"""The encoder's weights on ranks that add up what each of them has learnt."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

__all__ = ["Weights"]


class Weights:
    """Weights of which every rank trains its own copy, and which go as far as the changes of all ranks together.

    What ranks agree on is the same to the bit everywhere; what a rank has added to it since is its change. Single
    precision may be sent as bfloat16: what rounding leaves stays in the weights, and is sent with the next change.

    Parameters
    ----------
    tensors : sequence of Tensor
        The weights, live.
    gain : float
        How many times the mean of all ranks' changes is added: their number adds all of them up, 1 averages weights.
        It may be set anew when all ranks agree.

    Examples
    --------
    >>> weights = torch.zeros(2)
    >>> kept = Weights([weights], gain=2)
    >>> _ = weights.add_(torch.tensor([1.0, 0.0]))
    >>> own = kept.rounded_changes()
    >>> _ = weights.add_(0.5)  # trained while changes are exchanged
    >>> kept.add([torch.tensor([0.5, 1.5])], own)  # another rank has changed the second weight by 3
    >>> weights
    tensor([1.5000, 3.5000])
    >>> kept.changes()
    [tensor([0.5000, 0.5000])]
    """

    def __init__(self, tensors: Sequence[Tensor], gain: float = 1.0) -> None:
        self._tensors = tensors
        self.gain = gain
        self._agreed = [tensor.clone() for tensor in tensors]

    def changes(self) -> list[Tensor]:
        """Return what was trained here since ranks agreed."""
        return [tensor - agreed for tensor, agreed in self._pairs()]

    @property
    def sent(self) -> torch.dtype:
        """The type that has all digits of rounded changes."""
        single = all(tensor.dtype == torch.float32 for tensor in self._tensors)
        return torch.bfloat16 if single else torch.float64

    def rounded_changes(self) -> list[Tensor]:
        """Return what was trained here since ranks agreed, with as many digits as are sent."""
        return [change.to(self.sent).to(change.dtype) for change in self.changes()]

    def add(self, means: Sequence[Tensor], own: Sequence[Tensor]) -> None:
        """Move on what ranks agree on, by the means of their changes, and add what the others changed."""
        for (tensor, agreed), mean, change in zip(self._pairs(), means, own, strict=True):
            of_all = self.gain * mean.to(tensor.device)
            agreed.add_(of_all)
            tensor.add_(of_all - change.to(tensor.device))

    def settle(self, means: Sequence[Tensor]) -> None:
        """Move on what ranks agree on, and make the weights equal to it."""
        for (tensor, agreed), mean in zip(self._pairs(), means, strict=True):
            agreed.add_(self.gain * mean.to(tensor.device))
            tensor.copy_(agreed)

    def rebase(self) -> None:
        """Agree on the weights as they are, which are equal on all ranks."""
        for tensor, agreed in self._pairs():
            agreed.copy_(tensor)

    def _pairs(self) -> list[tuple[Tensor, Tensor]]:
        return list(zip(self._tensors, self._agreed, strict=True))
