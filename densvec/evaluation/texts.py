"""How alike sentences are (STS-B)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from densvec.evaluation.baselines import Means, cosines
from densvec.evaluation.reading import read_all, tokenize
from densvec.evaluation.task import Method, Task
from densvec.keyed import KeyedDensities
from densvec.statistics.weighted import Statistic, pearson, spearman
from densvec.types import Floats, PathLike

_SIF = 1e-3


class PairOfTexts(NamedTuple):
    """Two sentences as tokens, and how alike people find them."""

    first: list[str]
    second: list[str]
    rating: float


def read_texts(path: PathLike) -> list[PairOfTexts]:
    """Read lines of two sentences and a rating, separated by commas; a sentence with a comma is in quotes."""
    pairs = []
    for line in read_all(path):
        fields = next(csv.reader(io.StringIO(line.text)))
        if len(fields) != 3:
            line.fail(f"expected two sentences and a rating, found {len(fields)} fields")
        pairs.append(PairOfTexts(tokenize(fields[0]), tokenize(fields[1]), line.figure(fields[2])))
    return pairs


def _calls(wv: KeyedDensities) -> Mapping[str, Method[PairOfTexts]]:
    if wv.log_variances is None or "count" not in wv.expandos:
        return {}

    def similarity(pairs: Sequence[PairOfTexts]) -> Floats:
        result = np.full(len(pairs), np.nan)
        known = [i for i, pair in enumerate(pairs) if all(any(w in wv for w in text) for text in pair[:2])]
        if known:
            result[known] = wv.text_similarities([pairs[i][:2] for i in known])
        return result

    return {"wv.text_similarities": similarity}


def _baselines(means: Means) -> Mapping[str, Method[PairOfTexts]]:
    share = means.counts / means.counts.sum()

    def sides(pairs: Sequence[PairOfTexts], weights: Floats) -> tuple[Floats, Floats]:
        return (
            means.averages([pair.first for pair in pairs], weights),
            means.averages([pair.second for pair in pairs], weights),
        )

    def averaged(weights: Floats) -> Method[PairOfTexts]:
        return lambda pairs: cosines(*sides(pairs, weights))

    def without_first_component(pairs: Sequence[PairOfTexts]) -> Floats:
        """Arora et al. (2017): what all sentences have in common is taken away."""
        first, second = sides(pairs, _SIF / (_SIF + share))
        common = np.linalg.svd(np.concatenate([first, second]), full_matrices=False)[2][:1]
        return cosines(first - first @ common.T @ common, second - second @ common.T @ common)

    return {
        "average": averaged(np.ones(len(share))),
        "thinned average": averaged(means.keep),
        "SIF": without_first_component,
    }


def _score(pairs: Sequence[PairOfTexts], scores: Sequence[float]) -> Mapping[str, Statistic]:
    ratings = [pair.rating for pair in pairs]
    return {"Pearson": pearson(scores, ratings), "Spearman": spearman(scores, ratings)}


text_similarity = Task("similarity of texts", read_texts, _baselines, _score, _calls)
"""How alike people find two sentences (STS-B): Pearson's and Spearman's correlations. An answer is a similarity."""
