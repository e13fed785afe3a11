"""Meanings along a covariate such as the year: paths with bands, and tests for a trend and for a change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.checks import check_whole
from densvec.questions.lookup import whitened
from densvec.statistics.vectors import NORMAL, Influence, fit_vectors, p_value
from densvec.types import Array, Floats, Integers

if TYPE_CHECKING:
    from densvec.questions.regression import Regression

_FEWEST = 5
"""Occurrences that a step of a path needs."""


@dataclass(frozen=True)
class Path:
    """How the meaning of a word changes along a covariate, such as the year.

    Attributes
    ----------
    word, column : str
    values : list
        The values, or the middles of bins of them.
    counts : list of int
        How many occurrences each has.
    positions, low, high : numpy.ndarray
        The distance from the first, with a 95 % interval; or, with `axis`, how near to the second of its words rather
        than the first.
    trend : float
        p-value of a change that is steady.
    change, change_value : float
        p-value of a change at one point, the likeliest, and the first value after it.
    """

    word: str
    column: str
    values: list[Any]
    counts: list[int]
    positions: Floats
    low: Floats
    high: Floats
    trend: float
    change: float
    change_value: Any
    axis: tuple[str, str] | None = None


def path(
    regression: Regression,
    column: str,
    bins: int | None = None,
    *,
    axis: tuple[str, str] | None = None,
    draws: int = 999,
) -> Path:
    """Return how the meaning changes along a column of numbers, such as the year, whatever the other covariates.

    Parameters
    ----------
    column : str
        A column of the formula.
    bins : int, optional
        Into how many bins of equal width its values are put; by default as many as there are values, if these are
        twenty or fewer, else ten. Those with fewer than five occurrences, or with a single cluster, are left out.
    axis : (str, str), optional
        Two words: where between them, instead of how far from the first value.
    draws : int, optional
        How often chance is tried for the tests.
    """
    check_whole("draws", draws, 1)
    source, places, clusters = regression.source, regression.places, regression.clusters
    if column not in source.design.columns or source.columns[column].dtype.kind == "O":
        raise ValueError(f"{column!r} is not a column of numbers in the formula")
    times = source.columns[column][source.rows_of(places)].astype(np.float64)
    labels, values = _binned(times, bins)
    enough = np.bincount(labels)[labels] >= _FEWEST
    if clusters is not None:
        alone = [label for label in np.unique(labels) if len(np.unique(clusters[labels == label])) == 1]
        enough &= ~np.isin(labels, alone)
    if len(np.unique(labels[enough])) < 2:
        raise ValueError(
            f"{column} has one value with {_FEWEST} occurrences only, so there is no path along it"
        )
    places, times = places[enough], times[enough]
    clusters = None if clusters is None else clusters[enough]
    used, labels = np.unique(labels[enough], return_inverse=True)
    counts, values = np.bincount(labels), [values[i] for i in used]
    points = source.described(places)
    if axis is not None:
        ends = whitened(source.wv, source.wv[list(axis)].astype(np.float64))
        points = points @ (ends[1] - ends[0])[:, None].astype(np.float32)
    later = np.arange(1, len(counts))
    steps = (labels[:, None] == later).astype(np.float64)
    if axis is None:
        fit = fit_vectors(points, np.column_stack([np.ones(len(points)), steps]), clusters, draws=0)
        reach = NORMAL * fit.errors
        bands = [np.sqrt(np.maximum(fit.squares + side, 0)) for side in (0, -reach, reach)]
        bands = [np.append(0.0, band[1:]) for band in bands]
    else:
        influence = Influence(points, np.column_stack([labels == 0, steps]).astype(np.float64), clusters)
        place = influence.coefficients[:, 0]
        reach = NORMAL * np.sqrt(influence.spread()[0])
        bands = [place, place - reach, place + reach]
    spread = float(times.std()) or 1.0
    trend, change, at = _tests(points, (times - times.mean()) / spread, labels, clusters, draws)
    tests = trend, change, values[at]
    return Path(regression.word, column, values, counts.tolist(), *bands, *tests, axis)  # type: ignore[call-arg, arg-type]


def _binned(times: Floats, bins: int | None) -> tuple[Integers, list[Any]]:
    """Return the bin of each value, and the values or the middles of the bins."""
    distinct, labels = np.unique(times, return_inverse=True)
    if bins is None and len(distinct) <= 20:
        return labels, [float(value) for value in distinct]
    edges = np.linspace(distinct[0], distinct[-1], check_whole("bins", bins or 10, 2) + 1)
    return np.digitize(times, edges[1:-1]), ((edges[:-1] + edges[1:]) / 2).tolist()


def _tests(
    points: Floats, times: Floats, labels: Integers, clusters: Array | None, draws: int
) -> tuple[float, float, int]:
    """Return p-values of a trend, and of a change at the likeliest point, and where that is."""
    ones = np.ones(len(points))
    trend = fit_vectors(points, np.column_stack([ones, times]), clusters, draws=draws).p_values[1]
    found, by_chance = [], []
    for at in range(1, labels.max() + 1):
        influence = Influence(points, np.column_stack([ones, labels >= at]), clusters)
        drawn = np.concatenate(list(influence.by_chance(draws, 0)))[:, 1]  # the same signs for each point
        middle, deviation = drawn.mean(), drawn.std() or 1.0
        found.append(float(((influence.coefficients[1] ** 2).sum() - middle) / deviation))
        by_chance.append((drawn - middle) / deviation)
    greatest = np.max(by_chance, axis=0)
    shift = min(float(greatest.min()), 0.0)
    return float(trend), p_value(max(found) - shift, greatest - shift), int(np.argmax(found)) + 1
