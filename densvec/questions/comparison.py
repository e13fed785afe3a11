"""Meaning between two corpora: two models in one space, and how far each word has moved between them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr

from densvec.distances.table import row_blocks
from densvec.distances.vectors import unit_rows
from densvec.questions.lookup import known_log_variances, rows_of, text_reading_of
from densvec.questions.senses import most_typical
from densvec.statistics.robust import unusual
from densvec.text.concordance import Occurrence, sample_occurrences
from densvec.types import Corpus, Floats

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

_ANCHORS = 5000
"""How many shared words, the most frequent ones, are used to align two spaces."""

_LANDMARKS = 10_000
"""The most frequent shared words, among which neighbours are looked for."""

_NEAREST, _AIMS = 10, 5
"""Neighbours that say how certain a position is by their nearness, and words that a movement with an aim leads to."""

_LEAST = 1e-9
"""The least distance and the least cosine, since logarithms are taken."""

_SAMPLED = 200
"""Occurrences of a word that its typical ones are chosen from."""

SIGNIFICANT = 0.05
"""Among words of a smaller q-value, fewer than this share are expected to have moved by chance alone."""


@dataclass(frozen=True)
class Shift:
    """How far a word has moved between two models.

    Attributes
    ----------
    word : str
    shift : float
        How far it has moved towards other words, or away from them (see :func:`compare`).
    score : float
        How unusual that is for a word like it, in standard deviations.
    p_value : float
        The share of words like it that would move as far by chance.
    q_value : float
        The p-value corrected for asking about all words at once (Benjamini and Hochberg).
    generality_change : float
        Its generality in the second model minus that in the first, beyond the change of most words.
    counts : tuple of two int
        How often it occurs in each text.
    nearest : tuple of two lists of (str, int)
        Its nearest words in each model, and how often these occur there.
    """

    word: str
    shift: float
    score: float
    p_value: float
    q_value: float
    generality_change: float
    counts: tuple[int, int]
    nearest: tuple[list[tuple[str, int]], list[tuple[str, int]]]


class ModelComparison:
    """Two models in one space.

    Attributes
    ----------
    words : list of str
        The words asked about, by default all that both know, the most frequent first.
    compared : int
        How many words were compared, those not asked about too.
    first, second : KeyedDensities
        The densities of the words that both know, in the space of the first model.
    shifts, scores, p_values, q_values : numpy.ndarray
        Of each word.
    """

    def __init__(
        self,
        first: KeyedDensities,
        second: KeyedDensities,
        shifts: Floats,
        scores: Floats,
        models: tuple[KeyedDensities, KeyedDensities],
        *,
        min_count: int,
        words: Iterable[str] | None = None,
    ) -> None:
        self.first, self.second, self._models, self._min_count = first, second, models, min_count
        from scipy.stats import false_discovery_control  # takes longer to import than a model to load

        p_values: Floats = ndtr(-scores)
        q_values = false_discovery_control(p_values)  # Benjamini and Hochberg's
        self.compared, self.moved = len(scores), int((q_values < SIGNIFICANT).sum())
        names: list[str] = first.index_to_key
        rows = np.arange(len(names))
        if words is not None:
            asked = set(words)
            rows = np.array([row for row, name in enumerate(names) if name in asked], dtype=np.int64)
        self.words = [names[row] for row in rows]
        self._places = {word: place for place, word in enumerate(self.words)}
        self.shifts, self.scores = shifts[rows], scores[rows]
        self.p_values, self.q_values = p_values[rows], q_values[rows]
        changes = [np.asarray(wv.generality(names), dtype=np.float64) for wv in (first, second)]
        change = changes[1] - changes[0]
        self._generality_changes = (change - np.median(change))[rows]

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"<{self.compared:,} words of two models, {self.moved:,} of them moved>"

    def __getitem__(self, word: str) -> Shift:
        """Return how far a word has moved."""
        if word not in self._places:
            raise KeyError(f"{word!r} is not among the {len(self):,} words that both models know well enough")
        row = self._places[word]
        return Shift(
            word,
            float(self.shifts[row]),
            float(self.scores[row]),
            float(self.p_values[row]),
            float(self.q_values[row]),
            float(self._generality_changes[row]),
            tuple(_count(wv, word) for wv in self._models),  # type: ignore[arg-type]
            tuple(self._nearest(wv, word) for wv in self._models),  # type: ignore[arg-type]
        )

    def _nearest(self, wv: KeyedDensities, word: str, topn: int = 8) -> list[tuple[str, int]]:
        """Return the words nearest to one that are not too rare to say anything, and how often they occur."""
        counts = wv.expandos.get("count")
        common = None if counts is None else int(np.count_nonzero(counts >= self._min_count))
        return [
            (other, _count(wv, other)) for other, _ in wv.most_similar(word, topn=topn, restrict_vocab=common)
        ]

    def most_shifted(self, topn: int | None = 20) -> list[Shift]:
        """Return the words that have moved most, compared with what is usual for words like them."""
        return [self[self.words[row]] for row in np.argsort(-self.scores, kind="stable")[:topn]]

    def examples(
        self,
        words: Sequence[str],
        texts: tuple[Corpus, Corpus],
        count: int = 3,
        *,
        seed: int = 0,
        show_progress: bool | None = None,
    ) -> dict[str, tuple[list[Occurrence], list[Occurrence]]]:
        """Return typical occurrences of words in the two texts: those whose meaning is nearest to the mean.

        Parameters
        ----------
        words : sequence of str
            Known words.
        texts : (corpus, corpus)
            The text of each model: files, read as the model's own were, or token lists.
        count : int, optional
            How many occurrences of each word in each text.
        seed, show_progress : optional
            As in :meth:`KeyedDensities.senses <densvec.KeyedDensities.senses>`.
        """
        sides = [
            sample_occurrences(
                text,
                words,
                _SAMPLED,
                seed=seed,
                text_reading=text_reading_of(wv),
                show_progress=show_progress,
            )
            for wv, text in zip(self._models, texts, strict=True)
        ]
        return {
            word: tuple(  # type: ignore[misc]
                _typical(wv, word, side[word], count) for wv, side in zip(self._models, sides, strict=True)
            )
            for word in words
        }

    def path(self, word: str, topn: int = 6) -> tuple[list[str], Floats]:
        """Return the points for a picture of how a word moved between its neighbours: names and positions, (n, D).

        The first two are the word itself in the first and in the second model, the others its neighbours in
        either, where the second model has them if it knows them.
        """
        around = [
            other
            for side in self[word].nearest
            for other, _ in side[:topn]
            if other in self.first and other != word
        ]
        names = list(dict.fromkeys(around))
        places = [self.first[word], self.second[word], *(self.second[name] for name in names)]
        return [f"{word} 1", f"{word} 2", *names], np.array(places)


def _count(wv: KeyedDensities, word: str) -> int:
    counts = wv.expandos.get("count")
    return 0 if counts is None else int(counts[wv.get_index(word)])


def _typical(wv: KeyedDensities, word: str, found: list[Occurrence], count: int) -> list[Occurrence]:
    """Return the occurrences whose posterior is nearest to the mean of all, without repetitions."""
    if not found or wv.encoder is None:
        return found[:count]
    means = wv.infer_posteriors([(word, each.tokens, each.position) for each in found]).mean
    return most_typical(means, found, count)


def align(a: KeyedDensities, b: KeyedDensities, words: Sequence[str]) -> tuple[Floats, float]:
    """Return the rotation and the scale that bring the means of `b` nearest to those of `a`.

    Orthogonal Procrustes on the directions of the given words, so that they count the same whatever the lengths of
    their means. The scale makes both as long, on the average, whatever the noise.

    Examples
    --------
    >>> rotation, scale = align(wv, wv, ["animal", "dog", "cat", "car"])
    >>> bool(np.allclose(rotation, np.eye(2), atol=1e-6)), round(scale, 6)
    (True, 1.0)
    """
    target, source = (wv[words].astype(np.float64) for wv in (a, b))
    left, _, right = np.linalg.svd(_directions(source).T @ _directions(target))
    rotation: Floats = left @ right
    return rotation, math.sqrt(float((target**2).sum() / (source**2).sum()))


def _directions(means: Floats) -> Floats:
    """Return the directions of means from their common centre."""
    return unit_rows(means - means.mean(axis=0))


def compare(
    model_a: Any,
    model_b: Any,
    *,
    words: Iterable[str] | None = None,
    min_count: int = 20,
) -> ModelComparison:
    """Bring two models into one space and say how far each word that both know has moved.

    The two spaces are aligned by a rotation, and each word is described by its profile: its similarities to all
    frequent words. A word's shift is the distance between its two profiles, as far as it leads towards other words, or
    away from them: noise moves a word anywhere, another meaning moves it to where words with that meaning are.

    Every word moves a little between two models, even of the same text: rare words more than frequent ones, general
    words more than specific ones, and words without close neighbours, whose position is uncertain, more than others.
    How far words usually move, given these three, and how much that varies, is estimated from all shared words by
    robust regression. A word's score is how far it has moved beyond that, in standard deviations. Most words of two
    decades or two newspapers have not changed, so they show what chance does.

    Parameters
    ----------
    model_a, model_b : model or KeyedDensities
        Trained on the two corpora, with the same `vector_size`.
    words : iterable of str, optional
        Answer about these words only; by default about all that both know. They are judged among all.
    min_count : int, optional
        A word must have occurred this often in both, and a neighbour in its own model.

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
    first, second, counts = _in_one_space(a, b, min_count)
    before, after = _profiles(first.vectors, second.vectors)
    logs = (known_log_variances(first) + known_log_variances(second)) / 2
    features = [np.log(counts), logs.mean(axis=1, dtype=np.float64), _nearness(before, after)]
    shifts: Floats = np.linalg.norm(before - after, axis=1) * _aims(before, after)
    scores = unusual(features, np.log(shifts + _LEAST))
    found = ModelComparison(first, second, shifts, scores, (a, b), min_count=min_count, words=words)
    if not found.words:
        raise KeyError(f"none of the words asked for occurs {min_count} times in both corpora")
    return found


