"""Merged words: how often is the number of senses right, and do clusters agree with the words that were merged.

The model must be trained on the merged text, in which pairs or triples of words were replaced by one token; the
original text has the same lines and tokens. Merged words have two or three senses; others of like frequency serve as
controls with one. Clustered in the same way are the surroundings of occurrences, averages of the context words' means,
and, if gensim's vectors of the merged text are given (.npz with the arrays `words` and `vectors`), averages of those.

    python -m benchmarks.senses MODEL MERGED ORIGINAL --lines 100000 --gensim GENSIM.npz

With `--fit`, the weights of the rule for the number are fitted to these words, and with `--keep SCORES.npz` also to
those of earlier sets whose scores are kept there; the scores of these words are added to the file. Weights are drawn
towards those that the rule has, and those of the gains are kept.

    python -m benchmarks.senses MODEL MERGED ORIGINAL --controls 160 --fit --keep SCORES.npz
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from densvec import KeyedDensities
from densvec.evaluation import adjusted_rand_index
from densvec.evaluation.occurrences import Occurrence as Context
from densvec.evaluation.occurrences import Reader
from densvec.questions.neighbourhood import nearness
from densvec.questions.sense_count import MORE, SEVERAL, Usual, induce
from densvec.questions.sense_space import mixture
from densvec.questions.surroundings import Surroundings
from densvec.text.concordance import Occurrence, sample_occurrences

Reading = Callable[[str, list[Occurrence]], np.ndarray]
COMPARED = 60
"""Other words, as `wv.senses` has them, whose occurrences are all looked at."""


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
    parser.add_argument("--controls", type=int, default=60, help="unmerged words to ask about")
    parser.add_argument("--others", type=int, default=300, help="words to compare with")
    parser.add_argument("--fit", action="store_true", help="fit the weights of the rule to these words")
    parser.add_argument(
        "--keep", help="scores of words of several sets to fit to, .npz; these words are added"
    )
    parser.add_argument("--verbose", action="store_true", help="print the number found for each word")
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
    chosen = controls(wv, senses, args.controls + args.others)
    found = sample_occurrences([x for x, _ in pairs], [*merged, *chosen], args.occurrences)
    original = {id(x): y for x, y in pairs}
    truth = {
        word: np.array([original[id(each.tokens)][each.position] for each in items])
        for word, items in found.items()
    }
    enough = [word for word in (*merged, *chosen) if len(found[word]) >= 40]
    around = Surroundings(wv)
    readers: dict[str, tuple[KeyedDensities, Reading]] = {
        "surroundings": (wv, around),
        "averages of the model's means": (wv, averages(Reader(wv))),
    }
    if args.gensim:
        theirs = of_gensim(args.gensim, wv)
        readers["averages of gensim's vectors"] = theirs, averages(Reader(theirs))
    tested = [word for word in chosen[: args.controls] if word in enough]
    others = [word for word in chosen[args.controls :] if word in enough]
    counts = {word: float(wv.get_vecattr(word, "count")) for word in enough}
    for name, (vectors, read) in readers.items():
        points = {
            word: read(
                word, found[word][:: max(1, len(found[word]) // 50) if word in others[COMPARED:] else 1]
            )
            for word in (*others, *tested, *(w for w in merged if w in enough))
        }
        near = dict(zip(enough, nearness(vectors, enough), strict=True))
        usual = Usual(
            [points[word] for word in others],
            np.array([near[word] for word in others]),
            np.array([counts[word] for word in others]),
            compared=COMPARED,
        )
        print(f"{name}:")
        if args.fit:
            asked = [*tested, *(w for w in merged if w in enough)]
            scores_of_all = np.array([usual.scores(points[word], near[word], counts[word]) for word in asked])
            sizes = np.array([len(senses.get(word, [word])) for word in asked])
            keep = args.keep if name == "surroundings" else None
            fit(*kept(keep, args.merged, scores_of_all, sizes))
        numbers: dict[int, list[int]] = {}
        scores: dict[int, list[tuple[float, float, float]]] = {}
        for word in (*tested, *(w for w in merged if w in enough)):
            labels, _ = induce(points[word], usual, near=near[word], count=counts[word])
            size = len(senses.get(word, [word]))
            numbers.setdefault(size, []).append(len(np.unique(labels)))
            if args.verbose:
                print(f"    {word}: {numbers[size][-1]}")
            if size == 1:
                continue
            assert usual.space is not None
            given = mixture(usual.space(points[word]), size, usual.space.between).labels
            scores.setdefault(size, []).append(
                (
                    adjusted_rand_index(truth[word], labels),
                    v_measure(truth[word], labels),
                    adjusted_rand_index(truth[word], given),
                )
            )
        for size, values in sorted(scores.items()):
            ari, v, given = np.mean(values, axis=0)
            print(
                f"  {len(values)} of {size} words: ARI {ari:.3f}, V {v:.3f}, ARI with the number given {given:.3f}"
            )
        table = {
            size: ", ".join(f"{np.mean(np.array(counted) == k):.2f}" for k in (1, 2, 3))
            for size, counted in sorted(numbers.items())
        }
        right = {size: float(np.mean(np.array(counted) == size)) for size, counted in numbers.items()}
        for size, row in table.items():
            print(f"  {len(numbers[size])} words with {size} senses: one, two, three found in {row}")
        print(f"  number right, balanced: {np.mean(list(right.values())):.2f}", flush=True)


def kept(path: str | None, text: str, scores: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Add the scores of a text's words to a file, and return those of all texts in it and the true numbers."""
    if path is None:
        return scores, sizes
    tables: dict[str, np.ndarray] = {}
    if Path(path).exists():
        with np.load(path) as file:
            tables = dict(file)
    tables[Path(text).name] = np.column_stack([sizes, scores])
    np.savez(path, **tables)  # type: ignore[arg-type]
    together = np.concatenate(list(tables.values()))
    return together[:, 1:], together[:, 0].astype(int)


