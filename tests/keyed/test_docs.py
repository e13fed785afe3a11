"""Every public method says what it does, with an example that doctest runs."""

import inspect

import pytest

from densvec import Gaussian, KeyedDensities
from densvec import gaussian as divergences
from densvec.distances import pairwise


def public(owner):
    for name, member in inspect.getmembers(owner):
        function = member.fget if isinstance(member, property) else member
        if (
            not name.startswith("_")
            and inspect.isroutine(function)
            and function.__module__.startswith("densvec")
        ):
            yield pytest.param(function, id=f"{owner.__name__.removeprefix('densvec.')}.{name}")


@pytest.mark.parametrize(
    "function", [*public(KeyedDensities), *public(Gaussian), *public(divergences), pairwise.pairwise]
)
def test_has_an_example(function):
    assert ">>>" in (inspect.getdoc(function) or "")
