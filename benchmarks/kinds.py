"""Look for hypernyms and hyponyms among all words: how often one that is known to be true is among the first ten.

True pairs are those of BBDS and BLESS, and the nouns of HyperLex that people called kinds of another (7 of 10 or more).
Printed are the share of words with a true one among the first ten and the mean reciprocal rank of the first true one
(within a hundred), by `hypernyms` or `hyponyms`, by the score of pairs alone, by cosine, and by cosine together with
how usual words are, as the search counts it. Half of the words were used to choose the search; `--half 0` is that half,
`--half 1` the other.

    python -m benchmarks.kinds MODEL EVAL
    python -m benchmarks.kinds MODEL EVAL --hyponyms

The halves depend on which words a model knows: `--halves-of OTHER` takes those of another model.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import densvec
from densvec import KeyedDensities
from densvec.distances.ranking import best
from densvec.questions.hypernymy import usualness
from densvec.text.spelling import is_inflection

FIRST, DEEP = 10, 100

Truth = dict[str, dict[str, set[str]]]


def pairs_of(folder: Path) -> list[tuple[str, str, str]]:
    """Return the sets' names and their true pairs, the specific word first."""
    pairs = []
    for name in ("bbds", "bless"):
        for line in (folder / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
            specific, general, true = line.split()
            if true == "True":
                pairs.append((name, specific.lower(), general.lower()))
    for line in (folder / "hyperlex.txt").read_text(encoding="utf-8").splitlines()[1:]:
        specific, general, part, relation, _, rating = line.split()[:6]
        if part == "N" and relation.startswith("hyp-") and float(rating) >= 7:
            pairs.append(("hyperlex", specific.lower(), general.lower()))
    return pairs


def truth_of(pairs: list[tuple[str, str, str]], wv: KeyedDensities, *, hyponyms: bool) -> Truth:
    """Return the true answers of each known word in each set."""
    truth: Truth = {}
    for name, specific, general in pairs:
        if specific in wv and general in wv:
            asked, answer = (general, specific) if hyponyms else (specific, general)
            truth.setdefault(asked, {}).setdefault(name, set()).add(answer)
    return truth


def half_of(truth: Truth, half: int) -> list[str]:
    """Return every other word, in a random order."""
    words = sorted(truth)
    random.Random(5).shuffle(words)
    return words[half::2]


def listed(wv: KeyedDensities, word: str, scores: np.ndarray) -> list[str]:
    """Return the best words by their scores, without the word's own forms."""
    keys = [str(wv.index_to_key[row]) for row in best(scores, 2 * DEEP)]
    return [key for key in keys if not is_inflection(key, word)][:DEEP]


def main() -> None:
    """Search and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("data", type=Path, help="the folder with bbds.tsv, bless.tsv and hyperlex.txt")
    parser.add_argument("--hyponyms", action="store_true", help="look for hyponyms")
    parser.add_argument("--half", type=int, default=1, choices=(0, 1))
    parser.add_argument(
        "--halves-of", metavar="MODEL", help="make the halves of the words that this model knows"
    )
    parser.add_argument("--words", type=int, help="only so many words")
    args = parser.parse_args()
    wv, pairs = densvec.load(args.model), pairs_of(args.data)
    split = densvec.load(args.halves_of) if args.halves_of else wv
    truth = truth_of(pairs, wv, hyponyms=args.hyponyms)
    words = [w for w in half_of(truth_of(pairs, split, hyponyms=args.hyponyms), args.half) if w in truth]
    search = wv.hyponyms if args.hyponyms else wv.hypernyms
    units, sign = wv.get_normed_vectors(), -1 if args.hyponyms else 1
    generality = sign * wv.generality(wv.index_to_key) / wv.vector_size
    usual = np.log(usualness(wv.expandos["count"]))

    def by_pairs(word: str) -> list[str]:
        row = wv.get_index(word)
        return listed(wv, word, wv.hypernymy_scale.score(units @ units[row], generality - generality[row]))

    def by_cosine(word: str, weight: float = 0.0) -> list[str]:
        cosines = units @ units[wv.get_index(word)]
        return listed(wv, word, cosines / wv.hypernymy_scale.cosine_spread + weight * usual)

    ways: dict[str, Callable[[str], list[str]]] = {
        "search": lambda word: [key for key, _ in search(word, topn=DEEP)],
        "score of pairs": by_pairs,
        "cosine": by_cosine,
        "cosine and frequency": lambda word: by_cosine(word, 1.0),
    }
    for way, ask in ways.items():
        ranks: dict[str, list[float]] = {}
        started = time.process_time()
        for word in words[: args.words]:
            answer = ask(word)
            for name, true in truth[word].items():
                ranks.setdefault(name, []).append(
                    next((i for i, w in enumerate(answer, 1) if w in true), np.inf)
                )
        parts = [
            f"{name} {np.mean(np.array(found) <= FIRST):.3f} ({np.mean(1 / np.array(found)):.3f})"
            for name, found in sorted(ranks.items())
        ]
        each = (time.process_time() - started) / len(words[: args.words])
        print(f"{way}: hit@10 (MRR): {', '.join(parts)}; {each:.3f} s of CPU a word", flush=True)


if __name__ == "__main__":
    main()
