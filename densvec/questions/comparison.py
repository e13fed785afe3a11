"""Meaning between two corpora: two models in one space, and how far each word has moved between them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from densvec.distances.table import row_blocks
from densvec.distances.vectors import unit_rows
from densvec.gaussian import Gaussian
from densvec.questions.lookup import known_log_variances, rows_of
from densvec.statistics.robust import Expectation
from densvec.statistics.training_noise import TrainingNoise
from densvec.types import Floats, Found, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["ModelComparison", "Shift", "align", "compare"]

METRICS = ("auto", "towards", "mahalanobis", "profiles", "jeffreys", "kl", "reverse_kl", "wasserstein")
"""How the shift of a word can be measured."""

_PER_DIMENSION = 20
"""Shared words that there must be for each dimension, to estimate the covariance of the noise of training."""

_NEAREST = 10
"""Neighbours whose nearness says how certain a word's position is."""

_LANDMARKS = 10_000
"""The most frequent shared words, among which neighbours are looked for."""

_LEAST_AIM = 0.01
"""The least cosine of a movement with the directions of other words; a movement is never quite without direction."""

_DIRECTION = 0.5
"""How much it counts, beside how far a word has moved, whether it moved towards other words: the power of the cosine.

With more, words that took on a second meaning are found more often, and words that are another altogether less."""

_ANCHORS = 5000
"""How many shared words, the most frequent ones, are used to align two spaces."""


@dataclass(frozen=True)
class Shift:
    """How far a word has moved between two models.

    Attributes
    ----------
    word : str
    shift : float
        How far it has moved, by the metric of the comparison.
    score : float
        How unusual that is for a word like it (see :func:`compare`), in standard deviations.
    p_value : float
        The share of words like it that would move as far by chance.
    generality_change : float
        Its generality in the second model minus that in the first.
    nearest : tuple of two lists
        Its nearest words in each model.
    """

    word: str
    shift: float
    score: float
    p_value: float
    generality_change: float
    nearest: tuple[list[str], list[str]]


class ModelComparison:
    """Two models in one space.

    Attributes
    ----------
    words : list of str
        The words asked about, by default all that both know, the most frequent first.
    first, second : KeyedDensities
        The densities of the words that both know, in the space of the first model.
    shifts, scores, p_values : numpy.ndarray
        Of each word.
    """

    def __init__(
        self,
        words: list[str],
        first: KeyedDensities,
        second: KeyedDensities,
        shifts: Floats,
        scores: Floats,
        models: tuple[KeyedDensities, KeyedDensities],
    ) -> None:
        self.words = words
        self._places = {word: place for place, word in enumerate(words)}
        self.first, self.second = first, second
        self.shifts = shifts
        self.scores = scores
        self.p_values: Floats = ndtr(-scores)
        self._models = models

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"<{len(self):,} words of two models, {int((self.q_values() < 0.05).sum()):,} of them moved>"

    def q_values(self) -> Floats:
        """Return the p-values corrected for asking about all words at once (Benjamini and Hochberg)."""
        order = np.argsort(self.p_values, kind="stable")
        raised = self.p_values[order] * len(order) / np.arange(1, len(order) + 1)
        smallest = np.minimum.accumulate(raised[::-1])[::-1]
        values: Floats = np.empty_like(smallest)
        values[order] = np.minimum(smallest, 1.0)
        return values

    def __getitem__(self, word: str) -> Shift:
        """Return how far a word has moved."""
        if word not in self._places:
            raise KeyError(f"{word!r} is not among the {len(self):,} words that both models know well enough")
        row = self._places[word]
        a, b = self._models
        return Shift(
            word,
            float(self.shifts[row]),
            float(self.scores[row]),
            float(self.p_values[row]),
            float(self.second.generality(word) - self.first.generality(word)),
            tuple([other for other, _ in wv.most_similar(word, topn=8)] for wv in (a, b)),  # type: ignore[arg-type]
        )

    def most_shifted(self, topn: int = 20) -> list[Shift]:
        """Return the words that have moved most, compared with what is usual for words like them."""
        return [self[self.words[row]] for row in np.argsort(-self.scores, kind="stable")[:topn]]

    def path(self, word: str, topn: int = 6) -> tuple[list[str], Floats]:
        """Return the points for a picture of how a word moved between its neighbours: names and positions, (n, D).

        The first two are the word itself in the first and in the second model, the others its neighbours in
        either, where the second model has them if it knows them.
        """
        shift = self[word]
        around = [
            other for side in shift.nearest for other in side[:topn] if other in self.first and other != word
        ]
        names = list(dict.fromkeys(around))
        places = [self.first[word], self.second[word], *(self.second[name] for name in names)]
        return [f"{word} 1", f"{word} 2", *names], np.array(places)


