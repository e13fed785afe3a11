"""Files of gensim, read without gensim: the words of a model with their counts, vectors and n-grams.

Such a file is a pickle, of which nothing is run (`densvec.files.pickles`). Larger arrays lie in files beside it, which
can be mapped.
"""

from __future__ import annotations

import errno
import io
import mmap
import os
import re
import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from densvec.checks import is_finite
from densvec.files.fasttext import NGrams, WordVectors
from densvec.files.persistence import BLOCK, LEAST_UNPACKED, MOST_COMPRESSION
from densvec.files.pickles import Held, read_pickle
from densvec.files.schema import tensor
from densvec.files.streams import is_remote, is_stream, local_path, open_stream
from densvec.types import Array, PathLike

# What gensim's pickles name. In __main__ are the callbacks of the script that trained the model.
_NAMES = re.compile(
    r"(gensim(\.\w+)+|__main__)\.\w+"
    r"|numpy\.(ndarray|dtype|(core|_core)\.(multiarray\.(_reconstruct|scalar)|numeric\._frombuffer))"
    r"|numpy\.random\.(_pickle\.)?__(randomstate|RandomState|bit_generator)_ctor|numpy\.random\._mt19937\.MT19937"
    r"|(builtins|__builtin__)\.(hash|int|long|float|str|bytes|bytearray|set|frozenset|object)"
    r"|(collections|UserString)\.(defaultdict|OrderedDict|Counter)|_codecs\.encode|(copyreg|copy_reg)\._reconstructor"
)
_NPY = re.compile(
    rb"\x93NUMPY.{4,6}?\{'descr': '([<>]f[248])', 'fortran_order': (True|False), "
    rb"'shape': \((\d{1,18})L?, (\d{1,18})L?\), \} *\n",
    re.DOTALL,
)


def is_gensim(start: bytes) -> bool:
    """Return whether a file that begins with these bytes is a pickle, of protocol 2 or later."""
    return len(start) > 2 and start[0] == 0x80 and 2 <= start[1] <= 5 and start[2:3] in (b"c", b"\x95")


def read_gensim(path: PathLike, mmap: str | None = None, max_bytes: int | None = None) -> WordVectors:
    """Return the words of what gensim's ``save`` wrote: KeyedVectors, or a model that has them.

    Vectors in files of their own are mapped with `mmap`. No more than `max_bytes` are unpacked from a compressed file,
    by default as many as from one of densvec's.
    """
    place = local_path(path)
    held = _unpickled(place, max_bytes)
    state = _state(held)
    if "wv" in state:
        state, place = _state(state["wv"]), place + ".wv"
    words = state.get("index_to_key", state.get("index2word"))
    if type(words) is not list or not {str, int}.issuperset(map(type, words)):
        raise ValueError(f"this is a {held.name}, which has no words with vectors")
    tables = {}
    for name in ("syn0", "vectors", "vectors_vocab", "vectors_ngrams"):
        table = None
        if name in state.get("__numpys", ()):
            table = _beside(f"{place}.{name}", local_path(path), mmap, max_bytes)
        elif state.get(name) is not None:
            table = _array(state[name])
        if table is not None:
            tables["vectors" if name == "syn0" else name] = table
    ngrams = None
    # Before 3.8, n-grams had other hashes, and only those that occurred had rows.
    if len(tables.get("vectors_ngrams", ())) == state.get("bucket") and state.get("compatible_hash"):
        table = tensor(tables, "vectors_ngrams", "f", (None, None))
        ngrams = NGrams(table, state["min_n"], state["max_n"])
    own = tensor(tables, "vectors" if "vectors" in tables else "vectors_vocab", "f", (len(words), None))
    vectors = own if ngrams is None or "vectors" in tables else ngrams.added_to(own, words)
    if mmap is None and not is_finite(vectors):  # not to read them is the point of mapping
        raise ValueError("the vectors hold NaN or infinite numbers")
    return WordVectors(words, vectors, _attributes(state, words), ngrams)


def _state(held: Any) -> dict[Any, Any]:
    """Return the attributes of an object."""
    if not isinstance(held, Held) or not isinstance(held.state, dict):
        raise ValueError("the pickle lacks an object of gensim, or the attributes of one")
    return held.state


