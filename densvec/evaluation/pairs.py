"""Pairs of words that people have rated: similarity, entailment and its direction, and neighbours among all words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from densvec.evaluation.baselines import Means
from densvec.evaluation.figures import Figure, Results
from densvec.evaluation.reading import read_all, read_lines, some
from densvec.evaluation.task import Method, Task
from densvec.statistics.bootstrap import Estimate
from densvec.statistics.weighted import Statistic, average_precision, best_f1, mean, spearman
from densvec.types import Floats, Indices, PathLike

SETS = ("MEN-TR-3k", "SIMLEX-999", "MTurk-771", "WS-353-SIM")
"""Sets of rated pairs, of which the best-rated fifth are partners."""

_MIDDLE = 1e-5, 1e-4
"""Shares of the text that a word of middling frequency makes up."""
_RARE, _NEAREST = 30, 10
_TOGETHER = 256

BIG5 = ("MEN-TR-3k", "MTurk-771", "RW-STANFORD", "SIMLEX-999", "WS-353-ALL")
"""The five large sets of word similarity: the sum of their correlations is far less noisy than that of all."""

_TRUTH = {"true": 1.0, "false": 0.0}


class RatedPair(NamedTuple):
    """Two words, and a rating; for entailment 1 or 0."""

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
    """Read the same files as `read_entailment`, with the specific word first: pairs marked False are reversed."""
    return [RatedPair(a, b, 1.0) if true else RatedPair(b, a, 1.0) for a, b, true in read_entailment(path)]


def read_hyperlex(path: PathLike) -> list[RatedPair]:
    """Read HyperLex: a header, then lines ``word1 word2 part-of-speech relation score …``."""
    pairs = []
    for line in read_lines(path):
        fields = line.fields(None, 5, "word1 word2 part-of-speech relation score")
        if line.number > 1 or fields[0] != "WORD1":
            pairs.append(RatedPair(fields[0], fields[1], line.figure(fields[4])))
    return some(pairs, path, "pairs")


def _measured(means: Means, score: Callable[[Indices, Indices], Floats]) -> Method[RatedPair]:
    """Return a method that scores the pairs whose words are both known, given their rows."""

    def answer(pairs: Sequence[RatedPair]) -> Floats:
        result = np.full(len(pairs), np.nan)
        first, second, known = means.pairs(pairs)
        if len(known):
            result[known] = score(first, second)
        return result

    return answer


def _cosine(means: Means) -> Mapping[str, Method[RatedPair]]:
    units = means.units
    return {"cosine": _measured(means, lambda a, b: np.einsum("ij,ij->i", units[a], units[b]))}


def _frequency(means: Means) -> Mapping[str, Method[RatedPair]]:
    """Score how much rarer the first word is, if the counts are known."""
    logs = np.log(np.maximum(means.counts, 1))
    return {"frequency": _measured(means, lambda a, b: logs[b] - logs[a])} if means.counted else {}


def _cosine_and_frequency(means: Means) -> Mapping[str, Method[RatedPair]]:
    return {**_cosine(means), **_frequency(means)}


def _measures(means: Means) -> Mapping[str, Method[RatedPair]]:
    """Score whether the first word is a kind of the second."""
    calls = {"wv.hypernymy": means.wv.hypernymy, "wv.entailment": means.wv.entailment}
    return {name: _measured(means, call) for name, call in calls.items()}


def _directed(means: Means) -> Mapping[str, Method[RatedPair]]:
    """Score how much more general the second word is."""
    wv = means.wv

    def by(size: Floats) -> Method[RatedPair]:
        return _measured(means, lambda a, b: size[b] - size[a])

    found = {
        "wv.direction": _measured(means, wv.direction),
        "wv.generality": by(wv.generality(range(len(wv)))),
    }
    if "count" in wv.expandos:
        found["wv.generality, adjusted"] = by(wv.generality(range(len(wv)), adjust="frequency"))
    return found


def _rho(pairs: Sequence[RatedPair], scores: Sequence[float]) -> Mapping[str, Statistic]:
    return {"rho": spearman(scores, [pair.rating for pair in pairs])}


def _found(pairs: Sequence[RatedPair], scores: Sequence[float]) -> Mapping[str, Statistic]:
    truth = [pair.rating > 0 for pair in pairs]
    return {"F1": best_f1(scores, truth), "AP": average_precision(scores, truth)}


def _right(pairs: Sequence[RatedPair], scores: Sequence[float]) -> Mapping[str, Statistic]:
    return {"accuracy": mean([float(score > 0) for score in scores])}


word_similarity = Task("word similarity", read_similarity, _cosine, _rho)
"""How similar people find two words: Spearman's ρ with the cosine. An answer is a similarity."""

