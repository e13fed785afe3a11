"""Similarity in context: ratings of words in texts (SCWS), and how they change with the text (CoSimLex)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from densvec.evaluation.lexicon import FloatArray
from densvec.evaluation.occurrences import (
    Occurrence,
    Reader,
    Tokenizer,
    check_metrics,
    densities_by,
    similarities,
    tokenize,
    usable_metrics,
    usable_readings,
)
from densvec.evaluation.reading import BenchmarkFileError, Line, PathLike, benchmark_name, read_lines
from densvec.evaluation.results import Result, ResultOnPairs, Row
from densvec.evaluation.similarity import _spearman
from densvec.statistics.bootstrap import Bootstrap, Estimate

__all__ = [
    "ChangeScore",
    "ContextualChangeResult",
    "ContextualSimilarityResult",
    "MarkedWord",
    "RatedChange",
    "RatedPair",
    "contextual_change",
    "contextual_similarity",
    "read_rated_changes",
    "read_rated_pairs",
    "similarities_in_context",
]

_MARKED = re.compile(r"<(b|strong)>(.*?)</\1>", re.DOTALL)


@dataclass(frozen=True)
class MarkedWord:
    """A word in a text, and its lemma or the form in which a benchmark lists it."""

    tokens: tuple[str, ...]
    position: int
    lemma: str


@dataclass(frozen=True)
class RatedPair:
    """Two words, each in its own text, and the mean of people's ratings of their similarity."""

    first: MarkedWord
    second: MarkedWord
    rating: float


@dataclass(frozen=True)
class RatedChange:
    """Two words in two texts that contain both, and the mean rating of their similarity in each."""

    words: tuple[tuple[MarkedWord, MarkedWord], tuple[MarkedWord, MarkedWord]]  # by text
    ratings: tuple[float, float]


@dataclass(frozen=True)
class ContextualSimilarityResult(ResultOnPairs):
    """Spearman's ρ of ratings and similarities in context, for every way to read the context.

    `spearman` is by reading (``encoder``, ``average``, ``out_of_context``) and metric.
    """

    name: str
    spearman: dict[tuple[str, str], Estimate]
    pairs: int
    known: int

    def rows(self) -> list[Row]:
        """One line for each reading and metric."""
        return [
            self._row({"reading": reading, "metric": metric, "spearman": rho})
            for (reading, metric), rho in self.spearman.items()
        ]


@dataclass(frozen=True)
class ChangeScore(Result):
    """Correlations of one way to read words with people's ratings.

    Attributes
    ----------
    change : Estimate
        Of the changes in similarity from the first text to the second: Pearson's correlation about 0 (not
        about the means), so that the direction of a change counts. The first subtask's figure.
    spearman, pearson : Estimate
        Of the similarities themselves, over all texts.
    harmonic_mean : Estimate
        Of these two. The second subtask's figure.
    """

    change: Estimate
    spearman: Estimate
    pearson: Estimate
    harmonic_mean: Estimate

    def rows(self) -> list[Row]:
        """One line."""
        return [
            {
                "change": self.change,
                "spearman": self.spearman,
                "pearson": self.pearson,
                "harmonic mean": self.harmonic_mean,
            }
        ]


@dataclass(frozen=True)
class ContextualChangeResult(ResultOnPairs):
    """How well changes of similarity from one text to another are predicted, by reading and metric."""

    name: str
    scores: dict[tuple[str, str], ChangeScore]
    pairs: int
    known: int

    def rows(self) -> list[Row]:
        """One line for each reading and metric."""
        return [
            self._row({"reading": reading, "metric": metric, **score.rows()[0]})
            for (reading, metric), score in self.scores.items()
        ]


def read_rated_pairs(path: PathLike, tokenizer: Tokenizer = tokenize) -> list[RatedPair]:
    """Read SCWS's format.

    Tabs between id, word 1, its part of speech, word 2, its part of speech, text 1, text 2, mean rating, and
    single ratings, which are not used. The word stands between ``<b>`` and ``</b>``.
    """
    pairs = []
    for line in read_lines(path):
        fields = line.text.split("\t")
        if len(fields) < 8:
            line.fail(
                "expected id, word, part of speech, word, part of speech, text, text, mean rating, separated by "
                f"tabs, found {len(fields)} fields"
            )
        first, second = (
            _marked(line, fields[place], fields[1 + 2 * i], None, tokenizer) for i, place in enumerate((5, 6))
        )
        pairs.append(RatedPair(first, second, _number(line, fields[7])))
    if not pairs:
        raise BenchmarkFileError(f"{os.fspath(path)}: no pairs in the file")
    return pairs


