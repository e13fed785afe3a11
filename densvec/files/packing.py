"""Words as arrays and settings as JSON: how everything but tables is stored in a file."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from densvec.files.safetensors import parse_json


def pack_words(words: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    r"""Return a vocabulary as tensors: every word in UTF-8 with a NUL byte after it, and where each begins.

    Word ``i`` is ``bytes[offsets[i] : offsets[i + 1] - 1]``; a NUL inside a word is just a byte of it.
    """
    data = np.frombuffer(_encode("\0".join([*words, ""])), np.uint8)
    ends = np.flatnonzero(data == 0) + 1
    if len(ends) != len(words):  # some words contain a NUL themselves
        ends = np.cumsum([len(_encode(word)) + 1 for word in words])
    return {"vocabulary.bytes": data, "vocabulary.offsets": np.concatenate([[0], ends]).astype(np.int64)}


def unpack_words(tensors: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    """Return the words of `pack_words`."""
    return unpack_vocabulary(tensors)[0]


def unpack_vocabulary(tensors: Mapping[str, npt.NDArray[Any]]) -> tuple[list[str], dict[str, int]]:
    """Return the words of `pack_words` and their numbers.

    Inconsistent offsets, bytes that are not UTF-8 and repeated words are ValueErrors.
    """
    data, offsets = tensors["vocabulary.bytes"], tensors["vocabulary.offsets"]
    if data.dtype != np.uint8 or data.ndim != 1:
        raise ValueError(f"vocabulary.bytes is {data.dtype}{list(data.shape)}, not a row of uint8")
    if offsets.dtype != np.int64 or offsets.ndim != 1 or not len(offsets):
        raise ValueError(f"vocabulary.offsets is {offsets.dtype}{list(offsets.shape)}, not a row of int64")
    if offsets[0] != 0 or offsets[-1] != len(data) or (offsets[1:] <= offsets[:-1]).any():
        raise ValueError(f"vocabulary.offsets do not rise from 0 to the {len(data):,} of vocabulary.bytes")
    if data[offsets[1:] - 1].any():
        raise ValueError("vocabulary.offsets and vocabulary.bytes disagree: a word does not end in NUL")
    if len(data) - np.count_nonzero(data) == len(offsets) - 1:
        words = _decode(data.tobytes()).split("\0")[:-1]  # several times faster than word by word
    else:
        whole = data.tobytes()
        words = [_decode(whole[start : stop - 1]) for start, stop in itertools.pairwise(offsets.tolist())]
    index = dict(zip(words, range(len(words)), strict=True))
    if len(index) != len(words):
        twice = next(word for number, word in enumerate(words) if index[word] != number)
        raise ValueError(f"the vocabulary has the word {twice[:80]!r} twice")
    return words, index


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # text read with "surrogateescape" has halves of pairs


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ValueError(f"the vocabulary is not UTF-8: {error.reason} at byte {error.start:,}") from None


def dump_json(document: Any) -> str:
    """Return compact JSON; NumPy scalars become numbers and a non-finite float ``{"$float": "nan"}``."""
    return json.dumps(_plain(document, "header"), separators=(",", ":"), allow_nan=False)


def load_json(text: str) -> Any:
    """Return the document of `dump_json`."""
    return _restore_floats(parse_json(text))


def _plain(value: Any, place: str) -> Any:
    """Return a JSON value as plain Python, or say which part of the document is not JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(float(value))}
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"{place} has the key {key!r}: a file's keys are strings")
            if key == "$float":
                raise TypeError(f"{place} has the key '$float', which is reserved for densvec")
        return {key: _plain(item, f"{place}[{key!r}]") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{place}[{number}]") for number, item in enumerate(value)]
    raise TypeError(
        f"{place} has type {type(value).__name__}, which a file cannot hold: use numbers, strings, lists"
    )


def _restore_floats(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"$float"}:
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[value["$float"]]
        return {key: _restore_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_restore_floats(item) for item in value]
    return value
