"""Whether a file is still the one it was: its size, and a hash of its beginning and its end."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping, Sequence
from typing import Any

from densvec.files.streams import is_remote, local_path
from densvec.types import PathLike

ENDS = 1 << 16  # bytes at either end that are hashed


def fingerprint(path: PathLike | Sequence[PathLike]) -> dict[str, Any] | None:
    """Return what identifies a local regular file, as a JSON document; None for anything else.

    A list of files is identified by all sizes, and by its first and last file.
    """
    if not isinstance(path, (str, os.PathLike)):
        return _of_several(path)
    name = local_path(path)
    if is_remote(name):
        return None
    try:
        if not stat.S_ISREG(os.stat(name).st_mode):  # opening a pipe or a device could block, or have effects
            return None
        with open(name, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            ends = hashlib.sha256(file.read(ENDS))
            file.seek(max(0, size - ENDS))
            ends.update(file.read(ENDS))
    except OSError:
        return None
    return {"bytes": size, "ends": ends.hexdigest()}


def _of_several(paths: Sequence[PathLike]) -> dict[str, Any] | None:
    try:
        sizes = [os.path.getsize(local_path(path)) for path in paths]
    except OSError:
        return None
    ends = [fingerprint(path) for path in (*paths[:1], *paths[-1:])]
    if not ends or None in ends:
        return None
    told = hashlib.sha256(json.dumps([sizes, ends]).encode()).hexdigest()
    return {"bytes": sum(sizes), "files": len(sizes), "ends": told}


def difference(path: PathLike | Sequence[PathLike], recorded: Mapping[str, Any] | None) -> str | None:
    """Return why a path is not the file that was recorded, as the end of a sentence about it; None if it is.

    Nothing is opened that is not a regular file, and nothing unless the size is the recorded one.
    """
    paths = (path,) if isinstance(path, (str, os.PathLike)) else path
    several, total = paths is path, 0
    for each in paths:
        name = local_path(each)
        size = None if is_remote(name) else _size(name)
        if isinstance(size, int):
            total += size
            continue
        why = size or "is not a local file; other sources are only opened if you give them yourself"
        return f"has {name}, which {why}" if several else why
    if recorded is None:
        return "cannot be checked: no fingerprint was recorded"
    if total != recorded.get("bytes"):
        return f"has changed since: it had {recorded.get('bytes')} bytes and has {total}"
    if fingerprint(path) != recorded:
        return "has changed since: it begins or ends with other text"
    return None


def _size(name: str) -> int | str:
    """Return the size of a local regular file, or why it is none."""
    try:
        status = os.stat(name)
    except (OSError, ValueError):  # ValueError: a path with a null character
        return "does not exist"
    return status.st_size if stat.S_ISREG(status.st_mode) else "is not a regular file"
