"""What two workers cost each other: ``python -m benchmarks.co_running CORPUS [--seconds N]`` (Linux).

Two threads, each on a core of its own, step the kernel on small chunks. A chunk counts only if its thread was not
interrupted, and then either as *together*, when the other thread worked all the while without interruption, or as
*apart*, when it had no chunk in work that was not interrupted. So the answer does not depend on how busy the machine
is; only how long one must wait for it does.
"""

import argparse
import itertools
import os
import threading
import time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.train_speed import densvec_model
from densvec.text.feed import Feed

CHUNK_WORDS = 380  # about one tile of the kernel after thinning: half a millisecond
CHUNKS = 1600
ALPHA = 0.02


def prepare(path):
    """Return a backend for two workers, trained for one epoch, and chunks to step it on."""
    source = {"corpus_file": str(path)}
    model = densvec_model(source, workers=2)
    model.train(**source, total_examples=model.corpus_count, total_words=model.corpus_total_words, epochs=1)
    sampler, index = model._feeds()(0, 0).sampler, dict(model.wv.key_to_index)
    with Feed(corpus_file=path, index=index, sampler=sampler, chunk_words=CHUNK_WORDS) as feed:
        return model._make_backend(), list(itertools.islice(feed, CHUNKS))


def record(backend, chunks, seconds):
    """Step two workers; return each one's chunks: when they began and ended, their time of the CPU, their centres."""
    records, stop = ([], []), time.perf_counter() + seconds

    def work(worker):
        os.sched_setaffinity(threading.get_native_id(), {cores[worker]})
        for chunk in itertools.cycle(chunks[worker::2]):
            began, used = time.perf_counter_ns(), time.thread_time_ns()
            backend.step(chunk, ALPHA, worker)
            used, ended = time.thread_time_ns() - used, time.perf_counter_ns()
            records[worker].append((began, ended, used, len(chunk.tokens)))
            if time.perf_counter() > stop:
                return

    cores = sorted(os.sched_getaffinity(0))[:2]
    threads = [threading.Thread(target=work, args=(worker,)) for worker in (0, 1)]
    with threadpool_limits(1, "blas"):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return [np.array(rows) for rows in records]


def sort_out(mine, other):
    """Return (time of the CPU, centres) of one worker's chunks: those worked on together, and apart."""
    whole, others_whole = (rows[:, 1] - rows[:, 0] <= 1.03 * rows[:, 2] + 20_000 for rows in (mine, other))
    together, apart = [], []
    for began, ended, used, centres in mine[whole].tolist():
        first, last = np.searchsorted(other[:, 1], began), np.searchsorted(other[:, 0], ended)
        if first < last and others_whole[first:last].all():
            shared = min(other[last - 1, 1], ended) - max(other[first, 0], began)
            if shared > 0.9 * (ended - began):
                together.append((used, centres))
        elif last - first <= 1 and not others_whole[first:last].any():
            apart.append((used, centres))
    return together, apart


def main(path, seconds):
    """Print the time of the CPU for each centre, together and apart."""
    backend, chunks = prepare(path)
    first, second = record(backend, chunks, seconds)
    kinds = zip(sort_out(first, second), sort_out(second, first), strict=True)
    for name, (one, two) in zip(("together", "apart"), kinds, strict=True):
        if one or two:
            used, centres = np.sum(one + two, axis=0)
            print(f"{name:10}{used / centres:8.0f} ns of the CPU per centre ({len(one + two):,} chunks)")
        else:
            print(f"{name:10} no chunk: take more seconds")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", help="a text file, one sentence per line; a million words are enough")
    parser.add_argument("--seconds", type=float, default=60)
    given = parser.parse_args()
    main(given.corpus, given.seconds)
