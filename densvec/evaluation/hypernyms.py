"""Hypernym discovery: find a word's hypernyms among all words (SemEval-2018 task 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from densvec.distances.ranking import best
from densvec.evaluation.baselines import Means
from densvec.evaluation.reading import read_with_gold
from densvec.evaluation.task import Method, Task
from densvec.statistics.weighted import Statistic, mean
from densvec.text.spelling import is_inflection
from densvec.types import PathLike

_ANSWERS = 15
_FREQUENCY = 0.05
"""How much the logarithm of frequency counts beside the cosine in a baseline."""


class Query(NamedTuple):
    """A word, and those of its hypernyms that are single words."""

    word: str
    hypernyms: frozenset[str]


def read_hypernyms(path: PathLike) -> list[Query]:
    """Read ``NAME.data``, lines of a word, a tab and its kind, with hypernyms from ``NAME.gold``, separated by tabs.

    Only single words are asked for, and expected as answers.
    """
    queries = []
    for line, answer in read_with_gold(path):
        word = line.text.split("\t")[0].strip().lower()
        hypernyms = frozenset(each.strip().lower() for each in answer.text.split("\t"))
        single = frozenset(each for each in hypernyms if " " not in each)
        if " " not in word and single:
            queries.append(Query(word, single))
    return queries


def _calls(means: Means) -> Mapping[str, Method[Query]]:
    def hypernyms(queries: Sequence[Query]) -> list[Any]:
        words = [means.key(query.word) for query in queries]
        return [word and [key for key, _ in means.wv.hypernyms(word, topn=_ANSWERS)] for word in words]

    return {"wv.hypernyms": hypernyms}


def _baselines(means: Means) -> Mapping[str, Method[Query]]:
    logs = np.log(np.maximum(means.counts, 1))

    def nearest(word: str, frequency: float) -> list[str] | None:
        row = means.row(word)
        if row < 0:
            return None
        scores = means.units @ means.units[row] + frequency * logs
        words = (means.wv.index_to_key[i] for i in best(scores, min(4 * _ANSWERS, len(scores))))
        return [each for each in words if not is_inflection(each, word)][:_ANSWERS]

    def by(frequency: float) -> Method[Query]:
        return lambda queries: [nearest(query.word, frequency) for query in queries]

    with_frequency = {"cosine + .05 log f": by(_FREQUENCY)} if means.counted else {}
    return {"cosine": by(0.0), **with_frequency}


def _score(queries: Sequence[Query], answers: Sequence[Sequence[str]]) -> Mapping[str, Statistic]:
    columns = []
    for query, answer in zip(queries, answers, strict=True):
        hits = np.array([word.lower() in query.hypernyms for word in answer[:_ANSWERS]] or [False])
        places = np.flatnonzero(hits) + 1
        most = min(len(query.hypernyms), _ANSWERS)
        precision = (np.arange(1, len(places) + 1) / places).sum() / most
        first = 1 / places[0] if len(places) else 0.0
        columns.append((precision, first, hits[:5].sum() / min(len(query.hypernyms), 5)))
    average, reciprocal, five = np.array(columns, dtype=np.float64).reshape(-1, 3).T
    return {"MAP": mean(average), "MRR": mean(reciprocal), "P@5": mean(five)}


hypernym_discovery = Task("hypernym discovery", read_hypernyms, _baselines, _score, _calls, "log_variances")
"""Hypernyms among all words (SemEval-2018 task 9), over queries and answers of one word: mean average precision, mean
reciprocal rank and precision at five of fifteen answers. An answer is a list of words, best first."""
