"""fastText's binary models: the vectors of their words, each the mean of its own row and those of its n-grams."""

from __future__ import annotations

import mmap
import struct

import numpy as np

from densvec.files.streams import faults_named
from densvec.types import Array, Floats, PathLike

_MAGIC = 793712314
_VERSION = 12
_START = struct.Struct(
    "<2i12idiiiqq"
)  # magic, version; dim … lrUpdateRate, t; size, words, labels, tokens, pruned
_LONGEST_WORD = 1 << 16


def is_fasttext(start: bytes) -> bool:
    """Return whether a file that begins with these bytes is a fastText model."""
    return len(start) >= 4 and struct.unpack("<i", start[:4])[0] == _MAGIC


def read_fasttext(path: PathLike) -> tuple[list[str], Floats, Array]:
    """Return the words of a fastText ``.bin`` file, their vectors, and their counts."""
    try:
        with faults_named(path), open(path, "rb") as file:
            return _read(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError(f"{path}: the file is truncated or damaged: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read(data: mmap.mmap) -> tuple[list[str], Floats, Array]:
    magic, version, dimension, *arguments = _START.unpack_from(data)
    buckets, shortest, longest = arguments[7:10]
    size, n_words, _, _, pruned = arguments[12:]
    if magic != _MAGIC:
        raise ValueError("this is not a fastText model")
    if version != _VERSION:
        raise ValueError(
            f"the file has fastText's format version {version}; only version {_VERSION} can be read"
        )
    words, counts, place = [], [], _START.size
    for _ in range(size):
        end = data.find(b"\0", place, place + _LONGEST_WORD)
        if end < 0:
            raise ValueError("a word has no end: the file is truncated or damaged")
        count, kind = struct.unpack_from("<qb", data, end + 1)
        if kind == 0:  # not a label
            words.append(data[place:end])
            counts.append(count)
        place = end + 10
    if len(words) != n_words:
        raise ValueError(f"the dictionary has {len(words)} words, not {n_words}")
    place += 8 * max(pruned, 0)
    quantised, rows, columns = struct.unpack_from("<?qq", data, place)
    if quantised:
        raise ValueError("the model is quantised (.ftz): use the .bin it was made from")
    if columns != dimension or columns < 1 or rows < n_words:
        raise ValueError(
            f"the matrix is {rows} by {columns}: {n_words} words of {dimension} numbers were expected"
        )
    if place + 17 + 4 * rows * columns > len(data):
        raise ValueError(f"the file is truncated: the matrix of {rows} by {columns} is not all there")
    matrix = np.frombuffer(data, "<f4", rows * columns, place + 17).reshape(rows, columns)
    vectors = np.empty((n_words, dimension), dtype=np.float32)
    for i, word in enumerate(words):
        grams = _ngrams(word, max(shortest, 1), longest, buckets) if buckets and longest > 0 else []
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
