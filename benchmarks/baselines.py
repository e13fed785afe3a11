"""Training speed of the baselines beside gensim's skip-gram.

``python -m benchmarks.baselines [CORPUS] [--words N] [--repeats N]``. The contenders take turns in one process, so that
a noisy machine disturbs all of them alike; figures are medians of words per second of processor time (all threads'
together, vocabulary apart) and of the clock, ratios are formed within each round.
"""

import argparse
import logging
import statistics
import tempfile
import time

from benchmarks.train_speed import head_of, thousands

SETTINGS = {"vector_size": 100, "window": 5, "min_count": 5, "sample": 1e-4, "seed": 1}


def contenders(workers):
    """Return untrained models by name; the first is the rival."""
    from gensim.models import Word2Vec

    from densvec.skipgram import SkipGram
    from densvec.word2gauss import Word2Gauss

    ours = {**SETTINGS, "workers": workers, "show_progress": False}
    return {
        "gensim SG, shrunk windows": Word2Vec(sg=1, negative=5, workers=workers, **SETTINGS),
        "SkipGram, shrunk windows": SkipGram(**ours),
        "SkipGram, shared negatives": SkipGram(pairing="shared", **ours),
        "SkipGram, full windows": SkipGram(shrink_windows=False, **ours),
        "Word2Gauss(S), full windows": Word2Gauss(**ours),
        "Word2Gauss(D), full windows": Word2Gauss(covariance="diagonal", **ours),
    }


def speeds(model, path):
    """Train one epoch; return words per second of processor time and of the clock."""
    model.build_vocab(corpus_file=str(path))
    wall, processor = time.perf_counter(), time.process_time()
    model.train(
        corpus_file=str(path),
        total_examples=model.corpus_count,
        total_words=model.corpus_total_words,
        epochs=1,
    )
    words = model.corpus_total_words
    return words / (time.process_time() - processor), words / (time.perf_counter() - wall)


def main(path=None, words=2_000_000, repeats=3) -> None:
    """Print the table for the first `words` words of a corpus."""
    logging.disable(logging.WARNING)
    print("| workers | model | words per processor second | to gensim | words per second | to gensim |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        text = head_of(path, folder, words)
        for workers in (1, 2):
            rounds = [
                {name: speeds(model, text) for name, model in contenders(workers).items()}
                for _ in range(repeats)
            ]
            rival = next(iter(rounds[0]))
            for name in rounds[0]:
                cells = []
                for clock in (0, 1):
                    cells.append(thousands(statistics.median(turn[name][clock] for turn in rounds)))
                    ratio = statistics.median(turn[name][clock] / turn[rival][clock] for turn in rounds)
                    cells.append(f"{ratio:.2f}")
                print(f"| {workers} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?")
    parser.add_argument("--words", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    main(arguments.corpus, arguments.words, arguments.repeats)
