"""Where a file's bytes come from and go to: a local path, a compressed one, or what smart_open reaches."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from typing import IO, TypeAlias, cast

from densvec.files.atomic import atomic_write

PathLike: TypeAlias = "str | os.PathLike[str]"

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
    if name.endswith(UNSUPPORTED):
        raise ValueError(
            f"cannot compress {name}: save it without that ending, or use one of {', '.join(COMPRESSED)}"
        )
    with atomic_write(name) as raw:
        if name.endswith(".gz"):  # no name and no date inside, so that equal models give equal files
            with gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as file:
                yield cast("IO[bytes]", file)
        elif name.endswith(".bz2"):
            with bz2.BZ2File(raw, "wb") as file:
                yield file
        elif name.endswith(".xz"):
            with lzma.LZMAFile(raw, "wb") as file:
                yield file
        else:
            yield raw


@contextlib.contextmanager
def open_stream(path: PathLike) -> Iterator[IO[bytes]]:
    """Open what `is_stream` names; bytes that cannot be decompressed are a ValueError while it is read."""
    name = local_path(path)
    try:
        with _open_remote(name, "rb") if is_remote(name) else _open_compressed(name) as file:
            yield file
    except (EOFError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"cannot be decompressed: {error}") from error
    except OSError as error:
        if error.errno is not None:  # the system's own; those of gzip and bz2 have no number
            raise
        raise ValueError(f"cannot be decompressed: {error}") from error


def _open_compressed(name: str) -> IO[bytes]:
    if name.endswith(".gz"):
        return cast("IO[bytes]", gzip.GzipFile(name, "rb"))
    return bz2.BZ2File(name, "rb") if name.endswith(".bz2") else lzma.LZMAFile(name, "rb")


def _open_remote(name: str, mode: str) -> IO[bytes]:
    """Open a URI; smart_open takes 0.1 s to import and most files never need it."""
    import smart_open

    return cast("IO[bytes]", smart_open.open(name, mode))
