"""What a command is asked to write: checked before any work is done."""

from __future__ import annotations

import os
from collections.abc import Iterable

from densvec.cli.errors import UsageError
from densvec.files.streams import check_target, is_remote, local_path

__all__ = ["check_targets"]


def check_targets(
    targets: Iterable[str], *, read: Iterable[str] = (), overwrite: bool, in_new_folder: bool = False
) -> None:
    """Refuse targets that cannot be written, that are being read, that repeat, or that exist and may not be replaced.

    Parameters
    ----------
    targets : iterable of str
        What will be written.
    read : iterable of str
        What is read.
    overwrite : bool
        Whether existing files may be replaced.
    in_new_folder : bool
        Whether the command makes the folder of its targets.
    """
    sources = {_place(path): path for path in read}
    seen: set[str] = set()
    for target in targets:
        if not in_new_folder:
            check_target(target)
        place = _place(target)
        if place in sources:
            raise UsageError(f"{target} is being read: choose another name to write to")
        if place in seen:
            raise UsageError(f"{target} is named twice: two files cannot be written to one place")
        seen.add(place)
        if not overwrite and not is_remote(target) and os.path.lexists(local_path(target)):
            raise UsageError(f"{target} already exists: --overwrite replaces it")


def _place(path: str) -> str:
    return path if is_remote(path) else os.path.realpath(local_path(path))
