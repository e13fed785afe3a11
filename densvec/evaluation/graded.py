"""Graded lexical entailment: how far one word is a kind of another, as people rate it (HyperLex)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from densvec.evaluation.lexicon import Lexicon
from densvec.evaluation.reading import BenchmarkFileError, PathLike, benchmark_name, read_lines
from densvec.evaluation.results import ResultOnPairs, Row
from densvec.evaluation.similarity import _spearman
from densvec.statistics.bootstrap import Bootstrap, Estimate

__all__ = ["GradedEntailmentResult", "graded_entailment", "read_hyperlex"]


@dataclass(frozen=True)
class GradedEntailmentResult(ResultOnPairs):
    """Spearman's ρ of people's ratings with each measure, over the known pairs."""

    name: str
    rho: dict[str, Estimate]
    pairs: int
    known: int

    def rows(self) -> list[Row]:
        """One line for each measure."""
        return [self._row({"measure": measure, "rho": rho}) for measure, rho in self.rho.items()]


def read_hyperlex(path: PathLike) -> list[tuple[str, str, float]]:
    """Read HyperLex: a header, then lines ``word1 word2 part-of-speech relation score …``."""
    pairs = []
    for line in read_lines(path):
        fields = line.text.split()
        if line.number == 1 and fields[:2] == ["WORD1", "WORD2"]:
            continue
        try:
            pairs.append((fields[0], fields[1], float(fields[4])))
        except (IndexError, ValueError):
            line.fail("expected 'word1 word2 part-of-speech relation score'")
    if not pairs:
        raise BenchmarkFileError(f"{os.fspath(path)}: no pairs in the file")
    return pairs


def graded_entailment(
    wv: Any, path: PathLike, *, bootstrap: Bootstrap | None = None
) -> GradedEntailmentResult:
    r"""Correlate ratings of how far one word is a kind of another with hypernymy, −KL, cosine and frequency.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, a model of either, or a plain object
        Measures that need variances or counts are left out when the model has none.
    path : str or path
        HyperLex's file.
    bootstrap : Bootstrap, optional
        How to make the intervals.

    Examples
    --------
    >>> import tempfile, types
    >>> wv = types.SimpleNamespace(
    ...     key_to_index={"dog": 0, "animal": 1, "stone": 2},
    ...     vectors=np.array([[1.0, 0.2], [1.0, 0.0], [-3.0, 1.0]]),
    ...     log_variances=np.array([[-2.0], [0.0], [-2.0]]),
    ... )
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("dog animal N hyp-1 6.0\nanimal dog N r-hyp-1 1.0\ndog stone N no-rel 0.0\n")
    ...     file.flush()
    ...     result = graded_entailment(wv, file.name, bootstrap=Bootstrap(0))
    >>> round(float(result.rho["hypernymy"]), 2), round(float(result.rho["cosine"]), 2)
    (1.0, 0.87)
    """
    lexicon = Lexicon.of(wv)
    pairs = read_hyperlex(path)
    first, second, known = lexicon.known_pairs(pairs)
    ratings = np.array([rating for _, _, rating in pairs])[known]
    measures = {}
    if lexicon.log_variances is not None:
        measures["hypernymy"] = lexicon.hypernymy(first, second)
        measures["kl"] = -lexicon.kl(first, second)
    measures["cosine"] = lexicon.cosine(first, second)
    counts = lexicon.counts()
    if counts is not None:
        measures["frequency"] = np.log(np.maximum(counts[second], 1)) - np.log(np.maximum(counts[first], 1))
    bootstrap = bootstrap or Bootstrap()
    rho = {}
    for name, values in measures.items():
        (rho[name],) = bootstrap.estimate(_spearman(values, ratings), known)
    return GradedEntailmentResult(benchmark_name(path), rho, len(pairs), len(known))
