"""Changes to the bytes of a file: blind ones, and cunning ones that keep it a file."""

from __future__ import annotations

import itertools
import json
import pickletools
import struct
import tempfile
import zlib

import numpy as np

from densvec.files import persistence
from densvec.files.persistence import CHECKSUMS
from densvec.files.safetensors import DTYPES

NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    255,
    2**31,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    2**64,
    10**30,
    0.5,
    -0.0,
    1e308,
    1e-320,
]
VALUES = [
    *NUMBERS,
    None,
    True,
    False,
    "",
    "x",
    "\0",
    "\ud800",
    "NaN",
    [],
    {},
    [[]],
    [1, 2],
    {"a": 1},
    {"$float": "nan"},
]
FLOATS = [np.nan, np.inf, -np.inf, 3.4e38, -3.4e38, 1e-45, 0.0, -0.0, 1e30, -100.0, 100.0]


# Bytes, by one who knows nothing of the format. Every change must be found.


def flip_bits(content, rng):
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 8, 64])):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def flip_header_bits(content, rng):
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 2])):
        damaged[rng.randrange(min(8 + header_size(content), len(content)))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def truncate(content, rng):
    return content[: rng.randrange(len(content))]


def insert(content, rng):
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.randbytes(rng.choice([1, 1, 4, 8, 64, 5000])) + content[place:]


def remove(content, rng):
    start = rng.randrange(len(content))
    return content[:start] + content[start + rng.choice([1, 1, 4, 8, 64, 500]) :]


def overwrite(content, rng):
    start, size = rng.randrange(len(content)), rng.choice([1, 4, 8, 64, 512])
    return (
        content[:start]
        + rng.choice([bytes(size), b"\xff" * size, rng.randbytes(size)])
        + content[start + size :]
    )[: len(content)]


def move(content, rng):
    a, b, size = rng.randrange(len(content)), rng.randrange(len(content)), rng.choice([4, 64, 512])
    piece = content[a : a + size]
    return (content[:b] + piece + content[b + len(piece) :])[: len(content)]


def nonsense(content, rng):
    return rng.choice(
        [b"", b"{", rng.randbytes(200), struct.pack("<Q", 2) + b"{}", struct.pack("<Q", 2**63) + content]
    )


# The header, by an enemy who knows the format and puts the checksums right.


def header_size(content):
    return int.from_bytes(content[:8], "little")


def take_apart(content):
    size = header_size(content)
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def put_together(header, data):
    """Serialise the header and give it its right checksum, which follows the tensors'."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    start = len(text).to_bytes(8, "little") + text
    return start + data[:-4] + struct.pack("<I", zlib.crc32(start))


def mend_tensors(header, data):
    """Return the data with the right checksum for every tensor."""
    places = sorted(
        e["data_offsets"] for name, e in header.items() if name not in ("__metadata__", CHECKSUMS)
    )
    sums = [zlib.crc32(data[start:stop]) for start, stop in places]
    return data[: -4 * len(sums) - 4] + struct.pack(f"<{len(sums)}I", *sums) + data[-4:]


def change_json(value, rng, depth=0):
    """Change one thing somewhere in a JSON document."""
    if isinstance(value, dict) and value and (depth == 0 or rng.random() < 0.8):
        key = rng.choice(list(value))
        kind = rng.random()
        changed = dict(value)
        if kind < 0.1:
            del changed[key]
        elif kind < 0.15:
            changed[rng.choice(["", "x", *value])] = changed.pop(key)
        else:
            changed[key] = change_json(value[key], rng, depth + 1)
        return changed
    if isinstance(value, list) and value and rng.random() < 0.8:
        changed = list(value)
        place = rng.randrange(len(value))
        kind = rng.random()
        if kind < 0.1:
            del changed[place]
        elif kind < 0.2:
            changed.insert(place, rng.choice(VALUES))
        else:
            changed[place] = change_json(value[place], rng, depth + 1)
        return changed
    if isinstance(value, (int, float)) and not isinstance(value, bool) and rng.random() < 0.6:
        return rng.choice([value + 1, value - 1, value * 2, -value, *NUMBERS])
    return rng.choice(VALUES)


def change_header(content, rng):
    header, data = take_apart(content)
    for _ in range(rng.choice([1, 1, 2, 3])):
        header = change_json(header, rng)
    return put_together(header, data)


def change_document(content, rng):
    header, data = take_apart(content)
    document = json.loads(header["__metadata__"]["densvec"])
    for _ in range(rng.choice([1, 1, 2, 3])):
        document = change_json(document, rng)
    header["__metadata__"]["densvec"] = json.dumps(document)
    return put_together(header, data)


def monstrous_header(content, rng):
    header, data = take_apart(content)
    text = json.dumps(header).encode()
    return put_together(
        rng.choice(
            [
                b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
                b'{"a":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_001,
                text[:-1] + b',"x":' + b"9" * 10_000 + b"}",
                text[:-1] + b',"means":' + text + b"}",
                text.replace(b"means", b"\\u006deans", 1),
                text.replace(b'"shape"', b'"shape":[1],"shape"', 1),
                text + b" " * 100_000,
                text + b"\0",
                text.replace(b"[", b"[ \n\t", 3),
                b"{" + b",".join(b'"%d":0' % n for n in range(20_000)) + b"}",
            ]
        ),
        data,
    )


# The tensors, by the same enemy.


def change_numbers(content, rng):
    header, data = take_apart(content)
    name = rng.choice(
        [n for n, e in header.items() if n not in ("__metadata__", CHECKSUMS) and e["shape"] != [0]]
    )
    start, stop = header[name]["data_offsets"]
    if start == stop:
        return content
    changed = np.frombuffer(bytearray(data[start:stop]), DTYPES[header[name]["dtype"]])
    for _ in range(rng.choice([1, 1, 5])):
        place = rng.randrange(len(changed))
        if changed.dtype.kind == "f":
            with np.errstate(over="ignore"):
                changed[place] = rng.choice(FLOATS)
        else:
            changed[place] = np.array(rng.getrandbits(64) >> rng.choice([0, 32, 48, 56, 62]), "u8").astype(
                changed.dtype
            )
    data = data[:start] + changed.tobytes() + data[stop:]
    return put_together(header, mend_tensors(header, data))


def change_tensors(content, rng):
    """Drop, rename, retype, reshape or resize a tensor, with everything else in order."""
    with tempfile.NamedTemporaryFile(suffix=".dv") as file:
        file.write(content)
        file.flush()
        tensors, header = persistence.read(file.name)
        name = rng.choice(list(tensors))
        tensor = tensors[name]
        kind = rng.randrange(8)
        if kind == 0:
            del tensors[name]
        elif kind == 1:
            tensors[rng.choice(["x", "encoder.x", "training.x", "attributes.x", *tensors])] = tensors.pop(
                name
            )
        elif kind == 2:
            with np.errstate(all="ignore"):
                tensors[name] = tensor.astype(rng.choice(["f2", "f4", "f8", "i4", "i8", "u1", "?"]))
        elif kind == 3:
            tensors[name] = tensor.reshape(
                rng.choice([(-1,), (1, *tensor.shape), (*tensor.shape, 1), tensor.shape[::-1]])
            )
        elif kind == 4:
            tensors[name] = tensor[: rng.randrange(len(tensor) + 1)] if tensor.ndim else tensor[None]
        elif kind == 5:
            tensors[name] = np.concatenate([tensor, tensor[:1]]) if tensor.ndim else tensor[None]
        elif kind == 6:
            tensors[name] = tensors[rng.choice(list(tensors))]
        else:
            tensors[name] = np.zeros(rng.choice([(), (0,), (0, 0), (1, 1), (3, 0), (2, 2, 2)]), tensor.dtype)
        try:
            with np.errstate(all="ignore"):
                persistence.write(file.name, tensors, header)
        except ValueError:
            return content
        with open(file.name, "rb") as again:
            return again.read()


# A pickle, by an enemy who knows its operations.


def change_pickle(content, rng):
    """Replace, repeat, remove or move operations, or change their arguments."""
    places = [place for _, _, place in pickletools.genops(content)] + [len(content)]
    operations = [content[start:stop] for start, stop in itertools.pairwise(places)]
    for _ in range(rng.choice([1, 1, 2, 3])):
        i, j = rng.randrange(1, len(operations) - 1), rng.randrange(1, len(operations) - 1)
        code, argument = operations[i][:1], operations[i][1:]
        operations[i] = rng.choice(
            [
                rng.choice(pickletools.opcodes).code.encode("latin-1") + argument,
                code + rng.choice([b"\0", b"\xff", rng.randbytes(1)]) * len(argument),
                operations[i] * rng.choice([2, 3, 1000]),
                b"",
                operations[j],
                operations[i] + operations[j],
            ]
        )
    return b"".join(operations)


BLIND = [flip_bits, flip_header_bits, truncate, insert, remove, overwrite, move, nonsense]
CUNNING = [change_header, change_document, monstrous_header, change_numbers, change_tensors]
