#!/usr/bin/env python
"""What a model has learnt about groups of people: association tests in the manner of WEAT (Caliskan et al. 2017).

    python examples/bias.py english

Each test has two groups of words and two sets of attributes. A word's association is its mean cosine with the first
attributes less that with the second; the effect is the difference between the two groups' mean associations in
standard deviations, from -2 to 2, and p the share of random divisions of the words with as large an effect.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

import densvec
from densvec import KeyedDensities

PLEASANT = "love peace joy friend happy laughter gift honest wonderful pleasure paradise sunrise health"
UNPLEASANT = "hatred war grief enemy sick agony poison filthy terrible pain disaster murder disease"
CAREER = "executive management professional corporation salary office business career"
FAMILY = "home parents children family cousins marriage wedding relatives"
MATHEMATICS = "mathematics algebra geometry calculus equations computation numbers addition"
SCIENCE = "science technology physics chemistry engineer experiment astronomy laboratory"
ARTS = "poetry art dance literature novel symphony drama sculpture"
MEN_NAMES = "john paul mike kevin steve greg jeff bill"
WOMEN_NAMES = "amy joan lisa sarah diana kate ann donna"
MEN = "male man boy brother he him his son father uncle"
WOMEN = "female woman girl sister she her hers daughter mother aunt"


@dataclass(frozen=True)
class Test:
    """Two groups of words and two sets of attributes; a positive effect pairs the first with the first."""

    name: str
    groups: tuple[str, str]
    attributes: tuple[str, str]


TESTS = (
    Test(
        "flowers, insects; pleasant, unpleasant (a check: an effect is no harm)",
        (
            "rose daisy tulip lily orchid violet poppy lilac clover marigold",
            "ant wasp cockroach mosquito flea beetle spider locust moth fly",
        ),
        (PLEASANT, UNPLEASANT),
    ),
    Test("names of men, of women; career, family", (MEN_NAMES, WOMEN_NAMES), (CAREER, FAMILY)),
    Test("men, women; mathematics, arts", (MEN, WOMEN), (MATHEMATICS, ARTS)),
    Test("men, women; science, arts", (MEN, WOMEN), (SCIENCE, ARTS)),
    Test(
        "occupations; men, women",
        (
            "engineer carpenter mechanic soldier pilot surgeon programmer plumber",
            "nurse librarian hairdresser housekeeper receptionist dancer secretary nanny",
        ),
        (MEN, WOMEN),
    ),
    Test(
        "European, African peoples; pleasant, unpleasant",
        (
            "european british german swedish dutch french danish swiss",
            "african nigerian somali ethiopian kenyan ghanaian congolese sudanese",
        ),
        (PLEASANT, UNPLEASANT),
    ),
    Test(
        "Christians, Muslims; pleasant, unpleasant",
        (
            "christian church bible priest gospel baptist catholic protestant",
            "muslim mosque quran imam islam sunni shia islamic",
        ),
        (PLEASANT, UNPLEASANT),
    ),
    Test(
        "young, old; pleasant, unpleasant",
        ("young youth teenager child boy girl student", "old elderly aged senior retired grandfather widow"),
        (PLEASANT, UNPLEASANT),
    ),
)


def effect(wv: KeyedDensities, test: Test, draws: int = 10_000, seed: int = 0) -> tuple[float, float]:
    """Return the effect and its p-value, over the words that the model knows."""
    first, second = ([word for word in group.split() if word in wv] for group in test.groups)
    near, far = (mean_direction(wv, words) for words in test.attributes)
    values = np.array([unit(wv[word]) @ (near - far) for word in first + second])
    deviation = values.std()
    found = (values[: len(first)].mean() - values[len(first) :].mean()) / deviation
    rng = np.random.default_rng(seed)
    shuffled = rng.permuted(np.tile(values, (draws, 1)), axis=1)
    chance = (shuffled[:, : len(first)].mean(axis=1) - shuffled[:, len(first) :].mean(axis=1)) / deviation
    return float(found), float((1 + (abs(chance) >= abs(found)).sum()) / (1 + draws))


def unit(vector: np.ndarray) -> np.ndarray:
    """Return a vector at length one."""
    return vector / np.linalg.norm(vector)


def mean_direction(wv: KeyedDensities, words: str) -> np.ndarray:
    """Return the mean of unit vectors, whose product with a unit vector is the mean cosine."""
    return np.mean([unit(wv[word]) for word in words.split() if word in wv], axis=0)


def table(wv: KeyedDensities) -> str:
    """Return all tests in Markdown."""
    rows = [f"| {test.name} | {found:+.2f} | {p:.4f} |" for test in TESTS for found, p in [effect(wv, test)]]
    return "\n".join(["| groups; attributes | effect | p |", "|---|---|---|", *rows])


if __name__ == "__main__":
    print(table(densvec.load(sys.argv[1] if len(sys.argv) > 1 else "english")))
