"""Questions of several requests answered together: a pass over all words costs little more for many of them.

No question waits for others to join it. Questions that arrive together are answered together, at once if that takes a
few milliseconds at most: to hand them to a thread and back would take longer. Otherwise a thread answers, part by part,
and questions gather for the next part meanwhile. Questions of a request that has run out of time are dropped.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from densvec.serve.answers import Answers
from densvec.serve.errors import BusyError
from densvec.serve.limits import Limits
from densvec.serve.models import Model

__all__ = ["Batcher"]

_TOGETHER = 64
"""Questions answered at a time, so that the first of them do not wait long for the last."""

_AT_ONCE = 1 << 27
"""Numbers read for them up to which no thread is needed: about ten milliseconds."""

_PART = 1 << 31
"""Numbers read for them up to which nobody looks whether the answers are still wanted: less than a second."""

_PER_SECOND = 1 << 33
"""Numbers that even a fast machine does not read in less than a second."""


@dataclass(eq=False)
class _Request:
    model: Model
    answers: list[Any]  # in the order of its questions, None where there is none yet
    missing: int
    done: asyncio.Future[Answers]

    def take(self, i: int, answer: Any) -> None:
        """Take the answer to one question."""
        self.answers[i] = answer
        self.missing -= 1
        if not self.missing and not self.done.done():
            self.done.set_result(self.answers)

    def fail(self, error: Exception) -> None:
        """Give up, for a fault of ours."""
        if not self.done.done():
            self.done.set_exception(error)


@dataclass(eq=False)
class _Waiting:
    request: _Request
    i: int
    question: Any
    cost: int | None


class Batcher:
    """Answers the questions of one route.

    Parameters
    ----------
    answer : callable
        (model, questions, limits) → answers; see `densvec.serve.answers`.
    limits : Limits
    cost : callable, optional
        (model, question) → how many numbers are read to answer it, about; None if that cannot be said. A thread
        answers all questions if there is no such function.
    """

    def __init__(
        self,
        answer: Callable[[Model, Sequence[Any], Limits], Answers],
        limits: Limits,
        cost: Callable[[Model, Any], int | None] | None = None,
    ) -> None:
        self._answer = answer
        self._limits = limits
        self._cost = cost or (lambda model, question: None)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"densvec-{getattr(answer, '__name__', '')}")
        self._waiting: list[_Waiting] = []
        self._task: asyncio.Task[None] | None = None

    async def ask(self, model: Model, questions: Sequence[Any]) -> Answers:
        """Return the answers, an exception for each question that has none."""
        if len(self._waiting) + len(questions) > self._limits.waiting:
            raise BusyError("too many questions are waiting for an answer: try again in a moment")
        costs = [self._cost(model, question) for question in questions]
        if sum(cost or 0 for cost in costs) > _PER_SECOND * self._limits.seconds:
            raise ValueError(
                f"this cannot be answered within {self._limits.seconds:g} seconds: ask for less at once"
            )
        loop = asyncio.get_running_loop()
        request = _Request(model, [None] * len(questions), len(questions), loop.create_future())
        self._waiting += [
            _Waiting(request, i, question, cost)
            for i, (question, cost) in enumerate(zip(questions, costs, strict=True))
        ]
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._work())
        return await request.done

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while part := self._next():
            answer = functools.partial(
                self._answer, part[0].request.model, [one.question for one in part], self._limits
            )
            costs = [one.cost for one in part]
            try:
                if None not in costs and sum(cost or 0 for cost in costs) <= _AT_ONCE:
                    answers = answer()
                else:
                    answers = await loop.run_in_executor(self._thread, answer)
            except Exception as error:  # a fault of ours: each request reports it, and the next part goes on
                for one in part:
                    one.request.fail(error)
                continue
            for one, found in zip(part, answers, strict=True):
                one.request.take(one.i, found)
            await asyncio.sleep(0)  # whoever has waited for the loop meanwhile comes before the next part

    def _next(self) -> list[_Waiting]:
        """Take the questions to answer next, all to the same model; forget those that nobody waits for."""
        part: list[_Waiting] = []
        rest: list[_Waiting] = []
        cost = 0
        for one in self._waiting:
            if one.request.done.done():
                continue
            cost_of_one = _AT_ONCE if one.cost is None else one.cost
            fits = len(part) < _TOGETHER and cost + cost_of_one <= _PART
            if not part or (fits and one.request.model is part[0].request.model):
                part.append(one)
                cost += cost_of_one
            else:
                rest.append(one)
        self._waiting = rest
        return part
