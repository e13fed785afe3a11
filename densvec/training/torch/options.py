"""How the torch backend computes, as opposed to what: none of this is part of a model."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Options", "options"]


@dataclass
class Options:
    """Options of the torch backend for all models that this process trains.

    Parameters
    ----------
    compile : bool
        Whether `torch.compile` fuses the operators of a step: the same numbers, up to rounding. It needs a compiler,
        and takes a minute at the first step.
    bfloat16 : bool
        Whether matrix products are computed from numbers of 16 bits. Tables, sums and divergences are not.
    batch_words : int, optional
        Words of text that are gathered from chunks and sent to the device together. None is what its updates need.
    batch_centres : int, optional
        Centres of one update, at most: there are more updates in a batch than words in a window. None is 2,000 at
        first, and as many more as the learning rate has become smaller, up to 6,400; on a CPU at most as many as leave
        128 updates in an epoch, or 512.

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
