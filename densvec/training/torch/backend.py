"""The torch backend: readable, on any device, and the reference for the native one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from densvec.training.backend import Backend, StepResult
from densvec.training.settings import Objective, Rates
from densvec.training.tables import PER_WORD, bayesian_state, bayesian_tables
from densvec.training.torch.minibatch import Minibatch, minibatches
from densvec.training.torch.optimiser import Gradients, Optimiser
from densvec.training.torch.step import Losses, Posteriors, Rows, TorchStep
from densvec.types import Array

if TYPE_CHECKING:
    from densvec._corpus import Chunk
    from densvec.keyed import KeyedDensities

__all__ = ["PreparedChunk", "TorchBackend"]

BATCH_CENTRES = {"cpu": 512, "cuda": 4096, "mps": 4096}


@dataclass
class PreparedChunk:
    """A chunk whose minibatches are on their way to the device."""

    chunk: Chunk
    minibatches: list[Minibatch]


class TorchBackend(Backend):
    """Trains the tables of a `KeyedDensities` with torch.

    On a CPU the tensors share the memory of the arrays in ``wv``; on another device they are copies, which
    `synchronise` copies back. Only the rows that a minibatch uses are read and written, so that the cost of a
    step does not grow with the vocabulary.

    Parameters
    ----------
    wv
        The densities and their encoder, trained in place. Tables of float64 are trained in float64.
    objective, rates
        The loss, and the learning rates as multiples of the ``alpha`` given to `step`.
    state
        The optimiser's accumulators, as `state` returned them; None starts from zero.
    device
        "cpu", "cuda", "cuda:1", "mps" …; None takes CUDA if there is a device, else the CPU.
    batch_centres
        Centres per update; None chooses by device.
    """

    concurrent = False

    def __init__(
        self,
        wv: KeyedDensities,
        objective: Objective,
        rates: Rates,
        state: dict[str, Array] | None = None,
        *,
        device: str | None = None,
        batch_centres: int | None = None,
    ) -> None:
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.batch_centres = batch_centres or BATCH_CENTRES.get(self.device.type, 4096)
        self.rates = rates
        assert wv.encoder is not None
        self._homes = bayesian_tables(wv)
        tensors = {name: torch.from_numpy(array).to(self.device) for name, array in self._homes.items()}
        self.tables = Rows(*(tensors.pop(name) for name in PER_WORD))
        self.module = TorchStep(tensors, objective, wv.encoder.residual, wv.encoder.reading)
        self.optimiser = Optimiser(
            self.tables,
            dict(self.module.named_parameters()),
            bayesian_state(self._homes) | (state or {}),
            wv.encoder.residual,
        )

    @contextmanager
    def threads(self, count: int) -> Iterator[None]:
        """Compute with this many threads on the CPU for as long as the context lasts."""
        before = torch.get_num_threads()
        torch.set_num_threads(count)
        try:
            yield
        finally:
            torch.set_num_threads(before)

    def prepare(self, chunk: Chunk) -> PreparedChunk:
        """Cut a chunk and send it to the device: work for other threads while the device is busy."""
        return PreparedChunk(
            chunk, [self._to_device(batch) for batch in minibatches(chunk, self.batch_centres)]
        )

    def step(self, chunk: Chunk | PreparedChunk, alpha: float, worker: int = 0) -> StepResult:
        """Train on one chunk; a loss of NaN means that an update was skipped because it was not finite."""
        prepared = chunk if isinstance(chunk, PreparedChunk) else self.prepare(chunk)
        sums = torch.zeros(
            3, device=self.device, dtype=torch.float32 if self.device.type == "mps" else torch.float64
        )
        centres = 0
        for batch in prepared.minibatches:
            losses, rows, posteriors, gradients = self._differentiate(batch)
            finite = self.optimiser.update(batch, rows, posteriors, gradients, self.rates, alpha)
            sums += torch.where(finite, torch.stack(losses), torch.nan)
            centres += len(batch.centres)
        loss, hinge, kl = sums.tolist()  # the only wait for the device
        return StepResult(loss, hinge, kl, centres)

    @torch.no_grad()
    def measure(self, chunk: Chunk | PreparedChunk, worker: int = 0) -> StepResult | None:
        """Return the loss of a chunk as the tables are, and change nothing."""
        prepared = chunk if isinstance(chunk, PreparedChunk) else self.prepare(chunk)
        result = StepResult()
        for batch in prepared.minibatches:
            with self._autocast():
                losses, _, _ = self.module(batch, self._rows(batch))
            loss, hinge, kl = (float(value) for value in losses)
            result += StepResult(loss, hinge, kl, len(batch.centres))
        return result

    def gradients(self, chunk: Chunk) -> tuple[StepResult, dict[str, Array]]:
        """Return the loss of a chunk and the dense gradients of its sum over centres, by parameter."""
        result = StepResult()
        dense = {name: np.zeros_like(array) for name, array in self._homes.items()}
        for batch in minibatches(chunk):
            losses, _, _, gradients = self._differentiate(self._to_device(batch))
            dense["means"][batch.words] = gradients.rows.means.cpu()
            dense["log_variances"][batch.words] = gradients.rows.log_variances.cpu()
            dense["embeddings"][batch.words[: batch.encoded]] = gradients.rows.embeddings.cpu()
            for name, gradient in gradients.weights.items():
                dense[name] = gradient.cpu().numpy()
            loss, hinge, kl = (float(value) for value in losses)
            result = StepResult(loss, hinge, kl, len(batch.centres))
        return result, dense

    def arrays(self) -> dict[str, Tensor]:
        """Return the tables, weights and accumulators, live, on the device."""
        weights = {name: weight.detach() for name, weight in self.module.named_parameters()}
        return {**self.tables._asdict(), **weights, **self.optimiser.state()}

    def state(self) -> dict[str, Array]:
        """Return the optimiser's accumulators by name, under names that all backends share."""
        return {name: tensor.cpu().numpy().copy() for name, tensor in self.optimiser.state().items()}

    def synchronise(self) -> None:
        """Copy the tables back to ``wv``; on a CPU they never left."""
        if self.device.type == "cpu":
            return
        trained: dict[str, Tensor] = {**self.tables._asdict(), **dict(self.module.named_parameters())}
        for name, home in self._homes.items():
            home[...] = trained[name].detach().cpu().numpy()

    def _to_device(self, batch: Minibatch) -> Minibatch:
        def convert(array: Array) -> Tensor:
            tensor = torch.from_numpy(array)
            if self.device.type == "cuda":
                tensor = tensor.pin_memory()
            return tensor.to(self.device, non_blocking=True)

        return batch.to(convert)

    def _differentiate(self, batch: Minibatch) -> tuple[Losses, Rows, Posteriors, Gradients]:
        """Return losses and posteriors of a minibatch, the rows that it reads, and the gradients of all of them."""
        rows = Rows(*(table.requires_grad_() for table in self._rows(batch)))
        weights = dict(self.module.named_parameters())
        with self._autocast():
            losses, divergences, posteriors = self.module(batch, rows)
        descended = losses.loss + self.module.score(batch, rows, posteriors)
        wanted = (*rows, *weights.values(), divergences)
        found = torch.autograd.grad(descended, wanted, allow_unused=True, materialize_grads=True)
        gradients = Gradients(Rows(*found[:3]), dict(zip(weights, found[3:-1], strict=True)), found[-1])
        return Losses(*(value.detach() for value in losses)), rows, posteriors, gradients

    def _rows(self, batch: Minibatch) -> Rows:
        """Return the rows of the tables that a minibatch uses."""
        return Rows(
            self.tables.means.index_select(0, batch.words),
            self.tables.log_variances.index_select(0, batch.words),
            self.tables.embeddings.index_select(0, batch.words[: batch.encoded]),
        )

    def _autocast(self) -> AbstractContextManager[Any]:
        """Mixed precision where the device gains by it and the tables allow it."""
        if (
            self.device.type == "cuda"
            and self.tables.means.dtype == torch.float32
            and torch.cuda.is_bf16_supported()
        ):
            return torch.autocast("cuda", dtype=torch.bfloat16)
        return nullcontext()
