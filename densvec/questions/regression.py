"""What a word means to whom: its occurrences, described by their contexts, regressed on what is known of each text."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.checks import check_whole, needs
from densvec.distances.vectors import unit_rows
from densvec.gaussian import Gaussian
from densvec.questions import paths
from densvec.questions.described import Described
from densvec.questions.lookup import known_log_variances, text_reading_of, whitened
from densvec.questions.senses import listed_rows
from densvec.statistics.design import INTERCEPT, columns_in
from densvec.statistics.vectors import NORMAL, VectorFit, dependent_columns, fit_vectors
from densvec.text.concordance import Occurrence
from densvec.text.tables import read_texts
from densvec.types import Array, Floats, Found, Indices, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

logger = logging.getLogger(__name__)

_SHOWN = 40
"""How many coefficients are printed."""

_NEAR = 100
"""Words near a group, among which are those that tell it from another."""


@dataclass(frozen=True)
class Coefficient:
    """How far a covariate moves the meaning of a word.

    Attributes
    ----------
    word, name : str
        The word, and the column of the design matrix, such as ``"party[T.right]"``.
    norm : float
        The length of the coefficient, without the bias that noise gives it. Descriptions of occurrences have length 1.
    low, high : float
        Its 95 % confidence interval.
    p_value : float
        How often chance alone makes a coefficient as long.
    q_value : float
        The p-value corrected for asking about several words at once (Benjamini and Hochberg).
    count : int
        Occurrences of the word.
    """

    word: str
    name: str
    norm: float
    low: float
    high: float
    p_value: float
    q_value: float
    count: int


class Coefficients(Sequence[Coefficient]):
    """Coefficients, as a sequence, a table, and text."""

    coefficients: list[Coefficient]

    def __getitem__(self, index: Any) -> Any:
        """Return a coefficient, by its place or its name."""
        if not isinstance(index, str):
            return self.coefficients[index]
        found = next((each for each in self.coefficients if each.name == index), None)
        if found is None:
            raise KeyError(f"there is no {index!r}: there are {', '.join(each.name for each in self)}")
        return found

    def __len__(self) -> int:
        return len(self.coefficients)

    def _rows(self) -> tuple[list[str], list[list[Any]]]:
        return list(Coefficient.__dataclass_fields__), [list(vars(each).values()) for each in self]

    def to_dataframe(self) -> Any:
        """Return a pandas ``DataFrame`` with a row for each coefficient."""
        names, rows = self._rows()
        return needs("pandas").DataFrame(rows, columns=names)

    def __str__(self) -> str:
        shown = self.coefficients[:_SHOWN]
        width = [max((len(getattr(each, name)) for each in shown), default=0) for name in ("word", "name")]
        lines = [
            f"{each.word:{width[0]}}  {each.name:{width[1]}}  {each.norm:.3f} [{each.low:.3f}, {each.high:.3f}]  "
            f"p = {each.p_value:.2g}  q = {each.q_value:.2g}  {each.count:,} occurrences"
            for each in shown
        ]
        return "\n".join([*lines, *([f"… {len(self) - _SHOWN:,} more"] if len(self) > _SHOWN else [])])

    def _repr_html_(self) -> str:
        from densvec.files.html import table

        names, rows = self._rows()
        shown = [[f"{cell:.3g}" if isinstance(cell, float) else cell for cell in row] for row in rows]
        return table(repr(self).strip("<>"), names, shown)


class Regression(Coefficients):
    """How the meaning of a word depends on covariates.

    Attributes
    ----------
    word : str
    coefficients : list of Coefficient
        Of each column of the design matrix but the intercept.
    vectors : numpy.ndarray, shape (p, D)
        The coefficients themselves, with the intercept, in the space of the descriptions.
    draws : int
        How often chance was tried; fewer than were asked for after an interruption.
    """

    def __init__(
        self,
        source: Described,
        target: int,
        places: Integers,
        matrix: Floats,
        fit: VectorFit,
        clusters: Array | None,
    ) -> None:
        self.source, self._target, self.places, self._matrix = source, target, places, matrix
        self.clusters = clusters
        self.word, self.names = source.targets[target], source.design.names
        self.vectors, self.draws = fit.coefficients, fit.draws
        reach = NORMAL * fit.errors
        ends = (np.sqrt(np.maximum(fit.squares + side, 0)).tolist() for side in (0, -reach, reach))
        found = zip(self.names, *ends, fit.p_values.tolist(), strict=True)
        self.coefficients = [
            Coefficient(self.word, name, norm, low, high, p, p, len(places))
            for name, norm, low, high, p in found
        ][1:]

    def __repr__(self) -> str:
        return f"<{len(self)} covariates of {self.word!r} in {len(self.places):,} occurrences>"

    # What the difference is

    def fitted(self, **levels: Any) -> Floats:
        """Return how occurrences are described on average for some values of columns, the others as they are.

        Examples
        --------
        >>> import densvec
        >>> table = {"text": ["a dog and a cat", "a dog in a car"] * 6, "by": ["ann", "bob"] * 6}
        >>> densvec.regress(wv, "dog", table, text="text", formula="by").fitted(by="bob").round(2)
        array([0.05, 1.  ])
        """
        fitted: Floats = self._average_row(levels) @ self.vectors
        return fitted

    def density(self, **levels: Any) -> Gaussian:
        """Return the density of the word for some values of columns: its posteriors' mean, and their whole spread.

        ``log_determinant`` of it is how general the word is there.
        """
        mean, spread = self._posteriors
        row = self._average_row(levels)
        dtype = self.source.wv.vectors.dtype
        least = np.exp(known_log_variances(self.source.wv).min())
        return Gaussian((row @ mean).astype(dtype), np.maximum(row @ spread, least).astype(dtype))

    def nearest(self, topn: int = 10, **levels: Any) -> Found:
        """Return the words nearest to what stands around the word, for some values of columns, by cosine."""
        rows, cosines = self._cosines(np.array([self._average_row(levels)]))
        best = np.argsort(-cosines[0], kind="stable")[:topn]
        return [(self.source.wv.index_to_key[rows[i]], float(cosines[0][i])) for i in best]

    def cosine_ratios(
        self, first: Mapping[str, Any], second: Mapping[str, Any], topn: int | None = 10
    ) -> Found:
        """Return how many times nearer words are to the word in one group than in another.

        The words are the `topn` nearest in either group; a ratio above 1 is for the first. None takes all that are near
        both.

        Parameters
        ----------
        first, second : mapping
            Values of columns, such as ``{"party": "left"}``.
        """
        rows, cosines = self._cosines(np.array([self._average_row(each) for each in (first, second)]))
        chosen = np.unique(np.argsort(-cosines, axis=1)[:, : len(rows) if topn is None else topn])
        chosen = chosen[(cosines[:, chosen] > 0).all(axis=0)]
        ratios = cosines[0, chosen] / cosines[1, chosen]
        order = np.argsort(-ratios, kind="stable")
        return [(self.source.wv.index_to_key[rows[chosen[i]]], float(ratios[i])) for i in order]

    def telling(self, name: str, topn: int = 8) -> tuple[Found, Found]:
        """Return the words that tell occurrences with more of a covariate from those with less.

        Of the hundred words nearest to either they are those whose cosines differ most, with the difference.

        Parameters
        ----------
        name : str
            A column of the design matrix, such as ``"party[T.right]"``.
        topn : int, optional
            How many words for each side.
        """
        rows, cosines = self._cosines(self._sides(name))
        near = np.unique(np.argpartition(-cosines, min(_NEAR, len(rows) - 1), axis=1)[:, :_NEAR])
        gaps = cosines[0, near] - cosines[1, near]
        order = np.argsort(-gaps, kind="stable")
        words = [(self.source.wv.index_to_key[rows[near[i]]], float(gaps[i])) for i in order]
        return [each for each in words[:topn] if each[1] > 0], [
            each for each in words[: -topn - 1 : -1] if each[1] < 0
        ]

    def examples(self, name: str, count: int = 3) -> tuple[list[Occurrence], list[Occurrence]]:
        """Return typical occurrences with more of a covariate and with less, as :meth:`telling` does words."""
        column = self._matrix[:, self._column(name)]
        points = self.source.described(self.places)
        along = points @ self.vectors[self._column(name)].astype(np.float32)
        middle = (column.min() + column.max()) / 2 if len(np.unique(column)) == 2 else np.median(column)
        found = []
        for members, sign in ((column > middle, -1), (column <= middle, 1)):
            rows = np.flatnonzero(members)
            lines: dict[str, Occurrence] = {}
            for i in rows[np.argsort(sign * along[rows], kind="stable")]:
                occurrence = self.source.texts.occurrence(int(self.places[i]))
                lines.setdefault(occurrence.line(), occurrence)
                if len(lines) == count:
                    break
            found.append(list(lines.values()))
        return found[0], found[1]

    def _column(self, name: str) -> int:
        self[name]  # or a KeyError that says which there are
        return self.names.index(name)

    def _average_row(self, levels: Mapping[str, Any]) -> Floats:
        """Return the average row of the design matrix of all occurrences, some columns having a single value."""
        if not levels:
            average: Floats = self._matrix.mean(axis=0)
            return average
        design, columns = self.source.design, self.source.columns
        unknown = [name for name in levels if name not in design.columns]
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not in the formula, which has {', '.join(design.columns)}")
        rows = self.source.rows_of(self.places)
        table = {name: columns[name][rows] for name in design.columns}
        for name, value in levels.items():
            kind = table[name].dtype
            table[name] = np.full(len(rows), value, dtype=object if kind.kind == "O" else np.float64)
        row: Floats = np.nanmean(design.matrix(table), axis=0)
        return row

    def _sides(self, name: str) -> Floats:
        """Return two average rows of the design matrix, with much and with little of one column."""
        j = self._column(name)
        sides = np.tile(self._matrix.mean(axis=0), (2, 1))
        column = self._matrix[:, j]
        ends = (0, 100) if len(np.unique(column)) == 2 else (5, 95)
        sides[:, j] = np.percentile(column, ends[::-1])
        return sides

    def _cosines(self, averages_of_rows: Floats) -> tuple[Indices, Floats]:
        """Return words, and the cosines of what is fitted for some rows with them."""
        wv = self.source.wv
        rows = listed_rows(wv, self.source.known_forms(self._target))
        return rows, unit_rows(averages_of_rows @ self.vectors) @ whitened(wv, wv.vectors[rows]).T

    @cached_property
    def _posteriors(self) -> tuple[Floats, Floats]:
        """Coefficients of the posteriors' means, and of their variances together with how far these means spread."""
        batch = self.source.posteriors(self.places, self._target)
        axes = np.linalg.pinv(self._matrix)
        means = axes @ batch.mean.astype(np.float64)
        squares = (batch.mean - self._matrix @ means) ** 2
        spread = squares.mean(axis=1, keepdims=True) if batch.is_spherical else squares
        return means, axes @ (batch.variance + spread)

    path = paths.path


