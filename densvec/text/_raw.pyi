from collections.abc import Callable
from typing import Any

JOINERS: str
JOINING_MARKS: str
SENTENCE_ENDS: str

def character_kind(character: str) -> int: ...

class Tokenised:
    def __init__(
        self,
        file: Any,
        *,
        lower: bool = True,
        keep_numbers: bool = False,
        line_ends: bool = False,
        count_invalid: Callable[[int], Any] | None = None,
        buffer_size: int = ...,
    ) -> None: ...
    def close(self) -> None: ...
    def readinto(self, view: Any) -> int: ...

def tokenised(text: str, lower: bool = True, keep_numbers: bool = False) -> list[str]: ...
