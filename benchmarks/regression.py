"""Regression on meanings where the truth is planted: power, coverage, bias, p-values without an effect, and speed.

In one of two groups, a share of the occurrences of a word is replaced by those of a word of like meaning. Printed are
the power of the test by how occurrences are described; coverage and bias of the norm; how uniform p is if nothing is
planted; and the time and memory of a large regression.

    python -m benchmarks.regression text.txt [--pairs 40] [--repeats 400]
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from scipy.stats import kstest

import densvec
from densvec.corpora import RawText
from densvec.keyed import KeyedDensities
from densvec.questions.lookup import whitened
from densvec.questions.senses import describe
from densvec.statistics.vectors import fit_vectors
from densvec.text.concordance import Occurrence, sample_occurrences
from densvec.types import Floats

Found = dict[str, list[Occurrence]]
Rng = np.random.Generator


def plain(wv: KeyedDensities, word: str, items: list[Occurrence]) -> Floats:
    """ConText's description without its transformation: the average of six words on either side."""
    means = []
    for each in items:
        around = [
            *each.tokens[max(0, each.position - 6) : each.position],
            *each.tokens[each.position + 1 :][:6],
        ]
        rows = [wv.key_to_index[token] for token in around if token in wv.key_to_index]
        means.append(wv.vectors[rows].mean(axis=0) if rows else np.zeros(wv.vector_size))
    return np.array(means)


def pairs_of(word: str, items: list[Occurrence]) -> list[tuple[str, list[str], int]]:
    """Return occurrences as `wv.infer_posteriors` takes them."""
    return [(word, list(each.tokens), each.position) for each in items]


DESCRIPTIONS: dict[str, Callable[[KeyedDensities, str, list[Occurrence]], Floats]] = {
    "plain average": plain,
    "thinned average": lambda wv, word, items: wv.context_means(pairs_of(word, items)),
    "posterior mean": lambda wv, word, items: wv.infer_posteriors(pairs_of(word, items)).mean,
    "its direction, half-whitened": lambda wv, word, items: whitened(
        wv, wv.context_means(pairs_of(word, items))
    ),
    "with words beside, as senses": describe,
}
USED = "its direction, half-whitened"


def instead(word: str, found: Occurrence) -> Occurrence:
    """Return an occurrence of a word in place of another."""
    before, after = found.tokens[: found.position], found.tokens[found.position + 1 :]
    return Occurrence([*before, word, *after], found.position)


def chosen_pairs(
    corpus: str, wv: KeyedDensities, count: int, rng: Rng
) -> tuple[list[tuple[str, str]], Found]:
    """Return pairs of words of like meaning, and occurrences of both."""
    text = RawText(corpus, tokenize="auto")
    counts = Counter(token for sentence in text for token in sentence)
    words = [
        word for word, n in counts.items() if 1000 <= n <= 20_000 and word in wv and wv.get_index(word) > 300
    ]
    found: list[tuple[str, str]] = []
    for word in rng.permutation(words).tolist():
        near = [other for other, _ in wv.most_similar(word, topn=60)[5:] if counts[other] >= 1000]
        if near and len(found) < count:
            found.append((word, near[int(rng.integers(len(near)))]))
    return found, sample_occurrences(text, {word for pair in found for word in pair}, 4000)


def mixed(own: Floats, other: Floats, count: int, share: float, rng: Rng) -> tuple[Floats, Floats]:
    """Return occurrences of two groups, in the second of which a share is another word's, and a design."""
    half = count // 2
    points = own[rng.integers(0, len(own), 2 * half)]
    replaced = half + np.flatnonzero(rng.random(half) < share)
    points[replaced] = other[rng.integers(0, len(other), len(replaced))]
    return points, np.column_stack([np.ones(2 * half), np.repeat([0.0, 1.0], half)])