def align(a: KeyedDensities, b: KeyedDensities, words: Sequence[str]) -> tuple[Floats, float]:
    """Return the rotation and the scale that bring the means of `b` nearest to those of `a`.

    Orthogonal Procrustes on the given words: b's vectors times the rotation times the scale. For the rotation the
    words count the same, whatever the lengths of their means.

    Examples
    --------
    >>> rotation, scale = align(wv, wv, ["animal", "dog", "cat", "car"])
    >>> bool(np.allclose(rotation, np.eye(2), atol=1e-6)), round(scale, 6)
    (True, 1.0)
    """
    target, source = a[words].astype(np.float64), b[words].astype(np.float64)
    left, _, right = np.linalg.svd(_directions(source).T @ _directions(target))
    rotation: Floats = left @ right
    return rotation, float(((source @ rotation) * target).sum() / (source**2).sum())


def _directions(means: Floats) -> Floats:
    """Return the directions of means from their common centre."""
    return unit_rows(means - means.mean(axis=0))


def compare(
    model_a: Any,
    model_b: Any,
    *,
    words: Iterable[str] | None = None,
    min_count: int = 20,
    metric: str = "auto",
    anchors: int = _ANCHORS,
    null: tuple[Any, Any] | None = None,
) -> ModelComparison:
    """Bring two models into one space and say how far each word that both know has moved.

    Every word moves a little between two models, even of the same text: rare words more than frequent ones, general
    words more than specific ones, and words without close neighbours, whose position is uncertain, more than others.
    How far words usually move, given these three, is estimated from all shared words by robust regression, together
    with how much that varies. A word's score is how far it has moved beyond that, in standard deviations. Most words of
    two decades or two newspapers have not changed, so they show what chance does. With `null`, two models between
    which nothing changed are used to estimate it instead.

    Parameters
    ----------
    model_a, model_b : model or KeyedDensities
        Trained on the two corpora, with the same `vector_size`.
    words : iterable of str, optional
        Only these words; by default all that both know.
    min_count : int, optional
        A word must have occurred this often in both.
    metric : {"auto", "towards", "mahalanobis", "profiles", "jeffreys", "kl", "reverse_kl", "wasserstein"}, optional
        ``"mahalanobis"``: the distance between the directions of the word's two means, in units of the noise of
        training. In which directions this is large, and how large it is for words of which frequency and
        generality, is estimated from all shared words. ``"towards"``: the same, less
        if it did not move towards other words, or away from them: noise moves a word anywhere, another meaning moves
        it to where words with that meaning are. ``"profiles"``: the distance, from 0 to 2, between the word's profiles
        in the two models, a profile being its similarities to all frequent words, scaled to unit length.
        ``"auto"``: towards with 20 shared words or more for each dimension, profiles with fewer. The others are
        divergences between its two densities.
    anchors : int, optional
        How many shared words, the most frequent ones, are used to align the two spaces.
    null : (model, model), optional
        Two models of text between which nothing changed, such as two halves of one corpus.

    Returns
    -------
    ModelComparison

    Examples
    --------
    >>> compare(wv, wv, min_count=1)
    <4 words of two models, 0 of them moved>
    """
    a, b = (getattr(model, "wv", model) for model in (model_a, model_b))
    if a.vector_size != b.vector_size:
        raise ValueError(
            f"the models have {a.vector_size} and {b.vector_size} dimensions: train both with the same vector_size"
        )
    pair = _in_one_space(a, b, min_count, anchors)
    quiet = pair
    if null is not None:
        c, d = (getattr(model, "wv", model) for model in null)
        quiet = _in_one_space(_in_one_space(a, c, min_count, anchors).second, d, min_count, anchors)
    shifts, scores = _shifts_and_scores(pair, quiet, metric)
    first, second = pair.first, pair.second
    names: list[str] = first.index_to_key
    if words is not None:
        asked = set(words)
        rows = np.array([row for row, name in enumerate(names) if name in asked], dtype=np.int64)
        if not len(rows):
            raise KeyError(f"none of the words asked for occurs {min_count} times in both corpora")
        names, shifts, scores = [names[row] for row in rows], shifts[rows], scores[rows]
    return ModelComparison(names, first, second, shifts, scores, (a, b))


