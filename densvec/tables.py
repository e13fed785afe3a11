"""The tables of a model: what is computed from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from densvec.distances.table import DensityTable
from densvec.types import Floats

if TYPE_CHECKING:
    from densvec.questions.hypernymy import HypernymyScale
    from densvec.questions.spelling_model import SpellingIndex

__all__ = ["ENCODER", "Derived"]

ENCODER = "encoder."
"""The prefix of the names of the encoder's arrays, among those of all tables."""


@dataclass
class Derived:
    """What is computed from the tables when it is first needed; it is dropped as a whole when they change."""

    norms: Floats | None = None  # the length of every mean
    divisors: Floats | None = None  # the same with 1 for 0, to divide by
    densities: DensityTable | None = None  # all densities, with their terms of the divergences
    hypernymy_scale: HypernymyScale | None = None  # how much words differ in nearness and generality
    frequency_trend: Floats | None = None  # generality that is typical of each word's frequency
    spelling: SpellingIndex | None = None  # which words have which character n-grams
    log_frequencies: Floats | None = None  # of the words in the thinned text
