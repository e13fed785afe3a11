"""How the words of a text are found: what a model remembers of its text, so that other text is read like it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from densvec.text._raw import tokenised

REGEX = "regex:"
"""How a way to find words begins that is a regular expression."""


@dataclass(frozen=True)
class TextReading:
    """How words are found in a text; the options are those of :class:`densvec.corpora.RawText`.

    Attributes
    ----------
    tokenize : str
        ``"auto"`` (``"simple"``, but for files that look tokenised), ``"simple"``, ``"none"`` or ``"regex:…"``.
    lower, keep_numbers : bool
    encoding : str
    wrapped : bool, optional
    column : str, optional

    Examples
    --------
    >>> TextReading("simple", lower=True).tokens("He walked along the Bank.")
    ['he', 'walked', 'along', 'the', 'bank']
    >>> TextReading().tokens("He walked along the Bank.")
    ['He', 'walked', 'along', 'the', 'Bank.']
    """

    tokenize: str = "none"
    lower: bool = False
    keep_numbers: bool = False
    encoding: str = "utf-8"
    wrapped: bool | None = None
    column: str | None = None

    def tokens(self, text: str) -> list[str]:
        """Return the words of a sentence."""
        if self.tokenize in ("auto", "simple"):
            return tokenised(text, self.lower, self.keep_numbers)
        text = text.lower() if self.lower else text
        if self.tokenize.startswith(REGEX):
            return [match[0] for match in re.finditer(self.tokenize.removeprefix(REGEX), text)]
        return text.split()

    @property
    def is_plain(self) -> bool:
        """Whether words are simply separated by spaces, in UTF-8."""
        return self.tokenize == "none" and not self.lower and self.encoding == "utf-8" and not self.column

    def header(self) -> dict[str, Any]:
        """Return the settings as a JSON document."""
        return asdict(self)

    @classmethod
    def from_header(cls, document: Any) -> TextReading | None:
        """Return the reading that a file describes; None if it does not, and ValueError if it is damaged."""
        if document is None:
            return None
        if not isinstance(document, Mapping):
            raise ValueError(f"the header's text is {str(document)[:80]!r}, not a dict")
        kinds: dict[str, tuple[type, ...]] = {
            "tokenize": (str,),
            "lower": (bool,),
            "keep_numbers": (bool,),
            "encoding": (str,),
            "wrapped": (bool, type(None)),
            "column": (str, type(None)),
        }
        found = {name: document[name] for name in kinds if name in document}
        for name, value in found.items():
            if not isinstance(value, kinds[name]):
                raise ValueError(f"the header's {name} of the text is {str(value)[:80]!r}")
        how = found.get("tokenize", "none")
        if how not in ("auto", "simple", "none") and not how.startswith(REGEX):
            raise ValueError(f"the header says of the text tokenize={how[:80]!r}, which is unknown")
        try:
            re.compile(how.removeprefix(REGEX) if how.startswith(REGEX) else "")
            "".encode(found.get("encoding", "utf-8"))
        except (re.error, LookupError) as error:
            raise ValueError(f"the header's description of the text is damaged: {error}") from None
        return cls(**found)
