from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densvec._corpus import Block
from densvec.text._words import WordIndex
from densvec.types import TrimRule

def warn_of_string(sentence: object) -> None: ...

class SentenceReader:
    words: int
    def __init__(
        self, sentences: Iterable[Any], index: WordIndex, *, max_sentence_length: int = 10000
    ) -> None: ...
    def next_block(self, chunk_words: int) -> Block | None: ...

class SentenceCounter:
    words: int
    examples: int
    min_reduce: int
    def __len__(self) -> int: ...
    def count(
        self,
        sentences: Iterable[Any],
        *,
        max_vocab_size: int | None = None,
        trim_rule: TrimRule | None = None,
        progress: Callable[[SentenceCounter], object] | None = None,
        progress_per: int = 10000,
    ) -> None: ...
    def prune(self, trim_rule: TrimRule | None = None) -> None: ...
    def counts(self, min_count: int = 0) -> dict[Any, int]: ...
    def frequencies(self) -> NDArray[np.int64]: ...
    def counts_of(self, words: Iterable[Any]) -> NDArray[np.int64]: ...
