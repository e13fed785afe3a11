"""Recall and speed of approximate search beside the exact scan: ``python -m benchmarks.search [WORDS] [FACTORY ...]``.

The densities are generated: words lie around topics, topics around fields, as words of a language do, with
log-variances of their own. Recall at 10 is the part of the ten nearest words by KL that the index finds; the
exact scan is the truth. Everything is done by one thread and timed by the CPU, so that other programs count for
little, and both take turns in each of three rounds; medians.
"""

import argparse
import statistics
import time

import numpy as np
from threadpoolctl import threadpool_limits

from densvec import KeyedDensities
from densvec.search import FaissIndex

SIZE, QUERIES, ROUNDS = 100, 200, 3


def generated(words, seed=1):
    """Return densities of `words` words in fields and topics."""
    rng = np.random.default_rng(seed)
    topics = max(words // 70, 10)
    fields = rng.standard_normal((300, SIZE), dtype=np.float32)
    centres = fields[rng.integers(0, 300, topics)] + 0.7 * rng.standard_normal(
        (topics, SIZE), dtype=np.float32
    )
    wv = KeyedDensities(SIZE, covariance="spherical")
    means = np.empty((words, SIZE), dtype=np.float32)
    for first in range(0, words, 1 << 16):
        part = means[first : first + (1 << 16)]
        part[:] = 0.4 * centres[rng.integers(0, topics, len(part))]
        part += 0.24 * rng.standard_normal(part.shape, dtype=np.float32)
    wv.vectors = means
    wv.log_variances = 0.5 * rng.standard_normal((words, 1), dtype=np.float32) - 0.5
    wv.index_to_key = [f"word{i}" for i in range(words)]
    wv.key_to_index = {key: i for i, key in enumerate(wv.index_to_key)}
    return wv


def compare(wv, factory, ef_construction, settings):
    """Build an index and print its rows of the table."""
    start = time.process_time()
    index = FaissIndex(wv, metric="kl", factory=factory, ef_construction=ef_construction)
    built = time.process_time() - start
    rng = np.random.default_rng(2)
    queries = wv.density([wv.index_to_key[i] for i in rng.integers(0, len(wv.index_to_key), QUERIES)])
    truth = [{key for key, _ in found} for found in wv.most_similar_batch(queries, topn=10, metric="kl")]
    singles = [queries[i] for i in range(20)]
    for name, value in settings:
        _set(index.vectors, name, value)
        times = {"index": [], "scan": []}
        for _ in range(ROUNDS):
            start = time.process_time()
            found = [index.most_similar(queries[i], 10) for i in range(QUERIES)]
            times["index"].append((time.process_time() - start) / QUERIES)
            start = time.process_time()
            for query in singles:
                wv.most_similar(query, topn=10, metric="kl")
            times["scan"].append((time.process_time() - start) / len(singles))
        recall = np.mean([len({key for key, _ in f} & t) / 10 for f, t in zip(found, truth, strict=True)])
        once, scan = (statistics.median(times[key]) for key in ("index", "scan"))
        print(
            f"| {len(wv.index_to_key):,} | {factory}, {name}={value} | {built:,.0f} | {recall:.3f} | {1 / once:,.0f} "
            f"| {1 / scan:,.1f} | {scan / once:,.0f} |",
            flush=True,
        )


def _set(vectors, name, value):
    if hasattr(vectors, "hnsw"):
        vectors.hnsw.efSearch = value
    elif name == "nprobe":
        vectors.nprobe = value


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="?", type=int, default=280_000)
    parser.add_argument("factories", nargs="*", default=["HNSW32", "IVF1024,Flat"])
    parser.add_argument(
        "--ef-construction", type=int, default=80, help="candidates looked at when building a graph"
    )
    args = parser.parse_args()
    import faiss

    faiss.omp_set_num_threads(1)
    print("| words | index | built, s | recall at 10 | queries/s | exact scan, queries/s | times faster |")
    print("|---|---|---|---|---|---|---|")
    with threadpool_limits(1):
        wv = generated(args.words)
        for factory in args.factories:
            hnsw = "HNSW" in factory
            compare(
                wv,
                factory,
                args.ef_construction,
                [("ef_search" if hnsw else "nprobe", n) for n in ((32, 64, 128) if hnsw else (8, 32))],
            )


if __name__ == "__main__":
    main()
