"""The safetensors layout: what is where in a file, checked before a byte of data is touched.

A file is an 8-byte little-endian length, that many bytes of JSON, and the tensors' bytes without gaps. The
JSON maps each tensor's name to its dtype, shape and place, and ``__metadata__`` to a dictionary of strings.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

HEADER_LIMIT = 8 << 20  # bytes of JSON; hostile JSON takes 20 times its own size in memory when parsed
ALIGNMENT = 64  # the data start at a multiple of it: the header is padded with spaces, as the format allows
_LARGEST = 2**63 - 1

DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}


@dataclass(frozen=True)
class Entry:
    """One tensor of a file: its name, type, shape and the place of its bytes after the header."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int
    stop: int


def header_length(prefix: bytes, size: int | None) -> int:
    """Return the length of the JSON from the first 8 bytes of a file of ``size`` bytes (None: a stream)."""
    if len(prefix) < 8:
        raise ValueError(f"the file is only {len(prefix)} bytes long: truncated, or not a safetensors file")
    length = int.from_bytes(prefix, "little")
    if size is not None and length > size - 8:
        raise ValueError(
            f"the header claims {length:,} bytes, {size - 8:,} follow: truncated, or not a safetensors file"
        )
    if length > HEADER_LIMIT:
        raise ValueError(f"the header claims {length:,} bytes, more than the {HEADER_LIMIT:,} allowed")
    return length


def parse_header(text: bytes, data_size: int | None) -> tuple[list[Entry], dict[str, str]]:
    """Return the tensors, in the order of their bytes, and the metadata.

    The tensors must fill the data from end to end, without a gap or an overlap, and their shapes must agree
    with their places. With ``data_size=None`` (a stream) the last tensor's end is the size.
    """
    if not text.startswith(b"{"):
        raise ValueError("the header does not start with '{': not a safetensors file")
    document = parse_json(text)
    if not isinstance(document, dict):
        raise ValueError("the header is not a JSON object")
    metadata = document.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("__metadata__ is not a JSON object of strings")
    entries = [_entry(name, fields) for name, fields in document.items()]
    entries.sort(key=lambda entry: (entry.start, entry.stop))
    place = 0
    for entry in entries:
        if entry.start != place:
            problem = "overlaps the tensor before it" if entry.start < place else "leaves a gap before it"
            raise ValueError(f"tensor {entry.name!r} {problem}: it starts at {entry.start}, not at {place}")
        place = entry.stop
    if data_size is not None and place != data_size:
        problem = "the file is truncated" if place > data_size else "some bytes belong to no tensor"
        raise ValueError(f"the tensors need {place:,} bytes, {data_size:,} follow the header: {problem}")
    return entries, metadata


def build_header(
    tensors: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str], last: str
) -> tuple[bytes, list[str]]:
    """Return the first bytes of a file, up to its data, and the tensors' names in the order of their bytes.

    Wider types come first so that every tensor is aligned to its own item size, then names in order; the
    tensor called ``last`` ends the file.
    """
    names = sorted(tensors, key=lambda name: (name == last, -tensors[name].dtype.itemsize, name))
    document: dict[str, Any] = {"__metadata__": dict(metadata)}
    place = 0
    for name in names:
        tensor = tensors[name]
        dtype = tensor.dtype.newbyteorder("<")
        if dtype not in DTYPE_NAMES:
            raise TypeError(f"tensor {name!r} has dtype {tensor.dtype}, which a safetensors file cannot hold")
        if name == "__metadata__":
            raise ValueError("a tensor cannot be called '__metadata__'")
        document[name] = {
            "dtype": DTYPE_NAMES[dtype],
            "shape": list(tensor.shape),
            "data_offsets": [place, place + tensor.nbytes],
        }
        place += tensor.nbytes
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    if len(text) > HEADER_LIMIT:
        raise ValueError(
            f"the header would have {len(text):,} bytes; no more than {HEADER_LIMIT:,} are allowed"
        )
    return len(text).to_bytes(8, "little") + text, names


def parse_json(text: bytes | str) -> Any:
    """Parse strict JSON: no duplicate keys, NaN, Infinity or absurd nesting; every fault is a ValueError."""
    try:
        if isinstance(text, bytes):
            text = text.decode()
        return json.loads(text, object_pairs_hook=_object, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"the header is not UTF-8: {error}") from None
    except RecursionError:
        raise ValueError("the header's JSON is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"the header is not JSON: {error}") from None


def _object(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the header has the key {key[:80]!r} twice")
        result[key] = value
    return result


def _refuse_constant(name: str) -> None:
    raise ValueError(f"the header contains {name}, which is not JSON")


def _entry(name: str, fields: Any) -> Entry:
    """Check the description of one tensor."""
    label = f"tensor {name[:80]!r}"
    if not isinstance(fields, dict) or set(fields) != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{label} is not described by dtype, shape and data_offsets")
    dtype = DTYPES.get(fields["dtype"]) if isinstance(fields["dtype"], str) else None
    if dtype is None:
        raise ValueError(f"{label} has the unknown dtype {str(fields['dtype'])[:80]!r}")
    shape, offsets = fields["shape"], fields["data_offsets"]
    if not _are_sizes(shape) or len(shape) > 32:
        raise ValueError(f"{label} has an impossible shape: {str(shape)[:80]}")
    if not _are_sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ValueError(f"{label} has impossible data_offsets: {str(offsets)[:80]}")
    if math.prod(size for size in shape if size) * dtype.itemsize > _LARGEST:
        raise ValueError(f"{label} has an impossible shape: {str(shape)[:80]}")
    start, stop = offsets
    needed = math.prod(shape) * dtype.itemsize
    if needed != stop - start:
        raise ValueError(
            f"{label} of shape {shape} needs {needed:,} bytes, data_offsets give {stop - start:,}"
        )
    return Entry(name, dtype, tuple(shape), start, stop)


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value <= _LARGEST for value in values)
