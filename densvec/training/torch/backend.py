"""The torch backend: made for devices with many cores, readable, and the reference for the native one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from densvec.training.backend import Backend, StepResult
from densvec.training.settings import LARGEST_RATE, Objective, Rates
from densvec.training.tables import bayesian_company, bayesian_state, bayesian_tables
from densvec.training.torch.gradients import Step, differentiate
from densvec.training.torch.minibatch import Minibatch, Minibatches
from densvec.training.torch.optimiser import FIRST_WEIGHT, Optimiser, Pace
from densvec.training.torch.step import Model, Tables
from densvec.training.torch.windows import Windows, beyond, windows
from densvec.types import Array

if TYPE_CHECKING:
    from densvec import tables
    from densvec._corpus import Chunk

#: The most centres of an update: larger ones are faster, but words go as far in them as in many small ones only while
#: that is not far.
CENTRES = 6400

#: Centres of an update on a CPU, if the text is too short for more; and updates in an epoch, at least, of one that is
#: not: in many fewer, directions are not learnt.
LEAST_CENTRES, UPDATES = 512, 128

#: How much more text is gathered than an update needs for windows that do not meet: the further apart its centres
#: are, the less these have to do with each other.
SPREAD = 2.5


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
    centres
        The most centres of one update; None takes as many as suit the device and the text.
    """

    concurrent = False

    def __init__(
        self,
        wv: tables.Tables,
        objective: Objective,
        rates: Rates,
        state: dict[str, Array] | None = None,
        *,
        device: str | None = None,
        centres: int | None = None,
    ) -> None:
        self.device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self.rates = rates
        assert wv.encoder is not None
        self._homes = bayesian_tables(wv)
        self.tables = Tables(
            **{name: torch.from_numpy(array).to(self.device) for name, array in self._homes.items()}
        )
        self.model = Model(objective, wv.encoder.residual, wv.encoder.reading)
        self.optimiser = Optimiser(
            self.tables, bayesian_state(self._homes) | (state or {}), bayesian_company(wv)
        )
        self.centres = centres or most_centres(wv, self.device.type)
        self.batch_words = words_together(wv, self.device.type, self.centres)
        self._minibatches = Minibatches(len(wv.vectors))

    @contextmanager
    def threads(self, count: int) -> Iterator[None]:
        """Compute with this many threads on the CPU for as long as the context lasts."""
        before = torch.get_num_threads()
        torch.set_num_threads(count)
        try:
            yield
        finally:
            torch.set_num_threads(before)

    def prepare(self, *chunks: Chunk) -> list[Minibatch]:
        """Send chunks to the device: work for other threads while the device is busy."""
        return self._to_device(self._minibatches.of(chunks, self.centres))

    def step(self, chunk: Chunk | list[Minibatch], alpha: float, worker: int = 0) -> StepResult:
        """Train on a chunk, or on prepared ones; a loss of NaN means that an update was not finite, and left out."""
        batches = chunk if isinstance(chunk, list) else self.prepare(chunk)
        return _total(batches, self._train(batches, alpha))

    @torch.no_grad()
    def measure(self, chunk: Chunk | list[Minibatch], worker: int = 0) -> StepResult | None:
        """Return the loss of chunks as the tables are, and change nothing."""
        batches = chunk if isinstance(chunk, list) else self.prepare(chunk)
        losses = [torch.stack(self.model.losses(self.tables, self._windows(batch))) for batch in batches]
        return _total(batches, losses)

    def gradients(self, chunk: Chunk) -> tuple[StepResult, dict[str, Array]]:
        """Return the loss of a chunk and the dense gradients of its sum over centres, by parameter."""
        result = StepResult()
        dense = {name: np.zeros_like(array) for name, array in self._homes.items()}
        for batch in self._to_device(Minibatches(len(self.tables.means)).of([chunk])):
            step = self._differentiate(batch)
            words, texts = step.windows.words.ids, step.windows.texts.ids
            for name, ids, gradient in (
                ("means", words, step.means),
                ("log_variances", words, (step.by_contrast + step.by_prior) * step.rows.fisher),
                ("embeddings", texts, step.embeddings),
            ):
                np.add.at(dense[name], ids.cpu().numpy(), gradient.cpu().numpy())
            for name, gradient in zip(Tables._fields[FIRST_WEIGHT:], step.weights, strict=True):
                dense[name] = gradient.cpu().numpy()
            loss, hinge, kl = (float(value) for value in step.losses)
            result = StepResult(loss, hinge, kl, batch.sizes.centres)
        return result, dense

    def arrays(self) -> dict[str, Tensor]:
        """Return the tables, weights and accumulators, live, on the device."""
        return {**self.tables._asdict(), **self.optimiser.state()}

    def state(self) -> dict[str, Array]:
        """Return the optimiser's accumulators by name, under names that all backends share."""
        return {name: tensor.cpu().numpy().copy() for name, tensor in self.optimiser.state().items()}

    def synchronise(self) -> None:
        """Copy the tables back to ``wv``; on a CPU they never left."""
        if self.device.type == "cpu":
            return
        for name, home in self._homes.items():
            home[...] = getattr(self.tables, name).cpu().numpy()

    def _train(self, batches: list[Minibatch], alpha: float) -> list[Tensor]:
        """Take a step on each minibatch; return their losses, NaN for a step that was not finite, and not taken."""
        rates = Rates(**{name: min(alpha * rate, LARGEST_RATE) for name, rate in vars(self.rates).items()})
        losses = []
        for batch in batches:
            step = self._differentiate(batch)
            finite = self.optimiser.update(step, Pace.of(batch), rates)
            losses.append(torch.where(finite, torch.stack(step.losses), torch.nan))
        return losses

    def _differentiate(self, batch: Minibatch) -> Step:
        outside = beyond(batch) if self.model.reading.narrowing else None
        return differentiate(self.model, self.tables, self._windows(batch), outside, self.optimiser.company)

    def _windows(self, batch: Minibatch) -> Windows:
        return windows(batch, paired=self.model.objective.pairing == "paired")

    def _to_device(self, batches: list[Minibatch]) -> list[Minibatch]:
        """Send the arrays that minibatches share, in one piece, from memory that the device can read directly."""
        if not batches:
            return []
        arrays = batches[0].arrays()
        flat = torch.from_numpy(np.concatenate([array.ravel() for array in arrays]))
        if self.device.type == "cuda":
            flat = flat.pin_memory()
        flat = flat.to(self.device, non_blocking=True)
        ends = np.cumsum([array.size for array in arrays]).tolist()
        tokens, radii, sentences, negatives = flat.tensor_split(ends)[:4]
        negatives = negatives.view(arrays[3].shape)
        return [
            replace(batch, tokens=tokens, radii=radii, sentences=sentences, negatives=negatives)
            for batch in batches
        ]


