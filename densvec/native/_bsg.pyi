from typing import Any

from densvec._corpus import Chunk
from densvec.reading import Reading
from densvec.types import Array

WEIGHT_NAMES: tuple[str, ...]

class Kernel:
    instruction_set: str
    bfloat16: bool
    def __init__(
        self,
        arrays: dict[str, Array],
        state: dict[str, Array],
        *,
        margin: float,
        kl_weight: float,
        nearness: float = 0.0,
        residual: bool = False,
        reading: Reading | None = None,
        company: Array | None = None,
        workers: int = 1,
        instruction_set: str | None = None,
        bfloat16: bool = False,
    ) -> None: ...
    def step(
        self,
        chunk: Chunk,
        *,
        mean: float,
        log_variance: float,
        contrast: float,
        coverage: float,
        embedding: float,
        encoder: float,
        worker: int = 0,
    ) -> tuple[float, float, int]: ...
    def measure(self, chunk: Chunk, worker: int = 0) -> tuple[float, float, int]: ...
    def gradients(self, chunk: Chunk, into: dict[str, Any]) -> tuple[float, float, int]: ...
