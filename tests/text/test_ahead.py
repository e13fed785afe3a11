"""Items that a thread prepares ahead."""

import threading

import pytest

from densvec.text.ahead import Ahead


def names() -> list[str]:
    return [thread.name for thread in threading.enumerate()]


def test_items_come_in_order_and_from_one_other_thread():
    threads = []

    def items():
        for number in range(20):
            threads.append(threading.get_ident())
            yield number

    ahead = Ahead(items, depth=3, name="test-order")
    assert list(iter(ahead.take, None)) == list(range(20))
    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()


def test_it_reads_no_further_than_its_depth():
    read = []
    waits = threading.Event()

    def items():
        for number in range(100):
            read.append(number)
            if number == 3:
                waits.set()
            yield number

    ahead = Ahead(items, depth=2, name="test-depth")
    assert ahead.take() == 0
    waits.wait(10)  # items 1 and 2 are ready, 3 is read and waits for room
    assert read == [0, 1, 2, 3]
    assert ahead.close()


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        raise OSError("the disk is gone")

    ahead = Ahead(items, depth=5, name="test-error")
    assert ahead.take() == 1
    with pytest.raises(OSError, match="the disk is gone"):
        ahead.take()


def test_closing_ends_the_thread_and_wakes_who_waits():
    release = threading.Event()

    def items():
        yield 1
        release.wait(10)

    ahead = Ahead(items, depth=1, name="test-close")
    assert ahead.take() == 1
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(ahead.take()))
    waiting.start()
    threading.Timer(0.05, release.set).start()
    assert ahead.close()
    waiting.join(10)
    assert found == [None]
    assert "test-close" not in names()
    assert ahead.take() is None
