from collections.abc import Callable, Iterable
from typing import Any

MAX_SENTENCE_LENGTH: int
LONGEST_WORD: int
MAX_BLOCK_WORDS: int

class TextBlock:
    number: int
    words: int
    words_before: int
    examples: int
    @property
    def text(self) -> str: ...
    def sentences(self) -> list[list[str]]: ...

class TextReader:
    words: int
    replaced: int
    def __init__(
        self,
        sources: Iterable[tuple[str, Callable[[], Any]]],
        *,
        errors: str = "replace",
        max_sentence_length: int = 10000,
        newlines: bool = True,
        limit: int | None = None,
        offset: int = 0,
        buffer_size: int = 1048576,
    ) -> None: ...
    def close(self) -> None: ...
    def next_block(self, chunk_words: int) -> TextBlock | None: ...
