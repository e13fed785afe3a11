from densvec._corpus import Chunk
from densvec.types import Array

ENERGIES: tuple[str, ...]

class Kernel:
    def __init__(
        self,
        arrays: dict[str, Array],
        *,
        margin: float,
        energy: str,
        low: float,
        high: float,
        longest: float,
        instruction_set: str | None = None,
    ) -> None: ...
    def step(
        self, chunk: Chunk, *, mean: float, log_variance: float, worker: int = 0
    ) -> tuple[float, int]: ...
    def gradients(self, chunk: Chunk, into: dict[str, Array]) -> tuple[float, int]: ...
    def measure(self, chunk: Chunk, worker: int = 0) -> tuple[float, int]: ...