class Regressions(Coefficients):
    """How the meanings of many words depend on covariates: of each word its :class:`Regression`.

    Attributes
    ----------
    words : dict of str to Regression
    skipped : dict of str to str
        Words about which nothing can be said, and why.
    coefficients : list of Coefficient
        Of all words, the least p-value first.
    """

    def __init__(self, words: dict[str, Regression], skipped: dict[str, str]) -> None:
        from scipy.stats import false_discovery_control

        self.words, self.skipped = words, skipped
        by_name = list(zip(*words.values(), strict=True))
        for j, same in enumerate(by_name):
            q_values = false_discovery_control([each.p_value for each in same]).tolist()
            for regression, each, q in zip(words.values(), same, q_values, strict=True):
                regression.coefficients[j] = replace(each, q_value=q)
        found = (each for regression in words.values() for each in regression)
        self.coefficients = sorted(found, key=lambda each: (each.p_value, -each.norm))

    def __getitem__(self, index: Any) -> Any:
        """Return a coefficient by its place, or the regression of a word."""
        if not isinstance(index, str):
            return self.coefficients[index]
        if index not in self.words:
            raise KeyError(f"{index!r}: {self.skipped.get(index, 'was not asked about')}")
        return self.words[index]

    def __repr__(self) -> str:
        return f"<{len(self)} coefficients of {len(self.words):,} words, {len(self.skipped):,} skipped>"


