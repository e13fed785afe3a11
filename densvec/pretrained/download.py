"""Models that are fetched when they are first asked for, and kept in a cache."""

from __future__ import annotations

import hashlib
import logging
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from densvec.files.atomic import atomic_write

logger = logging.getLogger(__name__)

_BLOCK = 1 << 20
_SECONDS = 30  # without a byte from the server


@dataclass(frozen=True)
class Released:
    """A file that a release offers: where it is, and what it must be."""

    address: str | None  #: None until a release has it: it is then found through DENSVEC_MODELS alone
    size: int
    sha256: str


#: The models that are not part of the package, by name; docs/english.md says what a release uploads.
RELEASED: dict[str, Released] = {
    "english-md": Released(
        None, 56_860_924, "dfc09d0959f6d64195a698f6f59c1937fdad22d8e34f9223e89504394b366e36"
    ),
}


def cache_folder() -> Path:
    """Return where fetched models are kept: ``densvec`` in XDG_CACHE_HOME, or in ``.cache`` of the home folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "densvec"


def fetch(name: str) -> str:
    """Return the path of a released model; it is downloaded unless the cache has it.

    DENSVEC_MODELS names another source: a folder that has the files, or the address of a server that does.
    A file is only used if its SHA-256 is that of the release.

    Raises
    ------
    FileNotFoundError
        If it is not in the cache and cannot be downloaded; the message says where to put it.
    ValueError
        If a folder or a server has something else of that name.
    """
    release, file = RELEASED[name], f"{name}.dv"
    source = os.environ.get("DENSVEC_MODELS", "")
    if source and "://" not in source:
        path = Path(source) / file
        if not path.is_file():
            raise FileNotFoundError(f"DENSVEC_MODELS is {source}, and there is no {file} in it")
        _check(str(path), _sha256(path), release)
        return str(path)
    target = cache_folder() / file
    if target.is_file() and _sha256(target) == release.sha256:
        return str(target)
    address = f"{source.rstrip('/')}/{file}" if source else release.address
    remedy = (
        f"get {file} elsewhere ({release.size / 1e6:.0f} MB) and put it into {target.parent}, or set DENSVEC_MODELS "
        "to a folder or an address that has it"
    )
    if address is None:
        raise FileNotFoundError(
            f"the model {name!r} is not on this machine, and no release offers it yet; {remedy}"
        )
    try:
        _download(address, target, release)
    except OSError as error:
        raise FileNotFoundError(
            f"the model {name!r} is not on this machine, and could not be downloaded from {address} "
            f"({getattr(error, 'reason', error)}); {remedy}"
        ) from error
    return str(target)


def _download(address: str, target: Path, release: Released) -> None:
    """Download to a hidden file that becomes the target once its hash is right."""
    logger.info("downloading %s, %.0f MB", address, release.size / 1e6)
    target.parent.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with urllib.request.urlopen(address, timeout=_SECONDS) as response, atomic_write(target) as file:
        while (left := release.size + 1 - file.tell()) and (block := response.read(min(_BLOCK, left))):
            digest.update(block)
            file.write(block)
        if file.tell() < release.size:
            raise OSError(f"it ended after {file.tell():,} of {release.size:,} bytes")
        _check(address, digest.hexdigest(), release)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _check(where: str, sha256: str, release: Released) -> None:
    if sha256 != release.sha256:
        raise ValueError(
            f"{where} is not the file of this release of densvec: its SHA-256 is {sha256}, not {release.sha256}"
        )
