"""Lexical entailment: whether one word entails another (best F1), and which of two entails the other."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from densvec.evaluation.lexicon import BoolArray, FloatArray, Lexicon
from densvec.evaluation.reading import BenchmarkFileError, PathLike, benchmark_name, read_lines
from densvec.evaluation.results import ResultOnPairs, Row
from densvec.questions.densities import frequency_trend
from densvec.statistics.bootstrap import Bootstrap, Estimate, weighted_mean

__all__ = [
    "DirectionResult",
    "EntailmentResult",
    "EntailmentScore",
    "direction",
    "entailment",
    "read_entailment",
]

_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True)
class EntailmentScore:
    """How well one measure separates pairs that entail from others."""

    f1: Estimate
    average_precision: Estimate
    threshold: float
    precision: float
    recall: float


@dataclass(frozen=True)
class EntailmentResult(ResultOnPairs):
    """Entailment on one benchmark by measure, over the known pairs.

    "kl" is −KL[w1‖w2], "cosine" the cosine, "hypernymy" the score of nearness and direction together
    (:meth:`densvec.KeyedDensities.hypernymy`).
    """

    name: str
    scores: dict[str, EntailmentScore]
    pairs: int
    known: int
    positives: int

    def f1(self, measure: str = "kl") -> float:
        """Best F1 by a measure."""
        return float(self.scores[measure].f1)

    def rows(self) -> list[Row]:
        """One line for each measure."""
        return [
            self._row(
                {
                    "measure": measure,
                    "f1": score.f1,
                    "average precision": score.average_precision,
                    "precision": score.precision,
                    "recall": score.recall,
                    "threshold": score.threshold,
                }
            )
            for measure, score in self.scores.items()
        ]


@dataclass(frozen=True)
class DirectionResult(ResultOnPairs):
    """Share of entailing pairs whose direction is right, by measure, over the pairs of known words.

    "kl": KL[w1‖w2] < KL[w2‖w1]; "variance": w1 has the smaller log-determinant of the covariance;
    "adjusted": the same after removing the trend of frequency; "frequency": w1 is the rarer word.
    """

    name: str
    accuracy: dict[str, Estimate]
    pairs: int
    known: int

    def rows(self) -> list[Row]:
        """One line for each measure."""
        return [
            self._row({"measure": measure, "accuracy": share}) for measure, share in self.accuracy.items()
        ]


def read_entailment(path: PathLike) -> list[tuple[str, str, bool]]:
    """Read ``word1 word2 True|False`` lines; a first line that ends in neither is taken as a header."""
    pairs = []
    for line in read_lines(path):
        fields = line.text.split()
        truth = _TRUTH.get(fields[-1].lower())
        if truth is None and line.number == 1 and len(fields) >= 3:
            continue
        if len(fields) != 3:
            line.fail(f"expected 'word1 word2 True|False', found {len(fields)} fields")
        if truth is None:
            line.fail(f"expected True or False at the end, found {fields[2]!r}")
        pairs.append((fields[0], fields[1], truth))
    if not pairs:
        raise BenchmarkFileError(f"{os.fspath(path)}: no pairs in the file")
    return pairs


def entailment(wv: Any, path: PathLike, *, bootstrap: Bootstrap | None = None) -> EntailmentResult:
    r"""Find the best F1 over all thresholds, and the average precision, by −KL[w1‖w2], cosine and hypernymy.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, a model of either, or a plain object
        Without variances only the cosine is reported.
    path : str or path
        File of lines ``word1 word2 True|False``.
    bootstrap : Bootstrap, optional
        How to make the intervals. The threshold is chosen again in each resample.

    Examples
    --------
    >>> import tempfile, types, numpy as np
    >>> wv = types.SimpleNamespace(
    ...     key_to_index={"dog": 0, "animal": 1, "stone": 2},
    ...     vectors=np.array([[1.0, 0.2], [1.0, 0.0], [-3.0, 1.0]]),
    ...     log_variances=np.array([[-2.0], [0.0], [-2.0]]),
    ... )
    >>> with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
    ...     _ = file.write("dog\tanimal\tTrue\nanimal\tdog\tFalse\ndog\tstone\tFalse\n")
    ...     file.flush()
    ...     result = entailment(wv, file.name, bootstrap=Bootstrap(0))
    >>> round(result.f1("kl"), 3), round(result.f1("cosine"), 3)  # the cosine cannot tell the direction
    (1.0, 0.667)
    """
    lexicon = Lexicon.of(wv)
    pairs = read_entailment(path)
    first, second, known = lexicon.known_pairs(pairs)
    truth = np.array([answer for _, _, answer in pairs])[known]
    measures = {}
    if lexicon.log_variances is not None:
        measures["kl"] = -lexicon.kl(first, second)
    measures["cosine"] = lexicon.cosine(first, second)
    if lexicon.log_variances is not None:
        measures["hypernymy"] = lexicon.hypernymy(first, second)
    bootstrap = bootstrap or Bootstrap()
    scores = {}
    for name, values in measures.items():
        f1, average_precision = bootstrap.estimate(_f1_and_average_precision(values, truth), known)
        scores[name] = EntailmentScore(f1, average_precision, *_best_threshold(values, truth))
    return EntailmentResult(benchmark_name(path), scores, len(pairs), len(known), int(truth.sum()))


def direction(wv: Any, path: PathLike, *, bootstrap: Bootstrap | None = None) -> DirectionResult:
    r"""Measure how often the direction of entailment is right, by KL, by variance and by frequency.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, a model of either, or a plain object
        Measures that need variances or counts are left out when the model has none.
    path : str or path
        File of lines ``word1 word2 True|False``, perhaps after a header. False: the second entails the first.
    bootstrap : Bootstrap, optional
        How to make the intervals.

    Examples
    --------
    >>> import tempfile, types, numpy as np
    >>> wv = types.SimpleNamespace(
    ...     key_to_index={"dog": 0, "animal": 1},
    ...     vectors=np.array([[1.0, 0.2], [1.0, 0.0]]),
    ...     log_variances=np.array([[-2.0], [0.0]]),
    ...     expandos={"count": np.array([50, 40])},
    ... )
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("word1 word2 word1 => word2\ndog animal True\n")
    ...     file.flush()
    ...     result = direction(wv, file.name, bootstrap=Bootstrap(0))
    >>> {measure: float(share) for measure, share in result.accuracy.items()}
    {'kl': 1.0, 'variance': 1.0, 'adjusted': 0.0, 'frequency': 0.0}
    """
    lexicon = Lexicon.of(wv)
    pairs = read_entailment(path)
    ordered = [(a, b) if answer else (b, a) for a, b, answer in pairs]
    first, second, known = lexicon.known_pairs(ordered)
    right: dict[str, BoolArray] = {}
    generality, counts = lexicon.generality(), lexicon.counts()
    if generality is not None:
        right["kl"] = lexicon.kl(first, second) < lexicon.kl(second, first)
        right["variance"] = generality[first] < generality[second]
    if generality is not None and counts is not None:
        adjusted = generality - frequency_trend(generality, counts)
        right["adjusted"] = adjusted[first] < adjusted[second]
    if counts is not None:
        right["frequency"] = counts[first] < counts[second]
    columns = np.array([right[name] for name in right], dtype=np.float64).reshape(len(right), len(known)).T
    estimates = (bootstrap or Bootstrap()).estimate(weighted_mean(columns), known)
    return DirectionResult(
        benchmark_name(path), dict(zip(right, estimates, strict=True)), len(pairs), len(known)
    )


def _threshold_ends(values: FloatArray) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Order by descending value, and where a threshold can cut it: after each run of equal values."""
    order = np.argsort(-values, kind="stable")
    descending = values[order]
    ends = (
        np.flatnonzero(np.r_[descending[1:] != descending[:-1], True])
        if len(values)
        else np.zeros(0, np.intp)
    )
    return order, ends


