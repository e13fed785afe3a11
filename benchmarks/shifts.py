"""Find words that changed their meaning on purpose between two halves of a text.

In the second half, pairs of words of like frequency change places, or (`--merge`) the second word of each pair is
replaced by the first. The halves are trained apart. Printed are the average precision of finding the changed words, by
densvec.compare and by cosine after Procrustes on gensim's skip-gram, and how often a word that did not change is
called changed at p < .05.

    python -m benchmarks.shifts CORPUS --sentences 120000 --pairs 50

Which words change places makes no difference to training but for their names. So with `--draws 20`, the names are
exchanged after training, twenty times anew, and what is printed is the mean over the twenty.

    python -m benchmarks.shifts CORPUS --sentences 36000 --skip 100000 --draws 20
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from densvec import BayesianSkipGram, KeyedDensities, compare
from densvec.corpora import LineSentence

METRICS = ("auto", "towards", "mahalanobis", "profiles", "jeffreys", "wasserstein")

Text = list[list[str]]


class Vectors(NamedTuple):
    """Words and their vectors."""

    words: list[str]
    table: np.ndarray


class Case(NamedTuple):
    """Two models of densvec and two of gensim, and the words that are another in the second half."""

    densities: tuple[KeyedDensities, KeyedDensities]
    vectors: tuple[Vectors, Vectors]
    changed: set[str]


def draw(text: Text, pairs: int, dice: random.Random) -> list[tuple[str, str]]:
    """Return pairs of words of like frequency."""
    counts = Counter(itertools.chain.from_iterable(text))
    frequent = [word for word, count in counts.most_common() if 100 <= count <= 5000 and word.isalpha()]
    places = dice.sample(range(0, len(frequent) - 1, 2), pairs)
    return [(frequent[place], frequent[place + 1]) for place in places]


def exchanged(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Return what each word becomes if those of every pair change places."""
    return {a: b for pair in pairs for a, b in (pair, pair[::-1])}


def replaced(text: Text, changed: dict[str, str]) -> Text:
    """Return a text with other words."""
    return [[changed.get(token, token) for token in sentence] for sentence in text]


def trained(halves: tuple[Text, Text], args: argparse.Namespace, changed: set[str]) -> Case:
    """Train densvec and gensim on two texts."""
    from gensim.models import Word2Vec

    first, second = (
        BayesianSkipGram(text, epochs=args.epochs, workers=args.workers, seed=args.seed + i).wv
        for i, text in enumerate(halves)
    )
    theirs = []
    for text in halves:
        model = Word2Vec(
            text,
            sg=1,
            vector_size=100,
            window=5,
            min_count=5,
            sample=1e-4,
            epochs=args.epochs,
            workers=args.workers,
            seed=args.seed,
        )
        theirs.append(Vectors(model.wv.index_to_key, model.wv.vectors))
    return Case((first, second), (theirs[0], theirs[1]), changed)


def renamed(case: Case, changed: dict[str, str]) -> Case:
    """Return the same models with words exchanged in those of the second half."""
    (first, second), (ours, theirs) = case.densities, case.vectors
    other = KeyedDensities.from_arrays(
        [changed.get(word, word) for word in second.index_to_key],
        second.vectors,
        log_variances=second.log_variances,
        attributes={"count": second.expandos["count"]},
    )
    named = Vectors([changed.get(word, word) for word in theirs.words], theirs.table)
    return Case((first, other), (ours, named), set(changed))


def cases(args: argparse.Namespace) -> Iterator[Case]:
    """Yield one case that was trained with words exchanged, or several with words exchanged after training."""
    dice = random.Random(args.seed)
    text = list(itertools.islice(LineSentence(args.corpus), args.skip, args.skip + args.sentences))
    dice.shuffle(text)
    half = len(text) // 2
    if args.draws:
        untouched = trained((text[:half], text[half:]), args, set())
        quiet = compare(*untouched.densities, metric=METRICS[0]).p_values
        print(
            f"densvec {METRICS[0]} between halves in which nothing changed: false alarms at .05: "
            f"{np.mean(quiet < 0.05):.3f}, at .01: {np.mean(quiet < 0.01):.3f}",
            flush=True,
        )
        for _ in range(args.draws):
            yield renamed(untouched, exchanged(draw(text, args.pairs, dice)))
        return
    pairs = draw(text, args.pairs, dice)
    changed = {b: a for a, b in pairs} if args.merge else exchanged(pairs)
    halves = text[:half], replaced(text[half:], changed)
    yield trained(halves, args, set(changed.values()))


def average_precision(scores: np.ndarray, truth: np.ndarray) -> float:
    """Return the average precision of a ranking."""
    hits = truth[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean())


def by_gensim(vectors: tuple[Vectors, Vectors], words: list[str]) -> np.ndarray:
    """Return the cosine distances of words between gensim's skip-grams of two texts, after Procrustes."""
    rows = [{word: row for row, word in enumerate(each.words)} for each in vectors]
    a, b = (
        each.table[[index[word] for word in words]].astype(np.float64)
        for each, index in zip(vectors, rows, strict=True)
    )
    a, b = (table / np.linalg.norm(table, axis=1, keepdims=True) for table in (a, b))
    left, _, right = np.linalg.svd(b[:5000].T @ a[:5000])
    return 1 - (a * (b @ left @ right)).sum(axis=1)


def main() -> None:
    """Train, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--skip", type=int, default=0, help="sentences to leave out at the beginning")
    parser.add_argument("--sentences", type=int, default=120_000)
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--merge", action="store_true", help="replace one word of each pair by the other")
    parser.add_argument("--draws", type=int, default=0, help="exchange words so often after training")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    ours: dict[str, list[tuple[float, ...]]] = {}
    theirs: list[float] = []
    for case in cases(args):
        for metric in METRICS:
            comparison = compare(*case.densities, metric=metric)
            truth = np.array([word in case.changed for word in comparison.words])
            quiet, moved = comparison.p_values[~truth], comparison.p_values[truth]
            ours.setdefault(metric, []).append(
                (
                    average_precision(comparison.scores, truth),
                    average_precision(comparison.shifts, truth),
                    float(np.mean(quiet < 0.05)),
                    float(np.mean(quiet < 0.01)),
                    float(np.mean(moved < 0.05)),
                )
            )
        theirs.append(average_precision(by_gensim(case.vectors, comparison.words), truth))
    for metric, rows in ours.items():
        score, shift, often, seldom, found = np.mean(rows, axis=0)
        print(
            f"densvec {metric}: AP of scores {score:.3f}, of shifts {shift:.3f}; false alarms at .05: {often:.3f}, at "
            f".01: {seldom:.3f}; found at .05: {found:.2f}"
        )
    print(
        f"gensim's cosine after Procrustes: AP {np.mean(theirs):.3f}; {truth.sum()} of {len(truth)} words changed"
    )
    if args.draws > 1:
        ahead = np.array([row[0] for row in ours[METRICS[0]]]) - theirs
        print(
            f"densvec {METRICS[0]} less gensim: {ahead.mean():+.3f} ± {ahead.std(ddof=1) / len(ahead) ** 0.5:.3f}, "
            f"ahead in {np.mean(ahead > 0):.2f} of {len(ahead)} draws"
        )


if __name__ == "__main__":
    main()
