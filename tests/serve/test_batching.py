"""Questions answered together: each gets its own answer, nobody waits for company, and too many are turned away."""

import asyncio
import threading
from types import SimpleNamespace

import pytest

from densvec.serve import Limits
from densvec.serve.batching import Asked, Batcher
from densvec.serve.faults import BusyError

MODEL, OTHER = SimpleNamespace(wv="this"), SimpleNamespace(wv="other")
LARGE = 1 << 29  # what a thread answers


def large(*subjects, settings=()):
    return [Asked(subject, settings, LARGE) for subject in subjects]


class Answering:
    """A function that answers, notes what it was asked, and waits until it may go on."""

    def __init__(self):
        self.calls, self.is_in, self.go_on = [], threading.Event(), threading.Event()

    def __call__(self, wv, subjects, *settings):
        self.calls.append((wv, list(subjects), settings))
        self.is_in.set()
        assert self.go_on.wait(60)
        return [f"{subject}!" for subject in subjects]


def test_questions_that_wait_are_answered_together_and_in_order():
    answer = Answering()

    async def run():
        batcher = Batcher(answer, Limits())
        first = asyncio.create_task(batcher.ask(MODEL, large("alone")))
        await asyncio.to_thread(answer.is_in.wait, 60)
        small = [Asked(i) for i in range(5)], [Asked(-i) for i in range(5)]
        others = [asyncio.create_task(batcher.ask(MODEL, some)) for some in small]
        elsewhere = asyncio.create_task(batcher.ask(OTHER, [Asked("there")]))
        set_otherwise = asyncio.create_task(batcher.ask(MODEL, [Asked("else", ("kl",))]))
        await asyncio.sleep(0)
        answer.go_on.set()
        return await first, await asyncio.gather(*others), await elsewhere, await set_otherwise

    first, others, elsewhere, set_otherwise = asyncio.run(run())
    assert first == ["alone!"]
    assert others == [[f"{i}!" for i in range(5)], [f"{-i}!" for i in range(5)]]
    assert (elsewhere, set_otherwise) == (["there!"], ["else!"])
    assert [(wv, settings) for wv, _, settings in answer.calls] == [
        ("this", ()), ("this", ()), ("other", ()), ("this", ("kl",)),
    ]  # fmt: skip
    assert len(answer.calls[1][1]) == 10


def test_what_one_question_gets_wrong_does_not_touch_the_others():
    def answer(wv, subjects):
        if "bad" in subjects:
            raise ValueError("broken")
        return subjects

    async def run():
        batcher = Batcher(answer, Limits())
        return await asyncio.gather(
            *(batcher.ask(MODEL, [Asked(each) for each in some]) for some in (["a", "bad"], ["b"]))
        )

    (good, bad), other = asyncio.run(run())
    assert (good, str(bad), other) == ("a", "broken", ["b"])


def test_a_request_that_gave_up_disturbs_nobody():
    answer = Answering()

    async def run():
        batcher = Batcher(answer, Limits())
        gone = asyncio.create_task(batcher.ask(MODEL, large("gone")))
        await asyncio.sleep(0)
        stays = asyncio.create_task(batcher.ask(MODEL, large("stays")))
        await asyncio.sleep(0)
        gone.cancel()
        answer.go_on.set()
        return await stays

    assert asyncio.run(run()) == ["stays!"]


def test_more_than_can_wait_is_turned_away():
    answer = Answering()

    async def run():
        batcher = Batcher(answer, Limits(waiting=3))
        tasks = [asyncio.create_task(batcher.ask(MODEL, large(0)))]
        await asyncio.to_thread(answer.is_in.wait, 60)
        tasks += [asyncio.create_task(batcher.ask(MODEL, large(i))) for i in (1, 2, 3)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await batcher.ask(MODEL, large(4))
        answer.go_on.set()
        return [await task for task in tasks]

    assert asyncio.run(run()) == [["0!"], ["1!"], ["2!"], ["3!"]]


def test_small_requests_overtake_large_ones_and_take_their_room():
    answer = Answering()

    async def run():
        batcher = Batcher(answer, Limits(waiting=12))
        first = asyncio.create_task(batcher.ask(MODEL, large("first")))
        await asyncio.to_thread(answer.is_in.wait, 60)
        kept, lost = (
            asyncio.create_task(batcher.ask(MODEL, large(*[name] * count)))
            for name, count in (("kept", 5), ("lost", 6))
        )
        await asyncio.sleep(0)
        small = [asyncio.create_task(batcher.ask(MODEL, large(f"small {i}"))) for i in range(2)]
        await asyncio.sleep(0)
        answer.go_on.set()
        with pytest.raises(BusyError):
            await lost
        return await asyncio.gather(first, kept, *small)

    asyncio.run(run())
    answered = [subject for _, subjects, _ in answer.calls for subject in subjects]
    assert answered[:3] == ["first", "small 0", "small 1"]
    assert answered.count("kept") == 5
    assert "lost" not in answered


def test_small_questions_that_arrive_together_are_answered_at_once_and_together():
    batches = []

    def answer(wv, subjects):
        batches.append((list(subjects), threading.current_thread() is threading.main_thread()))
        return subjects

    async def run():
        batcher = Batcher(answer, Limits())
        for costs in [1, 2, 3], [1, LARGE]:
            await asyncio.gather(*(batcher.ask(MODEL, [Asked(cost, (), cost)]) for cost in costs))

    asyncio.run(run())
    assert batches == [([1, 2, 3], True), ([1, LARGE], False)]


def test_what_nobody_waits_for_is_not_answered():
    answer = Answering()

    async def run():
        batcher = Batcher(answer, Limits(seconds=60))
        many = asyncio.create_task(batcher.ask(MODEL, large(*["large"] * 40)))
        await asyncio.to_thread(answer.is_in.wait, 60)
        queued = asyncio.create_task(batcher.ask(MODEL, large(*["queued"] * 9)))
        await asyncio.sleep(0)
        many.cancel()
        queued.cancel()
        await asyncio.gather(many, queued, return_exceptions=True)
        answer.go_on.set()
        return await batcher.ask(MODEL, large("next"))

    assert asyncio.run(run()) == ["next!"]
    answered = [subject for _, subjects, _ in answer.calls for subject in subjects]
    assert answered.count("large") <= 2  # the part that was being answered
    assert answered[-1] == "next"
    assert "queued" not in answered


def test_a_request_that_asks_for_too_much_is_refused_before_any_work():
    async def run():
        batcher = Batcher(lambda wv, subjects: subjects, Limits(seconds=1))
        with pytest.raises(ValueError, match="cannot be answered within 1 second"):
            await batcher.ask(MODEL, [Asked(0, (), 1 << 31)] * 5)
        with pytest.raises(ValueError, match="cannot be answered within 1 second"):
            await batcher.ask(MODEL, [Asked(0, (), 1 << 32)])  # in one piece, which nothing can cut short
        return await batcher.ask(MODEL, large(1, 2))

    assert asyncio.run(run()) == [1, 2]
