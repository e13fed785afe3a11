from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densvec._corpus import Block
from densvec.trimming import TrimRule

MAX_SENTENCE_LENGTH: int

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

class WordIndex:
    mapping: dict[Any, int]
    def __init__(self, words: Mapping[Any, int] | Iterable[str] | WordIndex) -> None: ...
    def __len__(self) -> int: ...
    def encode(self, text: TextBlock) -> Block: ...

class WordCounter:
    words: int
    examples: int
    min_reduce: int
    stop: bool
    def __len__(self) -> int: ...
    def count(
        self,
        reader: TextReader,
        *,
        max_vocab_size: int | None = None,
        trim_rule: TrimRule | None = None,
        progress: Callable[[WordCounter], object] | None = None,
    ) -> None: ...
    def prune(self, trim_rule: TrimRule | None = None) -> None: ...
    def merge(self, other: WordCounter) -> None: ...
    def counts(self, min_count: int = 0) -> dict[str, int]: ...
    def frequencies(self) -> NDArray[np.int64]: ...