def regress(
    model: Any,
    word: str | Sequence[str],
    table: Any,
    *,
    text: str,
    formula: str,
    cluster: str | None = None,
    max_occurrences: int | None = 100_000,
    min_count: int = 5,
    draws: int = 999,
    seed: int = 0,
    show_progress: bool | None = None,
) -> Any:
    """Regress the meaning of a word, as its contexts show it, on covariates of the texts in which it occurs.

    Each occurrence is described by a direction, that of the average of the words around it, and these are regressed on
    the covariates by least squares. How long a covariate's coefficient is says how much the meaning depends on it. The
    length is corrected for the bias that noise gives it; its p-value says how often chance alone would make it as long,
    whatever the sizes and the spread of the groups, and however the covariates are correlated.

    Parameters
    ----------
    model : model or KeyedDensities
    word : str or sequence of str
        A word, a pattern (``"immigra*"``), or several that count as one (``"freedom|liberty"``); or a list of these.
        The model need not know them.
    table : DataFrame, Arrow table, mapping of columns, or path
        A row for each text; a path is that of a CSV file, or of lines of JSON.
    text : str
        The column of the texts. They are read as the model's own text was.
    formula : str
        Covariates: ``"party + year + C(term)"``. Columns of numbers count as they are, all others, and ``C(...)``, by
        levels. Interactions and functions need formulaic (``pip install "densvec[formula]"``).
    cluster : str, optional
        A column that says which rows depend on each other: a speaker, a document. By default each row of the table is a
        cluster, since what one text says of a word is seldom independent.
    max_occurrences : int, optional
        The most occurrences of a word to look at, chosen at random; None for all.
    min_count : int, optional
        The fewest occurrences on each side of a covariate that has two values.
    draws : int, optional
        How often chance is tried for the p-values.
    seed : int, optional
        Seeds the sample and the draws.
    show_progress : bool or None, optional
        Whether to show progress bars; None for only in a terminal.

    Returns
    -------
    Regression, or Regressions for a list
        Interrupted, one of several words keeps those that are done.

    Examples
    --------
    >>> import densvec
    >>> table = {"text": ["a dog and a cat", "a dog in a car"] * 6, "by": ["ann", "bob"] * 6}
    >>> densvec.regress(wv, "dog", table, text="text", formula="by")
    <1 covariates of 'dog' in 12 occurrences>
    """
    wv: KeyedDensities = getattr(model, "wv", model)
    reading = text_reading_of(wv)
    words = [word] if isinstance(word, str) else list(word)
    targets = [each.lower() if reading.lower else each for each in words]
    check_whole("draws", draws, 0)

    def others(names: Sequence[str]) -> list[str]:
        needed = columns_in(formula, [name for name in names if name != text])
        if not needed:
            raise ValueError(
                f"the formula {formula!r} has no column of the table, which has {', '.join(names)}"
            )
        return list(dict.fromkeys([*needed, *([cluster] if cluster else [])]))

    texts = read_texts(table, text, others, targets, reading, show_progress=show_progress)
    if not texts.columns:
        raise ValueError("the table has no rows")
    source = Described(wv, texts, targets, formula)
    groups = _numbered(texts.columns[cluster]) if cluster else np.arange(len(source.matrix))
    found, skipped = dict[str, Regression](), dict[str, str]()
    from tqdm.auto import tqdm

    disable = len(words) == 1 or (None if show_progress is None else not show_progress)
    try:
        for i, each in enumerate(tqdm(words, "regressing", unit=" words", disable=disable, leave=False)):
            try:
                found[each] = _one(source, i, groups, max_occurrences, min_count, draws, seed)
            except ValueError as error:
                if isinstance(word, str):
                    raise
                skipped[each] = str(error)
    except KeyboardInterrupt:
        if not found:
            raise
        logger.warning("interrupted after %d of %d words: these are kept", len(found), len(words))
    if isinstance(word, str):
        return found[word]
    if not found:
        raise ValueError(next(iter(skipped.values()), "no words are given"))
    return Regressions(found, skipped)


