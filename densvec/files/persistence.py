"""densvec's files: arrays and a JSON document in one safetensors file, described in docs/file_format.md.

Nothing in a file is ever executed, and nothing is allocated before the file's own size has confirmed what its
header says.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import IO, Any, TypeGuard, cast

import numpy as np
import numpy.typing as npt

from densvec._version import __version__
from densvec.checks import is_finite
from densvec.files.packing import dump_json, load_json
from densvec.files.safetensors import Entry, build_header, header_length, parse_header
from densvec.files.streams import (
    faults_named,
    is_remote,
    is_stream,
    local_path,
    open_binary,
    open_for_writing,
)
from densvec.types import Array, PathLike

FORMAT_VERSION = 2  # the newest that can be read; a file says 1 unless its tables are compact
CHECKSUMS = (
    "densvec.checksums"  # the CRC-32 of every other tensor, then of the header; always the last tensor
)
ATTRIBUTES = "attributes."  # tensors of the user's own, which alone may hold NaN and infinities
BLOCK = 1 << 20  # bytes; small enough to stay in the cache between copying, checking and writing
LEFT_UNREAD = (
    16 << 20
)  # bytes; a larger tensor is not read for checking when mapped: not reading it is the point of mapping
LEAST_UNPACKED, MOST_COMPRESSION = 64 << 20, 20  # what a compressed file may hold: bytes, times its size
_HEADER = "__metadata__"  # stands for the header among the names of tensors, where it cannot occur
FOREIGN = {
    b"\x80": "a pickle, such as gensim's own files: KeyedDensities.load(path) reads the words of those",
    b"PK\x03\x04": "a zip archive, such as a .npz or a torch file",
    b"\x93NUMPY": "a .npy file",
    b"\x1f\x8b": "gzip-compressed: decompress it, or give it a name that ends in .gz",
    b"\x89HDF": "an HDF5 file",
}


class DensvecFileError(ValueError):
    """A file is damaged, truncated, foreign, hostile or too new; the message names the file and the fault."""


def write(
    path: PathLike | IO[bytes], tensors: Mapping[str, Array], header: Mapping[str, Any]
) -> dict[str, Any]:
    """Write one file, atomically and durably.

    Parameters
    ----------
    path : str or PathLike
        A local path, or a URI that smart_open can write (``s3://…``). A name that ends in ``.gz``, ``.bz2``
        or ``.xz`` makes a compressed file, which cannot be mapped. A binary file that is open for writing
        also works, but is not written atomically.
    tensors : mapping of str to array
        Arrays of numbers; floats must be finite, except in tensors whose name starts with ``attributes.``.
    header : mapping
        A JSON document; NumPy scalars and non-finite floats are allowed. ``format``, ``format_version`` and
        ``provenance`` are added; a ``provenance`` that was read from a file keeps its date, so that saving
        again gives the same bytes.

    Returns
    -------
    dict
        The ``provenance`` that was written, for the next save.
    """
    version = 2 if header.get("compact") else 1
    document = {**header, "format": "densvec", "format_version": version, "checksums": "crc32"}
    document["provenance"] = provenance = _provenance(header.get("provenance"))
    if CHECKSUMS in tensors:
        raise ValueError(f"a tensor cannot be called {CHECKSUMS!r}: that name is reserved")
    arrays = {name: np.asarray(tensor) for name, tensor in tensors.items()}
    arrays[CHECKSUMS] = np.zeros((len(arrays) + 1, 4), np.uint8)
    start, names = build_header(arrays, {"densvec": dump_json(document)}, last=CHECKSUMS)
    with _open_target(path) as file:
        file.write(start)
        checksums = [_write_tensor(file, name, arrays[name]) for name in names[:-1]]
        file.write(np.array([*checksums, zlib.crc32(start)], "<u4").tobytes())
    return provenance


def read(
    path: PathLike | IO[bytes],
    *,
    mmap: str | None = None,
    only: Collection[str] | Callable[[str], bool] | None = None,
    max_bytes: int | None = None,
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Read a file: its tensors and its JSON document.

    Parameters
    ----------
    path : str or PathLike
        A local path, or a URI that smart_open can read, or a binary file that is open for reading.
    mmap : {None, "r", "c"}, optional
        Map the tensors instead of reading them: ``"r"`` read-only and shared between processes, ``"c"``
        copy-on-write (changes stay in this process). Tensors of more than 16 MiB are then not read, so their
        checksums and NaNs are not looked at: `verify` does.
    only : collection of str or predicate, optional
        Names of the tensors to read; those that the file lacks are left out. By default all.
    max_bytes : int, optional
        How large the tensors may be. By default a compressed local file may hold twenty times its own size, or 64
        MiB if that is more; no model compresses that well, but a file of a few hundred kilobytes made to do so could
        fill the memory. Nothing is unpacked before this is checked.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DensvecFileError
        If the file is not a complete densvec file of a version that this densvec knows.
    """
    if mmap not in (None, "r", "c"):
        raise ValueError(f"mmap={mmap!r}: use None, 'r' (read-only, shared) or 'c' (copy-on-write)")
    wanted = _predicate(only)
    name = _name(path)
    if mmap and (_is_file(path) or is_stream(name)):
        raise ValueError(f"mmap={mmap!r}: only an uncompressed local file can be mapped, not {name}")
    with faults_of(name):
        if _is_file(path):
            return _Reader(path, None, most=max_bytes).read(wanted)
        if is_stream(name):
            if max_bytes is None and not is_remote(name):
                max_bytes = max(LEAST_UNPACKED, MOST_COMPRESSION * os.path.getsize(name))
            with open_binary(name) as file:
                return _Reader(file, None, most=max_bytes).read(wanted)
        with _open_local(name) as file:
            return _Reader(file, os.fstat(file.fileno()).st_size, mmap, most=max_bytes).read(wanted)


def verify(path: PathLike) -> None:
    """Read a local file whole, in little memory; raise DensvecFileError if a byte is not as it was saved."""
    with faults_of(path), _open_local(local_path(path)) as file:
        _Reader(file, os.fstat(file.fileno()).st_size, "r", left_unread=sys.maxsize).read(lambda name: True)


def check_loadable(
    restore: Callable[[dict[str, Any], Mapping[str, Array]], Any],
    header: Mapping[str, Any],
    tensors: Mapping[str, Array],
) -> None:
    """Raise ValueError if a file of this header and these tensors could be written, but not loaded by `restore`."""
    document = load_json(dump_json({**header}))
    try:
        restore(document, tensors)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise ValueError(f"this cannot be saved, because the file could not be loaded: {error}") from error


@contextlib.contextmanager
def faults_of(path: PathLike | IO[bytes]) -> Iterator[None]:
    """Turn errors in a file's content into a DensvecFileError that names the file; other errors name it, too."""
    name = _name(path)
    try:
        with faults_named(name):
            yield
    except DensvecFileError:
        raise
    except KeyError as error:
        raise DensvecFileError(f"{name}: the file lacks {error}") from error
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        text = str(error)
        raise DensvecFileError(text if text.startswith(f"{name}: ") else f"{name}: {text}") from error


def _is_file(path: PathLike | IO[bytes]) -> TypeGuard[IO[bytes]]:
    return hasattr(path, "read") or hasattr(path, "write")


def _name(path: PathLike | IO[bytes]) -> str:
    return str(getattr(path, "name", "the file")) if _is_file(path) else local_path(cast("PathLike", path))


def _open_target(path: PathLike | IO[bytes]) -> contextlib.AbstractContextManager[IO[bytes]]:
    return contextlib.nullcontext(path) if _is_file(path) else open_for_writing(cast("PathLike", path))


def _open_local(name: str) -> IO[bytes]:
    kind = os.stat(name).st_mode
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not stat.S_ISREG(kind):  # opening a pipe would wait forever
        raise ValueError("not a regular file")
    return open(name, "rb", buffering=0)


class _Reader:
    """One open file: a local one of known size, or a stream (``size=None``), read once from front to back."""

    def __init__(
        self,
        file: IO[bytes],
        size: int | None,
        mmap: str | None = None,
        left_unread: int = LEFT_UNREAD,
        most: int | None = None,
    ) -> None:
        self.file, self.size, self.mmap, self.left_unread, self.most = file, size, mmap, left_unread, most
        self.checksums: dict[str, int] = {}

    def read(self, wanted: Callable[[str], bool]) -> tuple[dict[str, Array], dict[str, Any]]:
        """Return the wanted tensors and the document, all checked."""
        start, entries, document = self._read_start()
        self.checksums[_HEADER] = zlib.crc32(start)
        if self.most is not None and entries and entries[-1].stop > self.most:
            raise ValueError(
                f"its tensors take {entries[-1].stop:,} bytes, more than {self.most:,}: give max_bytes if you trust it"
            )
        mapped = self._map()[len(start) :] if self.mmap else None
        tensors = {}
        for entry in entries:
            if not (wanted(entry.name) or entry.name == CHECKSUMS):
                self._skip(entry)
            elif mapped is None:
                tensors[entry.name] = _shaped(entry, self._read_bytes(entry))
            else:
                tensors[entry.name] = _shaped(entry, self._map_bytes(entry, mapped))
        if self.size is None and self.file.read(1):
            raise ValueError("the file has bytes that belong to no tensor")
        if entries and entries[-1].name == CHECKSUMS:
            self._compare(tensors.pop(CHECKSUMS), entries)
        elif "checksums" in document or CHECKSUMS in tensors:
            raise ValueError("the checksums are not at the end of the file, where they belong")
        for name, tensor in tensors.items():
            if name in self.checksums and not _is_finite(name, tensor):
                raise ValueError(f"{name} holds NaN or infinite numbers")
        return tensors, document

    def _read_start(self) -> tuple[bytes, list[Entry], dict[str, Any]]:
        prefix = self._read_exactly(8)
        try:
            text = self._read_exactly(header_length(prefix, self.size))
            data_size = None if self.size is None else self.size - 8 - len(text)
            entries, metadata = parse_header(text, data_size)
        except ValueError:
            for magic, kind in FOREIGN.items():
                if prefix.startswith(magic):
                    raise ValueError(f"not a densvec file; it looks like {kind}") from None
            if _TEXT.fullmatch(prefix):
                raise ValueError(f"not a densvec file; it looks like {_kind_of_text(prefix)}") from None
            raise
        return prefix + text, entries, _document(metadata)

    def _read_exactly(self, size: int) -> bytes:
        """Read ``size`` bytes, or as many as there are."""
        parts = []
        while size and (part := self.file.read(min(size, BLOCK))):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _skip(self, entry: Entry) -> None:
        """Move past a tensor that is not wanted."""
        if self.size is not None:
            self.file.seek(entry.stop - entry.start, os.SEEK_CUR)
            return
        place = entry.start
        while place < entry.stop:
            part = self.file.read(min(entry.stop - place, BLOCK))
            if not part:
                raise ValueError(f"the file ends inside tensor {entry.name!r}")
            place += len(part)

    def _read_bytes(self, entry: Entry) -> npt.NDArray[np.uint8]:
        """Read the bytes of the current tensor; memory for a stream grows only with what really arrives."""
        size = entry.stop - entry.start
        data = np.empty(size if self.size is not None else min(size, BLOCK), np.uint8)
        place = checksum = 0
        while place < size:
            if place == len(data):
                data = np.concatenate([data, np.empty(min(len(data), size - place), np.uint8)])
            part = data.data[place : place + BLOCK]
            count = self.file.readinto(part)  # type: ignore[attr-defined]
            if not count:
                raise ValueError(f"the file ends inside tensor {entry.name!r}")
            checksum = zlib.crc32(part[:count], checksum)
            place += count
        self.checksums[entry.name] = checksum
        return data

    def _map(self) -> npt.NDArray[np.uint8]:
        return np.memmap(self.file, np.uint8, self.mmap).view(np.ndarray)  # type: ignore[call-overload,no-any-return]

    def _map_bytes(self, entry: Entry, mapped: Array) -> npt.NDArray[np.uint8]:
        data = mapped[entry.start : entry.stop]
        if len(data) <= self.left_unread:
            self.checksums[entry.name] = zlib.crc32(data.data)
        return data

    def _compare(self, table: Array, entries: list[Entry]) -> None:
        """Compare the checksums of what was read with those in the file."""
        if table.dtype != np.uint8 or table.shape != (len(entries), 4):
            raise ValueError(f"{CHECKSUMS} is {table.dtype}{list(table.shape)}, not uint8[{len(entries)}, 4]")
        expected = table.copy().view("<u4")[:, 0].tolist()
        for name, checksum in zip([*(entry.name for entry in entries[:-1]), _HEADER], expected, strict=True):
            if self.checksums.get(name, checksum) != checksum:
                part = "the header" if name == _HEADER else f"tensor {name!r}"
                raise ValueError(f"{part} is damaged: its checksum is not the one that was saved with it")


def _shaped(entry: Entry, data: npt.NDArray[np.uint8]) -> Array:
    array: Array = data.view(entry.dtype).reshape(entry.shape)
    if entry.dtype.kind == "b" and data.size and data.max() > 1:
        raise ValueError(f"tensor {entry.name!r} of type BOOL holds bytes other than 0 and 1")
    return array if array.flags.aligned else array.copy()


_TEXT = re.compile(rb"[\t\n\r -~\x80-\xff]{4,8}")


def _kind_of_text(start: bytes) -> str:
    """Return what a file beginning with these characters is likely to be."""
    if re.match(rb"\d+ \d+\s", start):
        return "vectors in the word2vec format: KeyedDensities.load_word2vec_format or `densvec import` reads them"
    return "plain text: `densvec train` makes a model of it, `densvec import` reads vectors from text"


def _document(metadata: dict[str, str]) -> dict[str, Any]:
    """Return densvec's JSON document, checked to be one that this version can read."""
    if "densvec" not in metadata:
        raise ValueError("a safetensors file, but not one of densvec's: its __metadata__ has no 'densvec'")
    document = load_json(metadata["densvec"])
    if not isinstance(document, dict) or document.get("format") != "densvec":
        raise ValueError("the 'densvec' entry of __metadata__ is not densvec's JSON document")
    if not isinstance(document.get("provenance", {}), dict):
        raise ValueError("the document's provenance is not a JSON object")
    version = document.get("format_version")
    if type(version) is not int or version < 1:
        raise ValueError(f"format_version is {str(version)[:80]!r}, not a positive number")
    if version > FORMAT_VERSION:
        raise ValueError(
            f"format version {version} is newer than this densvec ({__version__}, which reads up to version "
            f"{FORMAT_VERSION}): upgrade densvec"
        )
    return document


def _provenance(old: Any) -> dict[str, Any]:
    """Keep the date and version of the first save: saving an unchanged model again gives the same bytes."""
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    first = {"created": now, "created_by": f"densvec {__version__}"}
    return {**first, **(old or {}), "saved_by": f"densvec {__version__}"}


def _predicate(only: Collection[str] | Callable[[str], bool] | None) -> Callable[[str], bool]:
    if only is None:
        return lambda name: True
    return only if callable(only) else set(only).__contains__


def _write_tensor(file: IO[bytes], name: str, array: Array) -> int:
    """Write a tensor's bytes and return their CRC-32."""
    checksum = 0
    for block in _blocks(array):
        if not _is_finite(name, block):
            raise ValueError(f"{name} holds NaN or infinite numbers: nothing was saved")
        checksum = zlib.crc32(block.data, checksum)
        file.write(block.data)
    return checksum


def _blocks(array: Array) -> Iterator[Array]:
    """Yield the array's items in order, as little-endian copies of about BLOCK bytes.

    Copies, because another thread may be training the array: what is written must be what was checked.
    """
    flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
    step = BLOCK // array.dtype.itemsize
    for start in range(0, array.size, step):
        yield np.array(flat[start : start + step], array.dtype.newbyteorder("<"))


def _is_finite(name: str, array: Array) -> bool:
    return name.startswith(ATTRIBUTES) or is_finite(array)
