"""Merged words: how often is the number of senses right, and do clusters agree with the words that were merged.

The model must be trained on the merged text, in which pairs of words were replaced by one token; the original text has
the same lines and tokens. Merged words have two senses; as many others of like frequency serve as controls with one.
The posteriors, and averages of the context words' means, are clustered in the same way.

    python -m benchmarks.senses MODEL MERGED ORIGINAL --lines 100000
"""

from __future__ import annotations

import argparse
import itertools
import sys

import numpy as np

from densvec import KeyedDensities
from densvec.concordance import Occurrence, sample_occurrences
from densvec.evaluation import adjusted_rand_index
from densvec.evaluation.clusters import kmeans
from densvec.evaluation.occurrences import Reader
from densvec.keyed.senses import induce, split_in_two


def v_measure(truth: np.ndarray, labels: np.ndarray) -> float:
    """Return the harmonic mean of homogeneity and completeness (Rosenberg and Hirschberg 2007)."""

    def entropy(values: np.ndarray) -> float:
        shares = np.unique(values, return_counts=True)[1] / len(values)
        return float(-(shares * np.log(shares)).sum())

    both = np.unique(np.column_stack([truth, labels]), axis=0, return_inverse=True)[1].ravel()
    joint, of_truth, of_labels = entropy(both), entropy(truth), entropy(labels)
    homogeneity = 1.0 if of_truth == 0 else 1 - (joint - of_labels) / of_truth
    completeness = 1.0 if of_labels == 0 else 1 - (joint - of_truth) / of_labels
    return 2 * homogeneity * completeness / max(homogeneity + completeness, 1e-12)


def main() -> None:
    """Sample, cluster and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("merged")
    parser.add_argument("original")
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--occurrences", type=int, default=300)
    parser.add_argument("--controls", type=int, default=150)
    args = parser.parse_args()
    wv = KeyedDensities.load(args.model)
    with open(args.merged, encoding="utf-8") as a, open(args.original, encoding="utf-8") as b:
        pairs = [(x.split(), y.split()) for x, y in itertools.islice(zip(a, b, strict=False), args.lines)]
    merged = sorted({m for x, y in pairs for m, o in zip(x, y, strict=True) if m != o and m in wv})
    counts = wv.expandos["count"]
    usual = [counts[wv.get_index(word)] for word in merged]
    near = [
        word
        for word, count in zip(wv.index_to_key, counts, strict=True)
        if min(usual) <= count <= max(usual) and word.isalpha() and len(word) > 3 and word not in merged
    ]
    chosen = [near[i] for i in np.random.default_rng(0).permutation(len(near))[: args.controls]]
    found = sample_occurrences([x for x, _ in pairs], [*merged, *chosen], args.occurrences)
    original = {id(x): y for x, y in pairs}
    readers = {"posteriors": lambda items: posteriors(wv, items), "averages": averages(Reader(wv))}
    for name, read in readers.items():
        points = {word: read(items) for word, items in found.items() if len(items) >= 40}
        controls = [word for word in chosen if word in points]
        tested, null_words = controls[: len(merged)], controls[len(merged) :]
        null = np.array([split_in_two(points[word][:200])[0] for word in null_words])
        ari, v, ari2, right2 = [], [], [], []
        for word in (w for w in merged if w in points):
            truth = np.array([original[id(each.tokens)][each.position] for each in found[word]])
            labels = induce(points[word], null)
            ari.append(adjusted_rand_index(truth, labels))
            v.append(v_measure(truth, labels))
            ari2.append(adjusted_rand_index(truth, kmeans(points[word], 2)))
            right2.append(len(np.unique(labels)) == 2)
        right1 = [len(np.unique(induce(points[word], null))) == 1 for word in tested]
        print(
            f"{name}: {len(ari)} merged words: ARI {np.mean(ari):.3f}, V {np.mean(v):.3f}, ARI with two given "
            f"{np.mean(ari2):.3f}; number right: two of two {np.mean(right2):.2f}, one of one {np.mean(right1):.2f}, "
            f"all {np.mean([*right1, *right2]):.2f}",
            flush=True,
        )
        sys.stdout.flush()


def posteriors(wv: KeyedDensities, items: list[Occurrence]) -> np.ndarray:
    """Return the means of the posteriors."""
    return wv.infer_posteriors([(each.word, each.tokens, each.position) for each in items]).mean.astype(
        np.float64
    )


def averages(reader: Reader):
    """Return a function that averages the means of the words around."""

    def read(items: list[Occurrence]) -> np.ndarray:
        return reader.context_means(
            [o for each in items if (o := reader.occurrence(each.tokens, each.position))]
        )

    return read


if __name__ == "__main__":
    main()
