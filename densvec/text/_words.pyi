from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densvec._corpus import Block
from densvec.text._text import TextBlock, TextReader
from densvec.types import TrimRule

class WordIndex:
    mapping: dict[Any, int]
    def __init__(self, words: Mapping[Any, int] | Iterable[str] | WordIndex) -> None: ...
    def __len__(self) -> int: ...
    def encode(self, text: TextBlock) -> Block: ...

def warn_of_string(sentence: object) -> None: ...

class SentenceReader:
    words: int
    def __init__(
        self, sentences: Iterable[Any], index: WordIndex, *, max_sentence_length: int = 10000
    ) -> None: ...
    def next_block(self, chunk_words: int) -> Block | None: ...

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
    def count_sentences(
        self,
        sentences: Iterable[Any],
        *,
        max_vocab_size: int | None = None,
        trim_rule: TrimRule | None = None,
        progress: Callable[[WordCounter], object] | None = None,
        progress_per: int = 10000,
    ) -> None: ...
    def prune(self, trim_rule: TrimRule | None = None) -> None: ...
    def merge(self, other: WordCounter) -> None: ...
    def counts(self, min_count: int = 0) -> dict[str, int]: ...
    def longest_search(self) -> int: ...
    def frequencies(self) -> NDArray[np.int64]: ...
    def counts_of(self, words: Iterable[Any]) -> NDArray[np.int64]: ...
