"""Find words that changed their meaning on purpose between two halves of a text.

In the second half, words of like frequency exchange a share of their occurrences: a quarter, half or three quarters.
The halves, blocks of the text by turns, are trained apart. Printed is for each share how many of the words
densvec.compare finds (q < .05), the area under the ROC curve, and the same area for the cosine after Procrustes, less
the median of words of like frequency.

    python -m benchmarks.shifts text.txt --words 12000000
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections import Counter

import numpy as np
from scipy.stats import rankdata

from densvec import BayesianSkipGram, compare
from densvec.corpora import RawText
from densvec.distances.vectors import unit_rows

Text = list[list[str]]
BANDS = (40, 100, 300, 1000, 5000)  # frequencies within which words are exchanged
BLOCK = 200  # sentences that stay together, so that both halves have all subjects


def halves(corpus: str, words: int) -> tuple[Text, Text]:
    """Return blocks of sentences by turns."""
    parts: tuple[Text, Text] = ([], [])
    read = 0
    for number, sentence in enumerate(RawText(corpus, tokenize="auto")):
        parts[number // BLOCK % 2].append(sentence)
        read += len(sentence)
        if read > words:
            break
    return parts


def planted(text: Text, pairs: int, dice: random.Random) -> tuple[Text, dict[str, float]]:
    """Return a text in which pairs of words exchange occurrences, and the share that each of these words has lost."""
    counts = Counter(itertools.chain.from_iterable(text))
    other, lost = {}, {}
    for low, high in itertools.pairwise(BANDS):
        words = sorted(word for word, count in counts.items() if low <= count < high and word.isalpha())
        dice.shuffle(words)
        words = sorted(words[: 6 * pairs], key=counts.__getitem__)
        places = dice.sample(range(0, len(words) - 1, 2), min(3 * pairs, len(words) // 2))
        for i, place in enumerate(places):
            a, b = words[place], words[place + 1]
            other |= {a: b, b: a}
            lost |= dict.fromkeys((a, b), (0.25, 0.5, 0.75)[i % 3])
    changed = [
        [other[word] if word in lost and dice.random() < lost[word] else word for word in sentence]
        for sentence in text
    ]
    return changed, lost


def area(found: np.ndarray, others: np.ndarray) -> float:
    """Return the area under the ROC curve."""
    ranks = rankdata(np.concatenate([found, others]))[: len(found)]
    return float((ranks.sum() - len(found) * (len(found) + 1) / 2) / (len(found) * len(others)))


def by_cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return cosine distances of words in one space, less the median of the 300 next to each by frequency."""
    distances = 1 - (unit_rows(first) * unit_rows(second)).sum(axis=1)
    starts = np.clip(np.arange(len(first)) - 150, 0, max(0, len(first) - 300))
    return distances - [np.median(distances[start : start + 300]) for start in starts]


def main() -> None:
    """Train, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--words", type=int, default=12_000_000)
    parser.add_argument("--pairs", type=int, default=12, help="of each share and band of frequencies")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    first, second = halves(args.corpus, args.words)
    second, lost = planted(second, args.pairs, random.Random(args.seed))
    models = (
        BayesianSkipGram(text, epochs=args.epochs, workers=args.workers, seed=args.seed + i)
        for i, text in enumerate((first, second))
    )
    comparison = compare(*models)
    print(comparison)
    cosine = by_cosine(comparison.first.vectors, comparison.second.vectors)
    shares = np.array([lost.get(word, 0.0) for word in comparison.words])
    quiet = shares == 0
    print(
        f"words that did not change: {quiet.sum():,}, of them found {(comparison.q_values[quiet] < 0.05).sum()}"
    )
    for share in sorted(set(lost.values())):
        rows = shares == share
        found = np.mean(comparison.q_values[rows] < 0.05)
        areas = (area(each[rows], each[quiet]) for each in (comparison.scores, cosine))
        print(
            f"{share:.0%} exchanged, {rows.sum()} words: found {found:.0%}, area {next(areas):.3f}, "
            f"by cosine {next(areas):.3f}"
        )


if __name__ == "__main__":
    main()
