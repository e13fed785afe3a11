"""Writing a file so that it is either the old one or the new one, never something in between."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

POSIX = os.name == "posix"
if POSIX:  # elsewhere there are no such locks, and the leftovers of a killed process stay
    import fcntl


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that replaces ``path`` when the block ends without an error.

    The bytes go to a hidden file ``.NAME.XXXXXXXX.tmp`` in the same directory, are forced to the disk, and
    the file is renamed. If anything goes wrong the hidden file is removed and ``path`` stays as it was. An
    existing file's permissions are kept; a symbolic link stays and its target is replaced. A process that is
    killed may leave its hidden file behind: the next save to the same path removes it.
    """
    target = Path(os.path.realpath(os.fspath(path)))
    old = _status(target)
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(errno.EISDIR, "Cannot save over a directory", os.fspath(path))
    if old is not None and not stat.S_ISREG(old.st_mode):  # a device or pipe, say /dev/null: never replaced
        with open(target, "wb") as device:
            yield device
        return
    _remove_leftovers(target)
    try:
        file, temporary = _create_beside(target)
    except OSError as error:
        raise _explained(error, path) from error
    try:
        with file:
            if old is not None:
                _copy_permissions(file.fileno(), old)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if POSIX:
                os.replace(temporary, target)  # while locked: no other process may take it for a leftover
        if not POSIX:  # an open file cannot be renamed there
            os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise _explained(error, path) from error
        raise
    _sync_directory(target.parent)


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _stem(target: Path) -> str:
    """Return how the names of the target's temporary files begin; a name has at most 255 bytes."""
    return "." + os.fsdecode(os.fsencode(target.name)[:200]) + "."


def _create_beside(target: Path) -> tuple[IO[bytes], Path]:
    """Create and lock a new file beside the target."""
    while True:
        path = target.with_name(f"{_stem(target)}{secrets.token_hex(4)}.tmp")
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        try:
            descriptor = os.open(path, flags, 0o666)  # the umask applies, as for any new file
        except FileExistsError:
            continue
        _lock(descriptor, wait=True)
        if not POSIX or os.fstat(descriptor).st_nlink:
            return os.fdopen(descriptor, "wb"), path
        os.close(descriptor)  # another process took it for a leftover before it was locked


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file for as long as this process lives; False when it is taken or cannot be locked."""
    if not POSIX:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_leftovers(target: Path) -> None:
    """Remove temporary files whose process is gone: those that no process has locked."""
    if not POSIX:
        return
    stem = _stem(target)
    with contextlib.suppress(OSError):
        for name in os.listdir(target.parent):
            middle = name[len(stem) : -len(".tmp")]
            if not (name.startswith(stem) and name.endswith(".tmp") and len(middle) == 8):
                continue
            with contextlib.suppress(OSError):
                descriptor = os.open(target.with_name(name), os.O_RDWR | os.O_NOFOLLOW)
                try:
                    if _lock(descriptor, wait=False):
                        os.unlink(target.with_name(name))
                finally:
                    os.close(descriptor)


def _copy_permissions(descriptor: int, old: os.stat_result) -> None:
    if not POSIX:
        return
    new = os.fstat(descriptor)
    with contextlib.suppress(OSError):  # only root may change the owner; the file is fine without that
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    with contextlib.suppress(OSError):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _sync_directory(directory: Path) -> None:
    """Force the rename itself to the disk; some file systems cannot, and none needs it for atomicity."""
    if not POSIX:
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _explained(error: OSError, path: str | os.PathLike[str]) -> OSError:
    reason = error.strerror or str(error)
    message = f"Could not save ({reason}); a file that was there before is unchanged"
    return OSError(error.errno, message, os.fspath(path))
