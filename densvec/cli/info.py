"""``densvec info``: what a file contains, from its header alone."""

from __future__ import annotations

import argparse
import os
from typing import Any

from densvec.answers.documents import columns
from densvec.checks import counted
from densvec.cli.arguments import MODEL, flag
from densvec.cli.commands import Command, Result
from densvec.cli.output import check_output, size_of

_OF_THE_FILE = frozenset({"file", "bytes", "tensors", "verified"})


def _info(args: argparse.Namespace) -> Result:
    from densvec import pretrained

    check_output()
    path = pretrained.find(args.model)
    document = describe(path)
    if args.verify:
        from densvec.files.persistence import verify

        verify(path)
        _load(path, document)
        document["verified"] = True
    return document, readable(document)


def _load(path: str, document: dict[str, Any]) -> None:
    """Load the file as what it says it is: a file can be as it was saved and still not loadable."""
    from densvec.cli.train import MODELS, model_class
    from densvec.files.streams import is_stream
    from densvec.keyed import KeyedDensities

    names = {cls: name for name, (_, cls) in MODELS.items()}
    name = names.get(str(document.get("class")))
    cls = KeyedDensities if name is None else model_class(name)
    cls.load(path, mmap=None if is_stream(path) else "r")


def describe(path: str) -> dict[str, Any]:
    """Return what the header says, with the shapes of the tensors."""
    from densvec.files.persistence import faults_of, read
    from densvec.files.schema import check_summary
    from densvec.files.streams import is_stream

    header = read(path, only=())[1]
    with faults_of(path):
        check_summary(header)
    document = summary(path, header)
    if not is_stream(path):
        document["bytes"] = os.path.getsize(path)
        document["tensors"] = _tensors(path)
    return document


def summary(path: str, header: dict[str, Any]) -> dict[str, Any]:
    """Return a header with the name of its file; what the file itself shows overrides what the header says."""
    return {"file": path} | {name: header[name] for name in header if name not in _OF_THE_FILE}


def _tensors(path: str) -> dict[str, dict[str, Any]]:
    from densvec.files.safetensors import header_length, parse_header
    from densvec.files.streams import local_path

    size = os.path.getsize(local_path(path))
    with open(local_path(path), "rb") as file:
        text = file.read(header_length(file.read(8), size))
    entries, _ = parse_header(text, size - 8 - len(text))
    return {
        entry.name: {"dtype": str(entry.dtype), "shape": list(entry.shape)}
        for entry in entries
        if not entry.name.startswith("densvec.")
    }


def readable(document: dict[str, Any]) -> str:
    """Return the description as people read it."""
    parts = [columns([(name, value) for name, value in _facts(document) if value])]
    parameters = document.get("parameters")
    if isinstance(parameters, dict):
        rows = [(name, _value(value)) for name, value in parameters.items() if value is not None]
        parts.append("parameters\n" + columns(rows, indent="  "))
    history = document.get("loss_history")
    if history:
        table = [["epoch", "loss", "hinge", "kl", "words/s"]]
        table += [
            [
                str(epoch["epoch"]),
                *(_figure(epoch[name]) for name in ("loss", "hinge", "kl")),
                f"{epoch['words_per_second'] or 0:,.0f}",
            ]
            for epoch in history
        ]
        parts.append(columns(table, right=range(5), indent="  "))
    card = document.get("card")
    if isinstance(card, str):
        parts.append(card.strip())
    return "\n\n".join(parts)


def _facts(document: dict[str, Any]) -> list[tuple[str, str]]:
    tensors = document.get("tensors", {})
    shape = (tensors.get("means") or {}).get("shape", [])
    words, size = shape if len(shape) == 2 else (None, None)
    counters = document.get("counters") or {}
    made = document.get("provenance") or {}
    size_on_disk = document.get("bytes")
    return [
        ("file", f"{document['file']}" + (f" ({size_of(size_on_disk)})" if size_on_disk else "")),
        ("class", str(document.get("class", ""))),
        ("words", "" if words is None else f"{words:,}"),
        ("dimensions", "" if size is None else str(size)),
        ("covariance", _covariance(tensors)),
        ("stored as", str(document.get("compact") or "")),
        ("encoder", ("yes" if "encoder.mean_head" in tensors else "no") if tensors else ""),
        ("corpus", _corpus(document, counters)),
        ("trained", _trained(document, counters)),
        ("created", f"{made.get('created', '')} by {made.get('created_by', 'unknown')}" if made else ""),
        ("verified", "every byte is as it was saved" if document.get("verified") else ""),
    ]


def _covariance(tensors: dict[str, dict[str, Any]]) -> str:
    if not tensors:
        return ""
    if "log_variances" not in tensors:
        return "none (means only)"
    return "spherical" if tensors["log_variances"]["shape"][-1:] == [1] else "diagonal"


def _corpus(document: dict[str, Any], counters: dict[str, Any]) -> str:
    words, sentences = counters.get("corpus_total_words"), counters.get("corpus_count")
    if not words:
        return ""
    path = document.get("corpus_file")
    path = path if isinstance(path, str) or not path else f"{path[0]} and {len(path) - 1} more"
    return f"{words:,} words in {sentences or 0:,} sentences" + (f", {path}" if path else "")


def _trained(document: dict[str, Any], counters: dict[str, Any]) -> str:
    """Return how far training has got."""
    if not counters:
        return ""
    seconds = counters.get("total_train_time") or 0.0
    run = document.get("run")
    if not run or run["epoch"] >= run["epochs"]:
        done = counters.get("epochs_trained", run["epoch"] if run else 0)
        return f"{counted(done, 'epoch')} in {seconds:,.1f} s"
    return f"{run['epoch']} of {run['epochs']} epochs so far; `densvec train --resume` goes on"


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value(item)}" for name, item in value.items())
    return f"{value:g}" if isinstance(value, float) else str(value)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


INFO = Command(
    "info",
    "what a model file contains",
    """\
Print what a file contains: the kind of model, its size, its parameters, how far it was trained and with what
losses, and its card, which says what it is good for, if it has one. Only the header is read, so this is instant
whatever the file's size; --verify reads all of it.""",
    """\
examples:
  densvec info model.dv
  densvec info model.dv --verify  # is every byte as it was saved?
  densvec info model.dv --json | jq .parameters.window""",
    [MODEL, flag("--verify", "check that the whole file is as it was saved")],
    _info,
)
