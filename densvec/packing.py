"""Words as arrays and settings as JSON: how what is not a table gets into a file."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from densvec.tensorfile import parse_json


def pack_words(words: Sequence[str]) -> dict[str, npt.NDArray[Any]]:
    """Return a vocabulary as tensors: the words' UTF-8 bytes end to end, and where each word begins and ends.

    Examples
    --------
    >>> pack_words(["a", "bc"])["vocabulary.offsets"]
    array([0, 1, 3])
    """
    encoded = [_encode(word) for word in words]
    offsets = np.zeros(len(words) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(words)), out=offsets[1:])
    return {"vocabulary.bytes": np.frombuffer(b"".join(encoded), np.uint8), "vocabulary.offsets": offsets}


def unpack_words(tensors: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    """Return the words of `pack_words`; offsets that go astray, bad UTF-8 and a word twice are ValueErrors.

    Examples
    --------
    >>> unpack_words(pack_words(["a", "bc"]))
    ['a', 'bc']
    """
    data, offsets = tensors["vocabulary.bytes"], tensors["vocabulary.offsets"]
    if data.dtype != np.uint8 or data.ndim != 1:
        raise ValueError(f"vocabulary.bytes is {data.dtype}{list(data.shape)}, not a row of uint8")
    if offsets.dtype != np.int64 or offsets.ndim != 1 or not len(offsets):
        raise ValueError(f"vocabulary.offsets is {offsets.dtype}{list(offsets.shape)}, not a row of int64")
    if offsets[0] != 0 or offsets[-1] != len(data) or (offsets[1:] < offsets[:-1]).any():
        raise ValueError(f"vocabulary.offsets do not rise from 0 to the {len(data):,} of vocabulary.bytes")
    # Decoding everything at once and cutting the string is several times faster than decoding every word.
    starts_character = (data & 0xC0) != 0x80
    if not starts_character[offsets[:-1][offsets[:-1] < len(data)]].all():
        raise ValueError("vocabulary.offsets cut a UTF-8 character in two")
    text = _decode(data.tobytes())
    places = np.zeros(len(data) + 1, np.int64)
    np.cumsum(starts_character, out=places[1:])
    cuts = places[offsets].tolist()
    words = [text[start:stop] for start, stop in itertools.pairwise(cuts)]
    if len(set(words)) != len(words):
        seen: set[str] = set()
        twice = next(word for word in words if word in seen or seen.add(word))  # type: ignore[func-returns-value]
        raise ValueError(f"the vocabulary has the word {twice[:80]!r} twice")
    return words


def _encode(word: str) -> bytes:
    try:
        return word.encode()
    except UnicodeEncodeError:  # half a surrogate pair, from text read with errors="surrogateescape"
        return word.encode("utf-8", "surrogatepass")


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
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
                raise TypeError(f"{place} has the key '$float', which densvec keeps for itself")
        return {key: _plain(item, f"{place}[{key!r}]") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{place}[{number}]") for number, item in enumerate(value)]
    raise TypeError(
        f"{place} is a {type(value).__name__}, which a file cannot hold: use numbers, strings, lists, dicts"
    )


def _restore_floats(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"$float"}:
            return {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[value["$float"]]
        return {key: _restore_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_restore_floats(item) for item in value]
    return value
