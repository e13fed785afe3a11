"""Questions answered together: each gets its own answer, nobody waits for company, and too many are turned away."""

import asyncio
import threading

import pytest

from densvec.serve import Limits
from densvec.serve.batching import Batcher
from densvec.serve.errors import BusyError

MODEL, OTHER = object(), object()


def test_questions_that_wait_are_answered_together_and_in_order():
    batches, first_is_in, go_on = [], threading.Event(), threading.Event()

    def answer(model, questions, limits):
        batches.append((model, list(questions)))
        if len(batches) == 1:
            first_is_in.set()
            go_on.wait(60)
        return [f"{question}!" for question in questions]

    async def run():
        batcher = Batcher(answer, Limits())
        first = asyncio.create_task(batcher.ask(MODEL, ["alone"]))
        await asyncio.to_thread(first_is_in.wait, 60)
        others = [asyncio.create_task(batcher.ask(MODEL, [i, -i])) for i in range(5)]
        elsewhere = asyncio.create_task(batcher.ask(OTHER, ["there"]))
        await asyncio.sleep(0)
        go_on.set()
        return await first, await asyncio.gather(*others), await elsewhere

    first, others, elsewhere = asyncio.run(run())
    assert first == ["alone!"]
    assert others == [[f"{i}!", f"{-i}!"] for i in range(5)]
    assert elsewhere == ["there!"]
    assert [model for model, _ in batches] == [MODEL, MODEL, OTHER]
    assert len(batches[1][1]) == 10


def test_a_fault_of_one_batch_leaves_the_next_alone():
    def answer(model, questions, limits):
        if "bad" in questions:
            raise OSError("broken")
        return questions

    async def run():
        batcher = Batcher(answer, Limits())
        with pytest.raises(OSError, match="broken"):
            await batcher.ask(MODEL, ["bad"])
        return await batcher.ask(MODEL, ["good"])

    assert asyncio.run(run()) == ["good"]


def test_a_request_that_gave_up_disturbs_nobody():
    go_on = threading.Event()

    def answer(model, questions, limits):
        go_on.wait(60)
        return questions

    async def run():
        batcher = Batcher(answer, Limits())
        gone = asyncio.create_task(batcher.ask(MODEL, ["gone"]))
        await asyncio.sleep(0)
        stays = asyncio.create_task(batcher.ask(MODEL, ["stays"]))
        await asyncio.sleep(0)
        gone.cancel()
        go_on.set()
        return await stays

    assert asyncio.run(run()) == ["stays"]


def test_more_than_can_wait_is_turned_away():
    is_in, go_on = threading.Event(), threading.Event()

    def answer(model, questions, limits):
        is_in.set()
        go_on.wait(60)
        return questions

    async def run():
        batcher = Batcher(answer, Limits(waiting=3))
        tasks = [asyncio.create_task(batcher.ask(MODEL, [0]))]
        await asyncio.to_thread(is_in.wait, 60)
        tasks += [asyncio.create_task(batcher.ask(MODEL, [i])) for i in (1, 2, 3)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await batcher.ask(MODEL, [4])
        go_on.set()
        return [await task for task in tasks]

    assert asyncio.run(run()) == [[0], [1], [2], [3]]


def test_small_questions_that_arrive_together_are_answered_at_once_and_together():
    batches = []

    def answer(model, questions, limits):
        batches.append((list(questions), threading.current_thread() is threading.main_thread()))
        return questions

    async def run():
        batcher = Batcher(answer, Limits(), lambda model, question: question)
        for questions in [[1], [2], [3]], [[1], [1 << 30]], [[1], [None]]:
            await asyncio.gather(*(batcher.ask(MODEL, some) for some in questions))

    asyncio.run(run())
    assert batches == [([1, 2, 3], True), ([1, 1 << 30], False), ([1, None], False)]


def test_what_nobody_waits_for_is_not_answered():
    answered, is_in, go_on = [], threading.Event(), threading.Event()

    def answer(model, questions, limits):
        answered.extend(questions)
        is_in.set()
        go_on.wait(60)
        return questions

    async def run():
        batcher = Batcher(answer, Limits())
        large = asyncio.create_task(batcher.ask(MODEL, ["large"] * 256))
        await asyncio.to_thread(is_in.wait, 60)
        queued = asyncio.create_task(batcher.ask(MODEL, ["queued"] * 64))
        await asyncio.sleep(0)
        large.cancel()
        queued.cancel()
        await asyncio.gather(large, queued, return_exceptions=True)
        go_on.set()
        return await batcher.ask(MODEL, ["next"])

    assert asyncio.run(run()) == ["next"]
    assert answered.count("large") <= 64  # the part that was being answered
    assert answered[-1] == "next"
    assert "queued" not in answered


def test_a_request_that_asks_for_too_much_is_refused_before_any_work():
    async def run():
        batcher = Batcher(
            lambda model, questions, limits: questions, Limits(seconds=1), lambda model, cost: cost
        )
        with pytest.raises(ValueError, match="cannot be answered within 1 second"):
            await batcher.ask(MODEL, [1 << 34] * 2)
        return await batcher.ask(MODEL, [1 << 30] * 2)

    assert asyncio.run(run()) == [1 << 30] * 2