def _attributes(state: Mapping[Any, Any], words: list[Any]) -> dict[str, Array]:
    """Return the attributes of the words that are numbers or text; gensim 3 has counts only."""
    if "vocab" in state:
        counts = (_state(state["vocab"][word])["count"] for word in words)
        return {"count": np.fromiter(counts, np.int64, len(words))}
    found = {str(name): _array(values) for name, values in (state.get("expandos") or {}).items()}
    return {
        name: tensor(found, name, values.dtype.kind, (len(words),))
        for name, values in found.items()
        if values.dtype != object or {str, int, float, bool, type(None)}.issuperset(map(type, values))
    }


def _array(held: Any) -> Array:
    """Return the array that an object of NumPy stands for."""
    if held.name.endswith("._frombuffer"):
        data, kind, shape, order = held.arguments
    else:
        _, shape, kind, in_columns, data = held.state
        order = "F" if in_columns else "C"
    code = kind.arguments[0]
    if code in ("O", "O8"):
        values = np.empty(len(data), object)
        for i, value in enumerate(data):
            values[i] = value
        return values
    if not re.fullmatch("[fiub][1248]", code):
        raise ValueError(f"an array has numbers of the type {code[:80]!r}")
    if isinstance(data, Held):
        data = data.arguments[0]  # of _codecs.encode: how protocol 2 writes bytes
    data = data.encode("latin-1") if isinstance(data, str) else data
    order_of_bytes = {"<": "<", ">": ">"}.get(kind.state[1], "|")
    array: Array = np.ndarray(shape, order_of_bytes + code, data, order=order)
    return np.array(array, array.dtype.newbyteorder("="), order="C")


def _unpickled(path: str, max_bytes: int | None) -> Any:
    """Return what the pickle in a file holds."""
    if is_stream(path):
        with open_stream(path) as file:
            data = _unpacked(file, path, max_bytes)
        return read_pickle(io.BytesIO(data), len(data), _NAMES)
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return read_pickle(mapped, len(mapped), _NAMES)  # type: ignore[arg-type]


def _beside(name: str, path: str, mapped: str | None, max_bytes: int | None) -> Array:
    """Return a table in a file of its own beside that of its model."""
    name += ".npz" if path.endswith((".gz", ".bz2")) else ".npy"
    if not is_remote(name) and not os.path.exists(name):
        raise FileNotFoundError(errno.ENOENT, f"it has vectors of {path} and must lie beside it", name)
    data: Any
    if name.endswith(".npz"):
        try:
            with open_stream(name) as file, zipfile.ZipFile(file).open("val.npy") as member:
                data = _unpacked(member, name, max_bytes)
        except (zipfile.BadZipFile, RuntimeError, KeyError) as error:
            raise ValueError(f"{name} is damaged: {error}") from error
    elif is_remote(name):
        with open_stream(name) as file:
            data = _unpacked(file, name, max_bytes)
    else:
        with open(name, "rb") as file:
            access = mmap.ACCESS_COPY if mapped == "c" else mmap.ACCESS_READ
            data = mmap.mmap(file.fileno(), 0, access=access)
    header = _NPY.match(data)
    if header is None:
        raise ValueError(f"{name} is not a table of numbers in a .npy file")
    kind, in_columns, shape = (
        np.dtype(header[1].decode()),
        header[2] == b"True",
        (int(header[3]), int(header[4])),
    )
    if len(data) - header.end() != shape[0] * shape[1] * kind.itemsize:
        raise ValueError(f"{name} is truncated, or its header wrong: it says {shape[0]} rows of {shape[1]}")
    table: Array = np.ndarray(shape, kind, data, header.end(), order="F" if in_columns else "C")
    return table if mapped and kind.isnative else np.array(table, kind.newbyteorder("="), order="C")


def _unpacked(file: IO[bytes], path: str, max_bytes: int | None) -> bytes:
    """Return the bytes of a file that is compressed or remote, if they are not too many."""
    if max_bytes is None and not is_remote(path):
        max_bytes = max(LEAST_UNPACKED, MOST_COMPRESSION * os.path.getsize(path))
    parts, size = [], 0
    while part := file.read(BLOCK):
        parts.append(part)
        size += len(part)
        if max_bytes is not None and size > max_bytes:
            raise ValueError(
                f"{path} unpacks to more than {max_bytes:,} bytes: give max_bytes if you trust it"
            )
    return b"".join(parts)
