"""A text in another order: ``python -m benchmarks.orders CORPUS OUT [--seed 6] [--lines 75]``.

Blocks of lines are shuffled, which keeps what lies together in a text together. What one process learns depends on the
order, so that one order tells little about ways of training that read a text in different orders, such as one process
and several ranks.
"""

import argparse
import random
from pathlib import Path


def shuffled(lines, seed, block):
    """Return lines in another order, with those of a block together."""
    blocks = [lines[start : start + block] for start in range(0, len(lines), block)]
    random.Random(seed).shuffle(blocks)
    return [line for lines in blocks for line in lines]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="a text file, one sentence or paragraph per line")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=6)
    parser.add_argument("--lines", type=int, default=75, help="of a block")
    given = parser.parse_args()
    with given.corpus.open(encoding="utf-8") as source, given.out.open("w", encoding="utf-8") as target:
        target.writelines(shuffled(source.readlines(), given.seed, given.lines))
