"""The paper's whole suite in one call, on a directory with word-sim/, lexsub/ and entailment/."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from densvec.evaluation.bootstrap import DEFAULT_RESAMPLES, Bootstrap, Estimate, difference
from densvec.evaluation.entailment import DirectionResult, EntailmentResult, direction, entailment
from densvec.evaluation.files import PathLike
from densvec.evaluation.generality import GeneralityResult, generality_frequency
from densvec.evaluation.lexicon import Lexicon
from densvec.evaluation.results import Result, Row, plain
from densvec.evaluation.similarity import SimilarityTable, word_similarities
from densvec.evaluation.substitution import SubstitutionResult, lexical_substitution

__all__ = ["ENTAILMENT", "SUBSTITUTION", "Comparison", "Report", "evaluate_all"]

ENTAILMENT = ("bbds", "bless")
SUBSTITUTION = ("lst_all", "lst_trial")


@dataclass(frozen=True)
class Report(Result):
    """Everything that the suite measured; a part without files, or beyond the model, is empty or None."""

    similarity: SimilarityTable | None
    substitution: dict[str, SubstitutionResult]
    entailment: dict[str, EntailmentResult]
    direction: dict[str, DirectionResult]
    generality: GeneralityResult | None

    def figures(self) -> dict[str, Estimate]:
        """The headline figures by name: SUM, BIG5, GAP, F1, direction, generality."""
        found: dict[str, Estimate] = {}
        if self.similarity is not None:
            found["SUM"] = self.similarity.total
            if self.similarity.big5 is not None:
                found["BIG5"] = self.similarity.big5
        for name, substitution in self.substitution.items():
            found |= {f"GAP {name} {ranker}": gap for ranker, gap in substitution.gap.items()}
        for name, result in self.entailment.items():
            found |= {f"F1 {name} {measure}": score.f1 for measure, score in result.scores.items()}
            found |= {
                f"AP {name} {measure}": score.average_precision for measure, score in result.scores.items()
            }
        for name, told in self.direction.items():
            found |= {f"direction {name} {measure}": share for measure, share in told.accuracy.items()}
        if self.generality is not None:
            found["generality~frequency"] = self.generality.pearson
        return found

    def __getitem__(self, name: str) -> float:
        """One of the headline figures as a number."""
        return float(self.figures()[name])

    def rows(self) -> list[Row]:
        """One line for each headline figure."""
        return [{"figure": name, "value": estimate} for name, estimate in self.figures().items()]

    def __str__(self) -> str:
        similarity = [] if self.similarity is None else [str(self.similarity)]
        return "\n\n".join([*similarity, super().__str__()])

    def to_dict(self) -> dict[str, Any]:
        """The headline figures, and under them every part's own rows."""
        parts: dict[str, Any] = {}
        for field in fields(self):
            part = getattr(self, field.name)
            if isinstance(part, Result):
                parts[field.name] = part.to_dict()["rows"]
            elif part is not None:
                parts[field.name] = [row for result in part.values() for row in result.to_dict()["rows"]]
        return {"figures": plain(self.figures()), **parts}

    def minus(self, other: Report) -> Comparison:
        """Compare with another model's report, figure by figure, by the paired bootstrap."""
        mine, theirs = self.figures(), other.figures()
        differences = {name: difference(mine[name], theirs[name]) for name in mine if name in theirs}
        return Comparison({name: (mine[name], theirs[name], gained) for name, gained in differences.items()})


@dataclass(frozen=True)
class Comparison(Result):
    """Two models' figures and the differences; a difference whose interval holds 0 is no evidence."""

    figures: dict[str, tuple[Estimate, Estimate, Estimate]]

    def rows(self) -> list[Row]:
        """One line for each figure that both have."""
        return [
            {"figure": name, "first": a.value, "second": b.value, "difference": gained}
            for name, (a, b, gained) in self.figures.items()
        ]


def evaluate_all(
    wv: Any,
    data_dir: PathLike,
    context_vectors: Any = None,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    substitution: Sequence[str] = SUBSTITUTION,
) -> Report:
    r"""Run every benchmark that the directory holds.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, a model of either, or a plain object
        See `densvec.evaluation.Lexicon` for what is used of it.
    data_dir : str or path
        Holds word-sim/EN-MC-30.txt and others, lexsub/lst_all.preprocessed (with .gold and
        lst.gold.candidates), entailment/bbds.tsv, bless.tsv, bbds_direction.txt and bless_direction.txt; a
        missing file's part is left out.
    context_vectors : array, optional
        Output vectors of a skip-gram (gensim's ``model.syn1neg``), for the rankers that look context words
        up there.
    resamples : int
        Of the bootstrap; 0 makes no intervals and takes well under a second.
    seed : int
        Of the bootstrap.
    substitution : sequence of str
        Parts of the lexical substitution data to run.

    Examples
    --------
    >>> import tempfile, types, numpy as np
    >>> from pathlib import Path
    >>> wv = types.SimpleNamespace(
    ...     key_to_index={"cat": 0, "dog": 1, "tax": 2}, vectors=np.array([[2.0, 0], [2, 1], [0, 1]])
    ... )
    >>> with tempfile.TemporaryDirectory() as place:
    ...     Path(place, "word-sim").mkdir()
    ...     _ = Path(place, "word-sim", "EN-MC-30.txt").write_text("cat dog 9\ncat tax 1\ndog tax 2\n")
    ...     report = evaluate_all(wv, place)
    >>> report["SUM"]
    1.0
    """
    lexicon = Lexicon(wv, context_vectors)
    bootstrap = Bootstrap(resamples, seed=seed)
    root = os.fspath(data_dir)
    if not os.path.isdir(root):
        raise FileNotFoundError(f"{root}: no such directory of benchmarks")
    sentences = {name: os.path.join(root, "lexsub", f"{name}.preprocessed") for name in substitution}
    pairs = {name: os.path.join(root, "entailment", f"{name}.tsv") for name in ENTAILMENT}
    directed = {name: os.path.join(root, "entailment", f"{name}_direction.txt") for name in ENTAILMENT}
    similarity_dir = os.path.join(root, "word-sim")
    has_both = lexicon.log_variances is not None and lexicon.counts() is not None
    report = Report(
        word_similarities(lexicon, similarity_dir, bootstrap=bootstrap)
        if os.path.isdir(similarity_dir)
        else None,
        {
            name: lexical_substitution(lexicon, path, bootstrap=bootstrap)
            for name, path in sentences.items()
            if os.path.exists(path)
        },
        {
            name: entailment(lexicon, path, bootstrap=bootstrap)
            for name, path in pairs.items()
            if os.path.exists(path)
        },
        {
            name: direction(lexicon, path, bootstrap=bootstrap)
            for name, path in directed.items()
            if os.path.exists(path)
        },
        generality_frequency(lexicon) if has_both else None,
    )
    if report.similarity is None and not (report.substitution or report.entailment or report.direction):
        raise FileNotFoundError(f"{root}: none of word-sim/, lexsub/ and entailment/ holds a benchmark")
    return report
