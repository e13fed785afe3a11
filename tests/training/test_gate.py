"""A pause for all workers."""

import threading
import time

from densvec.training.gate import Gate


def test_a_pause_waits_for_the_workers_and_holds_them():
    gate, inside, seen = Gate(), [], []
    stop = threading.Event()

    def work():
        while not stop.is_set():
            gate.enter(lambda: 1)
            inside.append(1)
            time.sleep(0.001)
            inside.pop()
            gate.leave()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        with gate.pause():
            seen.append(len(inside))
            time.sleep(0.002)
            seen.append(len(inside))
    stop.set()
    for thread in threads:
        thread.join()
    assert set(seen) == {0}
