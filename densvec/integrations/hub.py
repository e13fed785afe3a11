"""Folders in the layout of the Hugging Face hub: ``model.safetensors``, ``config.json`` and a model card.

``model.safetensors`` is the file that :meth:`KeyedDensities.save <densvec.KeyedDensities.save>` writes. A path never
touches the network; only a name such as ``"user/model"``, for which there is no folder, is looked up by
``huggingface_hub`` (``pip install 'densvec[hub]'``).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from densvec._version import __version__
from densvec.checks import needs
from densvec.files.atomic import atomic_write
from densvec.files.persistence import DensvecFileError
from densvec.types import PathLike

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


__all__ = ["from_pretrained", "save_pretrained"]

WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")


def save_pretrained(wv: KeyedDensities, folder: PathLike, *, card: Mapping[str, Any] | None = None) -> None:
    """Write a folder in the layout of the Hugging Face hub: weights, configuration and model card.

    A card that is there already is left alone.

    Parameters
    ----------
    folder : str or PathLike
        Where to write; created if necessary.
    card : mapping, optional
        What the model card says at its top, such as ``{"license": "cc-by-sa-4.0", "language": "en"}``.

    Examples
    --------
    >>> import os, tempfile
    >>> folder = os.path.join(tempfile.mkdtemp(), "kiwi")
    >>> wv.save_pretrained(folder, card={"language": "en"})
    >>> sorted(os.listdir(folder))
    ['README.md', 'config.json', 'model.safetensors']
    >>> type(wv).from_pretrained(folder)
    KeyedDensities<vector_size=2, 4 keys, spherical, encoder>
    """
    os.makedirs(folder, exist_ok=True)
    wv.save(os.path.join(folder, WEIGHTS))
    text = json.dumps(configuration(wv), indent=2) + "\n"
    with atomic_write(os.path.join(folder, CONFIG)) as file:
        file.write(text.encode())
    path = os.path.join(folder, CARD)
    if not os.path.exists(path):
        with atomic_write(path) as file:
            file.write(model_card(wv, os.path.basename(os.path.abspath(folder)), card or {}).encode())


def from_pretrained(
    cls: type[KeyedDensities], /, name: PathLike, *, mmap: str | None = None, **options: Any
) -> KeyedDensities:
    """Load a folder that :meth:`save_pretrained` wrote, from disk or from the Hugging Face hub.

    Parameters
    ----------
    name : str or PathLike
        A folder, for which the network is never touched; or a name such as ``"user/model"``, if there is no such
        folder.
    mmap : {None, "r", "c"}, optional
        As in :meth:`load`.
    **options
        For ``huggingface_hub.snapshot_download``: ``revision``, ``token``, ``cache_dir``, ``local_files_only``.

    Examples
    --------
    >>> type(wv).from_pretrained("./no/such/folder")
    Traceback (most recent call last):
    FileNotFoundError: there is no folder './no/such/folder'
    """
    folder = os.fspath(name)
    if not os.path.isdir(folder):
        if not (isinstance(name, str) and _REPOSITORY.fullmatch(name)) or os.path.exists(folder):
            raise FileNotFoundError(f"there is no folder {folder!r}")
        hub = needs("huggingface_hub", "hub")
        folder = hub.snapshot_download(name, allow_patterns=[CONFIG, WEIGHTS], **options)
    _check_configuration(os.path.join(folder, CONFIG))
    return cls.load(os.path.join(folder, WEIGHTS), mmap=mmap)


def configuration(wv: KeyedDensities) -> dict[str, Any]:
    """Return the contents of ``config.json``."""
    return {
        "model_type": "densvec",
        "architectures": [type(wv).__name__],
        "densvec_version": __version__,
        "vocab_size": len(wv.index_to_key),
        "vector_size": wv.vector_size,
        "covariance": wv.covariance,
        "encoder": wv.encoder is not None,
        "window": wv.window,
        "torch_dtype": str(wv.vectors.dtype),
    }


def model_card(wv: KeyedDensities, name: str, header: Mapping[str, Any]) -> str:
    """Return a model card: metadata for the hub, then text for people."""
    fields = {
        "library_name": "densvec",
        "tags": ["word-embeddings", "densities", "bayesian-skip-gram"],
        **header,
    }
    top = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in fields.items())
    if wv.card is not None:
        return f"---\n{top}---\n\n{wv.card}"
    shape = wv.covariance or "no"
    knows = " and an encoder that infers what a word means in its context" if wv.encoder is not None else ""
    # A word that is neither among the most frequent ones nor rare.
    word = str(wv.index_to_key[min(len(wv) // 2, 1000)]) if len(wv) else "word"
    text = f"""---
{top}---

# {name}

{len(wv):,} words as probability densities in {wv.vector_size} dimensions, with {shape} variances{knows}.

```python
from densvec import KeyedDensities

wv = KeyedDensities.from_pretrained("{name}")
wv.most_similar("{word}", metric="{"kl" if wv.covariance else "cosine"}")
```
"""
    events = [event for event in wv.lifecycle_events or [] if event.get("params") or event.get("msg")]
    made = "".join(f"- {event.get('event')}: {event.get('params') or event.get('msg')}\n" for event in events)
    return text + (f"\n## How it was made\n\n{made}" if made else "")


def _check_configuration(path: str) -> None:
    try:
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
    except FileNotFoundError:
        raise DensvecFileError(
            f"{path} does not exist: this folder was not written by save_pretrained"
        ) from None
    except (ValueError, RecursionError) as error:  # RecursionError if it is nested too deeply
        raise DensvecFileError(f"{path} is not JSON: {error}") from error
    if not isinstance(config, dict) or config.get("model_type") != "densvec":
        kind = config.get("model_type") if isinstance(config, dict) else None
        raise DensvecFileError(f"{path}: the model_type is {kind!r}, not 'densvec'")
