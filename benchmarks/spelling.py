"""Words guessed from their spelling, which are held out: how near the guesses are, and whether their variance is right.

python -m benchmarks.spelling MODEL
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np

from densvec import KeyedDensities
from densvec.distances.vectors import unit_rows

BANDS = (5, 10, 20, 50, 200, np.inf)


def main() -> None:
    """Guess a twentieth of the words from the spelling of the others."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model")
    parser.add_argument(
        "--words", type=int, default=1000, help="how many words to hold out (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    wv = KeyedDensities.load(args.model)
    hidden = [
        str(wv.index_to_key[i]) for i in np.random.default_rng(args.seed).permutation(len(wv))[: args.words]
    ]
    rest = wv.restrict(set(wv.index_to_key) - set(hidden))
    started = time.process_time()
    guessed, true = rest.density_from_spelling(hidden), wv[hidden]
    used = time.process_time() - started
    units = unit_rows(wv.vectors)
    directions = unit_rows(guessed.mean)
    own = directions @ units.T
    cosines = own[np.arange(len(hidden)), [wv.get_index(word) for word in hidden]]
    ranks = (own >= cosines[:, None]).sum(axis=1)
    added = guessed.variance.mean() - wv.get_variance(hidden).mean()
    error = ((guessed.mean - true) ** 2).mean()
    print(
        f"{len(hidden):,} of {len(wv):,} words held out, {used:.0f} s of CPU: cosine {cosines.mean():.3f}, MRR "
        f"{(1 / ranks).mean():.3f}, median rank {np.median(ranks):.0f}; squared error over added variance "
        f"{error / added:.2f}"
    )
    counts = np.array([wv.get_vecattr(word, "count") for word in hidden])
    for low, high in itertools.pairwise(BANDS):
        among = (counts >= low) & (counts < high)
        if among.any():
            print(
                f"seen {low} times or more, less than {high}: {among.sum()} words, cosine {cosines[among].mean():.3f}"
            )


if __name__ == "__main__":
    main()