def _f1_and_average_precision(values: FloatArray, truth: BoolArray) -> Callable[[FloatArray], FloatArray]:
    """Statistic: best F1 over thresholds, and average precision; sorted once for all resamples."""
    order, ends = _threshold_ends(values)
    positive = truth[order].astype(np.float32)

    def scores(weights: FloatArray) -> FloatArray:
        if len(order) == 0:
            return np.full((len(weights), 2), np.nan)
        weights = weights[:, order]
        retrieved = np.cumsum(weights, axis=1)[:, ends]  # exact in float32 below 2**24 items
        found = np.cumsum(weights * positive, axis=1)[:, ends]
        total = found[:, -1:]
        with np.errstate(invalid="ignore", divide="ignore"):
            f1 = np.max(2 * found / (retrieved + total), axis=1, where=retrieved > 0, initial=0.0)
            gained = np.diff(found, axis=1, prepend=0.0)
            precision = np.divide(found, retrieved, out=np.zeros_like(found), where=retrieved > 0)
            average = np.einsum("ij,ij->i", gained, precision, dtype=np.float64) / total[:, 0]
        f1 = np.where(total[:, 0] > 0, f1, np.nan)
        return np.stack([f1, average], axis=1)

    return scores


def _best_threshold(values: FloatArray, truth: BoolArray) -> tuple[float, float, float]:
    """Threshold with the best F1 (predict entailment at or above it), its precision and its recall."""
    if not truth.any():
        return float("nan"), float("nan"), float("nan")
    order, ends = _threshold_ends(values)
    found = np.cumsum(truth[order])[ends]
    best = int(np.argmax(2 * found / (ends + 1 + found[-1])))
    end = ends[best]
    return float(values[order[end]]), float(found[best] / (end + 1)), float(found[best] / found[-1])