entailment = Task("entailment", read_entailment, _cosine, _found, _measures, "log_variances")
"""Which words entail which (BBDS, BLESS): the best F1 that a threshold reaches, and the average precision. An answer is
a number, larger if the first word is more likely a kind of the second."""

entailment_direction = Task(
    "direction of entailment", read_directions, _frequency, _right, _directed, "log_variances"
)
"""Which of two words is the more general one: accuracy. An answer is above 0 if the second is."""

graded_entailment = Task(
    "graded entailment", read_hyperlex, _cosine_and_frequency, _rho, _measures, "log_variances"
)
"""How far people find one word a kind of another (HyperLex): Spearman's ρ. An answer is a number."""


class Partners(NamedTuple):
    """A word, and another that people find very similar."""

    word: str
    partner: str


def read_partners(path: PathLike) -> list[Partners]:
    """Read the highest-rated fifth of each set in a directory, every pair in both directions."""
    found = []
    for file in (Path(path) / f"EN-{name}.txt" for name in SETS):
        if file.exists():
            pairs = sorted(read_similarity(file), key=lambda pair: -pair[2])
            for a, b, _ in pairs[: len(pairs) // 5]:
                found += [Partners(a, b), Partners(b, a)]
    return found


def _among_all(means: Means, scores_of: Callable[[Indices], Floats]) -> Method[Partners]:
    """Return a method that finds the rank of each partner and the share of rare words among the ten nearest."""
    total = means.counts.sum()
    low, high = (max(share * total, 2 * _RARE) for share in _MIDDLE)
    middling = (means.counts >= low) & (means.counts <= high)

    def answers(items: Sequence[Partners]) -> list[Any]:
        found: list[Any] = [None] * len(items)
        words, partners, known = means.pairs(items)
        for start in range(0, len(known), _TOGETHER):
            part, sought = (rows[start : start + _TOGETHER] for rows in (words, partners))
            scores, here = np.array(scores_of(part)), np.arange(len(part))
            scores[here, part] = -np.inf
            nearest = np.argpartition(-scores, min(_NEAREST, scores.shape[1] - 1), axis=1)[:, :_NEAREST]
            rare = np.where(middling[part], (means.counts[nearest] < _RARE).mean(axis=1), np.nan)
            ranks = 1 + (scores > scores[here, sought][:, None]).sum(axis=1)
            for place, *answer in zip(known[start:].tolist(), ranks.tolist(), rare.tolist(), strict=False):
                found[place] = tuple(answer)
        return found

    return answers


def _by_kl(means: Means) -> Mapping[str, Method[Partners]]:
    return {"kl": _among_all(means, lambda rows: means.wv.most_similar_batch(list(rows), None, metric="kl"))}


def _by_cosine(means: Means) -> Mapping[str, Method[Partners]]:
    return {"cosine": _among_all(means, lambda rows: means.units[rows] @ means.units.T)}


def _near(items: Sequence[Partners], answers: Sequence[tuple[int, float]]) -> Mapping[str, Statistic]:
    ranks, rare = np.array(answers, dtype=np.float64).reshape(-1, 2).T
    return {"MRR": mean(1 / ranks), "rare": mean(np.nan_to_num(rare), ~np.isnan(rare))}


nearest_neighbours = Task("neighbours", read_partners, _by_cosine, _near, _by_kl, "log_variances")
"""Words that people find most similar, each sought among all words: the mean reciprocal rank, and for words of middling
frequency the share of the ten nearest that occur fewer than 30 times. An answer is the rank and the share."""


def sums(results: Results) -> Results:
    """Return the sums of Spearman's ρ over all sets of word similarity, and over the five large ones."""
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
