"""What all answers have in common: their fields are their JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from densvec.answers.messages import sentence
from densvec.answers.tables import Table

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities


class Document:
    """An answer, or a part of one. Fields that are None by default are left out of its JSON while they are None."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}  # the schema is all there is

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        pairs = ((each, getattr(self, each.name)) for each in fields(self))  # type: ignore[arg-type]
        return {each.name: value for each, value in pairs if value is not None or each.default is MISSING}

    def parts(self) -> Sequence[Document]:
        """Return the documents that are printed as JSON, one on each line: by default the answer itself."""
        return [self]

    def table(self) -> Table:
        """Return the answer as rows: by default one, of its fields."""
        found = self.to_dict()
        return Table(list(found), [list(found.values())])

    def __str__(self) -> str:
        return str(self.table())


@dataclass
class Scored(Document):
    """A word and its score: larger is better, by every metric; and how often it occurs, if that is known."""

    word: str
    score: float | None
    count: int | None = None


def scored(found: Iterable[tuple[Any, float]], wv: KeyedDensities | None = None) -> list[Scored]:
    """Return words and scores as parts of a document, with the words' counts if the model is given."""
    counts = None if wv is None else wv.expandos.get("count")
    if wv is None or counts is None:
        return [Scored(str(word), float(score)) for word, score in found]
    return [Scored(str(word), float(score), int(counts[wv.get_index(word)])) for word, score in found]


@dataclass
class Unknown(Document):
    """A word about which nothing can be said, and why."""

    word: str
    error: str

    def __str__(self) -> str:
        return f"{self.word}\n  unknown: {self.error}"


def each_known(words: Iterable[str], ask: Callable[[str], Any]) -> tuple[list[Any], list[Unknown]]:
    """Return what is found about each word, and the words that raised KeyError; at least one must be known."""
    found, unknown, first = [], [], None
    for word in words:
        try:
            found.append(ask(word))
        except KeyError as error:
            first = first or error
            unknown.append(Unknown(word, sentence(error)))
    if first is not None and not found:
        raise first
    return found, unknown


def encoded(document: Any, *, ascii_only: bool = False, separators: tuple[str, str] | None = None) -> str:
    """Return a document as JSON; numbers that JSON has no name for become null.

    Examples
    --------
    >>> encoded({"kl": float("inf"), "nearest": scored([("owl", 0.5)])})
    '{"kl": null, "nearest": [{"word": "owl", "score": 0.5}]}'
    """
    options: dict[str, Any] = {"ensure_ascii": ascii_only, "allow_nan": False, "separators": separators}
    try:
        return json.dumps(document, default=_plain, **options)
    except (
        TypeError,
        ValueError,
    ):  # keys that are no strings, or numbers that are not finite: rarely, and slower
        return json.dumps(_finite(document), **options)


def _plain(value: Any) -> Any:
    """Return what JSON has no form for as something that it has: documents, and NumPy's scalars and arrays."""
    return value.to_dict() if isinstance(value, Document) else value.tolist()


def _finite(value: Any) -> Any:
    if isinstance(value, Document):
        value = value.to_dict()
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
