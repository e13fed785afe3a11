"""Pairs of words that people have rated: similarity, entailment and its direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from densvec.evaluation.baselines import Means
from densvec.evaluation.figures import Figure, Results
from densvec.evaluation.reading import read_all, read_lines, some
from densvec.evaluation.task import Method, Task
from densvec.keyed import KeyedDensities
from densvec.statistics.bootstrap import Estimate
from densvec.statistics.weighted import Statistic, average_precision, best_f1, mean, spearman
from densvec.types import Floats, Indices, PathLike

BIG5 = ("MEN-TR-3k", "MTurk-771", "RW-STANFORD", "SIMLEX-999", "WS-353-ALL")
"""The five large sets of word similarity: the sum of their correlations is far less noisy than that of all."""

_TRUTH = {"true": 1.0, "false": 0.0}


class RatedPair(NamedTuple):
    """Two words, and a rating; of entailment 1 or 0."""

    first: str
    second: str
    rating: float


def read_similarity(path: PathLike) -> list[RatedPair]:
    """Read ``word1 word2 score`` lines, separated by tabs or spaces; lines that start with # are comments."""
    pairs = []
    for line in read_all(path):
        if not line.text.startswith("#"):
            first, second, score = line.fields(None, 3, "word1 word2 score")[:3]
            pairs.append(RatedPair(first, second, line.figure(score)))
    return some(pairs, path, "pairs")


def read_entailment(path: PathLike) -> list[RatedPair]:
    """Read ``word1 word2 True|False`` lines, perhaps after a header."""
    pairs = []
    for line in read_all(path):
        fields = line.text.split()
        truth = _TRUTH.get(fields[-1].lower())
        if truth is None and line.number == 1:
            continue
        if truth is None or len(fields) != 3:
            line.fail(f"expected 'word1 word2 True|False', found {len(fields)} fields")
        pairs.append(RatedPair(fields[0], fields[1], truth))
    return some(pairs, path, "pairs")


def read_directions(path: PathLike) -> list[RatedPair]:
    """Read what `read_entailment` does, the specific word first: a pair that is False is turned round."""
    return [RatedPair(a, b, 1.0) if true else RatedPair(b, a, 1.0) for a, b, true in read_entailment(path)]


def read_hyperlex(path: PathLike) -> list[RatedPair]:
    """Read HyperLex: a header, then lines ``word1 word2 part-of-speech relation score …``."""
    pairs = []
    for line in read_lines(path):
        fields = line.fields(None, 5, "word1 word2 part-of-speech relation score")
        if line.number > 1 or fields[0] != "WORD1":
            pairs.append(RatedPair(fields[0], fields[1], line.figure(fields[4])))
    return some(pairs, path, "pairs")


def _measured(means: Means, score: object) -> Method[RatedPair]:
    """Return a method that scores pairs of rows, NaN for pairs with an unknown word."""

    def answer(pairs: Sequence[RatedPair]) -> Floats:
        result = np.full(len(pairs), np.nan)
        first, second, known = means.pairs([pair[:2] for pair in pairs])
        if len(known):
            result[known] = score(first, second)  # type: ignore[operator]
        return result

    return answer


def _cosine(means: Means) -> Mapping[str, Method[RatedPair]]:
    def cosine(first: Indices, second: Indices) -> Floats:
        products: Floats = np.einsum("ij,ij->i", means.units[first], means.units[second])
        return products

    return {"cosine": _measured(means, cosine)}


def _frequency(means: Means) -> Mapping[str, Method[RatedPair]]:
    """Return by how much the first word is the rarer one, if it is known how often words occur."""
    logs = np.log(np.maximum(means.counts, 1))
    rarer = _measured(means, lambda first, second: logs[second] - logs[first])
    return {"frequency": rarer} if means.counted else {}


def _cosine_and_frequency(means: Means) -> Mapping[str, Method[RatedPair]]:
    return {**_cosine(means), **_frequency(means)}


def _measures(wv: KeyedDensities) -> Mapping[str, Method[RatedPair]]:
    """Return how far the first word is a kind of the second."""
    if wv.log_variances is None:
        return {}
    keys, means = wv.index_to_key, Means(wv)

    def by(call: object) -> Method[RatedPair]:
        return _measured(means, lambda a, b: call([keys[i] for i in a], [keys[i] for i in b]))  # type: ignore[operator]

    return {"wv.hypernymy": by(wv.hypernymy), "wv.entailment": by(wv.entailment)}


def _directed(wv: KeyedDensities) -> Mapping[str, Method[RatedPair]]:
    """Return how much more general the second word is."""
    if wv.log_variances is None:
        return {}
    generality = {"wv.generality": np.asarray(wv.generality(wv.index_to_key))}
    if "count" in wv.expandos:
        generality["wv.generality, adjusted"] = wv.generality(wv.index_to_key, adjust="frequency")
    keys, means = wv.index_to_key, Means(wv)

    def direction(first: Indices, second: Indices) -> Floats:
        a, b = [keys[i] for i in first], [keys[i] for i in second]
        difference: Floats = np.asarray(wv.entailment(a, b)) - np.asarray(wv.entailment(b, a))
        return difference

    def by(size: Floats) -> Method[RatedPair]:
        return _measured(means, lambda first, second: size[second] - size[first])

    return {
        "wv.direction": _measured(means, direction),
        **{name: by(size) for name, size in generality.items()},
    }


def _rho(pairs: Sequence[RatedPair], scores: Sequence[float]) -> Mapping[str, Statistic]:
    return {"rho": spearman(scores, [pair.rating for pair in pairs])}


def _found(pairs: Sequence[RatedPair], scores: Sequence[float]) -> Mapping[str, Statistic]:
    truth = [pair.rating > 0 for pair in pairs]
    return {"F1": best_f1(scores, truth), "AP": average_precision(scores, truth)}


def _right(pairs: Sequence[RatedPair], scores: Sequence[float]) -> Mapping[str, Statistic]:
    return {"accuracy": mean([float(score > 0) for score in scores])}


word_similarity = Task("word similarity", read_similarity, _cosine, _rho)
"""How similar people find two words: Spearman's ρ with the cosine. An answer is a similarity."""

entailment = Task("entailment", read_entailment, _cosine, _found, _measures)
"""Which words entail which (BBDS, BLESS): the best F1 that a threshold reaches, and the average precision. An answer is
a number, larger if the first word is more likely a kind of the second."""

entailment_direction = Task("direction of entailment", read_directions, _frequency, _right, _directed)
"""Which of two words is the more general one: accuracy. An answer is above 0 if the second is."""

graded_entailment = Task("graded entailment", read_hyperlex, _cosine_and_frequency, _rho, _measures)
"""How far people find one word a kind of another (HyperLex): Spearman's ρ. An answer is a number."""


def sums(results: Results) -> Results:
    """Return the sums by which models are compared: of all sets of word similarity, and of the five large ones."""
    found = []
    rhos: dict[str, dict[str, Figure]] = {}
    for figure in results:
        if figure.task == word_similarity.name:
            rhos.setdefault(figure.method, {})[figure.benchmark] = figure
    for method, sets in rhos.items():
        for name, members in (("SUM", tuple(sets)), ("BIG5", BIG5)):
            if all(member in sets for member in members):
                total = Estimate.total([sets[member].value for member in members])
                found.append(Figure(word_similarity.name, name, "", method, total, 0, 0))
    return Results(found)
