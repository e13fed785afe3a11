"""Neighbours: where a word's partner stands among all words, and how rare the nearest are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from densvec.evaluation.baselines import Means
from densvec.evaluation.pairs import read_similarity
from densvec.evaluation.task import Method, Task
from densvec.keyed import KeyedDensities
from densvec.statistics.weighted import Statistic, mean
from densvec.types import Floats, Indices, PathLike

SETS = ("MEN-TR-3k", "SIMLEX-999", "MTurk-771", "WS-353-SIM")
"""Sets of rated pairs, of which the best-rated fifth are partners."""

_MIDDLE = 1e-5, 1e-4
"""Shares of the text that a word of middling frequency makes up."""
_RARE, _NEAREST = 30, 10
_TOGETHER = 256


class Partners(NamedTuple):
    """A word, and one that people find very similar."""

    word: str
    partner: str


def read_partners(path: PathLike) -> list[Partners]:
    """Read the best-rated fifth of the sets in a directory, each pair both ways."""
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

    def answers(items: Sequence[Partners]) -> list[Any]:
        found: list[Any] = [None] * len(items)
        words, partners, known = means.pairs(items)
        distinct, which = np.unique(words, return_inverse=True)
        for start in range(0, len(distinct), _TOGETHER):
            part = distinct[start : start + _TOGETHER]
            scores = np.array(scores_of(part))
            scores[np.arange(len(part)), part] = -np.inf
            nearest = np.argpartition(-scores, min(_NEAREST, scores.shape[1] - 1), axis=1)[:, :_NEAREST]
            middling = (means.counts[part] >= low) & (means.counts[part] <= high)
            rare = np.where(middling, (means.counts[nearest] < _RARE).mean(axis=1), np.nan)
            here = np.flatnonzero((which >= start) & (which < start + len(part)))
            for place, row, partner in zip(known[here], which[here] - start, partners[here], strict=True):
                rank = 1 + int((scores[row] > scores[row, partner]).sum())
                found[place] = rank, float(rare[row])
        return found

    return answers


def _calls(wv: KeyedDensities) -> Mapping[str, Method[Partners]]:
    if wv.log_variances is None:
        return {}

    def by_kl(rows: Indices) -> Floats:
        keys = [wv.index_to_key[row] for row in rows]
        return np.array(wv.most_similar_batch(keys, None, metric="kl"))

    return {"kl": _among_all(Means(wv), by_kl)}


def _baselines(means: Means) -> Mapping[str, Method[Partners]]:
    return {"cosine": _among_all(means, lambda rows: means.units[rows] @ means.units.T)}


def _score(items: Sequence[Partners], answers: Sequence[tuple[int, float]]) -> Mapping[str, Statistic]:
    ranks, rare = np.array(answers, dtype=np.float64).reshape(-1, 2).T
    return {"MRR": mean(1 / ranks), "rare": mean(np.nan_to_num(rare), ~np.isnan(rare))}


nearest_neighbours = Task("neighbours", read_partners, _baselines, _score, _calls)
"""Words that people find most similar, each sought among all words: the mean reciprocal rank, and for words of middling
frequency the share of the ten nearest that occur fewer than 30 times. An answer is the rank and the share."""
