"""The torch backend: the same step as the native kernel's, in torch, on any device."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Options", "options"]


@dataclass
class Options:
    """How torch computes, for all models that this process trains; none of this is part of a model.

    Parameters
    ----------
    compile : bool
        Whether `torch.compile` fuses the operators of a step: the same numbers, up to rounding. It needs a compiler,
        and takes a minute at the first step.
    bfloat16 : bool
        Whether the encoder's matrix products are computed from numbers of 16 bits. Tables, sums and divergences are
        not.
    batch_words : int, optional
        Words of text that are gathered from chunks and sent to the device together. None is what its updates need.
    batch_centres : int, optional
        The most centres of one update. None is 2,000; on a CPU as many as leave 128 updates in an epoch, if that is
        less, but at least 512.

    Examples
    --------
    >>> from densvec.training.torch import options
    >>> options
    Options(compile=False, bfloat16=False, batch_words=None, batch_centres=None)
    """

    compile: bool = False
    bfloat16: bool = False
    batch_words: int | None = None
    batch_centres: int | None = None


#: What models are trained with; change its attributes.
options = Options()
