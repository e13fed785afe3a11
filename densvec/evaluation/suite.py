"""The whole suite in one call, on a directory with word-sim/, lexsub/, entailment/ and context/, and a text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from densvec.evaluation.context import (
    ContextualChangeResult,
    ContextualSimilarityResult,
    contextual_change,
    contextual_similarity,
)
from densvec.evaluation.context_files import ContextFiles
from densvec.evaluation.dispersion import CONTEXT_WORDS, DispersionResult, explained_dispersion
from densvec.evaluation.entailment import DirectionResult, EntailmentResult, direction, entailment
from densvec.evaluation.entropy import EntropyResult, entropy_in_context
from densvec.evaluation.generality import GeneralityResult, generality_frequency
from densvec.evaluation.graded import GradedEntailmentResult, graded_entailment
from densvec.evaluation.lexicon import Lexicon
from densvec.evaluation.merged import SenseInductionResult, sense_induction
from densvec.evaluation.occurrences import Reader
from densvec.evaluation.reading import PathLike
from densvec.evaluation.results import Result, Row, plain
from densvec.evaluation.sampling import Corpus
from densvec.evaluation.similarity import SimilarityTable, word_similarities
from densvec.evaluation.substitution import SubstitutionResult, lexical_substitution
from densvec.evaluation.word_in_context import WordInContextResult, word_in_context
from densvec.statistics.bootstrap import DEFAULT_RESAMPLES, Bootstrap, Estimate, difference

__all__ = ["ENTAILMENT", "GRADED", "Comparison", "Report", "evaluate_all"]

ENTAILMENT = ("bbds", "bless")
GRADED = ("hyperlex",)


@dataclass(frozen=True)
class Report(Result):
    """Everything that the suite measured; a part without files, or beyond the model, is empty or None."""

    similarity: SimilarityTable | None
    substitution: dict[str, SubstitutionResult]
    entailment: dict[str, EntailmentResult]
    direction: dict[str, DirectionResult]
    generality: GeneralityResult | None
    contextual_similarity: dict[str, ContextualSimilarityResult] = field(default_factory=dict)
    contextual_change: dict[str, ContextualChangeResult] = field(default_factory=dict)
    word_in_context: dict[str, WordInContextResult] = field(default_factory=dict)
    sense_induction: SenseInductionResult | None = None
    entropy: EntropyResult | None = None
    dispersion: DispersionResult | None = None
    graded_entailment: dict[str, GradedEntailmentResult] = field(default_factory=dict)

    def figures(self) -> dict[str, Estimate]:
        """The headline figures by name: SUM, BIG5, GAP, F1, direction, generality, and those in context."""
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
        for name, graded in self.graded_entailment.items():
            found |= {f"rho {name} {measure}": rho for measure, rho in graded.rho.items()}
        if self.generality is not None:
            found["generality~frequency"] = self.generality.pearson
        return found | dict(self._in_context()) | dict(self._on_text())

    def _in_context(self) -> Iterator[tuple[str, Estimate]]:
        """Yield the figures of benchmarks of words in context."""
        for name, rated in self.contextual_similarity.items():
            for which, rho in rated.spearman.items():
                yield " ".join(["rho in context", name, *which]), rho
        for name, changed in self.contextual_change.items():
            for which, score in changed.scores.items():
                yield " ".join(["change in context", name, *which]), score.change
                yield " ".join(["similarity in context", name, *which]), score.harmonic_mean
        for name, told in self.word_in_context.items():
            for which, accuracy in told.scores.items():
                best = accuracy.development if accuracy.test is None else accuracy.test
                yield " ".join(["word in context", name, *which]), best

    def _on_text(self) -> Iterator[tuple[str, Estimate]]:
        """Yield the figures of evaluations on text."""
        if self.sense_induction is not None:
            for method, ari in self.sense_induction.ari.items():
                yield f"ARI of merged words {method}", ari
        if self.entropy is not None:
            yield "less entropy in context", self.entropy.narrowed
            for count, change in self.entropy.change.items():
                yield f"change of entropy by {count}", change
        if self.dispersion is not None:
            for count, ratio in self.dispersion.ratio.items():
                yield f"dispersion left by {count}", ratio

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
        for each in fields(self):
            part = getattr(self, each.name)
            if isinstance(part, Result):
                parts[each.name] = part.to_dict()["rows"]
            elif part is not None:
                parts[each.name] = [row for result in part.values() for row in result.to_dict()["rows"]]
        return {"figures": plain(self.figures()), **parts}

    def minus(self, other: Report) -> Comparison:
        """Compare with another model's report, figure by figure, by the paired bootstrap."""
        mine, theirs = self.figures(), other.figures()
        differences = {name: difference(mine[name], theirs[name]) for name in mine if name in theirs}
        return Comparison({name: (mine[name], theirs[name], gained) for name, gained in differences.items()})


@dataclass(frozen=True)
class Comparison(Result):
    """Two models' figures and the differences; a difference whose interval contains 0 is not evidence."""

    figures: dict[str, tuple[Estimate, Estimate, Estimate]]

    def rows(self) -> list[Row]:
        """One line for each figure that both have."""
        return [
            {"figure": name, "first": a.value, "second": b.value, "difference": gained}
            for name, (a, b, gained) in self.figures.items()
        ]


