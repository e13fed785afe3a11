"""Lexical substitution: rank candidates for a word in its sentence, by generalised average precision."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from densvec.evaluation.lexicon import FloatArray, Lexicon
from densvec.evaluation.rankers import RANKERS, Targets, scores_of, usable_rankers
from densvec.evaluation.reading import BenchmarkFileError, Line, PathLike, benchmark_name, read_lines
from densvec.evaluation.results import Result, Row, share
from densvec.statistics.bootstrap import Bootstrap, Estimate, weighted_mean

__all__ = [
    "Instance",
    "SubstitutionResult",
    "gap",
    "lexical_substitution",
    "read_candidates",
    "read_gold",
    "read_instances",
]

_ENCODING = "latin-1"  # SemEval's text holds bytes that are not UTF-8


@dataclass(frozen=True)
class Instance:
    """One target word in its sentence, with the substitutes that annotators gave (and how many gave each)."""

    target: str  # lemma.pos
    number: str
    position: int
    tokens: tuple[str, ...]
    gold: dict[str, float]

    @property
    def lemma(self) -> str:
        """The target's lemma."""
        return self.target.split(".")[0]


@dataclass(frozen=True)
class SubstitutionResult(Result):
    """Mean GAP on one benchmark by ranker; `ranked` of the instances could be ranked, the others count 0."""

    name: str
    gap: dict[str, Estimate]
    instances: int
    ranked: int
    skipped: int  # instances without gold substitutes, not counted

    @property
    def coverage(self) -> float:
        """Share of the instances that could be ranked."""
        return share(self.ranked, self.instances)

    def rows(self) -> list[Row]:
        """One line for each ranker."""
        return [
            {
                "benchmark": self.name,
                "ranker": ranker,
                "gap": gap,
                "ranked": self.ranked,
                "instances": self.instances,
            }
            for ranker, gap in self.gap.items()
        ]


def gap(ranking: Iterable[str], gold: Mapping[str, float]) -> float:
    """Generalised average precision of a ranking, best first, against gold weights.

    With x_i the gold weight of the candidate at rank i (0 if none) and y the gold weights in descending
    order, GAP is Σ_i [x_i > 0]·mean(x_1..x_i) / Σ_i mean(y_1..y_i).

    Examples
    --------
    >>> gap(["clever", "shiny", "smart"], {"clever": 3, "smart": 1})
    0.866...
    """
    weights = np.array([[gold.get(word, 0.0) for word in ranking]])
    return float(_gaps(weights, np.array([_ideal(gold.values())]))[0])


def _ideal(weights: Iterable[float]) -> float:
    """Denominator of GAP: what the best ranking of the gold substitutes gets."""
    descending = sorted(weights, reverse=True)
    if not descending or descending[-1] <= 0:
        raise ValueError(f"GAP needs gold weights above 0, got {descending}")
    return float(np.sum(np.cumsum(descending) / np.arange(1, len(descending) + 1)))


def _gaps(ranked_weights: FloatArray, ideals: FloatArray) -> FloatArray:
    """GAP of each row of gold weights in ranked order (rows may end in zeros)."""
    means = np.cumsum(ranked_weights, axis=1) / np.arange(1, ranked_weights.shape[1] + 1)
    result: FloatArray = np.sum(means, axis=1, where=ranked_weights > 0) / ideals
    return result


def read_gold(path: PathLike) -> dict[tuple[str, str], dict[str, float]]:
    """Read ``bright.a 1 :: intelligent 3;clever 3;`` lines into {(target, number): {substitute: weight}}."""
    gold: dict[tuple[str, str], dict[str, float]] = {}
    for line in read_lines(path, encoding=_ENCODING):
        head, separator, tail = line.text.partition("::")
        key = head.rsplit(maxsplit=1)  # a lemma may be two words
        if not separator or len(key) != 2:
            line.fail("expected 'lemma.pos id :: substitute weight;…'")
        weights: dict[str, float] = {}
        for item in filter(str.strip, tail.split(";")):
            substitute, _, weight = item.strip().rpartition(" ")
            if not substitute or not _is_positive(weight):
                line.fail(f"expected 'substitute weight' with a weight above 0, found {item.strip()!r}")
            word = substitute.strip().lower()
            weights[word] = weights.get(word, 0.0) + float(weight)
        gold[key[0].strip(), key[1]] = weights
    return gold


def _is_positive(text: str) -> bool:
    try:
        return 0 < float(text) < float("inf")
    except ValueError:
        return False


def read_candidates(path: PathLike) -> dict[str, list[str]]:
    """Read ``scrap.n::album;piece;…`` lines into {target: substitutes, each once, lower-cased}."""
    candidates: dict[str, list[str]] = {}
    for line in read_lines(path, encoding=_ENCODING):
        target, separator, tail = line.text.partition("::")
        if not separator or not target.strip():
            line.fail("expected 'lemma.pos::substitute;substitute;…'")
        words = (word.strip().lower() for word in tail.split(";"))
        candidates[target.strip()] = list(dict.fromkeys(word for word in words if word))
    if not candidates:
        raise BenchmarkFileError(f"{os.fspath(path)}: no candidates in the file")
    return candidates


