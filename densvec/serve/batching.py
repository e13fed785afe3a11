"""Questions of several requests answered together: a pass over all words costs little more for many of them.

No question waits for others to join it. Questions that arrive together are answered together, at once if that takes a
few milliseconds at most: to hand them to a thread and back would take longer. Otherwise a thread answers, and
questions gather for the next batch meanwhile.
"""

from __future__ import annotations

import asyncio
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


@dataclass(eq=False)
class _Waiting:
    model: Model
    questions: Sequence[Any]
    answers: asyncio.Future[Answers]


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
        self._cost = cost
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"densvec-{getattr(answer, '__name__', '')}")
        self._waiting: list[_Waiting] = []
        self._count = 0  # questions in `_waiting`
        self._task: asyncio.Task[None] | None = None

    async def ask(self, model: Model, questions: Sequence[Any]) -> Answers:
        """Return the answers, an exception for each question that has none."""
        if self._count + len(questions) > self._limits.waiting:
            raise BusyError("too many questions are waiting for an answer: try again in a moment")
        loop = asyncio.get_running_loop()
        waiting = _Waiting(model, questions, loop.create_future())
        self._waiting.append(waiting)
        self._count += len(questions)
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._work())
        return await waiting.answers

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            batch = self._next()
            model, questions = batch[0].model, [question for one in batch for question in one.questions]
            try:
                if self._is_small(model, questions):
                    answers = self._answer(model, questions, self._limits)
                else:
                    answers = await loop.run_in_executor(
                        self._thread, self._answer, model, questions, self._limits
                    )
            except Exception as error:  # a fault of ours: each request reports it, and the next batch goes on
                for one in batch:
                    if not one.answers.done():
                        one.answers.set_exception(error)
                continue
            first = 0
            for one in batch:
                if not one.answers.done():  # its request may have run out of time
                    one.answers.set_result(answers[first : first + len(one.questions)])
                first += len(one.questions)
            await asyncio.sleep(0)  # whoever has waited for the loop meanwhile comes before the next batch

    def _is_small(self, model: Model, questions: Sequence[Any]) -> bool:
        """Whether questions can be answered at once."""
        if self._cost is None:
            return False
        left = _AT_ONCE
        for question in questions:
            cost = self._cost(model, question)
            if cost is None or cost > left:
                return False
            left -= cost
        return True

    def _next(self) -> list[_Waiting]:
        """Take the questions to answer next, all to the same model."""
        model, count = self._waiting[0].model, 0
        batch: list[_Waiting] = []
        rest: list[_Waiting] = []
        for one in self._waiting:
            if one.model is model and (not batch or count + len(one.questions) <= _TOGETHER):
                batch.append(one)
                count += len(one.questions)
            else:
                rest.append(one)
        self._waiting = rest
        self._count -= count
        return batch
