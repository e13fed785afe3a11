"""fastText's binary models: the vectors of their words, each the mean of its own row and those of its n-grams."""

from __future__ import annotations

import struct
from typing import IO, Any

import numpy as np

from densvec.files.streams import faults_named
from densvec.types import Array, Floats, PathLike

_MAGIC = 793712314
_VERSION = 12
_ARGUMENTS = struct.Struct("<12id")  # dim … lrUpdateRate, t
_LONGEST_WORD = 1 << 16


def is_fasttext(start: bytes) -> bool:
    """Return whether a file that begins with these bytes is a fastText model."""
    return len(start) >= 4 and struct.unpack("<i", start[:4])[0] == _MAGIC


def read_fasttext(path: PathLike) -> tuple[list[str], Floats, Array]:
    """Return the words of a fastText ``.bin`` file, their vectors, and their counts."""
    with faults_named(path), open(path, "rb") as file:
        try:
            return _read(file)
        except (struct.error, EOFError, IndexError) as error:
            raise ValueError(f"{path}: the file is truncated or damaged: {error}") from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None


def _read(file: IO[bytes]) -> tuple[list[str], Floats, Array]:
    magic, version = _unpack(file, "<ii")
    if magic != _MAGIC:
        raise ValueError("this is not a fastText model")
    if version != _VERSION:
        raise ValueError(
            f"the file has fastText's format version {version}; only version {_VERSION} can be read"
        )
    values = _ARGUMENTS.unpack(_exactly(file, _ARGUMENTS.size))
    dimension, buckets, shortest, longest = values[0], values[8], values[9], values[10]
    size, n_words, _, _, pruned = _unpack(file, "<iiiqq")
    words, counts = [], []
    for _ in range(size):
        word = _until_nul(file)
        count, kind = _unpack(file, "<qb")
        if kind == 0:  # not a label
            words.append(word)
            counts.append(count)
    if len(words) != n_words:
        raise ValueError(f"the dictionary has {len(words)} words, not {n_words}")
    file.seek(8 * max(pruned, 0), 1)
    (quantised,) = _unpack(file, "<?")
    if quantised:
        raise ValueError("the model is quantised (.ftz): use the .bin it was made from")
    rows, columns = _unpack(file, "<qq")
    if columns != dimension or rows < n_words:
        raise ValueError(
            f"the matrix is {rows} by {columns}: {n_words} words of {dimension} numbers were expected"
        )
    data = _exactly(file, 4 * rows * columns)
    matrix = np.frombuffer(data, "<f4").reshape(rows, columns)
    vectors = np.empty((n_words, dimension), dtype=np.float32)
    for i, word in enumerate(words):
        grams = _ngrams(word, shortest, longest, buckets) if buckets and longest > 0 else []
        vectors[i] = matrix[[i, *(size + gram for gram in grams)]].mean(axis=0)
    text = [word.decode("utf-8", "replace") for word in words]
    return text, vectors, np.array(counts, dtype=np.int64)


def _ngrams(word: bytes, shortest: int, longest: int, buckets: int) -> list[int]:
    """Return the numbers of a word's n-grams, in the order of fastText; the end of a sentence has none."""
    if word == b"</s>":
        return []
    whole = b"<" + word + b">"
    starts = [i for i, byte in enumerate(whole) if byte & 0xC0 != 0x80]  # of characters, in UTF-8
    starts.append(len(whole))
    found = []
    for first in range(len(starts) - 1):
        for length in range(shortest, longest + 1):
            last = first + length
            if last >= len(starts):
                break
            if length == 1 and (first == 0 or last == len(starts) - 1):
                continue  # the brackets alone
            found.append(_hash(whole[starts[first] : starts[last]]) % buckets)
    return found


def _hash(data: bytes) -> int:
    """Return fastText's variant of FNV-1a, which takes bytes as signed."""
    value = 2166136261
    for byte in data:
        value = ((value ^ (byte | 0xFFFFFF00 if byte & 0x80 else byte)) * 16777619) & 0xFFFFFFFF
    return value


def _unpack(file: IO[bytes], form: str) -> Any:
    return struct.unpack(form, _exactly(file, struct.calcsize(form)))


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise EOFError(f"expected {size:,} bytes, found {len(data):,}")
    return data


def _until_nul(file: IO[bytes]) -> bytes:
    parts = bytearray()
    while (byte := _exactly(file, 1)) != b"\0":
        parts += byte
        if len(parts) > _LONGEST_WORD:
            raise ValueError("a word has no end")
    return bytes(parts)
