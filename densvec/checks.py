"""Checks of single values: each returns the value as densvec keeps it, or raises an error that says what is wrong.

`needs` does the same for packages that not everyone has.
"""

from __future__ import annotations

import math
import numbers
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

KEY_TYPES = (str, int, np.integer)
"""What names one key: a word, or the number of its row."""

_BYTES = (bytes, bytearray, memoryview)
"""Text that was not decoded: the items of bytes are numbers, which would be taken for rows."""


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number as an int; NumPy integers and floats without a fraction are accepted too.

    Examples
    --------
    >>> check_whole("window", 5.0, least=1)
    5
    >>> check_whole("window", 0, least=1)
    Traceback (most recent call last):
    ValueError: window=0 is too small: it must be at least 1
    """
    real = isinstance(value, (float, np.floating)) and float(value).is_integer()
    if isinstance(value, bool) or not (real or isinstance(value, numbers.Integral)):
        raise TypeError(f"{name}={value!r} is not a whole number")
    whole = int(value)
    if whole < least:
        raise ValueError(f"{name}={value} is too small: it must be at least {least}")
    if most is not None and whole > most:
        raise ValueError(f"{name}={value} is too large: it must be at most {most}")
    return whole


def check_number(name: str, value: Any) -> Any:
    """Return a finite number of at least 0, as a Python number.

    Examples
    --------
    >>> check_number("alpha", -0.1)
    Traceback (most recent call last):
    ValueError: alpha=-0.1 is not a finite number of at least 0
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name}={value!r} is not a number")
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name}={value} is not a finite number of at least 0")
    return value.item() if isinstance(value, np.generic) else value


def one_of(name: str, value: Any, choices: tuple[str | None, ...]) -> Any:
    """Return a value that must be one of a few.

    Examples
    --------
    >>> one_of("pairing", "both", ("shared", "paired"))
    Traceback (most recent call last):
    ValueError: pairing='both' is unknown: use 'shared' or 'paired'
    """
    if value not in choices:
        *most, last = map(repr, choices)
        raise ValueError(f"{name}={value!r} is unknown: use {', '.join(most)} or {last}")
    return value


def check_pairing(pairing: Any) -> str:
    """Return how negatives are drawn: for each centre ("shared") or for each context word ("paired")."""
    pairing = one_of("pairing", pairing, ("shared", "paired"))
    return str(pairing)


def check_covariance(covariance: Any, *, optional: bool = False) -> Any:
    """Return the shape of variances: "spherical" or "diagonal"; None, if `optional`, for means only."""
    return one_of("covariance", covariance, ("spherical", "diagonal", None)[: 3 if optional else 2])


def is_finite(array: npt.NDArray[Any]) -> bool:
    """Return whether all numbers of an array are finite.

    Examples
    --------
    >>> is_finite(np.array([1.0, np.nan]))
    False
    """
    if array.dtype.kind != "f":
        return True
    with np.errstate(all="ignore"):  # a finite sum has finite terms; any other sum needs a closer look
        return bool(np.isfinite(array.sum()) or np.isfinite(array).all())


def counted(number: int, noun: str) -> str:
    """Return a number with a noun, in the plural unless the number is 1.

    Examples
    --------
    >>> counted(1, "epoch"), counted(2, "epoch")
    ('1 epoch', '2 epochs')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def needs(module: str, extra: str | None = None, package: str | None = None) -> Any:
    """Import a module, or say how to install it: as an extra of densvec, or its own package.

    Examples
    --------
    >>> needs("no_such_engine", "search")
    Traceback (most recent call last):
    ImportError: no_such_engine is not installed: pip install 'densvec[search]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise  # the module is installed, but something that it needs is not
        wanted = f"'densvec[{extra}]'" if extra else package or module.partition(".")[0]
        raise ImportError(f"{module} is not installed: pip install {wanted}") from None


def refuse_bytes(words: Any) -> None:
    """Raise TypeError if words are given as bytes.

    Examples
    --------
    >>> refuse_bytes(b"the dog")
    Traceback (most recent call last):
    TypeError: b'the dog' is bytes, and words are text: decode it first, b'the dog'.decode()
    """
    if isinstance(words, _BYTES):
        shown = bytes(words[:40])
        raise TypeError(f"{shown!r} is bytes, and words are text: decode it first, {shown!r}.decode()")