def _total(batches: list[Minibatch], losses: list[Tensor]) -> StepResult:
    """Return the sums of the minibatches' losses: the only wait for the device."""
    if not losses:
        return StepResult()
    loss, hinge, kl = np.sum(torch.stack(losses).tolist(), axis=0).tolist()
    return StepResult(loss, hinge, kl, sum(batch.sizes.centres for batch in batches))


def most_centres(wv: tables.Tables, device: str) -> int:
    """Return how many centres are trained at once, at most; fewer on a CPU, which trains little text as well."""
    if device != "cpu":
        return CENTRES
    return min(max(round(_words_of_text(wv)[1] / UPDATES), LEAST_CENTRES), CENTRES)


def words_together(wv: tables.Tables, device: str, centres: int) -> int:
    """Return how many words of text fill a batch of updates; 0 takes each chunk alone."""
    if device == "cpu" and centres <= LEAST_CENTRES:
        return 0
    assert wv.encoder is not None
    raw, kept = _words_of_text(wv)
    return round(SPREAD * (2 * wv.encoder.reading.window + 2) * centres * (raw / kept if kept else 1))


def _words_of_text(wv: tables.Tables) -> tuple[float, float]:
    """Return how many words the text has, and how many of them are kept on average; 0 where they were not counted."""
    if "count" not in wv.expandos:
        return 0, 0
    counts = np.asarray(wv.expandos["count"], dtype=np.float64)
    return float(counts.sum()), float((counts * wv.expandos.get("keep", 1.0)).sum())
