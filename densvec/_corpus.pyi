from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Pairing: TypeAlias = Literal["paired", "shared"]

MAX_WINDOW: int
MAX_NEGATIVE: int

class Block:
    ids: NDArray[np.int32]
    sentences: NDArray[np.int32]
    number: int
    words: int
    words_before: int
    examples: int
    def __init__(
        self,
        ids: ArrayLike,
        sentences: ArrayLike,
        *,
        number: int = 0,
        words: int | None = None,
        words_before: int = 0,
        examples: int | None = None,
    ) -> None: ...

class Chunk:
    tokens: NDArray[np.int32]
    sentences: NDArray[np.int32]
    radii: NDArray[np.int32]
    negatives: NDArray[np.int32]
    pairing: Pairing
    epoch: int
    number: int
    words: int
    words_before: int
    examples: int
    pairs: int
    def __init__(
        self,
        tokens: ArrayLike,
        sentences: ArrayLike,
        radii: ArrayLike,
        negatives: ArrayLike,
        pairing: str = "shared",
        *,
        epoch: int = 0,
        number: int = 0,
        words: int | None = None,
        words_before: int = 0,
        examples: int | None = None,
    ) -> None: ...
    @property
    def negative(self) -> int: ...
    def __len__(self) -> int: ...
    def centres_and_contexts(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...

def count_beside(
    block: Block, rows: NDArray[np.int32], columns: NDArray[np.int32], counts: NDArray[np.int32]
) -> None: ...

class Sampler:
    size: int
    window: int
    negative: int
    shrink_windows: bool
    pairing: Pairing
    seed: int
    def __init__(
        self,
        keep: ArrayLike,
        noise: ArrayLike,
        *,
        window: int = 5,
        shrink_windows: bool = True,
        negative: int = 1,
        pairing: str = "shared",
        seed: int = 1,
    ) -> None: ...
    def sample(self, block: Block, epoch: int) -> Chunk: ...
