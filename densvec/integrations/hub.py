"""Models of the Hugging Face hub: ``model.safetensors``, ``config.json`` and a model card, in a folder or by name.

``model.safetensors`` is the file that :meth:`KeyedDensities.save <densvec.KeyedDensities.save>` writes. Nothing but it
and ``config.json`` is fetched or read, so that no code of others is ever run. Only a name such as ``"user/model"``, for
which there is no file and no folder, is looked up, by ``huggingface_hub`` (``pip install 'densvec[hub]'``), which keeps
what it has fetched.
"""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from densvec._version import __version__
from densvec.checks import needs
from densvec.files.atomic import atomic_write
from densvec.files.persistence import DensvecFileError
from densvec.integrations.sentence_transformers import save_sentence_transformer
from densvec.types import PathLike

if TYPE_CHECKING:
    from densvec.evaluation import Figure
    from densvec.keyed import KeyedDensities

logger = logging.getLogger(__name__)

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
    token: str | None = None,
    message: str = "Upload a densvec model",
) -> str:
    """Upload weights, configuration and model card to the Hugging Face hub.

    The text of a card that is there stays as it is; its metadata are completed.

    Parameters
    ----------
    name : str
        ``"user/model"``; it is created if necessary.
    card : mapping, optional
        What the model card says at its top, as in :meth:`save_pretrained`.
    figures : iterable of Figure, optional
        Results of :func:`densvec.evaluation.evaluate_all`, which the hub shows beside the card (``model-index``).
    sentence_transformers : bool, optional
        Whether ``SentenceTransformer(name)`` shall open it, too (:meth:`save_sentence_transformer`).
    private, token : optional
        As in ``huggingface_hub.HfApi.create_repo``; ``hf auth login`` stores a token.
    message : str, optional
        The message of the commit.

    Returns
    -------
    str
        The commit, for ``densvec.load(f"{name}@{commit}")``.
    """
    hub = needs("huggingface_hub", "hub")
    api = hub.HfApi(token=token)
    api.create_repo(name, private=private, exist_ok=True)
    written = hub.ModelCard(model_card(wv, name, {}))
    fields = written.data.to_dict()
    if api.file_exists(name, CARD):
        written = hub.ModelCard.load(api.hf_hub_download(name, CARD))
        fields |= written.data.to_dict()
    written.data = hub.ModelCardData(**fields | dict(card or {}))
    if results := [_eval_result(hub, figure) for figure in figures if figure.to_dict()["value"] is not None]:
        written.data.model_name, written.data.eval_results = name, results
    written = hub.ModelCard(f"---\n{written.data.to_yaml()}\n---\n{written.text}")
    written.validate()
    with tempfile.TemporaryDirectory(prefix="densvec-") as folder:
        written.save(os.path.join(folder, CARD))
        save_pretrained(wv, folder)
        if sentence_transformers:
            save_sentence_transformer(wv, folder)
        return str(api.upload_folder(repo_id=name, folder_path=folder, commit_message=message).oid)


def _eval_result(hub: Any, figure: Figure) -> Any:
    return hub.EvalResult(
        task_type=figure.task.replace(" ", "-"),
        task_name=figure.task,
        dataset_type=figure.benchmark,
        dataset_name=figure.benchmark,
        metric_type=figure.measure or figure.benchmark,
        metric_name=f"{figure.measure} by {figure.method}".strip(),
        metric_value=figure.to_dict()["value"],
    )


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

    Examples
    --------
    >>> is_name("user/model"), is_name("models/english.dv"), is_name("english")
    (True, False, False)
    """
    if not isinstance(name, str) or os.path.exists(name) or not (match := _NAME.fullmatch(name)):
        return False
    return match[2] is not None or not (_ENDING.fullmatch(name) or os.path.isdir(name.split("/")[0]))


def weights_of(name: PathLike, **options: Any) -> str:
    """Return the path of the weights in a folder, or of those of a model on the hub, fetched if need be."""
    folder = os.fspath(name)
    if not os.path.isdir(folder):
        if not is_name(name):
            raise FileNotFoundError(f"there is no folder {folder!r}")
        return _fetched(folder, options)
    _check_configuration(os.path.join(folder, CONFIG))
    return os.path.join(folder, WEIGHTS)


def _fetched(name: str, options: dict[str, Any]) -> str:
    repository, _, revision = name.partition("@")
    try:
        hub = needs("huggingface_hub", "hub")
        config = hub.hf_hub_download(repository, CONFIG, **{"revision": revision or None, **options})
        _check_configuration(config)  # before anything large is fetched
        options["revision"] = os.path.basename(
            os.path.dirname(config)
        )  # the commit: the weights belong to it
        logger.info("%s is at commit %s", repository, options["revision"])
        return str(hub.hf_hub_download(repository, WEIGHTS, **options))
    except ImportError as error:
        raise ImportError(
            f"there is no folder {name!r} here; to look on the Hugging Face hub: {error}"
        ) from None
    except OSError as error:
        why = " ".join(str(error).split())
        raise FileNotFoundError(
            f"there is no folder {name!r} here, and none came from the Hugging Face hub: {why}"
        ) from error


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
