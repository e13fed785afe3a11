"""Answers of densvec beside those of gensim's Word2Vec and FastText, trained on the same text.

``python -m benchmarks.equal_text CORPUS DATA [--epochs N] [--seed N]``. All have 100 dimensions, the same windows,
words and epochs, and two threads; the rest is each program's default. Vectors are asked by the baselines of ``densvec
evaluate``, densities also by the package's own calls.
"""

import argparse
import logging
import time

from densvec import BayesianSkipGram, KeyedDensities
from densvec.evaluation import Bootstrap, evaluate_all

SHARED = {"vector_size": 100, "window": 5, "min_count": 10, "workers": 2}
TASKS = (
    "word similarity",
    "neighbours",
    "word in context",
    "similarity in context",
    "candidates",
    "substitutes",
    "hypernym discovery",
    "similarity of texts",
    "nonce words",
)


def main(corpus, data, epochs, seed):
    """Train, and print the table."""
    from gensim.models import FastText, Word2Vec

    logging.disable(logging.WARNING)
    shared = {"corpus_file": corpus, "epochs": epochs, "seed": seed, **SHARED}
    beside = {}
    for kind in (Word2Vec, FastText):
        started = time.perf_counter()
        beside[kind.__name__] = KeyedDensities.from_gensim(kind(sg=1, **shared).wv)
        print(f"{kind.__name__}: {time.perf_counter() - started:.0f} s", flush=True)
    started = time.perf_counter()
    ours = BayesianSkipGram(show_progress=False, **shared).wv
    print(f"densvec: {time.perf_counter() - started:.0f} s, {len(ours):,} words", flush=True)
    print(evaluate_all(ours, data, tasks=TASKS, beside=beside, bootstrap=Bootstrap(0)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    main(given.corpus, given.data, given.epochs, given.seed)
