"""The processes that train together: torch.distributed as far as densvec uses it, without pickle."""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")


class RankError(RuntimeError):
    """Training stopped on all ranks because of what happened on one of them."""


class Settings:
    """What `densvec.distributed.init` was told, or the defaults."""

    timeout: float = 600.0
    exchange_words: int | None = (
        None  # None: so many for each of a rank's workers, see `densvec.distributed.loop`
    )


settings = Settings()

#: Seconds to find out which rank is missing.
NAMING_SECONDS = 30.0

#: Up to so many bytes of all ranks are sent directly; more go around a ring, which takes gloo twice as long.
MOST_AT_ONCE = 1 << 26

_connected: Group | None = None
_connecting = threading.Lock()


def launched() -> bool:
    """Return whether this process is one of several that were started together, without importing torch."""
    torch_distributed = sys.modules.get("torch.distributed")
    if (
        torch_distributed is not None
        and torch_distributed.is_available()
        and torch_distributed.is_initialized()
    ):
        return bool(torch_distributed.get_world_size() > 1)
    needed = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    return all(name in os.environ for name in needed) and int(os.environ["WORLD_SIZE"]) > 1


def connect() -> Group:
    """Return the group of all ranks; the first call meets the others."""
    global _connected
    with _connecting:
        if _connected is None:
            _connected = _meet()
        return _connected


def _meet() -> Group:
    try:
        import torch.distributed as dist
    except ImportError as error:
        raise ImportError(
            "training together with other processes needs PyTorch, which is not installed: run  pip install "
            "densvec[torch] (without CUDA, first install torch from PyTorch's index of CPU wheels, see its "
            "installation page), or set distributed=False to train in this process alone"
        ) from error
    timeout = timedelta(seconds=settings.timeout)
    if not dist.is_initialized():
        from torch.distributed.rendezvous import rendezvous

        store, rank, size = next(rendezvous("env://", timeout=timeout))
        # A store that outlives a restart has the addresses of ranks that are gone.
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", 0)
        store = dist.PrefixStore(f"attempt {attempt}", store)  # type: ignore[attr-defined]
        dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=timeout)
        atexit.register(_part)
    # Our own connections: those of the user's group may be NCCL's, and may be in use by another thread.
    processes, reserve = (dist.new_group(backend="gloo", timeout=timeout) for _ in range(2))
    return Group(processes, dist.get_rank(), dist.get_world_size(), reserve)


def _part() -> None:
    import torch.distributed as dist

    if dist.is_initialized():
        dist.destroy_process_group()


