"""The word2vec format, text and binary: a word and its numbers, row after row.

Only the format: words and arrays in, words and arrays out. Nothing in a file is trusted: what its header
promises is allocated only as rows are really read, and damage is a ValueError that names the file and the
line.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from densvec.files.schema import LARGEST
from densvec.files.streams import faults_named, is_stream, local_path, open_for_writing, open_stream
from densvec.types import Floats, PathLike

logger = logging.getLogger(__name__)

#: Words, and the rows of numbers that belong to them.
WordRows: TypeAlias = tuple[list[str], Floats]

_CHUNK_BYTES = 1 << 22
_BLOCK_ROWS = 4096
_LONGEST_WORD = 1 << 16


class TruncatedFileError(ValueError, EOFError):
    """A file ends before all the vectors that its header promises."""


@dataclass(frozen=True)
class Options:
    """How to read a file."""

    binary: bool = False  # whether the numbers are float32 in binary
    encoding: str = "utf8"  # of the words; with `errors`, as for bytes.decode
    errors: str = "strict"
    limit: int | None = None  # the most vectors to read
    dtype: npt.DTypeLike = np.float32
    no_header: bool = False  # whether the file starts with a vector, as GloVe's files do

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 0:
            raise ValueError(f"limit={self.limit} is below 0: give the most vectors to read, or None")


def read(path: PathLike, options: Options | None = None) -> WordRows:
    """Return the words of a file and their vectors; a repeated word keeps its first vector."""
    options = options or Options()
    words: dict[str, None] = {}
    vectors = np.empty((0, 0), dtype=options.dtype)
    for block_words, block in read_blocks(path, options):
        fresh = []
        for i, word in enumerate(block_words):
            if word in words:
                logger.warning("%s: the word %r occurs twice; its first vector is kept", path, word)
            else:
                words[word] = None
                fresh.append(i)
        have = len(words) - len(fresh)
        if len(words) > len(vectors) or not len(vectors):
            # resize grows the array where it lies, if it can: never two copies of a large one.
            vectors.resize((max(len(words), 2 * len(vectors)), block.shape[1]), refcheck=False)
        vectors[have : len(words)] = block[fresh]
    vectors.resize((len(words), vectors.shape[1]), refcheck=False)
    return list(words), vectors


def read_blocks(path: PathLike, options: Options | None = None) -> Iterator[WordRows]:
    """Yield the words and vectors of a file, some thousand rows at a time; one empty block if none."""
    options = options or Options()
    if options.binary and options.no_header:
        raise NotImplementedError(
            "no_header only works with text: a binary file without header has no known size"
        )
    with _open(path) as file:
        source = _Source(file, path)
        count, size = (None, None) if options.no_header else _read_header(source)
        if options.binary:
            _refuse_text(file, path, size)
        if options.limit:
            count = options.limit if count is None else min(options.limit, count)
        rows = (
            _binary_rows(source, count, size, options)
            if options.binary
            else _text_rows(source, count, size, options)
        )
        words: list[str] = []
        numbers: list[Any] = []
        yielded = False
        for word, row in rows:
            words.append(word)
            numbers.append(row)
            if len(words) == _BLOCK_ROWS:
                yield words, _finite(path, words, _matrix(numbers, options))
                words, numbers, yielded = [], [], True
        if words:
            yield words, _finite(path, words, _matrix(numbers, options))
        elif not yielded:
            yield [], np.empty((0, size or 0), dtype=options.dtype)


def write(
    path: PathLike,
    words: Sequence[str],
    vectors: Floats,
    *,
    binary: bool = False,
    header: int | None = -1,
    prefix: str = "",
    append: bool = False,
) -> None:
    """Write words and their vectors.

    Parameters
    ----------
    path : str or PathLike
        The file.
    words : sequence of str
        None of them may contain white space, which separates the fields of the format.
    vectors : numpy.ndarray, shape (n, D)
        A row for each word.
    binary : bool, optional
        Whether to write the numbers as float32 in binary.
    header : int or None, optional
        The count that the header states, −1 for the true one; None for no header.
    prefix : str, optional
        What to put in front of each word.
    append : bool, optional
        Whether to append to a file that exists. Otherwise the file appears, or is replaced, when it is whole.
    """
    for word in words:
        if not isinstance(word, str):
            raise ValueError(
                f"the word2vec format holds words only: got the key {word!r} of type {type(word).__name__}"
            )
        if not word or any(character.isspace() for character in word):
            raise ValueError(
                f"the word2vec format cannot hold the word {word!r}: it is empty or has white space"
            )
    with open(local_path(path), "ab") if append else open_for_writing(path) as file:
        if header is not None:
            file.write(f"{len(words) if header < 0 else header} {vectors.shape[1]}\n".encode())
        for start in range(0, len(words), _BLOCK_ROWS):
            block = _finite(path, words[start : start + _BLOCK_ROWS], vectors[start : start + _BLOCK_ROWS])
            file.write(b"".join(_lines(words[start : start + _BLOCK_ROWS], block, binary, prefix)))


def read_counts(path: PathLike, encoding: str = "utf8", errors: str = "strict") -> dict[str, int]:
    """Return the counts of a vocabulary file: a word and its count on each line."""
    counts = {}
    with _open(path) as file:
        source = _Source(file, path)
        while line := source.line():
            fields = line.split()
            if len(fields) != 2:
                raise source.error(f"expected a word and its count, got {len(fields)} fields")
            try:
                count = int(fields[1])
            except ValueError:
                raise source.error(f"the count {_shown(fields[1])} is not an integer") from None
            if not 0 <= count <= LARGEST:
                raise source.error(f"the count {_shown(fields[1])} is not between 0 and 2**53")
            counts[fields[0].decode(encoding, errors)] = count
    return counts


def write_counts(path: PathLike, words: Iterable[str], counts: Iterable[Any], prefix: str = "") -> None:
    """Write a vocabulary file: a word and its count on each line."""
    with open_for_writing(path) as file:
        file.writelines(
            f"{prefix}{word} {count}\n".encode() for word, count in zip(words, counts, strict=True)
        )


def _refuse_text(file: IO[bytes], path: PathLike, size: int | None) -> None:
    """Raise ValueError if a supposedly binary file goes on with a line of text after its header."""
    peek = getattr(file, "peek", None)
    fields = [] if peek is None else bytes(peek(1)).partition(b"\n")[0].split()
    if size is None or len(fields) != size + 1:
        return
    try:
        list(map(float, fields[1:]))
    except ValueError:
        return
    raise ValueError(
        f"{local_path(path)}: this is a text file (its first vector is written in digits): leave out binary"
    )


class _Source:
    """An open file that counts its lines, for error messages."""

    def __init__(self, file: IO[bytes], path: PathLike) -> None:
        self.file = file
        self.path = path
        self.lines = 0  # read so far
        self._longest = _LONGEST_WORD

    def line(self) -> bytes:
        """Return the next line, or nothing at the end of the file."""
        line = self.file.readline(self._longest)
        self.lines += bool(line)
        if len(line) == self._longest and not line.endswith(b"\n"):
            raise self.error(f"no end of line within {self._longest:,} bytes; is this a text file?")
        return line

    def expect(self, numbers: int) -> None:
        """Allow lines long enough for this many numbers."""
        self._longest = max(self._longest, _LONGEST_WORD + 64 * min(numbers, 1 << 24))

    def error(self, message: str) -> ValueError:
        """Return the error to raise about the line read last."""
        return ValueError(f"{local_path(self.path)}: line {self.lines}: {message}")

    def truncated(self, found: int, count: int) -> TruncatedFileError:
        """Return the error to raise when the file ends too early."""
        return TruncatedFileError(
            f"{local_path(self.path)}: unexpected end after {found:,} of {count:,} vectors; the file is "
            "truncated, or its header wrong"
        )


@contextlib.contextmanager
def _open(path: PathLike) -> Iterator[IO[bytes]]:
    try:
        stream = is_stream(path)
        with faults_named(path), open_stream(path) if stream else open(local_path(path), "rb") as file:
            yield file
    except UnicodeDecodeError as error:
        error.reason += f", in {local_path(path)}; give its encoding, or unicode_errors='replace'"
        raise


def _read_header(source: _Source) -> tuple[int, int]:
    line = source.line()
    fields = line.split()
    try:
        count, size = (int(field) for field in fields)
    except ValueError:
        raise source.error(
            f"expected a header of two integers, got {_shown(line)}; no_header=True reads files without one"
        ) from None
    if count < 0 or size < 1:
        raise source.error(f"the header promises {count} vectors of {size} numbers")
    return count, size


def _text_rows(
    source: _Source, count: int | None, size: int | None, options: Options
) -> Iterator[tuple[str, list[float]]]:
    """Yield words and their numbers; all that the file has if `count` is None."""
    source.expect(size or 0)
    found = 0
    while count is None or found < count:
        line = source.line()
        if not line:
            if count is not None and not options.no_header:
                raise source.truncated(found, count)
            return
        fields = line.rstrip().split(b" ")
        if size is None:
            size = _numbers_at_end(line.split()[1:])
            if size < 1:
                raise source.error(f"expected a word and its numbers, got {_shown(line)}")
        if len(fields) != size + 1:
            fields = line.split()  # tabs, or several spaces
        if len(fields) > size + 1 and not is_number(fields[-size - 1]):
            fields = [b" ".join(fields[:-size]), *fields[-size:]]  # a word with spaces: GloVe has ". . ."
        if len(fields) != size + 1:
            raise source.error(f"expected a word and {size} numbers, got {len(fields)} fields")
        try:
            numbers = list(map(float, fields[1:]))
        except ValueError:
            bad = next(field for field in fields[1:] if not is_number(field))
            raise source.error(f"{_shown(bad)} is not a number") from None
        yield _decoded(fields[0], options, f"line {source.lines} of {local_path(source.path)}"), numbers
        found += 1


def _binary_rows(
    source: _Source, count: int | None, size: int | None, options: Options
) -> Iterator[tuple[str, bytes]]:
    """Yield words and the bytes of their float32 numbers."""
    assert count is not None
    assert size is not None
    width = 4 * size
    buffer, place = b"", 0
    for found in range(count):
        # Enough for the longest word; then the numbers in pieces: memory grows only with what the file really holds.
        blank = buffer.find(b" ", place)
        while blank < 0 or len(buffer) < blank + 1 + width:
            if blank < 0 and len(buffer) - place > _LONGEST_WORD:
                raise ValueError(
                    f"{local_path(source.path)}: vector {found + 1} of {count:,}: no word within "
                    f"{_LONGEST_WORD:,} bytes; is this a binary file of this vector size?"
                )
            more = source.file.read(_CHUNK_BYTES)
            if not more:
                raise source.truncated(found, count)
            buffer, place = buffer[place:] + more, 0
            blank = buffer.find(b" ", place)
        name = buffer[place:blank].lstrip(b"\n")
        word = _decoded(name, options, f"vector {found + 1} of {local_path(source.path)}")
        place = blank + 1 + width
        yield word, buffer[blank + 1 : place]


def _decoded(word: bytes, options: Options, place: str) -> str:
    try:
        return word.decode(options.encoding, options.errors)
    except UnicodeDecodeError as error:
        error.reason += f", in {place}; give its encoding, or unicode_errors='replace'"
        raise


def _matrix(rows: list[Any], options: Options) -> Floats:
    if options.binary:
        stored = np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(rows), -1)
        return stored.astype(options.dtype, copy=False)
    with np.errstate(over="ignore"):  # infinite numbers are refused anyway
        return np.array(rows, dtype=np.float64).astype(options.dtype)


def _finite(path: PathLike, words: Sequence[str], rows: Floats) -> Floats:
    """Return the rows; ValueError if one of them contains numbers that a model cannot use."""
    odd = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(odd):
        raise ValueError(f"{local_path(path)}: NaN or infinity among the numbers of {words[odd[0]]!r}")
    return rows


def _lines(words: Sequence[str], vectors: Floats, binary: bool, prefix: str) -> Iterator[bytes]:
    if binary:
        rows = vectors.astype("<f4")
        for word, row in zip(words, rows, strict=True):
            yield f"{prefix}{word} ".encode() + row.tobytes()
    else:
        for word, row in zip(words, vectors, strict=True):
            # str, not tolist: the shortest digits that give back a float32 are fewer than a float64's.
            yield f"{prefix}{word} {' '.join(map(str, row))}\n".encode()


def _numbers_at_end(fields: Sequence[bytes]) -> int:
    """Return how many fields at the end are numbers."""
    return sum(1 for _ in itertools.takewhile(is_number, reversed(fields)))


def is_number(field: bytes) -> bool:
    """Whether a field is the text of a number."""
    try:
        float(field)
    except ValueError:
        return False
    return True


def _shown(data: bytes) -> str:
    """Return bytes of a file for an error message, shortened if necessary."""
    text = data.decode("utf8", "backslashreplace").strip()
    return repr(text if len(text) <= 60 else text[:60] + "…")
