"""fastText's binary models: the vectors of their words, each the mean of its own row and those of its n-grams."""

from __future__ import annotations

import itertools
import mmap
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from densvec.files.compact import Rows
from densvec.files.streams import faults_named
from densvec.types import Array, Floats, PathLike

_MAGIC = 793712314
_VERSIONS, _SUPERVISED = (11, 12), 3
_START = struct.Struct(
    "<2i12idiiiqq"
)  # magic, version; dim … lrUpdateRate, t; size, words, labels, tokens, pruned
_LONGEST_WORD = 1 << 16

NGRAMS = "ngrams"
"""The name of the vectors of n-grams among the arrays of a model's file."""


def is_fasttext(start: bytes) -> bool:
    """Return whether a file that begins with these bytes is a fastText model."""
    return len(start) >= 4 and struct.unpack("<i", start[:4])[0] == _MAGIC


@dataclass(frozen=True)
class NGrams:
    """fastText's vectors of character n-grams, which also words that it has not read are made of.

    Parameters
    ----------
    table : numpy.ndarray or CompactRows, shape (B, D)
        The vectors; the hash of an n-gram says which is its own.
    shortest, longest : int
        How many characters n-grams have, with the marks of a word's beginning and end.
    """

    table: Rows
    shortest: int
    longest: int

    def __post_init__(self) -> None:
        if not len(self.table) or {type(self.shortest), type(self.longest)} != {int}:
            raise ValueError("there are no n-grams, or their lengths are not numbers")

    def rows(self, word: str | bytes) -> list[int]:
        """Return the rows of a word's n-grams, in the order of fastText; the end of a sentence has none."""
        whole = b"<%b>" % (word.encode("utf-8", "replace") if isinstance(word, str) else word)
        if whole == b"<</s>>":
            return []
        starts = [i for i, byte in enumerate(whole) if byte & 0xC0 != 0x80]  # of characters, in UTF-8
        found = []
        for first, start in enumerate(starts):
            ends = [*starts[first + 1 :], len(whole)][: max(self.longest, 0)]
            value = 2166136261
            for length, (left, right) in enumerate(itertools.pairwise([start, *ends]), 1):
                for byte in whole[left:right]:  # FNV-1a, but fastText takes bytes as signed
                    value = ((value ^ (byte | 0xFFFFFF00 if byte & 0x80 else byte)) * 16777619) & 0xFFFFFFFF
                alone = length == 1 and (left == 0 or right == len(whole))  # a mark without a character
                if length >= self.shortest and not alone:
                    found.append(value % len(self.table))
        return found

    def vector(self, word: str) -> Floats | None:
        """Return the vector of a word that is not known, the mean of its n-grams'; None if it has no n-grams."""
        rows = self.rows(word)
        return self.table[rows].mean(axis=0) if rows else None

    def added_to(self, vectors: Floats, words: Sequence[str | bytes]) -> Floats:
        """Return the vectors of known words: the mean of what each has of its own and of its n-grams."""
        found = np.array(vectors)
        for i, word in enumerate(words):
            rows = self.rows(word)
            found[i] = (found[i] + self.table[rows].sum(axis=0)) / (1 + len(rows))
        return found


@dataclass
class WordVectors:
    """What a file of another program holds."""

    words: list[str]
    vectors: Floats
    attributes: dict[str, Array]
    ngrams: NGrams | None = None


def read_fasttext(path: PathLike, mapped: bool = False) -> WordVectors:
    """Return the words of a fastText ``.bin`` file with their counts, and its n-grams, which can be mapped."""
    try:
        with faults_named(path), open(path, "rb") as file:
            return _read(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), mapped)
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError(f"{path}: the file is truncated or damaged: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read(data: mmap.mmap, mapped: bool) -> WordVectors:
    magic, version, dimension, *arguments = _START.unpack_from(data)
    buckets, shortest, longest = arguments[7:10]
    size, n_words, _, _, pruned = arguments[12:]
    if magic != _MAGIC:
        raise ValueError("this is not a fastText model")
    if version not in _VERSIONS:
        raise ValueError(f"the file has fastText's format version {version}; 11 and 12 can be read")
    if version == 11 and arguments[6] == _SUPERVISED:  # these had no n-grams, whatever they say
        longest = 0
    words, counts, place = _read_words(data, size)
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
    text = [word.decode("utf-8", "replace") for word in words]
    attributes = {"count": np.array(counts, dtype=np.int64)}
    if not buckets or longest <= 0:
        return WordVectors(text, matrix[:n_words].copy(), attributes)
    table = matrix[n_words:]
    if len(table) != buckets:
        raise ValueError(f"the matrix has {len(table)} rows for {buckets} n-grams")
    ngrams = NGrams(table if mapped else table.copy(), shortest, longest)
    return WordVectors(text, ngrams.added_to(matrix[:n_words], words), attributes, ngrams)


def _read_words(data: mmap.mmap, size: int) -> tuple[list[bytes], list[int], int]:
    """Return the words and their counts, without the labels that follow them, and the place after all."""
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
    return words, counts, place
