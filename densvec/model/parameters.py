"""Checks of what a user asked a model for."""

from __future__ import annotations

import math
import numbers
import os
from typing import Any

import numpy as np

__all__ = ["available_cores", "check_parameters"]

#: The least value of each whole-number parameter.
_LEAST = {
    "vector_size": 1,
    "window": 1,
    "workers": 1,
    "negative": 1,
    "epochs": 0,
    "min_count": 0,
    "batch_words": 1,
    "seed": 0,
}


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def check_parameters(parameters: dict[str, Any]) -> None:
    """Raise TypeError or ValueError for the first parameter that no model can be trained with.

    Examples
    --------
    >>> check_parameters({"window": 0})
    Traceback (most recent call last):
    ValueError: window=0 is too small: it must be at least 1
    >>> check_parameters({"sg": 0})
    Traceback (most recent call last):
    ValueError: sg=0 asks for CBOW, which predicts a word from its summed context: densvec's models ...
    """
    for name, least in _LEAST.items():
        if name in parameters:
            _check_integer(name, parameters[name], least)
    for name in ("alpha", "min_alpha", "sample"):
        if name in parameters:
            _check_real(name, parameters[name])
    _check_sampling(parameters)
    _check_meaningless(parameters)


def _check_integer(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={value!r} is not a whole number")
    if value < least:
        raise ValueError(f"{name}={value} is too small: it must be at least {least}")


def _check_real(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name}={value!r} is not a number")
    if not (math.isfinite(value) and value >= 0):
        raise ValueError(f"{name}={value} is not a finite number of at least 0")


def _check_sampling(parameters: dict[str, Any]) -> None:
    exponent = parameters.get("ns_exponent", "subsampled")
    if isinstance(exponent, str):
        if exponent != "subsampled":
            raise ValueError(f"ns_exponent={exponent!r} is unknown: use a number or 'subsampled'")
    elif isinstance(exponent, bool) or not isinstance(exponent, numbers.Real) or not math.isfinite(exponent):
        raise ValueError(f"ns_exponent={exponent!r} is not a finite number, nor 'subsampled'")


def _check_meaningless(parameters: dict[str, Any]) -> None:
    """Refuse what is meaningful in gensim but not here; accept its harmless values."""
    if not parameters.get("sg", 1):
        raise ValueError(
            "sg=0 asks for CBOW, which predicts a word from its summed context: densvec's models are "
            "skip-grams, sg=1"
        )
    if parameters.get("hs", 0):
        raise ValueError(
            "hs=1 asks for hierarchical softmax: densvec's models contrast words with negatives and have no "
            "softmax; leave hs=0"
        )
    if parameters.get("null_word", 0):
        raise ValueError(
            "null_word=1 asks for a padding word: densvec's windows are not padded; leave null_word=0"
        )
