"""Training on many machines: what a script needs beyond ``torchrun``.

Under ``torchrun``, or whatever else starts processes for torch.distributed, ``BayesianSkipGram(corpus_file=...)``
trains together with the other processes, the *ranks*, and every rank ends with the same model. One rank saves it::

    model = BayesianSkipGram(corpus_file="shards/*.txt.gz")
    if densvec.distributed.is_main():
        model.save("model.dv")

Importing this module does not import torch.
"""

from __future__ import annotations

import os
import sys
from typing import Any, TypeVar

from densvec.checks import check_whole
from densvec.distributed.group import RankError, connect, launched, settings

__all__ = ["RankError", "init", "is_main", "load", "rank", "world_size"]

M = TypeVar("M")


def init(*, exchange_words: int | None = None, timeout: float | None = None) -> bool:
    """Connect to the other ranks now, and set how to train with them; models connect on their own.

    Parameters
    ----------
    exchange_words : int, optional
        Words that each rank trains between two exchanges; unless set, 50,000 for each of its workers.
    timeout : float, optional
        Seconds after which a rank that makes no progress is given up, 600 unless set. It must be set before the ranks
        have met.

    Returns
    -------
    bool
        Whether there are other ranks. Without torchrun nothing happens.

    Examples
    --------
    >>> init(exchange_words=250_000)
    False
    """
    if exchange_words is not None:
        settings.exchange_words = check_whole("exchange_words", exchange_words, 1)
    if timeout is not None:
        if not timeout > 0:
            raise ValueError(f"timeout={timeout} is not a number of seconds above 0")
        settings.timeout = float(timeout)
    if not launched():
        return False
    connect()
    return True


def rank() -> int:
    """Return this process's number among those that train together, 0 if it is alone.

    Examples
    --------
    >>> rank()
    0
    """
    return _number("get_rank", "RANK", 0)


def world_size() -> int:
    """Return how many processes train together, 1 if this one is alone.

    Examples
    --------
    >>> world_size()
    1
    """
    return _number("get_world_size", "WORLD_SIZE", 1)


def is_main() -> bool:
    """Return whether this process is the one that saves and reports: rank 0, or the only one.

    Examples
    --------
    >>> is_main()
    True
    """
    return rank() == 0


def load(cls: type[M], path: str | os.PathLike[str]) -> M:
    """Load a model on all ranks from a file that only rank 0 needs to have.

    Parameters
    ----------
    cls : type
        The class of the model.
    path : str or PathLike
        The file; without torchrun it is just loaded.
    """
    import io

    if not launched():
        return cls.load(path)  # type: ignore[attr-defined, no-any-return]
    group = connect()

    def read() -> bytes | None:
        if not group.is_main:
            return None
        with open(path, "rb") as file:
            return file.read()

    data = group.broadcast_bytes(group.together(read))
    return cls.load(io.BytesIO(data))  # type: ignore[attr-defined, no-any-return]


def _number(ask: str, variable: str, alone: int) -> int:
    if not launched():
        return alone
    torch_distributed: Any = sys.modules.get("torch.distributed")
    if torch_distributed is not None and torch_distributed.is_initialized():
        return int(getattr(torch_distributed, ask)())
    return int(os.environ[variable])
