"""What a file must hold: typed access to its header and tensors, with errors that say what is wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

import numpy.typing as npt

T = TypeVar("T")

KINDS = {"f": "float", "i": "int", "u": "unsigned int", "b": "bool"}


def require_class(header: Mapping[str, Any], wanted: Collection[str], caller: str) -> None:
    """Refuse a file of a class that ``caller`` does not load, naming both."""
    found = field(header, "class", str)
    if found not in wanted:
        article = "an" if caller[:1] in "AEIO" else "a"
        raise ValueError(
            f"the file holds a {found[:80]}, not {article} {caller}: open it with {found[:80]}.load"
        )


def leave_out(
    tensors: Mapping[str, npt.NDArray[Any]], ignore: Iterable[str], needed: Collection[str]
) -> dict[str, npt.NDArray[Any]]:
    """Return the tensors without those that ``ignore`` names, as for gensim's ``save(ignore=…)``.

    A name stands for a tensor, for all tensors of a group (``"encoder"``), or for an attribute (``"count"``).
    What a file cannot do without is an error; unknown names are ignored.
    """
    ignored = {ignore} if isinstance(ignore, str) else set(ignore)
    kept = {}
    lost = ignored & {*needed, "vocabulary", "vocabulary.bytes", "vocabulary.offsets"}
    for name, array in tensors.items():
        group, _, rest = name.partition(".")
        names = {name, group, rest} if group == "attributes" else {name, group}
        names |= {"count"} if name == "vocabulary.counts" else set()
        if not names & ignored:
            kept[name] = array
        elif {name, group} & set(needed):
            lost.add(name)
    if lost:
        raise ValueError(f"ignore={min(lost)!r}: a file without it could not be loaded")
    return kept


LARGEST = (
    2**53
)  # the limit of counts: doubles, and so JSON in other languages, hold no larger integers exactly


def field(header: Mapping[str, Any], name: str, kind: type[T], *, minimum: float | None = None) -> T:
    """Return a field of the header, which must be there and have this type; an int passes for a float.

    Examples
    --------
    >>> field({"window": 5}, "window", int, minimum=1)
    5
    >>> field({"window": "wide"}, "window", int)
    Traceback (most recent call last):
    ValueError: the header's window is 'wide', not an int
    """
    if name not in header:
        raise ValueError(f"the header has no {name!r}")
    value = header[name]
    if kind is float and type(value) is int:
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        article = "an" if kind.__name__[0] in "aeiou" else "a"
        raise ValueError(f"the header's {name} is {str(value)[:80]!r}, not {article} {kind.__name__}")
    if kind is int and abs(value) > LARGEST:  # type: ignore[arg-type]
        raise ValueError(f"the header's {name} is {str(value)[:40]}, which is too large")
    if minimum is not None and not value >= minimum:  # type: ignore[operator]
        raise ValueError(f"the header's {name} is {value!r}, it must be at least {minimum}")
    return value


def recorded_files(header: Mapping[str, Any]) -> str | list[str] | None:
    """Return the corpus that a header names: a path, or the paths of several files.

    Examples
    --------
    >>> recorded_files({"corpus_file": ["a.txt", "b.txt"]})
    ['a.txt', 'b.txt']
    >>> recorded_files({"corpus_file": [1]})
    Traceback (most recent call last):
    ValueError: the header's corpus_file is '[1]', not a str
    """
    given = header.get("corpus_file")
    if isinstance(given, list) and given and all(isinstance(name, str) for name in given):
        return given
    return None if given is None else field(header, "corpus_file", str)


def check_summary(document: Mapping[str, Any]) -> None:
    """Check the parts of a header that are used without loading the file."""
    kinds: dict[str, type[Any]] = {
        "class": str,
        "parameters": dict,
        "counters": dict,
        "run": dict,
        "loss_history": list,
        "provenance": dict,
    }
    for name, kind in kinds.items():
        if document.get(name) is not None:
            field(document, name, kind)
    recorded_files(document)
    for name, value in (document.get("counters") or {}).items():
        if value is not None:
            field({name: value}, name, float)
    for name in ("epoch", "epochs") if document.get("run") else ():
        field(document["run"], name, int, minimum=0)
    for entry in document.get("loss_history") or []:
        if not isinstance(entry, dict):
            raise ValueError(f"the header's loss_history has {str(entry)[:80]!r} among its entries")
        field(entry, "epoch", int, minimum=0)
        for name in ("loss", "hinge", "kl", "words_per_second"):
            if name not in entry or entry[name] is not None:
                field(entry, name, float)


def tensor(
    tensors: Mapping[str, npt.NDArray[Any]], name: str, kind: str, shape: tuple[int | None, ...]
) -> npt.NDArray[Any]:
    """Return a tensor that must be there, of this kind (NumPy's ``f``, ``i``, …) and shape (None: any size)."""
    if name not in tensors:
        raise ValueError(f"the file has no tensor {name!r}")
    array = tensors[name]
    fits = array.ndim == len(shape) and all(
        want in (None, have) for want, have in zip(shape, array.shape, strict=True)
    )
    if array.dtype.kind != kind or not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(
            f"tensor {name} is {array.dtype}{list(array.shape)}, not {KINDS.get(kind, kind)}[{wanted}]"
        )
    return array
