"""Queries and inference against gensim, at V=280,000 words and D=100: ``python -m benchmarks.keyed [PART ...]``.

The rivals take turns, so that a noisy machine disturbs both alike. Times are by the clock and, in brackets, of
the CPU (all threads): medians of the rounds. Ratios are medians of the rounds' ratios.
"""

import argparse
import statistics
import subprocess
import sys
import time
import tracemalloc

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.files import make_densities, make_gensim, words_like_a_corpus

WORDS, SIZE = 280_000, 100
ROUNDS, QUERIES = 7, 10
BATCH, SINGLES = 1000, 50
WINDOWS, CONTEXT = 100_000, 10
METRICS = ("cosine", "kl", "reverse_kl", "jeffreys", "expected_likelihood", "wasserstein")


def measure(actions, rounds):
    """Return the seconds of every action in each round, by the clock and of the CPU."""
    seconds = {name: [] for name in actions}
    for number in range(rounds + 1):
        for name, action in actions.items():
            start, cpu = time.perf_counter(), time.process_time()
            action()
            if number:  # the first round fills caches
                seconds[name].append((time.perf_counter() - start, time.process_time() - cpu))
    return seconds


def median(pairs, part=0):
    """Return the median of the clock's (part 0) or the CPU's (part 1) seconds."""
    return statistics.median(pair[part] for pair in pairs)


def ratio(pairs, others, part=0):
    """Return the median of the rounds' ratios."""
    return statistics.median(one[part] / other[part] for one, other in zip(pairs, others, strict=True))


def single_queries(wv, diagonal, keyed):
    """Print the time of one query, by metric."""
    words = [wv.index_to_key[i] for i in np.random.default_rng(3).integers(0, WORDS, QUERIES)]
    actions = {"gensim, cosine": lambda: [keyed.most_similar(word) for word in words]}
    for metric in METRICS:
        actions[f"densvec, {metric}"] = lambda metric=metric: [
            wv.most_similar(w, metric=metric) for w in words
        ]
    actions["densvec, kl, diagonal"] = lambda: [diagonal.most_similar(word, metric="kl") for word in words]
    seconds = measure(actions, ROUNDS)
    print("| most_similar, topn=10 | ms (CPU) | of gensim's cosine (CPU) |")
    print("|---|---|---|")
    base = seconds["gensim, cosine"]
    for name, pairs in seconds.items():
        clock, cpu = (1000 * median(pairs, part) / QUERIES for part in (0, 1))
        print(
            f"| {name} | {clock:.1f} ({cpu:.1f}) | {ratio(pairs, base):.2f} ({ratio(pairs, base, 1):.2f}) |"
        )


def batches(wv):
    """Print how much faster many queries are together than one by one."""
    words = [wv.index_to_key[i] for i in np.random.default_rng(4).integers(0, WORDS, BATCH)]
    print(f"\n| {BATCH:,} queries | one by one, s | together, s | times faster (CPU) |")
    print("|---|---|---|---|")
    for metric in METRICS:
        seconds = measure(
            {
                "single": lambda metric=metric: [wv.most_similar(w, metric=metric) for w in words[:SINGLES]],
                "batch": lambda metric=metric: wv.most_similar_batch(words, metric=metric),
            },
            3,
        )
        scale = BATCH / SINGLES
        single, batch = seconds["single"], seconds["batch"]
        faster = " (".join(f"{scale * ratio(single, batch, part):.1f}" for part in (0, 1))
        print(f"| {metric} | {scale * median(single):.2f} | {median(batch):.2f} | {faster}) |")


def inference(wv):
    """Print how many windows are inferred in a second."""
    rng = np.random.default_rng(5)
    # Words as frequent as in English text (Zipf-Mandelbrot).
    shares = np.cumsum((np.arange(WORDS) + 2.7) ** -1.07)
    rows = np.searchsorted(shares / shares[-1], rng.random((WINDOWS, CONTEXT + 1)))
    words = wv.index_to_key
    pairs = [(words[row[0]], [words[i] for i in row[1:]]) for row in rows.tolist()]
    sentences = [[words[i] for i in row] for row in rows[: WINDOWS // (CONTEXT + 1)].tolist()]
    seconds = measure(
        {
            "infer_posteriors": lambda: wv.infer_posteriors(pairs),
            "infer_sentences": lambda: wv.infer_sentences(sentences),
            "infer, one by one": lambda: [wv.infer(context, word=word) for word, context in pairs[:500]],
        },
        5,
    )
    counts = {"infer_posteriors": WINDOWS, "infer_sentences": WINDOWS, "infer, one by one": 500}
    print(f"\n| windows of {CONTEXT} words, D=H={SIZE} | a second (a CPU second) |")
    print("|---|---|")
    for name, pairs_of_seconds in seconds.items():
        clock, cpu = (counts[name] / median(pairs_of_seconds, part) for part in (0, 1))
        print(f"| {name} | {clock:,.0f} ({cpu:,.0f}) |")


def memory(wv, diagonal):
    """Print what a query allocates beside the tables."""
    print(f"\n| peak memory of a query | MB (the means alone: {wv.vectors.nbytes / 1e6:.0f} MB) |")
    print("|---|---|")
    tracemalloc.start()
    for name, keyed, metric in [
        ("cosine", wv, "cosine"),
        ("kl", wv, "kl"),
        ("kl, diagonal", diagonal, "kl"),
        ("kl, batch of 100", wv, "kl"),
    ]:
        words = keyed.index_to_key[:100]
        tracemalloc.reset_peak()
        start = tracemalloc.get_traced_memory()[0]
        if "batch" in name:
            keyed.most_similar_batch(words, metric=metric)
        else:
            keyed.most_similar(words[0], metric=metric)
        print(f"| {name} | {(tracemalloc.get_traced_memory()[1] - start) / 1e6:.1f} |")
    tracemalloc.stop()


def imports():
    """Print how long ``import densvec`` takes."""
    print("\n| a new process | s |")
    print("|---|---|")
    for code in ("pass", "import densvec", "from densvec import KeyedDensities", "import gensim.models"):
        seconds = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            seconds.append(time.perf_counter() - start)
        print(f"| {code} | {min(seconds):.2f} |")


def main(arguments=()) -> None:
    """Print the tables asked for, or all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", help="of: queries batches inference memory imports")
    parser.add_argument("--threads", type=int, help="of BLAS, which otherwise takes all cores")
    args = parser.parse_args(arguments)
    words = words_like_a_corpus(WORDS)
    wv = make_densities(words, SIZE)
    keyed, _ = make_gensim(words, SIZE)
    keyed.vectors = wv.vectors
    diagonal = type(wv)(SIZE)
    diagonal.index_to_key, diagonal.key_to_index, diagonal.vectors = (
        wv.index_to_key,
        wv.key_to_index,
        wv.vectors,
    )
    diagonal.log_variances = np.random.default_rng(2).standard_normal((WORDS, SIZE), dtype=np.float32)
    tables = {
        "queries": lambda: single_queries(wv, diagonal, keyed),
        "batches": lambda: batches(wv),
        "inference": lambda: inference(wv),
        "memory": lambda: memory(wv, diagonal),
        "imports": imports,
    }
    with threadpool_limits(args.threads):
        for part in args.parts or tables:
            tables[part]()


if __name__ == "__main__":
    main(sys.argv[1:])
