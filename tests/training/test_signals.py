"""Signals that wait until they can be answered."""

# ruff: noqa: PT012, SIM117 - what is tested is where within a block the interrupt comes

import signal
import threading

import pytest

from densvec.training import signals


@pytest.fixture(autouse=True)
def _default_handlers():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def strike():
    signal.raise_signal(signal.SIGINT)


def test_a_deferred_signal_comes_at_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt):
        with signals.deferred():
            strike()
            done.append("work")
    assert done == ["work"]


def test_signals_are_delivered_on_request_and_only_once():
    with signals.deferred():
        strike()
        with pytest.raises(KeyboardInterrupt):
            signals.deliver()
        signals.deliver()


def test_what_may_be_interrupted_is_interrupted_at_once_and_only_once():
    done = []
    with signals.deferred():
        with pytest.raises(KeyboardInterrupt):
            with signals.undeferred():
                try:
                    strike()
                    done.append("not reached")
                finally:
                    done.append("cleared up")
                    with pytest.raises(KeyboardInterrupt), signals.undeferred():
                        strike()
        assert done == ["cleared up"]


def test_a_signal_that_waits_is_answered_before_what_may_be_interrupted():
    with signals.deferred():
        strike()
        with pytest.raises(KeyboardInterrupt), signals.undeferred():
            raise AssertionError("not reached")


def test_nested_deferrals_are_one():
    done = []
    with pytest.raises(KeyboardInterrupt):
        with signals.deferred():
            with signals.deferred():
                strike()
            done.append("inner")
            with signals.undeferred():
                pass
            done.append("not reached")
    assert done == ["inner"]


def test_within_what_may_be_interrupted_a_deferral_ends_by_its_signals():
    done = []
    with signals.deferred():
        with pytest.raises(KeyboardInterrupt), signals.undeferred():
            with signals.deferred():
                strike()
                done.append("inner")
            done.append("not reached")
    assert done == ["inner"]


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="a signal of POSIX")
def test_a_handler_that_does_not_raise_runs_and_nothing_else_happens():
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: heard.append(number))
    try:
        with signals.deferred():
            signal.raise_signal(signal.SIGUSR1)
            assert heard == []
            signals.deliver()
            assert heard == [signal.SIGUSR1]
            with signals.undeferred():
                signal.raise_signal(signal.SIGUSR1)
                assert len(heard) == 2
                signal.raise_signal(signal.SIGUSR1)
                assert len(heard) == 3
        assert len(heard) == 3
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_a_handler_set_meanwhile_stays():
    def newer(number, frame):
        raise AssertionError

    with signals.deferred():
        signal.signal(signal.SIGINT, newer)
    assert signal.getsignal(signal.SIGINT) is newer
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_other_threads_have_no_signals_to_defer():
    def work():
        with signals.deferred(), signals.undeferred():
            found.append(signal.getsignal(signal.SIGINT))
            signals.deliver()

    found = []
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]