def _numbered(values: Sequence[Any]) -> Integers:
    """Return a number for each value; None is a cluster of its own in each row."""
    numbers = {value: i for i, value in enumerate(dict.fromkeys(values))}
    return np.array([-1 - i if value is None else numbers[value] for i, value in enumerate(values)])


def _one(
    source: Described,
    target: int,
    groups: Integers,
    max_occurrences: int | None,
    min_count: int,
    draws: int,
    seed: int,
) -> Regression:
    """Return the regression of one word."""
    word, places = source.targets[target], source.texts.places(target)
    if not len(places):
        raise ValueError(f"{word!r} does not occur in the texts: look at its spelling there")
    places = places[~np.isnan(source.matrix[source.rows_of(places)]).any(axis=1)]
    if max_occurrences is not None and len(places) > max_occurrences:
        places = np.sort(np.random.default_rng(seed).choice(places, max_occurrences, replace=False))
    points = source.described(places)
    said = points.any(axis=1)
    places, points = places[said], points[said]
    rows = source.rows_of(places)
    matrix, clusters = source.matrix[rows], groups[rows]
    _check(word, matrix, clusters, source.design.names, min_count)
    alone = None if len(np.unique(clusters)) == len(clusters) else clusters
    fit = fit_vectors(points, matrix, alone, draws=draws, seed=seed)
    return Regression(source, target, places, matrix, fit, alone)


