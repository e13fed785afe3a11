"""How the kernel alone slows down with vocabulary and dimensions: ``python -m benchmarks.kernel_speed [--rounds N]``.

Chunks are sampled beforehand, cases take turns, and only time of the CPU counts, so other programs disturb it little.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.train_speed import SETTINGS, write_zipfian, zipf_counts
from densvec import BayesianSkipGram
from densvec.text.feed import Feed

WORDS = 200_000
ALPHA = 0.02


def case(folder, *, vocabulary=50_000, **options):
    """Return a backend and the chunks of generated text with so many words."""
    path, counts = Path(folder, f"{vocabulary}.txt"), zipf_counts(vocabulary)
    if not path.exists():
        write_zipfian(path, counts, WORDS)
    model = BayesianSkipGram(**{**SETTINGS, "min_count": 1, "show_progress": False, "workers": 1, **options})
    model.build_vocab_from_freq({f"w{i}": int(n) for i, n in enumerate(counts)})
    model._corpus = None, str(path)
    sampler, index = model._feeds()(0, 0).sampler, dict(model.wv.key_to_index)
    with Feed(corpus_file=path, index=index, sampler=sampler) as feed:
        return model._make_backend(), list(feed)


def nanoseconds(backend, chunks):
    """Return the time of the CPU that the kernel takes for a centre."""
    started = time.thread_time_ns()
    for chunk in chunks:
        backend.step(chunk, ALPHA)
    return (time.thread_time_ns() - started) / sum(len(chunk.tokens) for chunk in chunks)


def contest(one, other, rounds):
    """Return the nanoseconds of two cases, (rounds, 2), taking turns; the first round is for warming up."""
    turns = [[nanoseconds(*one), nanoseconds(*other)] for _ in range(rounds + 1)]
    return np.array(turns[1:])


def main(rounds):
    """Print both ratios."""
    pairs = (
        ("vocabulary", 20_000, 1_000_000, False),
        ("vector_size", 100, 300, True),
    )
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1, "blas"):
        for name, small, large, per_number in pairs:
            cases = [case(folder, **{name: value}) for value in (small, large)]
            taken = contest(*cases, rounds)
            ratios = taken[:, 0] / taken[:, 1] * (large / small if per_number else 1)
            first, second = np.median(taken, axis=0)
            what = "centres times dimensions per second" if per_number else "centres per second"
            print(
                f"{name} {small:,}: {first:,.0f} ns per centre; {large:,}: {second:,.0f} ns; {what}: "
                f"{np.median(ratios):.2f} of the former ({ratios.min():.2f}–{ratios.max():.2f})",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    main(parser.parse_args().rounds)
