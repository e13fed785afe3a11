"""Merged words: how often is the number of senses right, and do clusters agree with the words that were merged.

The model must be trained on the merged text, in which pairs or triples of words were replaced by one token; the
original text has the same lines and tokens. Merged words have two or three senses; as many others of like frequency
serve as controls with one. Clustered in the same way are the posteriors, averages of the context words' means, and, if
gensim's vectors of the merged text are given (.npz with the arrays `words` and `vectors`), averages of those.

    python -m benchmarks.senses MODEL MERGED ORIGINAL --lines 100000 --gensim GENSIM.npz
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Sequence

import numpy as np

from densvec import KeyedDensities
from densvec.concordance import Occurrence, sample_occurrences
from densvec.evaluation import adjusted_rand_index
from densvec.evaluation.clusters import kmeans
from densvec.evaluation.occurrences import Occurrence as Context
from densvec.evaluation.occurrences import Reader
from densvec.keyed.senses import Usual, induce


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
    parser.add_argument("--gensim", help="gensim's vectors of the merged text, .npz")
    parser.add_argument(
        "--part", choices=["all", "even", "odd"], default="all", help="every merged word, or every other one"
    )
    args = parser.parse_args()
    wv = KeyedDensities.load(args.model)
    with open(args.merged, encoding="utf-8") as a, open(args.original, encoding="utf-8") as b:
        pairs = [(x.split(), y.split()) for x, y in itertools.islice(zip(a, b, strict=False), args.lines)]
    senses: dict[str, set[str]] = {}
    for x, y in pairs:
        for m, o in zip(x, y, strict=True):
            if m != o and m in wv:
                senses.setdefault(m, set()).add(o)
    merged = sorted(senses)
    merged = {"all": merged, "even": merged[0::2], "odd": merged[1::2]}[args.part]
    chosen = controls(wv, senses, args.controls)
    found = sample_occurrences([x for x, _ in pairs], [*merged, *chosen], args.occurrences)
    original = {id(x): y for x, y in pairs}
    truth = {
        word: np.array([original[id(each.tokens)][each.position] for each in items])
        for word, items in found.items()
    }
    readers = {
        "posteriors": lambda items: posteriors(wv, items),
        "averages of the model's means": averages(Reader(wv)),
    }
    if args.gensim:
        readers["averages of gensim's vectors"] = averages(Reader(of_gensim(args.gensim, wv)))
    for name, read in readers.items():
        points = {word: read(items) for word, items in found.items() if len(items) >= 40}
        usable = [word for word in chosen if word in points]
        tested, others = usable[: len(merged)], usable[len(merged) :]
        usual = Usual([points[word] for word in others])
        numbers: dict[int, list[int]] = {1: [len(np.unique(induce(points[word], usual))) for word in tested]}
        print(f"{name}:")
        scores: dict[int, list[tuple[float, float, float]]] = {}
        for word in (w for w in merged if w in points):
            labels = induce(points[word], usual)
            size = len(senses[word])
            numbers.setdefault(size, []).append(len(np.unique(labels)))
            scores.setdefault(size, []).append(
                (
                    adjusted_rand_index(truth[word], labels),
                    v_measure(truth[word], labels),
                    adjusted_rand_index(truth[word], kmeans(points[word], size)),
                )
            )
        for size, values in sorted(scores.items()):
            ari, v, given = np.mean(values, axis=0)
            print(
                f"  {len(values)} of {size} words: ARI {ari:.3f}, V {v:.3f}, ARI with the number given {given:.3f}"
            )
        right = {size: np.mean(np.array(found) == size) for size, found in numbers.items()}
        several = {size: np.mean(np.array(found) > 1) for size, found in numbers.items() if size > 1}
        print(
            f"  number right: {', '.join(f'{share:.2f} of {size}' for size, share in sorted(right.items()))}; "
            f"balanced {np.mean(list(right.values())):.2f}; more than one found in "
            f"{', '.join(f'{share:.2f} of {size}' for size, share in sorted(several.items()))}",
            flush=True,
        )


def controls(wv: KeyedDensities, senses: dict[str, set[str]], number: int) -> list[str]:
    """Return words of like frequency that were not merged."""
    counts = wv.expandos["count"]
    usual = [counts[wv.get_index(word)] for word in senses]
    near = [
        word
        for word, count in zip(wv.index_to_key, counts, strict=True)
        if min(usual) <= count <= max(usual) and word.isalpha() and len(word) > 3 and word not in senses
    ]
    return [near[i] for i in np.random.default_rng(0).permutation(len(near))[:number]]


def of_gensim(path: str, wv: KeyedDensities) -> KeyedDensities:
    """Return gensim's vectors with the counts that the model knows."""
    with np.load(path) as arrays:
        words, vectors = [str(word) for word in arrays["words"]], arrays["vectors"]
    known = [i for i, word in enumerate(words) if word in wv]
    names = [words[i] for i in known]
    counts = np.array([wv.get_vecattr(word, "count") for word in names])
    return KeyedDensities.from_arrays(names, vectors[known], attributes={"count": counts}, window=wv.window)


def posteriors(wv: KeyedDensities, items: list[Occurrence]) -> np.ndarray:
    """Return the means of the posteriors."""
    return wv.infer_posteriors([(each.word, each.tokens, each.position) for each in items]).mean.astype(
        np.float64
    )


def averages(reader: Reader) -> Callable[[list[Occurrence]], np.ndarray]:
    """Return a function that averages the means of the words around."""
    index = reader.lexicon.key_to_index

    def rows(tokens: Sequence[str]) -> list[int]:
        return [index[token] for token in tokens if token in index]

    def read(items: list[Occurrence]) -> np.ndarray:
        # The word itself does not count, so its row does not matter.
        return reader.context_means(
            [
                Context(0, rows(each.tokens[: each.position]), rows(each.tokens[each.position + 1 :]))
                for each in items
            ]
        )

    return read


if __name__ == "__main__":
    main()
