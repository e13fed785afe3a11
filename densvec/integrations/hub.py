"""Models of the Hugging Face hub: ``model.safetensors``, ``config.json`` and a model card, in a folder or by name.

``model.safetensors`` is the file that :meth:`KeyedDensities.save <densvec.KeyedDensities.save>` writes. Nothing but it
and ``config.json`` is fetched or read, so that no code of others is ever run. Only a name such as ``"user/model"``, for
which there is no file and no folder, is looked up, by ``huggingface_hub`` (``pip install 'densvec[hub]'``), which keeps
what it has fetched.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from densvec._version import __version__
from densvec.checks import needs
from densvec.files.atomic import atomic_write
from densvec.files.persistence import DensvecFileError
from densvec.files.safetensors import parse_json
from densvec.integrations.sentence_transformers import save_sentence_transformer
from densvec.types import PathLike

if TYPE_CHECKING:
    from densvec.evaluation import Figure
    from densvec.keyed import KeyedDensities

__all__ = ["from_pretrained", "push_to_hub", "save_pretrained"]

WEIGHTS, CONFIG, CARD = "model.safetensors", "config.json", "README.md"

_NAME = re.compile(r"([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?:@([\w./-]+))?")
_ENDING = re.compile(r".*\.[A-Za-z]+")


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


def push_to_hub(
    wv: KeyedDensities,
    name: str,
    *,
    card: Mapping[str, Any] | None = None,
    figures: Iterable[Figure] = (),
    sentence_transformers: bool = False,
    private: bool | None = None,
) -> str:
    """Upload weights, configuration and model card to the Hugging Face hub, and return the commit.

    What people have written into a card on the hub stays there; its metadata are completed.

    Parameters
    ----------
    name : str
        ``"user/model"``; it is created if necessary. ``hf auth login`` stores the token that this needs.
    card : mapping, optional
        What the model card says at its top, as in :meth:`save_pretrained`.
    figures : iterable of Figure, optional
        Results of :func:`densvec.evaluation.evaluate_all`, which the hub shows beside the card (``model-index``).
    sentence_transformers : bool, optional
        Whether ``SentenceTransformer(name)`` shall open it, too (:meth:`save_sentence_transformer`).
    private : bool, optional
        Whether only you shall see it, if it is created.

    Examples
    --------
    >>> wv.push_to_hub("ann/kiwi", card={"language": "en"})  # doctest: +SKIP
    'b1946ac92492d2347c6235b4d2611184f6a1c7e2'
    """
    hub = needs("huggingface_hub", "hub")
    api, written = hub.HfApi(), hub.ModelCard(model_card(wv, name, {}))
    fields = written.data.to_dict()
    if api.file_exists(name, CARD):
        written = hub.ModelCard.load(api.hf_hub_download(name, CARD))
        fields |= written.data.to_dict()
    written.data = hub.ModelCardData(**fields | dict(card or {}))
    rows = [row for figure in figures if (row := figure.to_dict())["value"] is not None]
    if rows:
        written.data.model_name = name
        written.data.eval_results = [
            hub.EvalResult(
                task_type=row["task"].replace(" ", "-"),
                dataset_type=row["benchmark"],
                dataset_name=row["benchmark"],
                metric_type=row["measure"] or row["benchmark"],
                metric_name=f"{row['measure']} by {row['method']}".strip(),
                metric_value=row["value"],
            )
            for row in rows
        ]
    written = hub.ModelCard(f"---\n{written.data.to_yaml()}\n---\n{written.text}")
    written.validate()
    api.create_repo(name, private=private, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="densvec-") as folder:
        written.save(os.path.join(folder, CARD))
        save_pretrained(wv, folder)
        if sentence_transformers:
            save_sentence_transformer(wv, folder)
        return str(api.upload_folder(repo_id=name, folder_path=folder).oid)


def from_pretrained(
    cls: type[KeyedDensities], /, name: PathLike, *, mmap: str | None = None, **options: Any
) -> KeyedDensities:
    """Load a folder that :meth:`save_pretrained` wrote, from disk or from the Hugging Face hub.

    Parameters
    ----------
    name : str or PathLike
        A folder, for which the network is never touched; or, if there is no such folder, a name such as
        ``"user/model"`` or ``"user/model@revision"``: a branch, a tag or a commit.
    mmap : {None, "r", "c"}, optional
        As in :meth:`load`.
    **options
        For ``huggingface_hub.hf_hub_download``: ``revision``, ``token``, ``cache_dir``, ``local_files_only``.

    Examples
    --------
    >>> type(wv).from_pretrained("./no/such/folder")
    Traceback (most recent call last):
    FileNotFoundError: there is no folder './no/such/folder'
    """
    return cls.load(weights_of(name, **options), mmap=mmap)


def is_name(name: object) -> bool:
    """Whether this can only be a name on the hub: ``"user/model"``, ``"user/model@revision"``.

    A name that ends as a file's does, or begins with a folder that there is, is a path, unless it has a revision.
    """
    if not isinstance(name, str) or os.path.exists(name) or not (match := _NAME.fullmatch(name)):
        return False
    return match[2] is not None or not (_ENDING.fullmatch(name) or os.path.isdir(name.split("/")[0]))


def weights_of(name: PathLike, **options: Any) -> str:
    """Return the path of the weights in a folder, or of those of a model on the hub, fetched if need be."""
    place = os.fspath(name)
    if not is_name(name):
        if not os.path.isdir(place):
            raise FileNotFoundError(f"there is no folder {place!r}")
        _check_configuration(Path(place, CONFIG))
        return os.path.join(place, WEIGHTS)
    repository, _, revision = place.partition("@")
    try:
        fetch = needs("huggingface_hub", "hub").hf_hub_download
        config = Path(fetch(repository, CONFIG, **{"revision": revision or None, **options}))
        _check_configuration(config)  # before anything large is fetched
        options["revision"] = config.parent.name  # weights of the same commit
        return str(fetch(repository, WEIGHTS, **options))
    except ImportError as error:
        raise ImportError(f"there is no folder {place!r}; to look on the Hugging Face hub: {error}") from None
    except OSError as error:
        why = f"and the Hugging Face hub gave none: {' '.join(str(error).split())}"
        raise FileNotFoundError(f"there is no folder {place!r}, {why}") from error


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
        "text": None if wv.text_reading is None else wv.text_reading.header(),
    }


def model_card(wv: KeyedDensities, name: str, header: Mapping[str, Any]) -> str:
    """Return a model card: metadata for the hub, then text for people."""
    fields = {
        "library_name": "densvec",
        "pipeline_tag": "feature-extraction",
        "tokenizer": "none" if wv.text_reading is None else wv.text_reading.tokenize,
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
import densvec

wv = densvec.load("{name}")
wv.most_similar("{word}", metric="{"kl" if wv.covariance else "cosine"}")
```
"""
    events = [event for event in wv.lifecycle_events or [] if event.get("params") or event.get("msg")]
    made = "".join(f"- {event.get('event')}: {event.get('params') or event.get('msg')}\n" for event in events)
    return text + (f"\n## How it was made\n\n{made}" if made else "")


def _check_configuration(path: Path) -> None:
    try:
        config = parse_json(path.read_bytes())
    except FileNotFoundError:
        reason = "does not exist: this folder was not written by save_pretrained"
        raise DensvecFileError(f"{path} {reason}") from None
    except ValueError as error:
        raise DensvecFileError(f"{path} is not JSON: {error}") from error
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind != "densvec":
        raise DensvecFileError(f"{path}: the model_type is {kind!r}, not 'densvec'")
