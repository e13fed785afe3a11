"""How an encoder reads a context: which words count, how much each counts, and when more words add nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from densvec._corpus import MAX_WINDOW
from densvec.checks import check_whole
from densvec.files.schema import field
from densvec.types import Floats, Integers

MOST_NARROWING = 0.5
"""The most by which a narrowing posterior's precision exceeds the prior's, as a share of the latter."""

_SLACK = 1e-6
"""Allows for rounding: a word at distance `window` + 1, with all words between kept, is not read."""

MOST_EMPHASIS = 10.0
"""With more emphasis than this, nothing of the word itself would be left."""


class Spans(NamedTuple):
    """The context words of many centres: those of centre i are ``places[offsets[i]:offsets[i + 1]]``."""

    places: Integers
    offsets: Integers
    weights: Floats

    def rows(self, tokens: Integers) -> tuple[Integers, Integers, Floats]:
        """Return the context words themselves, with offsets and weights."""
        return tokens[self.places], self.offsets, self.weights


@dataclass(frozen=True)
class Reading:
    """The definition of an encoder's sum over the context, the same in training and in use.

    Training reads thinned text, from which most occurrences of frequent words are removed. A context that is not
    thinned is read as if it were: each word c_j counts with the probability `keep` of being kept, and its distance
    from the centre is its average distance in thinned text, d_j = 1 + Σ keep over the words between. Words with d_j <
    window + 1 belong to the window. Their weights are::

        a_j = keep_j · (1 + nearness · (1 − 2 d_j / (window + 1)))

    and the hidden vectors are summed by s · Σ_j a_j relu(…), with s = (2 window + saturation) / (Σ_j a_j +
    saturation): a full window counts as it is, shorter ones a little more than their share, and however long a
    context is, the sum stays below 1 + saturation / (2 window) times that of a full window of the same words.

    The defaults are the paper's: every word counts 1, the `window` words on either side are read, and their sum
    is taken as it is.

    Parameters
    ----------
    window : int
        Words on either side of a centre.
    nearness : float
        How much more near words count, from 0 to 1.
    saturation : float
        The number of words after which a context has had half of its possible effect; infinity is the plain sum.
    thinned : bool
        Whether words count with their probability of being kept in thinned text.
    narrowing : bool
        Whether a posterior's variance is its prior's over 1 + x/(1 + 2x), with x = Σ_j a_j relu(…)·|variance_head|,
        instead of what the head and its bias give. So every word that is read narrows it further, but all of them
        together never to less than two thirds of the prior's variance.
    emphasis : float
        How much the context weighs in the search for substitutes: the posterior's mean is moved this many times as far
        from the prior's as the context has moved it. A posterior is a cautious belief; what tells substitutes apart
        is the part of it that the context has changed.
    frequency : float
        How much it counts in that search that a word is frequent: with 1, words are ranked by Bayes' rule, log p(s) −
        KL[q‖s], with 0 by the divergence alone.

    Examples
    --------
    >>> import numpy as np
    >>> from densvec.reading import Reading
    >>> reading = Reading(window=2, nearness=1.0, saturation=5.0, thinned=True)
    >>> reading.weights([1, 2]).round(2)
    array([1.33, 0.67])
    >>> float(reading.scale(4.0)), float(reading.scale(1000.0)) * 1000
    (1.0, 8.95...)
    """

    window: int = 5
    nearness: float = 0.0
    saturation: float = math.inf
    thinned: bool = False
    narrowing: bool = False
    emphasis: float = 1.0
    frequency: float = 0.0

    @classmethod
    def of_thinned_text(cls, window: int, nearness: float) -> Reading:
        """Return how a model reads by default: thinned, narrowing, and with half the effect after `window` words."""
        return cls(
            window,
            nearness,
            saturation=0.4 * window,
            thinned=True,
            narrowing=True,
            emphasis=1.5,
            frequency=1.0,
        )

    def __post_init__(self) -> None:
        check_whole("window", self.window, 1, MAX_WINDOW)
        if not 0 <= self.nearness <= 1:
            raise ValueError(f"nearness={self.nearness} is not between 0 and 1")
        if not self.saturation > 0:
            raise ValueError(f"saturation={self.saturation} is not above 0")
        if not 1 <= self.emphasis <= MOST_EMPHASIS:
            raise ValueError(f"emphasis={self.emphasis} is not between 1 and {MOST_EMPHASIS:g}")
        if not 0 <= self.frequency < math.inf:
            raise ValueError(f"frequency={self.frequency} is not a finite number of at least 0")

    def weights(self, distances: Any) -> Floats:
        """Return how much words count at these distances from the centre, 1 on average over a full window."""
        weights: Floats = 1 + self.nearness * (1 - 2 * np.asarray(distances) / (self.window + 1))
        return weights

    def scale(self, totals: Any) -> Floats:
        """Return the factor s of sums whose weights add up to `totals`."""
        totals = np.asarray(totals, dtype=np.float64)
        if math.isinf(self.saturation):
            return np.ones_like(totals)
        scales: Floats = (2 * self.window + self.saturation) / (totals + self.saturation)
        return scales

    def spans(self, centres: Integers, starts: Integers, stops: Integers, keep: Floats) -> Spans:
        """Return what is read around `centres`, positions of a text in sentences from `starts` to `stops`.

        `keep` is, for each word of the text, the probability that training would keep it; 1 where nothing is thinned.
        """
        before = _kept_before(keep)
        first, last = self._ends(before, centres, starts, stops)
        lengths = last - first - 1
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        owners = np.repeat(np.arange(len(centres)), lengths)
        places = np.arange(offsets[-1]) - offsets[owners] + first[owners]
        middle = centres[owners]
        places += places >= middle  # the centre itself is not read
        left = places < middle
        between = np.where(
            left, before[middle] - before[np.where(left, places + 1, 0)], before[places] - before[middle + 1]
        )
        return Spans(places, offsets, keep[places] * self.weights(1 + between))

    def sizes(self, centres: Integers, starts: Integers, stops: Integers, keep: Floats) -> Integers:
        """Return how many words `spans` would return for each centre."""
        first, last = self._ends(_kept_before(keep), centres, starts, stops)
        return last - first - 1

    def around(self, asked: npt.NDArray[np.bool_], owners: Integers, keep: Floats) -> tuple[Integers, Floats]:
        """Return what is read of texts with several centres: each word counts once, by its distance to the nearest.

        `asked` says which positions are centres, `owners` of which text each position is, and `keep` is as in `spans`.
        Returned are positions, ascending, without centres and texts that have none, and their weights. Memory and time
        follow the length of the texts, however many centres there are.
        """
        before, n, here = _kept_before(keep), len(asked), np.arange(len(asked))
        left = np.maximum.accumulate(np.where(asked, here, -1))
        right = np.minimum.accumulate(np.where(asked, here, n)[::-1])[::-1]
        between = np.full(n, np.inf)
        for nearest, there in ((left, left >= 0), (right, right < n)):
            reached = np.flatnonzero(there & ~asked)
            reached = reached[owners[nearest[reached]] == owners[reached]]
            low, high = np.minimum(reached, nearest[reached]), np.maximum(reached, nearest[reached])
            between[reached] = np.minimum(between[reached], before[high] - before[low + 1])
        places = np.flatnonzero(between < self.window - _SLACK)
        return places, keep[places] * self.weights(1 + between[places])

    def _ends(
        self, before: Floats, centres: Integers, starts: Integers, stops: Integers
    ) -> tuple[Integers, Integers]:
        """Return, for each centre, the first position that is read and the one after the last."""
        # The words between j < i and i are j + 1 … i - 1; j is read if they keep less than `window`.
        reach = self.window - _SLACK
        first = np.maximum(np.searchsorted(before, before[centres] - reach, side="right") - 1, starts)
        last = np.minimum(np.searchsorted(before, before[centres + 1] + reach, side="left"), stops)
        return first, last

    def header(self) -> dict[str, Any]:
        """Return a JSON document that `from_header` understands."""
        return {**asdict(self), "saturation": None if math.isinf(self.saturation) else self.saturation}

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Reading:
        """Return the reading of a document; fields that older documents lack are the paper's."""
        newer = ("saturation", "emphasis", "frequency")
        given = [each for each in fields(cls) if each.name not in newer or header.get(each.name) is not None]
        values: dict[str, Any] = {each.name: field(header, each.name, type(each.default)) for each in given}
        return cls(**values)


def _kept_before(keep: Floats) -> Floats:
    """Return how many words are kept before each position, and before the end."""
    return np.concatenate([[0.0], np.cumsum(keep, dtype=np.float64)])