def fit(scores: np.ndarray, sizes: np.ndarray) -> None:
    """Print the weights of the rule for the number of senses: two logistic regressions of balanced classes."""
    for name, before, low, high in (("SEVERAL", SEVERAL, (1,), (2, 3)), ("MORE", MORE, (2,), (3,))):
        among = np.isin(sizes, (*low, *high))
        terms = np.column_stack([np.ones(among.sum()), scores[among]])
        truth = np.isin(sizes[among], high).astype(float)
        weights = 1 / np.array([np.mean(sizes[among] == size) for size in sizes[among]])
        weights[truth > 0] *= 1 / len(high)
        # The gains keep their weights: words that fall apart as clearly as some do are rare among merged ones.
        penalty = np.diag([0.0, 0.04, 0.04, 0.04, 0.04, 1e6, 1e6])
        solution = before.copy()
        for _ in range(50):
            odds = 1 / (1 + np.exp(-terms @ solution))
            slope = terms.T @ (weights * (truth - odds)) - penalty @ (solution - before)
            curve = (terms * (weights * odds * (1 - odds))[:, None]).T @ terms + penalty
            solution += np.linalg.solve(curve, slope)
        guesses = terms @ solution > 0
        print(
            f"{name} = np.array({solution.round(2).tolist()}); right of the others "
            f"{np.mean(~guesses[truth == 0]):.2f}, of those {np.mean(guesses[truth == 1]):.2f}"
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


def averages(reader: Reader) -> Reading:
    """Return a function that averages the means of the words around."""
    index = reader.lexicon.key_to_index

    def rows(tokens: Sequence[str]) -> list[int]:
        return [index[token] for token in tokens if token in index]

    def read(word: str, items: list[Occurrence]) -> np.ndarray:
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
