"""Words guessed from their spelling.

``held``: words are held out of the fit of `with_subwords`. Printed are the cosine of their guessed to their true
means, by how often they occur, how well the added variance covers the error, and ρ on rare words (RW) with all pairs
covered: known words as they are, or combined with their spelling. gensim's FastText, trained on the same text and
saved by it, can be given beside.

    python -m benchmarks.spelling held MODEL EN-RW-STANFORD.txt --fasttext FASTTEXT

``fit`` times `with_subwords` alone, of a model filled up with its words spelt backwards.

    python -m benchmarks.spelling fit MODEL --words 100000
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable

import numpy as np
from scipy.stats import spearmanr

from densvec import KeyedDensities
from densvec.distances.vectors import unit

BANDS = (5, 10, 20, 50, 200)


def held(args: argparse.Namespace) -> None:
    """Guess words from their spelling and print how well."""
    wv = KeyedDensities.load(args.model)
    rng = np.random.default_rng(args.seed)
    hidden = [str(wv.index_to_key[i]) for i in rng.permutation(len(wv))[: len(wv) // 20]]
    hidden_set = set(hidden)
    started, used = time.perf_counter(), time.process_time()
    rest = wv.vectors_for_all(
        [word for word in wv.index_to_key if word not in hidden_set],
        allow_inference=False,
        copy_vecattrs=True,
    ).with_subwords()
    print(
        f"fit to {len(rest):,} words: {time.perf_counter() - started:.0f} s, {time.process_time() - used:.0f} s of CPU"
    )
    started = time.perf_counter()
    guessed, true = rest.density_from_spelling(hidden), wv[hidden]
    norms = np.linalg.norm(guessed.mean, axis=1) * np.linalg.norm(true, axis=1)
    cosines = (guessed.mean * true).sum(axis=1) / norms
    added = guessed.variance.mean() - wv.get_variance(hidden).mean()
    error = ((guessed.mean - true) ** 2).mean()
    print(
        f"{len(hidden)} words held out, {len(hidden) / (time.perf_counter() - started):.0f} words/s: cosine "
        f"{cosines.mean():.3f}; squared error over added variance {error / added:.2f}"
    )
    counts = np.array([wv.get_vecattr(word, "count") for word in hidden])
    for low, high in itertools.pairwise((*BANDS, np.inf)):
        among = (counts >= low) & (counts < high)
        if among.any():
            upto = f"to {high - 1:.0f} times" if high < np.inf else "times or more"
            print(f"  seen {low} {upto}: {among.sum()} words, cosine {cosines[among].mean():.3f}")
    whole = wv.with_subwords()
    with open(args.rare, encoding="utf-8") as lines:
        pairs = [(a.lower(), b.lower(), float(score)) for a, b, score in (line.split()[:3] for line in lines)]
    words = sorted({word for a, b, _ in pairs for word in (a, b)})
    known = [a in wv and b in wv for a, b, _ in pairs]
    spelt = dict(zip(words, whole.density_from_spelling(words).mean, strict=True))
    both = dict(zip(words, whole.density_with_spelling(words).mean, strict=True))
    report("known words as they are", pairs, lambda word: wv[word] if word in wv else spelt[word], known)
    report("spelling alone", pairs, spelt.__getitem__, known)
    report("known words with their spelling", pairs, both.__getitem__, known)
    if args.fasttext:
        from gensim.models import FastText

        other = FastText.load(args.fasttext).wv
        report("FastText", pairs, other.__getitem__, known)
        centre = (other.vectors / np.linalg.norm(other.vectors, axis=1, keepdims=True)).mean(axis=0)
        report("… without their mean direction", pairs, lambda word: unit(other[word]) - centre, known)


def fit(args: argparse.Namespace) -> None:
    """Fit spelling to so many words and print how long it takes."""
    wv = KeyedDensities.load(args.model)
    words = list(dict.fromkeys([*wv.index_to_key, *(word[::-1] for word in wv.index_to_key)]))[: args.words]
    rows = np.arange(len(words)) % len(wv)
    made = KeyedDensities.from_arrays(
        words,
        wv.vectors[rows],
        log_variances=wv.log_variances[rows],
        attributes={"count": wv.expandos["count"][rows]},
    )
    started, used = time.perf_counter(), time.process_time()
    made.with_subwords()
    print(
        f"fit to {len(made):,} words: {time.perf_counter() - started:.0f} s, {time.process_time() - used:.0f} s of CPU"
    )


def report(
    name: str, pairs: list[tuple[str, str, float]], vector: Callable[[str], np.ndarray], known: list[bool]
) -> None:
    """Print ρ on all pairs and on those of known words."""
    cosines = []
    for a, b, _ in pairs:
        x, y = vector(a), vector(b)
        cosines.append(float(x @ y / max(np.linalg.norm(x) * np.linalg.norm(y), 1e-30)))
    scores = np.array([score for *_, score in pairs])
    rho = spearmanr(cosines, scores)[0]
    among = spearmanr(np.array(cosines)[known], scores[known])[0]
    print(
        f"{name}: RW, all {len(pairs)} pairs {rho:.3f}; {sum(known)} pairs of known words {among:.3f}",
        flush=True,
    )


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    first = commands.add_parser("held")
    first.add_argument("model")
    first.add_argument("rare", help="EN-RW-STANFORD.txt: word, word, rating")
    first.add_argument("--fasttext", help="gensim's FastText of the same text, as it saves it")
    first.add_argument("--seed", type=int, default=1)
    first.set_defaults(run=held)
    second = commands.add_parser("fit")
    second.add_argument("model")
    second.add_argument("--words", type=int, default=100_000)
    second.set_defaults(run=fit)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
