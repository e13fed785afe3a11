"""One training run: how long it is, how its learning rate falls, and how far it has come."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from densvec.training.backend import StepResult

if TYPE_CHECKING:
    from densvec._corpus import Chunk


class EpochLoss(NamedTuple):
    """The result of one epoch; the losses are means per centre word, NaN if there was none.

    ``loss``, ``hinge`` and ``kl`` are measured on chunks before they are trained on, with the tables at rest. The
    ``running_loss`` is summed up while the tables change: what is learnt from one centre answers most of the
    next one's window, the more so the faster the tables learn. So it is too small, and rises as the learning rate
    falls, although the model improves.
    """

    epoch: int  # 1 is the first that the model was ever trained
    loss: float  # hinge + kl_weight · kl
    hinge: float
    kl: float
    words: int  # raw words of the corpus, known or not
    words_per_second: float
    seconds: float
    running_loss: float = math.nan


@dataclass(frozen=True)
class Tally:
    """What has been trained of one epoch."""

    chunks: int = 0
    words: int = 0  # raw words
    kept: int = 0  # words left by the vocabulary and by subsampling
    examples: int = 0
    seconds: float = 0.0
    result: StepResult = field(default_factory=StepResult)
    at_rest: StepResult = field(
        default_factory=StepResult
    )  # of the chunks that were measured before they were trained on

    def per_centre(self) -> tuple[float, float, float]:
        """Return loss, hinge and kl per centre: at rest, if they were measured, else while training."""
        return (self.at_rest if self.at_rest.centres else self.result).per_centre()

    def plus(self, chunks: Sequence[Chunk], result: StepResult, at_rest: StepResult | None = None) -> Tally:
        """Return the tally with chunks that were trained together, and the loss before that, if it was measured."""
        return replace(
            self,
            chunks=self.chunks + len(chunks),
            words=self.words + sum(chunk.words for chunk in chunks),
            kept=self.kept + sum(len(chunk.tokens) for chunk in chunks),
            examples=self.examples + sum(chunk.examples for chunk in chunks),
            result=self.result + result,
            at_rest=self.at_rest if at_rest is None else self.at_rest + at_rest,
        )


class Position(NamedTuple):
    """How far a run has come. It changes as a whole, in one assignment, so that it is never half updated."""

    epoch: int = 0  # epochs of the run that are complete
    tally: Tally = Tally()  # of the current epoch
    losses: tuple[EpochLoss, ...] = ()  # of all epochs that the model was ever trained
    pieces: dict[str, Any] | None = (
        None  # which pieces of the text are trained, if several processes read them
    )
    exact: bool = True  # whether the tables are those of this position


@dataclass
class Run:
    """A number of epochs over one corpus, and the position in them.

    Everything random depends on the model's seed, the epoch's number and the chunk's number, so that the
    position is all that is needed to go on as if the run had never stopped.
    """

    epochs: int
    start_alpha: float
    end_alpha: float
    total_words: int | None  # raw words of an epoch; None: progress is measured in examples
    total_examples: int | None = None
    first_epoch: int = 0  # epochs that the model was trained before this run
    own: bool = False  # whether it is the model's own epochs, not those of a later call
    position: Position = field(default_factory=Position)

    @property
    def epoch(self) -> int:
        """Epochs of this run that are complete."""
        return self.position.epoch

    @property
    def tally(self) -> Tally:
        """What has been trained of the current epoch."""
        return self.position.tally

    @property
    def finished(self) -> bool:
        """Whether all epochs are complete."""
        return self.epoch >= self.epochs

    @property
    def number(self) -> int:
        """The number of the current epoch, from 0, over the model's whole life."""
        return self.first_epoch + self.epoch

    def progress(self, words: int, examples: int) -> float:
        """Return how much of the run is done, 0 to 1, with this much of the current epoch done."""
        if self.total_words:
            part = words / self.total_words
        else:
            part = examples / self.total_examples if self.total_examples else 0.0
        return min(1.0, (self.epoch + min(1.0, part)) / self.epochs)

    def alpha(self, words: int, examples: int) -> float:
        """Return the learning rate there: it falls linearly."""
        return self.start_alpha + (self.end_alpha - self.start_alpha) * self.progress(words, examples)

    def count(self, chunks: Sequence[Chunk], result: StepResult, at_rest: StepResult | None = None) -> None:
        """Move on by chunks that were trained together; one thread at a time."""
        self.position = self.position._replace(tally=self.tally.plus(chunks, result, at_rest))

    def count_seconds(self, seconds: float) -> None:
        """Say how long the current epoch has taken."""
        self.position = self.position._replace(tally=replace(self.tally, seconds=seconds))

    def complete_epoch(self) -> EpochLoss:
        """Move on to the next epoch; return what this one gave."""
        epoch, tally, losses = self.position[:3]
        loss, hinge, kl = tally.per_centre()
        speed = tally.words / tally.seconds if tally.seconds else math.inf
        running, _, _ = tally.result.per_centre()
        given = EpochLoss(self.number + 1, loss, hinge, kl, tally.words, speed, tally.seconds, running)
        self.position = Position(epoch + 1, Tally(), (*losses, given))
        return given

    def check_exact(self) -> None:
        """Raise RuntimeError if the tables belong to no position, so that nothing can go on from here."""
        if not self.position.exact:
            raise RuntimeError(
                "training was cut off before this rank could agree with the others: load the last checkpoint instead"
            )

    def header(self) -> dict[str, Any]:
        """Return a JSON document that `from_header` understands; it leaves out the losses."""
        self.check_exact()
        header = {name: value for name, value in vars(self).items() if name != "position"}
        return {**header, "epoch": self.epoch, "tally": asdict(self.tally), "shared": self.position.pieces}

    @classmethod
    def from_header(cls, header: Mapping[str, Any], losses: Iterable[EpochLoss] = ()) -> Run:
        """Return the run of a document, and of the losses of all epochs."""
        rest = dict(header)
        tally = dict(rest.pop("tally"))
        tally["result"] = StepResult(**tally["result"])
        tally["at_rest"] = StepResult(**tally.get("at_rest", {}))
        position = Position(rest.pop("epoch"), Tally(**tally), tuple(losses), rest.pop("shared", None))
        return cls(**rest, position=position)
