"""Questions of several requests answered together: a pass over all words costs little more for many of them.

No question waits for others to join it. Questions that arrive together are answered together, at once if that takes a
few milliseconds at most: to hand them to a thread and back would take longer. Otherwise a thread answers, part by part,
and questions gather for the next part meanwhile. Those of small requests come first, so that nobody waits long behind
a large one; those of a request that has run out of time are dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from densvec.serve.faults import BusyError
from densvec.serve.limits import Limits
from densvec.serve.models import Model

_TOGETHER = 64
"""Questions answered at a time, so that the first of them do not wait long for the last."""

_AT_ONCE = 1 << 27
"""Numbers read up to which no thread is needed: about ten milliseconds."""

_PART = 1 << 30
"""Numbers read between two checks whether the answers are still wanted: about a second."""

_PER_SECOND = 1 << 33
"""Numbers that even a fast machine does not read in less than a second."""

_PER_SECOND_ALONE = 1 << 31
"""The same for a single question, which cannot be left unfinished and blocks its route meanwhile."""

Found = Any  # a document, or the exception of a question that has no answer


@dataclass(frozen=True)
class Asked:
    """A question in the form that the answering function takes."""

    subject: Any
    settings: tuple[Hashable, ...] = ()  # those with the same are answered in one call
    cost: int = 0  # about how many numbers are read to answer it


@dataclass(eq=False, frozen=True)
class _Waiting:
    model: Model
    question: Asked
    found: asyncio.Future[Found]
    size: int  # the cost of its whole request

    def goes_with(self, other: _Waiting) -> bool:
        """Whether one call can answer both."""
        return self.model is other.model and self.question.settings == other.question.settings


class Batcher:
    """Answers the questions of one route, by a function of `densvec.answers`: (wv, subjects, *settings) → documents."""

    def __init__(self, answer: Callable[..., Sequence[Any]], limits: Limits, name: str = "answers") -> None:
        self._answer, self._limits = answer, limits
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"densvec-{name}")
        self._waiting: list[_Waiting] = []
        self._task: asyncio.Task[None] | None = None

    async def ask(self, model: Model, questions: Sequence[Asked]) -> list[Found]:
        """Return the answers, an exception for each question that has none."""
        size = sum(question.cost for question in questions)
        alone = max((question.cost for question in questions), default=0)
        if max(size / _PER_SECOND, alone / _PER_SECOND_ALONE) > self._limits.seconds:
            raise ValueError(
                f"this cannot be answered within {self._limits.seconds:g} seconds: ask for less at once"
            )
        self._make_room(len(questions), size)
        loop = asyncio.get_running_loop()
        added = [_Waiting(model, question, loop.create_future(), size) for question in questions]
        self._waiting += added
        self._waiting.sort(key=lambda one: one.size)  # of equal ones, those that came first stay first
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._work())
        try:
            return await asyncio.gather(*(one.found for one in added))
        finally:
            for one in added:
                one.found.cancel()

    def _make_room(self, count: int, size: int) -> None:
        """Turn questions away that are part of larger requests; BusyError if there are not enough of them."""
        while len(self._waiting) + count > self._limits.waiting:
            busy = BusyError("too many questions are waiting for an answer: try again in a moment")
            if not self._waiting or self._waiting[-1].size <= size:
                raise busy
            largest = self._waiting.pop().found
            if not largest.done():
                largest.set_exception(busy)

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while part := self._next():
            if sum(one.question.cost for one in part) <= _AT_ONCE:
                found = self._answers(part)
            else:
                found = await loop.run_in_executor(self._thread, self._answers, part)
            for one, answer in zip(part, found, strict=True):
                if not one.found.done():
                    one.found.set_result(answer)
            await asyncio.sleep(0)  # let other tasks run before the next part

    def _answers(self, part: Sequence[_Waiting]) -> list[Found]:
        """Return the answers to questions that go together; if there is a fault, each is answered on its own."""
        settings, subjects = part[0].question.settings, [one.question.subject for one in part]
        try:
            return list(self._answer(part[0].model.wv, subjects, *settings))
        except Exception as error:
            return [error] if len(part) == 1 else [found for one in part for found in self._answers([one])]

    def _next(self) -> list[_Waiting]:
        """Take the questions to answer next, which go together; forget those that nobody waits for."""
        part: list[_Waiting] = []
        rest: list[_Waiting] = []
        cost = 0
        for one in self._waiting:
            if one.found.done():
                continue
            cost += one.question.cost
            if not part or (len(part) < _TOGETHER and cost <= _PART and one.goes_with(part[0])):
                part.append(one)
            else:
                cost -= one.question.cost
                rest.append(one)
        self._waiting = rest
        return part