def _check(word: str, matrix: Floats, clusters: Integers, names: Sequence[str], min_count: int) -> None:
    """Raise ValueError if covariates of a word's occurrences do not tell them apart."""
    if len(matrix) < max(2 * min_count, len(names) + 1):
        raise ValueError(
            f"{word!r} occurs {len(matrix)} times where no covariate is missing: too few for {len(names) - 1} of them"
        )
    for name, column in zip(names[1:], matrix.T[1:], strict=True):
        values, counts = np.unique(column, return_counts=True)
        if len(values) == 1:
            raise ValueError(
                f"{name} is {values[0]:g} at all {len(column):,} occurrences of {word!r}: leave it out of the formula"
            )
        if len(values) == 2 and counts.min() < min_count:
            raise ValueError(
                f"{name} is {values[counts.argmin()]:g} at {counts.min()} occurrences of {word!r} only, and at least "
                f"{min_count} are needed: join it with another level, leave out its rows, or lower min_count"
            )
        if len(values) == 2 and any(len(np.unique(clusters[column == value])) == 1 for value in values):
            raise ValueError(
                f"{name} has a value that a single cluster (a speaker, a document) has at the occurrences of {word!r}: "
                "its difference from others cannot be told from that of the covariate; join it with another level, or "
                "leave it out"
            )
    found = dependent_columns(matrix)
    if found is not None:
        column, others = found
        listed = " and ".join(names[other] for other in others if names[other] != INTERCEPT)
        raise ValueError(
            f"{names[column]} says the same as {listed} at the occurrences of {word!r}: leave one of them out"
        )
