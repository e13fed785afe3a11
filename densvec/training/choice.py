"""Choosing what trains a model: the native kernel on a CPU, torch on other devices or on request."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from typing import TYPE_CHECKING, Any

from densvec.checks import one_of
from densvec.training.backend import Backend
from densvec.training.settings import Objective, Rates
from densvec.types import Array

if TYPE_CHECKING:
    from densvec.tables import Tables

BACKENDS = ("auto", "native", "torch")


def check_backend(backend: str, device: str | None) -> None:
    """Raise ValueError for a backend that does not exist or cannot use the device."""
    one_of("backend", backend, BACKENDS)
    if backend == "native" and device not in (None, "cpu"):
        raise ValueError(f"backend='native' trains on the CPU, not on device={device!r}: use backend='torch'")


def check_native(model: str, backend: str, device: str | None) -> None:
    """Refuse other backends and devices for a model that only has a native kernel."""
    check_backend(backend, device)
    if backend == "torch" or device not in (None, "cpu"):
        raise ValueError(
            f"backend={backend!r}, device={device!r}: a {model} is trained on the CPU by its native kernel; leave "
            "backend='auto' and device=None"
        )


def choose_backend(backend: str, device: str | None) -> str:
    """Return "native" or "torch" for what the user asked for.

    Examples
    --------
    >>> choose_backend("auto", "cpu")
    'native'
    >>> choose_backend("auto", "cuda")
    'torch'
    """
    check_backend(backend, device)
    if backend != "auto":
        return backend
    if device is None:
        return "torch" if has_cuda() else "native"
    return "native" if device == "cpu" else "torch"


def has_cuda() -> bool:
    """Return whether torch and a CUDA device are available, without importing torch where there cannot be one."""
    if importlib.util.find_spec("torch") is None:
        return False
    if "torch" not in sys.modules:
        try:  # importing torch takes seconds, looking for the driver does not
            ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
        except OSError:
            return False
    import torch

    return bool(torch.cuda.is_available())


def make_backend(
    name: str,
    wv: Tables,
    objective: Objective,
    rates: Rates,
    state: dict[str, Array] | None,
    *,
    device: str | None = None,
    workers: int = 1,
) -> Backend:
    """Return the backend of this name, ready to train ``wv``."""
    if name == "native":
        from densvec.training.native import BayesianSkipGramBackend
        from densvec.training.tables import lay_side_by_side

        lay_side_by_side(wv)
        return BayesianSkipGramBackend(wv, objective, rates, state, workers=workers)
    torch_backend: Any = _import_torch_backend()
    backend: Backend = torch_backend.TorchBackend(wv, objective, rates, state, device=device)
    return backend


def _import_torch_backend() -> Any:
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "backend='torch' needs PyTorch, which is not installed: run  pip install densvec[torch]  (without CUDA, "
            "first install torch from PyTorch's index of CPU wheels, see its installation page: they are far smaller)"
        ) from error
    from densvec.training.torch import backend as torch_backend

    return torch_backend
