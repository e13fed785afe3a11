"""The step on devices that this machine may lack: shapes, devices, waits and operators, without computing anything."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from densvec.training.settings import Objective, Rates
from densvec.training.torch.backend import TorchBackend
from tests.training.cases import NARROWING, SENTENCES, make_chunk, make_wv

DEVICES = [
    *(["cuda"] if torch.cuda.is_available() else []),
    *(["mps"] if torch.backends.mps.is_available() else []),
]

KINDS = [
    (covariance, pairing, residual, reading)
    for covariance in ("spherical", "diagonal")
    for pairing in ("shared", "paired")
    for residual, reading in ((False, None), (True, None), (True, NARROWING))
]


def make(device, covariance="spherical", pairing="shared", residual=True, reading=NARROWING):
    """A backend, and a chunk to train on."""
    wv = make_wv(
        10,
        4,
        embedding=3,
        hidden=5,
        covariance=covariance,
        residual=residual,
        reading=reading,
        dtype=np.float32,
    )
    backend = TorchBackend(wv, Objective(pairing=pairing), Rates(), device=device)
    return backend, make_chunk(SENTENCES, window=3, negative=3, pairing=pairing)


def train(backend, chunks):
    """Take the steps, but do not ask for their losses, which is the one wait for a device; return the last."""
    return backend._train(backend.prepare(*chunks), 0.025)[-1]


@pytest.fixture
def no_cuda(monkeypatch):
    """Let torch do without CUDA what it refuses to do: pin memory, index tensors by brackets, and copy them.

    These ask the device to be current before anything else; the operators behind them do not.
    """

    def item(self, index):
        dimension, indices = 0, []
        for part in index if isinstance(index, tuple) else (index,):
            if part is None:
                self = self.unsqueeze(dimension)
            elif isinstance(part, int):
                self = self.select(dimension, part)
                continue
            elif isinstance(part, slice):
                self = torch.ops.aten.slice(self, dimension, part.start, part.stop, part.step or 1)
            else:
                indices = [None] * dimension + [part]
            dimension += 1
        return torch.ops.aten.index(self, indices) if indices else self

    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: self)
    monkeypatch.setattr(torch.Tensor, "__getitem__", item)
    monkeypatch.setattr(torch.Tensor, "copy_", lambda self, other: torch.ops.aten.copy_(self, other))


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_needs_nothing_from_the_device(kind):
    """A tensor on "meta" has no numbers: whatever asked for one would fail."""
    backend, chunk = make("meta", *kind)
    losses = train(backend, [chunk, chunk])
    assert (losses.device.type, losses.shape) == ("meta", (3,))
    with pytest.raises((RuntimeError, NotImplementedError)):
        losses.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_all_tensors_of_a_step_are_on_the_device(kind, no_cuda):
    """Fake tensors on "cuda" refuse to be mixed with others."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        backend, chunk = make("cuda:0", *kind)
        losses = train(backend, [chunk])
        assert losses.device.type == "cuda"
        assert {table.device.type for table in backend.arrays().values()} == {"cuda"}


def test_ids_are_sent_in_one_piece():
    class Transfers(TorchDispatchMode):
        sizes: list

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            if func is torch.ops.aten._to_copy.default and args[0].device != result.device:
                assert kwargs["non_blocking"]
                self.sizes.append(args[0].numel())
            return result

    backend, chunk = make("meta")
    with Transfers() as transfers:
        transfers.sizes = []
        backend.prepare(chunk, chunk)
    ids = sum(array.size for array in (chunk.tokens, chunk.radii, chunk.sentences, chunk.negatives))
    assert transfers.sizes == [2 * ids]


class Operators(TorchDispatchMode):
    """Notes the operators that torch calls."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.add(func.name())
        return func(*args, **(kwargs or {}))


def supported():
    """Return, for each of torch's operators, the names of devices that have it, by torch's own list."""
    import yaml

    root = (
        Path(find_spec("torchgen").origin).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"
    )
    entries = {}
    for entry in yaml.safe_load(root.read_text()):
        entries["aten::" + entry["func"].split("(")[0]] = entry
    result = {}
    for name, entry in entries.items():
        delegate = entry.get("structured_delegate")
        entry = entries["aten::" + delegate] if delegate else entry
        keys = {key.strip() for keys in entry.get("dispatch", {"Composite": None}) for key in keys.split(",")}
        if "ufunc_inner_loop" in entry:  # a loop of which torch makes a kernel for the CPU and for CUDA
            keys.add("CUDA")
        anywhere = any(key.startswith("Composite") for key in keys)
        result[name] = {device for device in ("CUDA", "MPS") if anywhere or device in keys}
    return result


@pytest.mark.parametrize("device", ["CUDA", "MPS"])
def test_all_operators_exist_on_the_device(device):
    with Operators() as used:
        for kind in KINDS:
            backend, chunk = make("meta", *kind)
            train(backend, [chunk])
    known = supported()
    assert not {name for name in used.names if device not in known[name]}


@pytest.mark.parametrize(
    "device", DEVICES or [pytest.param("none", marks=pytest.mark.skip(reason="no device"))]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_real_device_takes_the_same_steps_as_the_cpu(device, kind):
    here, there = (make(name, *kind)[0] for name in ("cpu", device))
    for seed in range(5):
        chunk = make_chunk(SENTENCES, window=3, negative=3, pairing=kind[1], seed=seed)
        expected, found = here.step(chunk, 0.025), there.step(chunk, 0.025)
        assert found.loss == pytest.approx(expected.loss, rel=1e-3)
    there.synchronise()
    for name, array in there._homes.items():
        np.testing.assert_allclose(array, here._homes[name], rtol=1e-2, atol=1e-3, err_msg=name)