class _Pair(NamedTuple):
    """The words that two models share, in one space, and how often each occurs where it is rarer."""

    first: KeyedDensities
    second: KeyedDensities
    counts: Floats

    @property
    def directions(self) -> tuple[Floats, Floats]:
        """The directions of the words' means in either model."""
        first, second = (_directions(wv.vectors.astype(np.float64)) for wv in (self.first, self.second))
        return first, second

    @property
    def features(self) -> list[Floats]:
        """What tells how far a word moves by chance: its frequency and its generality."""
        logs = (known_log_variances(self.first) + known_log_variances(self.second)) / 2
        return [np.log(self.counts), logs.mean(axis=1, dtype=np.float64)]


def _in_one_space(a: KeyedDensities, b: KeyedDensities, min_count: int, anchors: int) -> _Pair:
    """Return the shared words of two models in the space of the first."""
    counts_a, counts_b = (
        np.asarray(wv.expandos.get("count", np.full(len(wv), min_count)), dtype=np.float64) for wv in (a, b)
    )
    shared = [
        (min(counts_a[row], counts_b[b.key_to_index[word]]), word)
        for word, row in a.key_to_index.items()
        if word in b.key_to_index
    ]
    frequent = [(count, word) for count, word in shared if count >= min_count]
    if len(frequent) < 2:
        raise ValueError(
            f"the models share {len(shared)} words, {len(frequent)} of them with min_count={min_count} or more "
            "occurrences in both: too few to align the two spaces; lower min_count or train on more text"
        )
    frequent.sort(key=lambda pair: -pair[0])
    names = [word for _, word in frequent]
    counts = np.array([count for count, _ in frequent])
    rotation, scale = align(a, b, names[:anchors])
    moved = (b[names].astype(np.float64) @ rotation * scale).astype(np.float32)
    logs_a, logs_b = (known_log_variances(wv)[rows_of(wv, names)] for wv in (a, b))
    if logs_b.shape[1] > 1:  # the diagonal of a rotated diagonal covariance
        logs_b = np.log(np.exp(logs_b.astype(np.float64)) @ rotation**2)
    logs_b = (logs_b + 2.0 * math.log(scale)).astype(np.float32)
    attributes = {"count": counts.astype(np.int64)}
    make = type(a).from_arrays
    return _Pair(
        make(names, a[names], log_variances=logs_a, attributes=attributes),
        make(list(names), moved, log_variances=logs_b, attributes=attributes),
        counts,
    )


def _shifts_and_scores(pair: _Pair, quiet: _Pair, metric: str) -> tuple[Floats, Floats]:
    """Return how far words have moved, and by how many standard deviations beyond what is usual in the quiet pair."""
    if metric not in METRICS:
        raise ValueError(f"metric={metric!r} is unknown: use one of {', '.join(METRICS)}")
    if metric == "auto":
        enough = len(quiet.first) >= _PER_DIMENSION * quiet.first.vector_size
        metric = "towards" if enough else "profiles"
    in_noise = metric in ("towards", "mahalanobis")
    noise = TrainingNoise(*quiet.directions, quiet.features) if in_noise else None
    shifts, features = _shifts(pair, metric, noise)
    usual_shifts, usual_features = (shifts, features) if quiet is pair else _shifts(quiet, metric, noise)
    if metric == "profiles":
        return shifts, Expectation(usual_features, usual_shifts).scores(features, shifts)
    # The others are spread over orders of magnitude.
    small = max(float(np.median(usual_shifts)), 1e-12) * 1e-6
    usual = Expectation(usual_features, np.log(usual_shifts + small))
    return shifts, usual.scores(features, np.log(shifts + small))


