"""Where a file's bytes come from and go to: a local path, a compressed one, or what smart_open reaches."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from densvec.files.atomic import atomic_write
from densvec.types import PathLike

COMPRESSED = (".gz", ".bz2", ".xz")
UNSUPPORTED = (".zst", ".lz4", ".zip")


def local_path(path: PathLike) -> str:
    """Return the path as a string, a ``file://`` URI as the path it stands for."""
    return os.fspath(path).removeprefix("file://")


def is_remote(path: PathLike) -> bool:
    """Whether only smart_open can reach this: a URI such as ``s3://bucket/model.dv``."""
    return "://" in local_path(path)


def is_stream(path: PathLike) -> bool:
    """Whether this can only be read from front to back: it is remote, or its name says it is compressed."""
    return is_remote(path) or local_path(path).endswith(COMPRESSED)


def is_plain(path: PathLike) -> bool:
    """Whether this is a local, uncompressed file, which can be read at any byte offset."""
    from smart_open.compression import get_supported_extensions

    name = local_path(path)
    return os.path.isfile(name) and Path(name).suffix.lower() not in get_supported_extensions()


def check_target(path: PathLike) -> None:
    """Raise now what `open_for_writing` would raise later, as far as that can be known."""
    name = local_path(path)
    if is_remote(name):
        _check_scheme(name)
        return
    _refuse_ending(name)
    folder = os.path.dirname(os.path.abspath(name))
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such directory to save in", folder)
    if os.path.isdir(name):
        raise IsADirectoryError(errno.EISDIR, "this is a directory: give the name of a file", name)
    if not os.access(os.path.dirname(os.path.realpath(name)), os.W_OK):
        raise PermissionError(errno.EACCES, "nothing can be saved in this directory", folder)


def _refuse_ending(name: str) -> None:
    if name.endswith(UNSUPPORTED):
        raise ValueError(
            f"cannot compress {name}: save it without that ending, or use one of {', '.join(COMPRESSED)}"
        )


def _check_scheme(name: str) -> None:
    """Refuse a URI that smart_open cannot write, or only with a package that is not installed."""
    from smart_open.transport import get_transport

    scheme = name.partition("://")[0].lower()
    if scheme in ("http", "https"):
        raise ValueError(f"cannot write to {name}: web pages can only be read")
    try:
        get_transport(scheme)
    except NotImplementedError as error:
        raise ValueError(f"cannot write to {name}: {scheme}:// is unknown") from error
    except ImportError as error:
        raise ImportError(
            f"writing to {name} needs a package that is not installed: pip install 'smart_open[{scheme}]'"
        ) from error


@contextlib.contextmanager
def open_for_writing(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a target; a local one appears under its name only when it is whole.

    A remote target is as atomic as its store is: S3, GCS and Azure show an object when it is complete.
    """
    name = local_path(path)
    if is_remote(name):
        with _open_remote(name, "wb") as file:
            yield file
        return
    _refuse_ending(name)
    with atomic_write(name) as raw, _compressing(raw, name) as file:
        yield file


def _compressing(raw: IO[bytes], name: str) -> contextlib.AbstractContextManager[Any]:
    if name.endswith(".gz"):  # no name and no date inside, so that equal models give equal files
        return gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0)
    if name.endswith(COMPRESSED):
        return bz2.BZ2File(raw, "wb") if name.endswith(".bz2") else lzma.LZMAFile(raw, "wb")
    return contextlib.nullcontext(raw)


@contextlib.contextmanager
def open_stream(path: PathLike) -> Iterator[IO[bytes]]:
    """Open a file of any kind for reading; errors while it is read name it."""
    with faults_named(path), open_binary(path) as file:
        yield file


@contextlib.contextmanager
def faults_named(path: PathLike) -> Iterator[None]:
    """Let errors of reading name the file; bytes that cannot be decompressed are a ValueError."""
    try:
        yield
    except ValueError as error:
        if type(error) is UnicodeError:  # not text of this encoding at all
            raise ValueError(f"{local_path(path)}: {error}") from error
        raise
    except (EOFError, lzma.LZMAError, zlib.error, OSError) as error:
        name = local_path(path)
        is_damage = isinstance(error, gzip.BadGzipFile) or name.endswith(
            ".bz2"
        )  # its OSErrors have no number
        if not isinstance(error, OSError) or (error.errno is None and is_damage):
            raise ValueError(f"{name}: cannot be decompressed: {error}") from error
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, name) from error


def open_binary(path: PathLike) -> IO[bytes]:
    """Open a file of any kind for reading, unbuffered if it is plain: compressed, or remote through smart_open."""
    name = local_path(path)
    if not is_remote(name):
        if name.endswith(COMPRESSED):
            return _open_compressed(name)
        if is_plain(name):
            return cast("IO[bytes]", open(name, "rb", buffering=0))
    return _open_remote(name, "rb")


def _open_compressed(name: str) -> IO[bytes]:
    if name.endswith(".gz"):
        return cast("IO[bytes]", gzip.GzipFile(name, "rb"))
    return bz2.BZ2File(name, "rb") if name.endswith(".bz2") else lzma.LZMAFile(name, "rb")


def _open_remote(name: str, mode: str) -> IO[bytes]:
    """Open a URI; smart_open takes 0.1 s to import and most files never need it."""
    import smart_open

    return cast("IO[bytes]", smart_open.open(name, mode))


def read_into(file: IO[bytes], buffer: memoryview, name: str | None = None) -> int:
    """Read bytes from a file into a buffer, at most as many as it holds; return how many, 0 at the end.

    Files that people write themselves may lack ``readinto`` or return a wrong count, which must not be trusted.
    Errors name the file if its name is given.
    """
    with contextlib.nullcontext() if name is None else faults_named(name):
        if hasattr(file, "readinto"):
            count = int(file.readinto(buffer))
        else:
            data = file.read(len(buffer))
            count = len(data)
            if count <= len(buffer):
                buffer[:count] = data
    if not 0 <= count <= len(buffer):
        name = name or "the file"
        raise OSError(f"{name}: asked for {len(buffer)} bytes, but it reports {count} bytes read")
    return count