def contextual_similarity(
    wv: Any,
    path: PathLike,
    *,
    metrics: Sequence[str] = ("cosine",),
    sample: float | None = None,
    tokenizer: Tokenizer = tokenize,
    bootstrap: Bootstrap | None = None,
) -> ContextualSimilarityResult:
    r"""Correlate the similarity of words in context with people's ratings, on a file in SCWS's format.

    A *reading* is a way to turn a word in a text into a density. There are three: ``encoder``, its posterior in the
    text; ``average``, a baseline for any vectors: the word's own unit vector plus the average of those of the context
    words, each weighted by the probability of being kept in the thinned text, within a window that extends until the
    weights on a side add up to the model's window; ``out_of_context``, the word alone. Pairs with an unknown word are
    left out.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, or a model of either
        What to evaluate; see `Lexicon`.
    path : str or path
        Lines of id, word 1, its part of speech, word 2, its part of speech, text 1, text 2, mean rating,
        separated by tabs (what follows is not used), the word in each text between ``<b>`` and ``</b>``.
    metrics : sequence of str
        By which to compare: ``cosine`` (of the means), and between densities ``kl``, ``reverse_kl``,
        ``jeffreys``, ``expected_likelihood``, ``wasserstein``.
    sample : float, optional
        The threshold for thinning frequent words; by default the model's own, or 1e-4.
    tokenizer : callable
        Turns a text into tokens; by default lower-cased runs of letters and digits.
    bootstrap : Bootstrap, optional
        How to make the intervals.

    Examples
    --------
    >>> import tempfile
    >>> lines = [
    ...     "1\tdog\tn\tcat\tn\tA <b> dog </b> is an animal\tThe <b> cat </b> , an animal\t7.0",
    ...     "2\tdog\tn\tcar\tn\tA <b> dog </b> is an animal\tthis <b> car </b> is no animal\t1.0",
    ...     "3\tcat\tn\tanimal\tn\tdog and <b> cat </b>\tthe <b> animal </b> is a cat\t9.0",
    ... ]
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("\n".join(lines))
    ...     file.flush()
    ...     result = contextual_similarity(wv, file.name, sample=0, bootstrap=Bootstrap(0))
    >>> [reading for reading, metric in result.spearman]
    ['encoder', 'average', 'out_of_context']
    >>> float(result.spearman["encoder", "cosine"])
    1.0
    """
    metrics = check_metrics(metrics)
    reader = Reader(wv, sample)
    pairs = read_rated_pairs(path, tokenizer)
    found = [(_occurrence(reader, pair.first), _occurrence(reader, pair.second)) for pair in pairs]
    known = np.array([i for i, (a, b) in enumerate(found) if a is not None and b is not None], dtype=np.intp)
    ratings = np.array([pairs[i].rating for i in known])
    sides = [[each for i in known if (each := found[i][side]) is not None] for side in (0, 1)]
    bootstrap = bootstrap or Bootstrap()
    spearman = {
        which: bootstrap.estimate(_spearman(ratings, scores), known)[0]
        for which, scores in similarities_in_context(reader, sides[0], sides[1], metrics).items()
    }
    return ContextualSimilarityResult(benchmark_name(path), spearman, len(pairs), len(known))


def similarities_in_context(
    reader: Reader, first: Sequence[Occurrence], second: Sequence[Occurrence], metrics: Sequence[str]
) -> dict[tuple[str, str], FloatArray]:
    """Compare occurrences pair by pair, by every reading that the model can do."""
    found = {}
    for reading in usable_readings(reader):
        densities = densities_by(reading, reader, first), densities_by(reading, reader, second)
        for metric in usable_metrics(reading, reader, metrics):
            found[reading, metric] = similarities(*densities, metric)
    return found