def _shifts(pair: _Pair, metric: str, noise: TrainingNoise | None) -> tuple[Floats, list[Floats]]:
    """Return how far each word is from itself, and what that may depend on: also how near its nearest words are."""
    before, after = _profiles(pair.first.vectors, pair.second.vectors)
    features = [*pair.features, _nearness(before, after)]
    if noise is not None:
        moved = noise.distances(*pair.directions, pair.features)
        if metric == "towards":
            aims = noise.aims(*pair.directions, pair.features, _LANDMARKS)
            moved = moved * np.maximum(aims, _LEAST_AIM) ** _DIRECTION
        return moved, features
    if metric == "profiles":
        distances: Floats = np.linalg.norm(before - after, axis=1)
        return distances, features
    one, other = (Gaussian(wv.vectors, wv.variances) for wv in (pair.first, pair.second))
    shifts: Floats = getattr(one, metric)(other)
    return shifts, features


def _profiles(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """Return unit vectors whose products are those of the words' similarities to all frequent words.

    With C the covariance of the words, (x C^½)·(y C^½) is the mean of (x·w)(y·w) over all words w. In such profiles
    the noise of training, which has no direction, counts less than what words have in common.
    """
    before, after = (
        table.astype(np.float64) - table.mean(axis=0, dtype=np.float64) for table in (before, after)
    )
    frequent = np.concatenate([_directions(table[:_ANCHORS]) for table in (before, after)])
    values, axes = np.linalg.eigh(frequent.T @ frequent)
    root = (axes * np.sqrt(np.maximum(values, 0.0))) @ axes.T
    return unit_rows(before @ root), unit_rows(after @ root)


def _nearness(before: Floats, after: Floats) -> Floats:
    """Return each word's mean cosine to the words nearest to it across the models, where it is nearer to them.

    The nearest words are looked for among the most frequent ones, which come first. A word that takes on another
    meaning besides its own leaves its neighbours: that must not pass for uncertainty, so the nearer side counts.
    """
    before, after = (table.astype(np.float32) for table in (before, after))
    near = np.full(len(before), -1.0)
    for own, others in ((before, after[:_LANDMARKS]), (after, before[:_LANDMARKS])):
        count = min(_NEAREST, len(others) - 1)
        for rows in row_blocks(0, len(own), len(others)):
            cosines = own[rows] @ others.T
            places = np.arange(len(own))[rows]
            inside = places < len(others)
            cosines[np.flatnonzero(inside), places[inside]] = -np.inf
            nearest = np.partition(cosines, -count, axis=1)[:, -count:]
            near[rows] = np.maximum(near[rows], nearest.mean(axis=1))
    return near


@dataclass(frozen=True)
class WordComparison:
    """One word in two corpora.

    Attributes
    ----------
    word : str
    shift : float
        Distance between the means of its posteriors in the two.
    p_value : float
        How often occurrences assigned at random are as far apart.
    densities : tuple of Gaussian
        What the word means in each: the mean of its posteriors, with their spread plus their own variances.
    nearest : tuple of two lists of (str, float)
        Words near the one and not the other.
    counts : tuple of int
        Occurrences looked at in each.
    """

    word: str
    shift: float
    p_value: float
    densities: tuple[Gaussian, Gaussian]
    nearest: tuple[Found, Found]
    counts: tuple[int, int]


def permutation_test(first: Floats, second: Floats, permutations: int, seed: int) -> tuple[float, float]:
    """Return how far apart the means of two samples are, and how often shuffled samples are as far apart.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> shift, p = permutation_test(rng.normal(size=(50, 3)), rng.normal(2.0, 1.0, (50, 3)), 199, 0)
    >>> p
    0.005
    """
    points = np.concatenate([first, second]).astype(np.float64)
    n, m = len(first), len(second)
    total = points.sum(axis=0)

    def distance(sum_of_first: Floats) -> Floats:
        gap = sum_of_first / n - (total - sum_of_first) / m
        result: Floats = np.sqrt((gap**2).sum(axis=-1))
        return result

    observed = float(distance(points[:n].sum(axis=0)))
    rng = np.random.default_rng(seed)
    extreme = 0
    for _ in range(permutations):
        chosen: Integers = rng.permutation(n + m)[:n]
        extreme += bool(distance(points[chosen].sum(axis=0)) >= observed - 1e-12)
    return observed, (extreme + 1) / (permutations + 1)