def read_instances(path: PathLike, gold: Mapping[tuple[str, str], dict[str, float]]) -> list[Instance]:
    """Read ``lemma.pos⇥id⇥index⇥tokens`` lines; an instance that is not in the gold file has no gold."""
    instances = []
    for line in read_lines(path, encoding=_ENCODING):
        fields = line.text.split("\t")
        if len(fields) != 4:
            line.fail(
                f"expected 4 fields separated by tabs (lemma.pos, id, index of the target, tokens), "
                f"found {len(fields)}"
            )
        target, number, position, text = fields
        tokens = tuple(text.split(" "))
        instances.append(
            Instance(
                target, number, _position(line, position, tokens), tokens, gold.get((target, number), {})
            )
        )
    if not instances:
        raise BenchmarkFileError(f"{os.fspath(path)}: no instances in the file")
    return instances


def _position(line: Line, text: str, tokens: Sequence[str]) -> int:
    try:
        position = int(text)
    except ValueError:
        line.fail(f"the index of the target {text!r} is not a whole number")
    if not 0 <= position < len(tokens):
        line.fail(f"the index of the target {position} is outside the sentence of {len(tokens)} tokens")
    return position


def _is_one_word(text: str) -> bool:
    return " " not in text and "-" not in text


def lexical_substitution(
    wv: Any,
    path: PathLike,
    *,
    gold: PathLike | None = None,
    candidates: PathLike | None = None,
    rankers: Sequence[str] | None = None,
    context_vectors: Any = None,
    window: int = 5,
    bootstrap: Bootstrap | None = None,
) -> SubstitutionResult:
    r"""Rank each target's candidates in its sentence and take the mean GAP over the instances.

    Substitutes of several words, or with a hyphen, are removed from gold and ranking. An instance without
    gold is skipped; one that cannot be ranked (target or all candidates unknown) counts 0; unknown gold
    substitutes stay in the denominator.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, or a model of either
        What to evaluate; see `Lexicon`.
    path : str or path
        Sentences: ``lst_all.preprocessed``.
    gold, candidates : str or path, optional
        By default ``lst_all.gold`` and ``lst.gold.candidates`` beside the sentences: the name of the sentences,
        and its part before the underscore.
    rankers : sequence of str, optional
        Of ``encoder`` (as `KeyedDensities.substitutes` ranks), ``posterior`` (−KL[q(z|c,w) ‖ p(z|s)], as the paper
        does), ``add`` and ``mult`` (Melamud et al. 2015, context words from the input vectors), ``add_output`` and
        ``mult_output`` (context words from `context_vectors`), ``out_of_context`` (cosine with the target), ``prior``
        (−KL[p(z|w) ‖ p(z|s)]) and ``random``. By default all that the model can do.
    context_vectors : array, optional
        Output vectors of a skip-gram, one row for each word; by default the model's own, if it has any.
    window : int
        Words of context on each side of the target. An encoder that defines what it reads itself
        (`densvec.reading.Reading`) keeps to that.
    bootstrap : Bootstrap, optional
        How to make the intervals.

    Examples
    --------
    >>> import tempfile, types, numpy as np
    >>> from pathlib import Path
    >>> words = {"bright": (1, 1), "lamp": (1, 0), "pupil": (0, 1), "shiny": (1.0, 0.2), "clever": (0.2, 1.0)}
    >>> wv = types.SimpleNamespace(
    ...     key_to_index={word: row for row, word in enumerate(words)}, vectors=np.array(list(words.values()))
    ... )
    >>> with tempfile.TemporaryDirectory() as place:
    ...     sentences = Path(place, "lst_all.preprocessed")
    ...     _ = sentences.write_text("bright.a\t1\t1\ta bright lamp\nbright.a\t2\t1\ta bright pupil\n")
    ...     _ = Path(place, "lst_all.gold").write_text("bright.a 1 :: shiny 3;\nbright.a 2 :: clever 2;\n")
    ...     _ = Path(place, "lst.gold.candidates").write_text("bright.a::shiny;clever\n")
    ...     result = lexical_substitution(
    ...         wv, sentences, rankers=["add", "out_of_context"], bootstrap=Bootstrap(0)
    ...     )
    >>> print(result)
    benchmark  ranker            gap  ranked  instances
    lst_all    add             1.000       2          2
    lst_all    out_of_context  0.750       2          2
    """
    lexicon = wv if isinstance(wv, Lexicon) else Lexicon(wv, context_vectors)
    usable = usable_rankers(lexicon)
    for name in rankers or ():
        if name not in usable:
            known = f"it can do {', '.join(usable)}" if name in RANKERS else f"there are {', '.join(RANKERS)}"
            raise ValueError(f"this model cannot use the ranker {name!r}; {known}")
    sentences = os.fspath(path)
    gold = gold or f"{sentences.removesuffix('.preprocessed')}.gold"
    candidates = candidates or _candidates_beside(sentences)
    instances = read_instances(sentences, read_gold(gold))
    problem = _Problem.build(lexicon, instances, read_candidates(candidates), os.fspath(candidates), window)
    gaps = {name: problem.gaps(scores_of(name, lexicon, problem.windows)) for name in rankers or usable}
    columns = np.array(list(gaps.values())).reshape(len(gaps), problem.size).T
    estimates = (bootstrap or Bootstrap()).estimate(weighted_mean(columns), problem.numbers)
    return SubstitutionResult(
        benchmark_name(path),
        dict(zip(gaps, estimates, strict=True)),
        problem.size,
        int(np.count_nonzero(problem.rankable)),
        len(instances) - problem.size,
    )