class Group:
    """All ranks, as one of them sees them; every method but the properties is called by all of them together."""

    def __init__(self, processes: Any, rank: int, size: int, reserve: Any = None) -> None:
        self.rank = rank
        self.size = size
        self.rounds = 0  # of exchange so far
        self.bytes_sent = 0
        self.seconds_waited = 0.0  # while training was paused for an exchange
        self._processes = processes  # over gloo: tensors of the CPU
        self._reserve = reserve  # connections for `name_missing`, after others have failed

    @classmethod
    def alone(cls) -> Group:
        """Return the group of this process alone, which has no one to exchange anything with."""
        return cls(None, 0, 1)

    @property
    def is_main(self) -> bool:
        """Whether this is rank 0, which reports and saves."""
        return self.rank == 0

    def name_missing(self) -> None:
        """After a failed exchange, raise RankError naming the ranks that are missing; return if none is."""
        import torch.distributed as dist

        seconds = timedelta(seconds=min(settings.timeout, NAMING_SECONDS))
        try:
            dist.monitored_barrier(self._reserve, timeout=seconds, wait_all_ranks=True)
        except RuntimeError as error:
            raise RankError(
                f"rank {self.rank} has waited in vain for the other ranks. Either one of them has ended or it has made "
                f"no progress for {settings.timeout:g} seconds (densvec.distributed.init(timeout=...)): {error}"
            ) from error

    def gather(self, document: Any) -> list[Any]:
        """Return the JSON documents of all ranks, by rank."""
        return [json.loads(text) for text in self.gather_bytes(json.dumps(document).encode())]

    def gather_bytes(self, data: bytes) -> list[bytes]:
        """Return the bytes of all ranks, by rank."""
        import torch

        sizes = self._gather_numbers([len(data)])
        longest = max(size for (size,) in sizes)
        padded = torch.zeros(longest, dtype=torch.uint8)
        if data:
            padded[: len(data)] = torch.frombuffer(bytearray(data), dtype=torch.uint8)
        gathered = self.gather_tensor(padded)
        return [bytes(part[:size].numpy().tobytes()) for part, (size,) in zip(gathered, sizes, strict=True)]

    def _gather_numbers(self, numbers: Sequence[int]) -> list[list[int]]:
        import torch

        return [part.tolist() for part in self.gather_tensor(torch.tensor(numbers, dtype=torch.int64))]

    def gather_tensor(self, tensor: Tensor) -> Tensor:
        """Return the tensors of all ranks, which have one shape: (ranks, ...)."""
        import torch.distributed as dist

        if tensor.nbytes * self.size <= MOST_AT_ONCE:
            return self.exchange(tensor.expand(self.size, *tensor.shape).contiguous())
        gathered = tensor.new_empty(self.size, *tensor.shape)
        dist.all_gather(list(gathered), tensor.contiguous(), group=self._processes)
        self._count(tensor, self.size - 1)
        return gathered

    def exchange(self, sent: Tensor) -> Tensor:
        """Send row r of the first dimension to rank r; return what all ranks sent here, by rank."""
        import torch
        import torch.distributed as dist

        received = torch.empty_like(sent)
        if sent.numel():
            dist.all_to_all_single(received, sent, group=self._processes)
            self._count(sent[0], self.size - 1)
        return received

    def broadcast(self, tensor: Tensor, source: int = 0) -> None:
        """Overwrite a tensor by that of one rank."""
        import torch.distributed as dist

        if tensor.numel():
            dist.broadcast(tensor, source, group=self._processes)

    def broadcast_bytes(self, data: bytes | None, source: int = 0, part: int = 1 << 26) -> bytes:
        """Return the bytes that one rank gave."""
        import torch

        size = torch.tensor([len(data) if data is not None else 0], dtype=torch.int64)
        self.broadcast(size, source)
        whole = bytearray(data) if self.rank == source and data is not None else bytearray(int(size))
        if whole:
            view = torch.frombuffer(whole, dtype=torch.uint8)
            for start in range(0, len(whole), part):
                self.broadcast(view[start : start + part], source)
        return bytes(whole)

    def together(self, act: Callable[[], T]) -> T:
        """Do something that may fail. If it fails on any rank, all ranks raise, the others with that rank's message."""
        if self.size == 1:
            return act()
        failure: BaseException | None = None
        try:
            result = act()
        except Exception as error:
            failure = error
        sentences = self.gather(None if failure is None else f"{type(failure).__name__}: {failure}")
        if failure is not None:
            raise failure
        for rank, sentence in enumerate(sentences):
            if sentence is not None:
                raise RankError(f"rank {rank} failed: {sentence}")
        return result

    def check_same(self, what: str, document: Any) -> None:
        """Raise RankError on all ranks unless they were all called with equal documents."""
        documents = self.gather(document) if self.size > 1 else [document]
        for rank, other in enumerate(documents):
            if other != documents[0]:
                raise RankError(
                    f"rank {rank} has a different {what} from rank 0, but ranks train one model together: "
                    f"{_difference(documents[0], other)}"
                )

    def _count(self, tensor: Tensor, times: int) -> None:
        self.bytes_sent += tensor.numel() * tensor.element_size() * times


def _difference(first: Any, other: Any) -> str:
    if isinstance(first, dict) and isinstance(other, dict):
        for name in first:
            if first[name] != other.get(name):
                return f"{name} is {other.get(name)!r}, not {first[name]!r}"
    return f"{other!r}, not {first!r}"
