"""Word similarity: Spearman's rank correlation between people's scores and the cosine of the means."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from densvec.evaluation.lexicon import FloatArray, Lexicon
from densvec.evaluation.reading import BenchmarkFileError, PathLike, benchmark_name, read_lines
from densvec.evaluation.results import Result, ResultOnPairs, Row
from densvec.statistics.bootstrap import Bootstrap, Estimate

__all__ = [
    "BIG5",
    "SimilarityResult",
    "SimilarityTable",
    "read_similarity",
    "word_similarities",
    "word_similarity",
]

BIG5 = ("MEN-TR-3k", "MTurk-771", "RW-STANFORD", "SIMLEX-999", "WS-353-ALL")


@dataclass(frozen=True)
class SimilarityResult(ResultOnPairs):
    """Spearman's ρ on one benchmark, over the pairs whose words are both known."""

    name: str
    spearman: Estimate
    pairs: int
    known: int

    def rows(self) -> list[Row]:
        """One line."""
        return [self._row({"spearman": self.spearman})]


@dataclass(frozen=True)
class SimilarityTable(Result):
    """Several word-similarity benchmarks and the sums by which models are compared."""

    benchmarks: tuple[SimilarityResult, ...]

    def __getitem__(self, name: str) -> SimilarityResult:
        for benchmark in self.benchmarks:
            if benchmark.name == name:
                return benchmark
        raise KeyError(f"no benchmark {name!r}; there are {', '.join(each.name for each in self.benchmarks)}")

    @property
    def total(self) -> Estimate:
        """Sum of all ρ (the paper's Table 1 has 12)."""
        return Estimate.total([each.spearman for each in self.benchmarks])

    @property
    def big5(self) -> Estimate | None:
        """Sum of ρ over the five large sets, far less noisy than `total`; None unless all five are there."""
        found = {each.name: each.spearman for each in self.benchmarks}
        if not all(name in found for name in BIG5):
            return None
        return Estimate.total([found[name] for name in BIG5])

    def rows(self) -> list[Row]:
        """One line for each benchmark, then the sums."""
        lines = [row for each in self.benchmarks for row in each.rows()]
        pairs, known = (
            sum(each.pairs for each in self.benchmarks),
            sum(each.known for each in self.benchmarks),
        )
        lines.append({"benchmark": "SUM", "spearman": self.total, "known": known, "pairs": pairs})
        if self.big5 is not None:
            lines.append({"benchmark": "BIG5", "spearman": self.big5, "known": None, "pairs": None})
        return lines


def read_similarity(path: PathLike) -> list[tuple[str, str, float]]:
    """Read ``word1 word2 score`` lines, separated by tabs or spaces; lines that start with # are comments."""
    pairs = []
    for line in read_lines(path):
        if line.text.startswith("#"):
            continue
        fields = line.text.split()
        if len(fields) != 3:
            line.fail(f"expected 'word1 word2 score', found {len(fields)} fields")
        try:
            score = float(fields[2])
        except ValueError:
            line.fail(f"the score {fields[2]!r} is not a number")
        if not np.isfinite(score):
            line.fail(f"the score {fields[2]!r} is not finite")
        pairs.append((fields[0], fields[1], score))
    if not pairs:
        raise BenchmarkFileError(f"{os.fspath(path)}: no pairs in the file")
    return pairs


def word_similarity(wv: Any, path: PathLike, *, bootstrap: Bootstrap | None = None) -> SimilarityResult:
    r"""Correlate the cosine of the means with people's scores.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, or a model of either
        What to evaluate; see `Lexicon`.
    path : str or path
        File of lines ``word1 word2 score``. Words are looked up in lower case first, then as they are.
    bootstrap : Bootstrap, optional
        How to make the interval; by default 1000 resamples, 95 %.

    Examples
    --------
    >>> import tempfile, types, numpy as np
    >>> means = np.array([[2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
    >>> wv = types.SimpleNamespace(key_to_index={"cat": 0, "dog": 1, "tax": 2}, vectors=means)
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("cat dog 9\ncat tax 1\nDog tax 2\ncat unicorn 5\n")
    ...     file.flush()
    ...     result = word_similarity(wv, file.name, bootstrap=Bootstrap(0))
    >>> float(result.spearman), result.known, result.pairs
    (1.0, 3, 4)
    """
    lexicon = Lexicon.of(wv)
    pairs = read_similarity(path)
    first, second, known = lexicon.known_pairs(pairs)
    scores = np.array([score for _, _, score in pairs])[known]
    cosines = lexicon.cosine(first, second)
    bootstrap = bootstrap or Bootstrap()
    (estimate,) = bootstrap.estimate(_spearman(scores, cosines), known)
    return SimilarityResult(benchmark_name(path), estimate, len(pairs), len(known))


def word_similarities(wv: Any, directory: PathLike, *, bootstrap: Bootstrap | None = None) -> SimilarityTable:
    """Run `word_similarity` on every .txt file of a directory, in the order of their names."""
    lexicon = Lexicon.of(wv)
    paths = sorted(glob.glob(os.path.join(glob.escape(os.fspath(directory)), "*.txt")))
    if not paths:
        raise FileNotFoundError(f"{os.fspath(directory)}: no .txt files of word pairs there")
    return SimilarityTable(tuple(word_similarity(lexicon, path, bootstrap=bootstrap) for path in paths))


def _spearman(x: FloatArray, y: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Statistic: Spearman's ρ of weighted items, ties at their mean rank.

    A resample repeats items, and repeats are ties; so its ranks follow from the weights by a running sum in
    the order of the values, sorted once for all resamples.
    """
    rank_x, rank_y = _weighted_ranks(x), _weighted_ranks(y)

    def rho(weights: FloatArray) -> FloatArray:
        if weights.shape[1] < 2:
            return np.full((len(weights), 1), np.nan)
        weights = weights.astype(np.float64)
        a, b = rank_x(weights), rank_y(weights)
        total = weights.sum(axis=1, keepdims=True)
        a -= (total + 1) / 2  # the mean rank, whatever the ties
        b -= (total + 1) / 2
        weighted = weights * a
        covariance = np.einsum("ij,ij->i", weighted, b)
        variance_a = np.einsum("ij,ij->i", weighted, a)
        variance_b = np.einsum("ij,ij,ij->i", weights, b, b)
        with np.errstate(invalid="ignore", divide="ignore"):
            result: FloatArray = (covariance / np.sqrt(variance_a * variance_b))[:, None]
        return result

    return rho


def _weighted_ranks(values: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Ranks of values when item i stands weights[i] times, at the original places."""
    order = np.argsort(values, kind="stable")
    sorted_values = values[order]
    starts = (
        np.flatnonzero(np.r_[True, sorted_values[1:] != sorted_values[:-1]])
        if len(values)
        else np.zeros(0, int)
    )
    group = np.empty(len(values), dtype=np.intp)  # which run of equal values an item is in
    group[order] = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(values)]))

    def ranks(weights: FloatArray) -> FloatArray:
        in_group = np.add.reduceat(weights[:, order], starts, axis=1)
        middle = np.cumsum(in_group, axis=1) - (in_group - 1) / 2
        result: FloatArray = middle[:, group]
        return result

    return ranks