def _in_one_space(
    a: KeyedDensities, b: KeyedDensities, min_count: int
) -> tuple[KeyedDensities, KeyedDensities, Floats]:
    """Return the shared words of two models in the space of the first, and how often each occurs where it is rarer."""
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
    rotation, scale = align(a, b, names[:_ANCHORS])
    moved = (b[names].astype(np.float64) @ rotation * scale).astype(np.float32)
    logs_a, logs_b = (known_log_variances(wv)[rows_of(wv, names)] for wv in (a, b))
    if logs_b.shape[1] > 1:  # the diagonal of a rotated diagonal covariance
        logs_b = np.log(np.exp(logs_b.astype(np.float64)) @ rotation**2)
    logs_b = (logs_b + 2.0 * math.log(scale)).astype(np.float32)
    attributes = {"count": counts.astype(np.int64)}
    make = type(a).from_arrays
    return (
        make(names, a[names], log_variances=logs_a, attributes=attributes),
        make(list(names), moved, log_variances=logs_b, attributes=attributes),
        counts,
    )


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
            cosines = _without_own(own[rows] @ others.T, rows, -np.inf)
            nearest = np.partition(cosines, -count, axis=1)[:, -count:]
            near[rows] = np.maximum(near[rows], nearest.mean(axis=1))
    return near


