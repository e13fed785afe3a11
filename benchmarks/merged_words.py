"""Write a text in which pairs and triples of words of like frequency are one word each.

Train on it, and `benchmarks.senses` tells how well the senses that were put together are found again.

    python -m benchmarks.merged_words ORIGINAL MERGED --pairs 30 --triples 30
    densvec train MERGED -o MODEL
    python -m benchmarks.senses MODEL MERGED ORIGINAL
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Collection, Sequence

from densvec.evaluation import MergedText

_WORD = re.compile("[a-z]{4,}")


def draw(
    counts: Counter[str],
    sizes: Sequence[int],
    *,
    least: int,
    most: int,
    seed: int,
    avoid: Collection[str] = (),
) -> list[tuple[str, ...]]:
    """Return a group of words for each size: counts within 10 % of the first word's, and other beginnings."""
    fit = [
        word
        for word, n in counts.items()
        if least <= n <= most and _WORD.fullmatch(word) and word not in avoid
    ]
    random.Random(seed).shuffle(fit)
    groups: list[tuple[str, ...]] = []
    taken: set[str] = set()
    for first in fit:
        if len(groups) == len(sizes):
            break
        if first in taken:
            continue
        group = [first]
        for word in fit:
            if len(group) == sizes[len(groups)]:
                break
            alike = any(word[:4] == other[:4] for other in group)
            if word not in taken and not alike and 0.9 < counts[word] / counts[first] < 1.1:
                group.append(word)
        if len(group) == sizes[len(groups)]:
            groups.append(tuple(group))
            taken.update(group)
    return groups


def main() -> None:
    """Draw the words, and write the text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("original")
    parser.add_argument("merged")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--triples", type=int, default=30)
    parser.add_argument("--least", type=int, default=400, help="occurrences that a word must have")
    parser.add_argument("--most", type=int, default=4000, help="occurrences that a word may have")
    parser.add_argument("--avoid", help="a file of words that are not to be merged")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    with open(args.original, encoding="utf-8") as file:
        for line in file:
            counts.update(line.split())
    avoid: set[str] = set()
    if args.avoid:
        with open(args.avoid, encoding="utf-8") as file:
            avoid.update(file.read().split())
    sizes = [2] * args.pairs + [3] * args.triples
    groups = draw(counts, sizes, least=args.least, most=args.most, seed=args.seed, avoid=avoid)
    for group in groups:
        print(*group)
    MergedText(args.original, groups).write(args.merged)


if __name__ == "__main__":
    main()
