"""Which backend trains: as asked, or by what is there."""

import sys

import pytest

from densvec.training import choice


@pytest.mark.parametrize(
    ("backend", "device", "cuda", "expected"),
    [
        ("auto", None, False, "native"),
        ("auto", None, True, "torch"),
        ("auto", "cpu", True, "native"),
        ("auto", "cuda", True, "torch"),
        ("auto", "mps", False, "torch"),
        ("native", None, True, "native"),
        ("torch", None, False, "torch"),
        ("torch", "cpu", True, "torch"),
    ],
)
def test_auto_takes_cuda_when_it_is_there(backend, device, cuda, expected, monkeypatch):
    monkeypatch.setattr(choice, "has_cuda", lambda: cuda)
    assert choice.choose_backend(backend, device) == expected


def test_looking_for_cuda_does_not_import_torch_where_there_is_no_driver(monkeypatch):
    def no_driver(name):
        raise OSError(name)

    monkeypatch.setattr(choice.ctypes, "CDLL", no_driver)
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert not choice.has_cuda()
    assert "torch" not in sys.modules