def evaluate_all(
    wv: Any,
    data_dir: PathLike | None = None,
    context_vectors: Any = None,
    *,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
    substitution: Sequence[str] | None = None,
    corpus: Corpus | None = None,
    metrics: Sequence[str] = ("cosine",),
    sample: float | None = None,
) -> Report:
    r"""Run every benchmark in the directory, and those that only need text.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, a model of either, or a plain object
        See `densvec.evaluation.Lexicon` for what is used of it.
    data_dir : str or path, optional
        Contains word-sim/EN-MC-30.txt and others, lexsub/lst_all.preprocessed (with lst_all.gold and
        lst.gold.candidates) and others, entailment/bbds.tsv, bless.tsv, bbds_direction.txt and bless_direction.txt,
        and context/ with files in the formats of SCWS, CoSimLex and WiC under any name; a missing file's part is
        left out.
    context_vectors : array, optional
        Output vectors of a skip-gram (gensim's ``model.syn1neg``), for the rankers that look context words
        up there.
    resamples : int
        Resamples of the bootstrap; 0 makes no intervals and takes well under a second.
    seed : int
        Seeds the bootstrap, and what is drawn from `corpus`.
    substitution : sequence of str, optional
        Sets of lexical substitution to run, such as "lst_all"; by default all in lexsub/, except for
        lst_test, which is part of lst_all.
    corpus : path or iterable of token lists, optional
        A text, one sentence per line, for merged words, entropy in context and explained dispersion. It is
        read four times.
    metrics : sequence of str
        By which words in context are compared; see `contextual_similarity`.
    sample : float, optional
        The threshold for thinning frequent words; by default the model's own, or 1e-4.

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
    sample = Reader(wv, sample).sample
    if data_dir is None and corpus is None:
        raise TypeError("give data_dir, a directory of benchmarks, or corpus, a text, or both")
    if isinstance(corpus, Iterator):
        raise TypeError(
            "the corpus is read several times, and a generator can only be read once; pass a list, a path or an "
            "iterable such as LineSentence"
        )
    parts: dict[str, Any] = {}
    if corpus is not None:
        parts = _on_text(lexicon, corpus, bootstrap, sample)
    if data_dir is None:
        return Report(None, {}, {}, {}, None, **parts)
    root = os.fspath(data_dir)
    if not os.path.isdir(root):
        raise FileNotFoundError(f"{root}: no such directory of benchmarks")
    if substitution is None:
        substitution = _substitution_sets(os.path.join(root, "lexsub"))
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
        graded_entailment={
            name: graded_entailment(lexicon, path, bootstrap=bootstrap)
            for name in GRADED
            if os.path.exists(path := os.path.join(root, "entailment", f"{name}.txt"))
        },
        **_in_texts(lexicon, os.path.join(root, "context"), bootstrap, metrics, sample),
        **parts,
    )
    if not report.figures().keys() - {"generality~frequency"}:
        raise FileNotFoundError(
            f"{root}: none of word-sim/, lexsub/, entailment/ and context/ contains a benchmark"
        )
    return report


def _substitution_sets(directory: str) -> list[str]:
    """Return the sets of lexical substitution in a directory; one that is part of another is left out."""
    names = {
        path.stem for path in Path(directory).glob("*.preprocessed") if path.with_suffix(".gold").exists()
    }
    return sorted(names - {"lst_test"} if "lst_all" in names else names)


def _in_texts(
    lexicon: Lexicon, directory: str, bootstrap: Bootstrap, metrics: Sequence[str], sample: float
) -> dict[str, Any]:
    """Run the benchmarks of words in context in a directory."""
    files = ContextFiles.find(directory)
    options: dict[str, Any] = {"metrics": metrics, "sample": sample, "bootstrap": bootstrap}
    return {
        "contextual_similarity": {
            name: contextual_similarity(lexicon, path, **options) for name, path in files.similarity.items()
        },
        "contextual_change": {
            name: contextual_change(lexicon, *paths, **options) for name, paths in files.change.items()
        },
        "word_in_context": {
            name: word_in_context(lexicon, *paths, **options) for name, paths in files.word_in_context.items()
        },
    }


def _on_text(lexicon: Lexicon, corpus: Corpus, bootstrap: Bootstrap, sample: float) -> dict[str, Any]:
    """Run those evaluations that only need text and that the model can do."""
    reader = Reader(lexicon, sample)
    options: dict[str, Any] = {"sample": sample, "seed": bootstrap.seed, "bootstrap": bootstrap}
    found: dict[str, Any] = {}
    if lexicon.counts() is not None:
        found["sense_induction"] = sense_induction(lexicon, corpus, **options)
    if reader.can_infer and reader.has_densities:
        found["entropy"] = entropy_in_context(lexicon, corpus, **options)
        numbers = [count for count in CONTEXT_WORDS if count < 2 * reader.window]
        found["dispersion"] = explained_dispersion(lexicon, corpus, context_words=numbers, **options)
    return found
