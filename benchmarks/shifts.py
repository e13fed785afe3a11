"""Find words that changed their meaning on purpose between two halves of a text.

In the second half, pairs of words of like frequency change places. The halves are trained apart. Printed are the
average precision of finding the changed words, by densvec.compare and by cosine after Procrustes on gensim's
skip-gram, and how often a word that did not change is called changed at p < .05.

    python -m benchmarks.shifts CORPUS --sentences 120000 --pairs 50
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections import Counter

import numpy as np

from densvec import BayesianSkipGram, compare
from densvec.corpora import LineSentence


def halves(
    path: str, sentences: int, pairs: int, seed: int
) -> tuple[list[list[str]], list[list[str]], set[str]]:
    """Return two halves of a text, the second with words exchanged, and which these are."""
    dice = random.Random(seed)
    text = list(itertools.islice(LineSentence(path), sentences))
    dice.shuffle(text)
    counts = Counter(itertools.chain.from_iterable(text))
    frequent = [word for word, count in counts.most_common() if 100 <= count <= 5000 and word.isalpha()]
    changed: dict[str, str] = {}
    for place in dice.sample(range(0, len(frequent) - 1, 2), pairs):
        a, b = frequent[place], frequent[place + 1]
        changed[a], changed[b] = b, a
    half = len(text) // 2
    second = [[changed.get(token, token) for token in sentence] for sentence in text[half:]]
    return text[:half], second, set(changed)


def average_precision(scores: np.ndarray, truth: np.ndarray) -> float:
    """Return the average precision of a ranking."""
    hits = truth[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean())


def by_gensim(
    first: list[list[str]], second: list[list[str]], words: list[str], seed: int, epochs: int
) -> np.ndarray:
    """Return the cosine distances of words between gensim's skip-grams of two texts, after Procrustes."""
    from gensim.models import Word2Vec

    models = [
        Word2Vec(
            text,
            sg=1,
            vector_size=100,
            window=5,
            min_count=5,
            sample=1e-4,
            epochs=epochs,
            workers=2,
            seed=seed,
        )
        for text in (first, second)
    ]
    a, b = (np.array([model.wv[word] for word in words], dtype=np.float64) for model in models)
    a, b = (table / np.linalg.norm(table, axis=1, keepdims=True) for table in (a, b))
    left, _, right = np.linalg.svd(b[:5000].T @ a[:5000])
    return 1 - (a * (b @ left @ right)).sum(axis=1)


def main() -> None:
    """Train, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--sentences", type=int, default=120_000)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    first, second, changed = halves(args.corpus, args.sentences, args.pairs, args.seed)
    models = [
        BayesianSkipGram(text, epochs=args.epochs, workers=2, seed=args.seed + i)
        for i, text in enumerate((first, second))
    ]
    for metric in ("profiles", "jeffreys", "wasserstein"):
        comparison = compare(*models, metric=metric)
        truth = np.array([word in changed for word in comparison.words])
        quiet = comparison.p_values[~truth]
        print(
            f"densvec {metric}: AP of scores {average_precision(comparison.scores, truth):.3f}, of shifts "
            f"{average_precision(comparison.shifts, truth):.3f}; false alarms at .05: {np.mean(quiet < 0.05):.3f}, at "
            f".01: {np.mean(quiet < 0.01):.3f}; found at .05: {np.mean(comparison.p_values[truth] < 0.05):.2f}",
            flush=True,
        )
    distance = by_gensim(first, second, comparison.words, args.seed, args.epochs)
    print(
        f"gensim's cosine after Procrustes: AP {average_precision(distance, truth):.3f}; {truth.sum()} of {len(truth)}"
    )


if __name__ == "__main__":
    main()
