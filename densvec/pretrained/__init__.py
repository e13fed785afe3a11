"""Models with a name, and how a model is found by its name or its path.

Those that come with densvec are files of this folder, ``NAME.dv``; larger ones are downloaded when they are first asked
for (``download.py``). ``examples/train_english.py`` makes them.
"""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities
    from densvec.types import PathLike

__all__ = ["find", "load", "names"]

FOLDER = os.path.dirname(__file__)
_SUFFIX = ".dv"


def names() -> list[str]:
    """Return the names of the models that come with this densvec or can be downloaded.

    Examples
    --------
    >>> "english" in names()
    True
    """
    from densvec.pretrained.download import RELEASED

    packaged = [file.removesuffix(_SUFFIX) for file in os.listdir(FOLDER) if file.endswith(_SUFFIX)]
    return sorted({*packaged, *RELEASED})


def find(name_or_path: PathLike) -> str:
    """Return the path of a model's file: of one with a name, fetched if need be, or the path itself.

    Raises
    ------
    FileNotFoundError
        If there is neither such a model nor such a file, or it could not be downloaded; the message says what to do.

    Examples
    --------
    >>> find("englisch")
    Traceback (most recent call last):
    FileNotFoundError: there is no file 'englisch', and no model of that name; there are 'english'...
    """
    from densvec.files.streams import is_remote, local_path
    from densvec.integrations import hub

    name = local_path(name_or_path)
    known = names()
    if name in known:
        packaged = os.path.join(FOLDER, name + _SUFFIX)
        if os.path.exists(packaged):
            return packaged
        from densvec.pretrained.download import fetch

        return fetch(name)
    if os.path.isdir(name) or hub.is_name(name_or_path):
        return hub.weights_of(name)
    if is_remote(name) or os.path.exists(name):
        return name
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    listed = ", ".join(map(repr, known)) or "none"
    raise FileNotFoundError(f"there is no file {name!r}, and no model of that name; there are {listed}{hint}")


def load(name_or_path: PathLike, mmap: str | None = "r") -> KeyedDensities:
    """Open the words of a model: one with a name, a file, or a folder or a name of the Hugging Face hub.

    ``"english"`` comes with densvec. Larger models are downloaded once, checked, and kept in ``~/.cache/densvec``;
    the environment variable DENSVEC_MODELS names a folder or a server to take them from instead.

    Parameters
    ----------
    name_or_path : str or PathLike
        A name such as ``"english"``, a file that ``save`` or ``densvec train`` wrote, or a folder that
        ``save_pretrained`` wrote. A name comes first: a file that is called ``english`` is ``"./english"``. If there is
        none of these, ``"user/model"`` is fetched from the Hugging Face hub (``pip install 'densvec[hub]'``) and kept;
        ``"user/model@revision"`` names a branch, a tag or a commit.
    mmap : {None, "r", "c"}, optional
        As in :meth:`KeyedDensities.load`; mapped by default, so that large models open at once, and compressed and
        remote files, which cannot be mapped, are read.

    Returns
    -------
    KeyedDensities

    Raises
    ------
    FileNotFoundError
        If there is nothing of that name; the message lists the models that there are.

    Examples
    --------
    >>> import densvec
    >>> english = densvec.load("english")
    >>> "violin" in english
    True
    """
    from densvec.files.streams import is_stream
    from densvec.keyed import KeyedDensities

    path = find(name_or_path)
    return KeyedDensities.load(path, mmap=None if is_stream(path) else mmap)