@dataclass(frozen=True)
class _Problem:
    """All instances with gold, as arrays: windows to score, and the gold weights of their candidates."""

    windows: Targets
    weights: FloatArray  # (rows of windows.candidates,) gold weight of each candidate
    ideals: FloatArray  # (instances,)
    rankable: npt.NDArray[np.bool_]  # (instances,) which of them are in windows, in order
    numbers: npt.NDArray[np.intp]  # (instances,) place in the file

    @property
    def size(self) -> int:
        return len(self.ideals)

    @classmethod
    def build(
        cls,
        lexicon: Lexicon,
        instances: Sequence[Instance],
        candidates: Mapping[str, list[str]],
        candidates_file: str,
        window: int,
    ) -> _Problem:
        if window < 0:
            raise ValueError(f"window={window} must not be negative")
        centres: list[int] = []
        contexts: list[list[int]] = []
        sentences: list[tuple[list[int], list[int]]] = []
        rows: list[list[int]] = []
        weights: list[float] = []
        ideals: list[float] = []
        rankable: list[bool] = []
        numbers: list[int] = []
        for number, instance in enumerate(instances):
            gold = {word: weight for word, weight in instance.gold.items() if _is_one_word(word)}
            if not gold:
                continue
            ideals.append(_ideal(gold.values()))
            numbers.append(number)
            centre = _first_known(lexicon, instance.tokens[instance.position], instance.lemma)
            known = [
                (row, word)
                for word in _candidates_of(instance, candidates, candidates_file)
                if _is_one_word(word) and (row := lexicon.index(word)) >= 0
            ]
            rankable.append(centre >= 0 and bool(known))
            if not rankable[-1]:
                continue
            before, after = instance.tokens[: instance.position], instance.tokens[instance.position + 1 :]
            left, right = before[max(0, len(before) - window) :], after[:window]
            centres.append(centre)
            contexts.append(_known(lexicon, (*left, *right)))
            sentences.append((_known(lexicon, before), _known(lexicon, after)))
            rows.append([row for row, _ in known])
            weights.extend(gold.get(word, 0.0) for _, word in known)
        return cls(
            Targets.build(centres, contexts, rows, sentences),
            np.array(weights),
            np.array(ideals),
            np.array(rankable, dtype=bool),
            np.array(numbers, dtype=np.intp),
        )

    def gaps(self, scores: FloatArray) -> FloatArray:
        """GAP of every instance when the candidates of each window are ranked by falling score."""
        result = np.zeros(self.size)
        if len(scores):
            offsets = self.windows.candidate_offsets
            lengths = np.diff(offsets)
            order = np.lexsort(
                (-scores, np.repeat(np.arange(len(lengths)), lengths))
            )  # window by window; stable
            padded = np.zeros((len(lengths), lengths.max()))
            padded[np.arange(lengths.max()) < lengths[:, None]] = self.weights[order]
            result[self.rankable] = _gaps(padded, self.ideals[self.rankable])
        return result


def _known(lexicon: Lexicon, words: Sequence[str]) -> list[int]:
    return [row for word in words if (row := lexicon.index(word)) >= 0]


def _first_known(lexicon: Lexicon, *words: str) -> int:
    return next((row for word in words if (row := lexicon.index(word)) >= 0), -1)


def _candidates_beside(sentences: str) -> str:
    """Return the file of candidates for sentences: ``lst.gold.candidates`` for ``lst_all.preprocessed``."""
    directory, name = os.path.split(sentences)
    return os.path.join(directory, f"{name.removesuffix('.preprocessed').split('_')[0]}.gold.candidates")


def _candidates_of(instance: Instance, candidates: Mapping[str, list[str]], file: str) -> list[str]:
    """Candidates of the target; ``bar.n.v`` (a verb tagged as a noun) has those of ``bar.n``."""
    key = instance.target if instance.target in candidates else ".".join(instance.target.split(".")[:2])
    if key not in candidates:
        raise BenchmarkFileError(
            f"{file}: no candidates for {instance.target!r}, which instance {instance.number} needs"
        )
    return candidates[key]