def print_power(
    wv: KeyedDensities, pairs: list[tuple[str, str]], found: Found, repeats: int, rng: Rng
) -> None:
    """Print how often what is planted is found."""
    cells = [(50, 0.25), (50, 0.5), (200, 0.1), (200, 0.25), (1000, 0.1), (5000, 0.05)]
    print("power at .05:", *(f"{count} occurrences, share {share:g}" for count, share in cells), sep="; ")
    for name, described in DESCRIPTIONS.items():
        hits: dict[tuple[int, float], list[bool]] = {cell: [] for cell in cells}
        for word, other in pairs:  # the other's stand as the word's own
            points = [
                described(wv, word, [instead(word, each) for each in found[side]]) for side in (word, other)
            ]
            for cell in cells:
                for _ in range(max(1, repeats // len(pairs) // (1 + 4 * (cell[0] > 1000)))):
                    fit = fit_vectors(*mixed(points[0], points[1], *cell, rng), draws=199)
                    hits[cell].append(bool(fit.p_values[1] <= 0.05))
        print(f"{name:30}", *(f"{np.mean(hits[cell]):.3f}" for cell in cells), flush=True)


def print_coverage(points: dict[str, Floats], pairs: list[tuple[str, str]], repeats: int, rng: Rng) -> None:
    """Print whether intervals contain the truth, and how far norms are from it on average."""
    print(
        "\noccurrences, share: coverage of the 95 % interval, bias of the squared norm ± its error, without correction"
    )
    for count in (50, 200, 1000, 5000):
        for share in (0.0, 0.1, 0.25, 0.5, 1.0):
            inside, errors, raw = [], [], []
            for _ in range(repeats if count < 5000 else repeats // 2):
                word, other = pairs[int(rng.integers(len(pairs)))]
                truth = float(((share * (points[other].mean(axis=0) - points[word].mean(axis=0))) ** 2).sum())
                fit = fit_vectors(*mixed(points[word], points[other], count, share, rng), draws=0)
                errors.append(fit.squares[1] - truth)
                raw.append((fit.coefficients[1] ** 2).sum() - truth)
                inside.append(abs(errors[-1]) <= 1.96 * fit.errors[1])
            error = np.std(errors) / np.sqrt(len(errors))
            print(
                f"{count} {share:g}: {np.mean(inside):.3f}; {np.mean(errors):+.5f} ± {error:.5f}; {np.mean(raw):+.5f}",
                flush=True,
            )


def situations(points: dict[str, Floats]) -> dict[str, Callable[[Rng], tuple[Floats, Floats, Floats | None]]]:
    """Return ways to have covariates without an effect."""
    words = list(points)

    def drawn(count: int, rng: Rng) -> Floats:
        own = points[words[int(rng.integers(len(words)))]]
        return own[rng.integers(0, len(own), count)]

    def groups(count: int, few: int) -> Callable[[Rng], tuple[Floats, Floats, Floats | None]]:
        design = np.column_stack([np.ones(count), np.arange(count) < few])
        return lambda rng: (drawn(count, rng), design, None)

    def spread(rng: Rng) -> tuple[Floats, Floats, Floats | None]:
        found, few = drawn(400, rng), np.arange(400) < 40
        middle = found.mean(axis=0)
        return (
            np.where(few[:, None], middle + 1.7 * (found - middle), found),
            np.column_stack([np.ones(400), few]),
            None,
        )

    def topics(rng: Rng) -> tuple[Floats, Floats, Floats | None]:
        topic = rng.normal(size=300)
        found = drawn(300, rng) + 0.1 * topic[:, None] * drawn(1, rng)
        return found, np.column_stack([np.ones(300), topic + rng.normal(size=300) > 0, topic]), None

    def speakers(constant: bool) -> Callable[[Rng], tuple[Floats, Floats, Floats | None]]:
        def make(rng: Rng) -> tuple[Floats, Floats, Floats | None]:
            of = np.repeat(np.arange(60), rng.integers(1, 25, 60))
            found = drawn(len(of), rng) + 0.7 * drawn(60, rng)[of]
            by = rng.random(60)[of]
            group = by > 0.5 if constant else rng.random(len(of)) < by
            return found, np.column_stack([np.ones(len(of)), group]), of

        return make

    return {
        "two groups of 100": groups(200, 100),
        "25 and 25": groups(50, 25),
        "20 and 980": groups(1000, 20),
        "40 of 1.7 times the spread, and 360": spread,
        "beside a topic that goes with it": topics,
        "60 speakers, each in one group": speakers(True),
        "60 speakers, in both groups": speakers(False),
    }


def print_null(points: dict[str, Floats], repeats: int, rng: Rng) -> None:
    """Print how p-values are distributed where nothing is planted."""
    print(f"\nwithout an effect, {repeats} times: Kolmogorov–Smirnov p, share of p below .05 and below .01")
    for name, make in situations(points).items():
        found = np.array([fit_vectors(*make(rng), draws=199, seed=i).p_values[1] for i in range(repeats)])
        below = [f"{np.mean(found < level):.3f}" for level in (0.05, 0.01)]
        print(f"{name:36} {kstest(found, 'uniform').pvalue:.3f} ", *below, flush=True)


def print_speed(rng: Rng) -> None:
    """Print what a large regression costs."""
    points = rng.normal(size=(100_000, 100)).astype(np.float32)
    design = np.column_stack([np.ones(len(points)), rng.normal(size=(len(points), 20))])
    before, start, used = peak(), time.perf_counter(), time.process_time()
    fit_vectors(points, design, draws=1000)
    print(
        f"\n100,000 occurrences, 20 covariates, 1,000 draws: {time.perf_counter() - start:.1f} s, "
        f"{time.process_time() - used:.1f} s of all cores, {peak() - before:.0f} MB beyond the data"
    )


def peak() -> float:
    """Return the most memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus")
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--repeats", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", nargs="+", default=["power", "coverage", "null", "speed"])
    args = parser.parse_args()
    rng, wv = np.random.default_rng(args.seed), densvec.load("english")
    if "speed" in args.parts:
        print_speed(rng)
    pairs, found = chosen_pairs(args.corpus, wv, args.pairs, rng)
    if "power" in args.parts:
        print_power(wv, pairs, found, args.repeats, rng)
    points = {word: DESCRIPTIONS[USED](wv, word, items).astype(np.float32) for word, items in found.items()}
    if "coverage" in args.parts:
        print_coverage(points, pairs, args.repeats, rng)
    if "null" in args.parts:
        print_null(points, args.repeats, rng)


if __name__ == "__main__":
    main()