def _aims(before: Floats, after: Floats) -> Floats:
    """Return how straight each word moves towards other words, or away from them: a cosine.

    It is that between the word's movement and the direction from its middle position to that of another word, the mean
    of the five largest ones.
    """
    moved = unit_rows((after - before).astype(np.float32))
    middle = ((after + before) / 2).astype(np.float32)
    aims, squares, others = np.zeros(len(moved)), np.einsum("ij,ij->i", middle, middle), middle[:_LANDMARKS]
    count = min(_AIMS, len(others) - 1)
    for rows in row_blocks(0, len(moved), len(others)):
        along = moved[rows] @ others.T - np.einsum("ij,ij->i", moved[rows], middle[rows])[:, None]
        apart = squares[rows, None] + squares[: len(others)] - 2 * middle[rows] @ others.T
        cosines = _without_own(along / np.sqrt(np.maximum(apart, _LEAST)), rows, 0.0)
        cosines = np.partition(cosines, (count, len(others) - count - 1), axis=1)
        aims[rows] = np.maximum(-cosines[:, :count].mean(axis=1), cosines[:, -count:].mean(axis=1))
    return np.maximum(aims, 0.0)


def _without_own(table: Floats, rows: slice, value: float) -> Floats:
    """Give each word's own column another value, where there is one."""
    places = np.arange(rows.start, rows.start + len(table))
    inside = places < table.shape[1]
    table[np.flatnonzero(inside), places[inside]] = value
    return table