def read_rated_changes(
    path: PathLike, gold: PathLike | None = None, tokenizer: Tokenizer = tokenize
) -> list[RatedChange]:
    """Read CoSimLex's format: tabs, a header that names the columns.

    ``word1``, ``word2``, ``context1`` and ``context2`` are needed; so are the ratings, ``sim1`` and ``sim2``
    or ``sim_context1`` and ``sim_context2``, here or in the file `gold`, line by line. The words stand between
    ``<strong>`` and ``</strong>`` in the forms that ``word1_context1`` and so on give, if there are such columns.
    """
    lines = _records(path)
    ratings = lines if gold is None else _records(gold)
    if len(ratings) != len(lines):
        raise BenchmarkFileError(
            f"{os.fspath(path)} has {len(lines)} pairs and {os.fspath(gold or path)} ratings of {len(ratings)}; "
            "they must be of the same ones, line by line"
        )
    changes = []
    for (line, fields), (rated, numbers) in zip(lines, ratings, strict=True):
        names = ("sim1", "sim2") if "sim1" in numbers else ("sim_context1", "sim_context2")
        marked = [
            [
                _marked(
                    line,
                    _field(line, fields, f"context{text}"),
                    _field(line, fields, f"word{word}"),
                    fields.get(f"word{word}_context{text}"),
                    tokenizer,
                )
                for word in (1, 2)
            ]
            for text in (1, 2)
        ]
        first, second = (_number(rated, _field(rated, numbers, name)) for name in names)
        changes.append(
            RatedChange(((marked[0][0], marked[0][1]), (marked[1][0], marked[1][1])), (first, second))
        )
    if not changes:
        raise BenchmarkFileError(f"{os.fspath(path)}: no pairs in the file")
    return changes


def contextual_change(
    wv: Any,
    path: PathLike,
    gold: PathLike | None = None,
    *,
    metrics: Sequence[str] = ("cosine",),
    sample: float | None = None,
    tokenizer: Tokenizer = tokenize,
    bootstrap: Bootstrap | None = None,
) -> ContextualChangeResult:
    r"""Measure how well changes of similarity between two texts are predicted, on a file in CoSimLex's format.

    The figures are those of SemEval-2020 task 3. Out of context nothing changes, so that has no correlation.

    Parameters
    ----------
    wv, metrics, sample, tokenizer, bootstrap
        As in `contextual_similarity`.
    path : str or path
        Values separated by tabs, with a header: ``word1``, ``word2``, ``context1``, ``context2``, ``sim1``,
        ``sim2``, and if there are any ``word1_context1``, ``word2_context1``, ``word1_context2``,
        ``word2_context2``; the words stand between ``<strong>`` and ``</strong>`` in the contexts.
    gold : str or path, optional
        The ratings, ``sim_context1`` and ``sim_context2``, if they are in a file of their own.

    Examples
    --------
    >>> import tempfile
    >>> mark = "<strong>{}</strong>".format
    >>> lines = [
    ...     "word1\tword2\tcontext1\tcontext2\tsim1\tsim2",
    ...     f"dog\tcat\tcar {mark('dog')} {mark('cat')} car\tanimal {mark('dog')} {mark('cat')} animal\t5\t2",
    ...     f"cat\tcar\tanimal {mark('car')} {mark('cat')}\tcat {mark('cat')} {mark('car')} car\t1\t0",
    ... ]
    >>> with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
    ...     _ = file.write("\n".join(lines))
    ...     file.flush()
    ...     result = contextual_change(wv, file.name, sample=0, bootstrap=Bootstrap(0))
    >>> round(float(result.scores["encoder", "cosine"].change), 2)
    0.95
    """
    metrics = check_metrics(metrics)
    reader = Reader(wv, sample)
    changes = read_rated_changes(path, gold, tokenizer)
    found = [
        [_occurrence(reader, word) for words in change.words for word in words]  # text by text, word by word
        for change in changes
    ]
    known = np.array([i for i, four in enumerate(found) if None not in four], dtype=np.intp)
    ratings = np.array([changes[i].ratings for i in known]).reshape(-1, 2)
    columns = [[each for i in known if (each := found[i][column]) is not None] for column in range(4)]
    of_texts = [similarities_in_context(reader, columns[text], columns[text + 1], metrics) for text in (0, 2)]
    bootstrap = bootstrap or Bootstrap()
    scores = {}
    for which in of_texts[0]:
        told = np.stack([of_text[which] for of_text in of_texts], axis=1)
        scores[which] = ChangeScore(*bootstrap.estimate(_change_statistics(ratings, told), known))
    return ContextualChangeResult(benchmark_name(path), scores, len(changes), len(known))


