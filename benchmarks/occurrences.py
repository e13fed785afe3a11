"""How fast ``densvec index`` works, with the packaged English model: ``python -m benchmarks.occurrences [WORDS]``.

The text is generated: sentences of 20 words of the model, as frequent as they were in its corpus. Speeds are by the
clock and, in brackets, of the CPU (all threads): the best of three rounds.
"""

import argparse
import os
import tempfile
import time

import numpy as np

import densvec
from densvec.search.occurrences import Occurrences, content_words, index_occurrences

LENGTH, ROUNDS = 20, 3


def generated(wv, words, seed=1):
    """Return sentences of `words` words in all."""
    counts = wv.expandos["count"].astype(np.float64)
    rows = np.random.default_rng(seed).choice(len(counts), words, p=counts / counts.sum())
    keys = [wv.index_to_key[row] for row in rows]
    return [keys[first : first + LENGTH] for first in range(0, words, LENGTH)]


def best(action):
    """Return the least seconds of the rounds, by the clock and of the CPU."""
    seconds = []
    for _ in range(ROUNDS):
        start, cpu = time.perf_counter(), time.process_time()
        action()
        seconds.append((time.perf_counter() - start, time.process_time() - cpu))
    return tuple(map(min, zip(*seconds, strict=True)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="?", type=int, default=200_000)
    args = parser.parse_args()
    wv = densvec.load("english")
    sentences, chosen = generated(wv, args.words), content_words(wv)
    with tempfile.TemporaryDirectory() as folder:
        numbers = iter(range(ROUNDS))
        seconds = best(
            lambda: index_occurrences(wv, sentences, os.path.join(folder, str(next(numbers))), chosen)
        )
        last = os.path.join(folder, str(ROUNDS - 1))
        index = Occurrences(last, wv)
        size = sum(os.path.getsize(os.path.join(last, name)) for name in os.listdir(last))
        word = max(chosen, key=index.count)
        asked = best(lambda: index.where(wv.density(word), word, 10))
    print("| words of text | occurrences indexed | words/s | occurrences/s | bytes for each | ms to ask |")
    print("|---|---|---|---|---|---|")
    speeds = (
        f"{amount / seconds[0]:,.0f} ({amount / seconds[1]:,.0f})" for amount in (args.words, len(index))
    )
    print(
        f"| {args.words:,} | {len(index):,} | {' | '.join(speeds)} | {size / len(index):,.0f} "
        f"| {1000 * asked[0]:,.1f}, among {index.count(word):,} |"
    )


if __name__ == "__main__":
    main()