def _change_statistics(ratings: FloatArray, told: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Statistics over pairs of words (pairs, 2 texts): change, Spearman, Pearson, harmonic mean."""
    rho = _spearman(ratings.ravel(), told.ravel())
    changes = np.diff(ratings, axis=1)[:, 0], np.diff(told, axis=1)[:, 0]

    def statistics(weights: FloatArray) -> FloatArray:
        both = np.repeat(weights, 2, axis=1).astype(
            np.float64
        )  # a pair of words is drawn with both its texts
        total = np.maximum(both.sum(axis=1, keepdims=True), 1)
        x, y = (values.ravel() - both @ values.ravel()[:, None] / total for values in (ratings, told))
        spearman, pearson = rho(both)[:, 0], _correlation(both, x, y)
        with np.errstate(invalid="ignore", divide="ignore"):
            harmonic = 2 * spearman * pearson / (spearman + pearson)
        # The harmonic mean means nothing for correlations of different sign.
        harmonic = np.where((spearman > 0) == (pearson > 0), harmonic, np.nan)
        about_zero = _correlation(weights.astype(np.float64), *changes)
        return np.stack([about_zero, spearman, pearson, harmonic], axis=1)

    return statistics


def _correlation(weights: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Return Σwxy / √(Σwx² Σwy²) for each row of weights."""
    with np.errstate(invalid="ignore", divide="ignore"):
        result: FloatArray = (weights * x * y).sum(axis=1) / np.sqrt(
            (weights * x**2).sum(axis=1) * (weights * y**2).sum(axis=1)
        )
    return result


def _occurrence(reader: Reader, word: MarkedWord) -> Occurrence | None:
    return reader.occurrence(word.tokens, word.position, word.lemma)


def _marked(line: Line, text: str, lemma: str, form: str | None, tokenizer: Tokenizer) -> MarkedWord:
    """Find a word in a text: the marked word that has the given form, or else is spelt most like it."""
    wanted = (form or lemma).strip().lower()
    tokens: list[str] = []
    marks: list[tuple[str, int]] = []
    end = 0
    for match in _MARKED.finditer(text):
        tokens += tokenizer(text[end : match.start()])
        inside = tokenizer(match[2])
        marks += [(token, len(tokens) + place) for place, token in enumerate(inside)]
        tokens += inside
        end = match.end()
    tokens += tokenizer(text[end:])
    if not marks:
        line.fail(f"no word of the text {_shortened(text)!r} is marked by <b> or <strong>")
    _, position = max(marks, key=lambda mark: _likeness(mark[0].lower(), wanted))
    return MarkedWord(tuple(tokens), position, lemma.strip())


def _likeness(token: str, wanted: str) -> tuple[bool, int]:
    """Return how similarly a token and a word are spelt: equality, then the number of first letters they share."""
    same = [a == b for a, b in zip(token, wanted, strict=False)]
    return token == wanted, (*same, False).index(False)


def _records(path: PathLike) -> list[tuple[Line, dict[str, str]]]:
    """Read values separated by tabs under a header."""
    lines = read_lines(path)
    header = next(iter(lines), None)
    if header is None:
        raise BenchmarkFileError(f"{os.fspath(path)}: the file is empty")
    names = [name.strip().lower() for name in header.text.split("\t")]
    return [(line, dict(zip(names, line.text.split("\t"), strict=False))) for line in lines]


def _field(line: Line, fields: dict[str, str], name: str) -> str:
    if name not in fields:
        line.fail(f"no value for the column {name!r}; there are {', '.join(fields)}")
    return fields[name]


def _number(line: Line, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        line.fail(f"the rating {text!r} is not a number")
    if not np.isfinite(number):
        line.fail(f"the rating {text!r} is not finite")
    return number


def _shortened(text: str, length: int = 40) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."
