"""Word in context: whether a word means the same in two sentences (WiC)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from densvec.evaluation.context import similarities_in_context
from densvec.evaluation.lexicon import BoolArray, FloatArray, IntArray
from densvec.evaluation.occurrences import Occurrence, Reader, Tokenizer, check_metrics, tokenize
from densvec.evaluation.reading import BenchmarkFileError, Line, PathLike, benchmark_name, read_lines
from densvec.evaluation.results import Result, Row
from densvec.statistics.bootstrap import Bootstrap, Estimate, weighted_mean

__all__ = [
    "WordInContext",
    "WordInContextResult",
    "WordInContextScore",
    "best_threshold",
    "gold_beside",
    "read_words_in_context",
    "word_in_context",
]


@dataclass(frozen=True)
class WordInContext:
    """A word in two sentences, and whether it means the same in both."""

    lemma: str
    sentences: tuple[tuple[str, ...], tuple[str, ...]]
    positions: tuple[int, int]
    same: bool


@dataclass(frozen=True)
class WordInContextScore:
    """How well one reading of the sentences tells equal meanings from different ones.

    Attributes
    ----------
    threshold : float
        From this similarity on, the meaning is taken to be the same; chosen for the best accuracy on the
        development part.
    development : Estimate
        Accuracy on that part, for which the threshold was chosen: too optimistic.
    test : Estimate or None
        Accuracy on the test part, by the same threshold.
    """

    threshold: float
    development: Estimate
    test: Estimate | None


@dataclass(frozen=True)
class WordInContextResult(Result):
    """Accuracies by reading (``encoder``, ``average``, ``out_of_context``) and metric.

    `items` and `known` are numbers of instances, all and with known words, of the development part and of the
    test part.
    """

    name: str
    scores: dict[tuple[str, str], WordInContextScore]
    items: tuple[int, int]
    known: tuple[int, int]

    def rows(self) -> list[Row]:
        """One line for each reading and metric."""
        with_test = (
            {} if not self.items[1] else {"known (test)": self.known[1], "items (test)": self.items[1]}
        )
        return [
            {
                "benchmark": self.name,
                "reading": reading,
                "metric": metric,
                "accuracy (dev)": score.development,
                **({} if score.test is None else {"accuracy (test)": score.test}),
                "threshold": score.threshold,
                "known (dev)": self.known[0],
                "items (dev)": self.items[0],
                **with_test,
            }
            for (reading, metric), score in self.scores.items()
        ]


def read_words_in_context(
    path: PathLike, gold: PathLike | None = None, tokenizer: Tokenizer = tokenize
) -> list[WordInContext]:
    """Read WiC's format: ``dev.data.txt``, and the answers in ``dev.gold.txt`` beside it.

    A line is the lemma, its part of speech, the places of the word in the two sentences (``3-7``, counted from
    0 over words separated by spaces) and the sentences, separated by tabs; an answer is T or F.
    """
    lines = list(read_lines(path))
    answers = list(read_lines(gold or gold_beside(path)))
    if len(lines) != len(answers):
        raise BenchmarkFileError(
            f"{os.fspath(path)} has {len(lines)} lines and {os.fspath(gold or gold_beside(path))} "
            f"{len(answers)}; every line needs an answer"
        )
    if not lines:
        raise BenchmarkFileError(f"{os.fspath(path)}: no words in the file")
    return [_instance(line, answer, tokenizer) for line, answer in zip(lines, answers, strict=True)]


def gold_beside(path: PathLike) -> str:
    """Return where the answers are: ``dev.gold.txt`` for ``dev.data.txt``."""
    directory, name = os.path.split(os.fspath(path))
    if ".data" not in name:
        raise ValueError(
            f"{os.fspath(path)}: the name has no '.data' to replace by '.gold'; give the gold file"
        )
    return os.path.join(directory, ".gold".join(name.rsplit(".data", 1)))


def _instance(line: Line, answer: Line, tokenizer: Tokenizer) -> WordInContext:
    fields = line.text.split("\t")
    if len(fields) != 5:
        line.fail(
            "expected word, part of speech, places, sentence, sentence, separated by tabs, found "
            f"{len(fields)} fields"
        )
    labels = {"t": True, "true": True, "f": False, "false": False}
    label = answer.text.strip().lower()
    if label not in labels:
        answer.fail("expected T or F")
    try:
        first, second = (int(place) for place in fields[2].split("-"))
    except ValueError:
        line.fail(f"the places {fields[2]!r} are not two whole numbers, such as 3-7")
    (a, i), (b, j) = (
        _placed(line, text, place, tokenizer) for text, place in ((fields[3], first), (fields[4], second))
    )
    return WordInContext(fields[0].strip(), (a, b), (i, j), labels[label])


def _placed(line: Line, text: str, place: int, tokenizer: Tokenizer) -> tuple[tuple[str, ...], int]:
    """Return the tokens of a sentence and the place of a word among them, given that among written words."""
    written = text.split()
    if not 0 <= place < len(written):
        line.fail(f"the place {place} is outside the sentence, which has {len(written)} words")
    before = tokenizer(" ".join(written[:place]))
    word = tokenizer(written[place]) or [written[place].lower()]
    return (*before, *word, *tokenizer(" ".join(written[place + 1 :]))), len(before)


def word_in_context(
    wv: Any,
    development: PathLike,
    test: PathLike | None = None,
    *,
    metrics: Sequence[str] = ("cosine",),
    sample: float | None = None,
    tokenizer: Tokenizer = tokenize,
    bootstrap: Bootstrap | None = None,
) -> WordInContextResult:
    r"""Tell whether a word means the same in two sentences, on files in WiC's format.

    It does if the similarity of the word in the one sentence and in the other reaches a threshold, the one with
    the best accuracy on the development part; that accuracy is too optimistic, the one on the test part is not. Words
    are read as in `contextual_similarity`; instances whose word is unknown are left out.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, or a model of either
        What to evaluate; see `Lexicon`.
    development, test : str or path
        Lines of word, part of speech, places of the word in the two sentences (``3-7``), sentence, sentence,
        separated by tabs: ``dev.data.txt``. The answers, T or F, are in ``dev.gold.txt`` beside it.
    metrics, sample, tokenizer, bootstrap
        As in `contextual_similarity`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as place:
    ...     for part in ("dev", "test"):
    ...         _ = Path(place, f"{part}.gold.txt").write_text("T\nF\n")
    ...         _ = Path(place, f"{part}.data.txt").write_text(
    ...             "dog\tN\t0-1\tdog animal\tanimal dog\n" "dog\tN\t0-1\tdog cat\tcar dog\n"
    ...         )
    ...     dev, test = Path(place, "dev.data.txt"), Path(place, "test.data.txt")
    ...     result = word_in_context(wv, dev, test, sample=0, bootstrap=Bootstrap(0))
    >>> float(result.scores["encoder", "cosine"].test)
    1.0
    >>> float(result.scores["out_of_context", "cosine"].test)
    0.5
    """
    metrics = check_metrics(metrics)
    reader = Reader(wv, sample)
    bootstrap = bootstrap or Bootstrap()
    parts = [_Part.read(reader, path, metrics, tokenizer) for path in (development, test) if path is not None]
    scores = {}
    for which, similarity in parts[0].scores.items():
        threshold = best_threshold(similarity, parts[0].same)
        accuracies = [part.accuracy(which, threshold, bootstrap) for part in parts]
        scores[which] = WordInContextScore(
            threshold, accuracies[0], accuracies[1] if test is not None else None
        )
    sizes = [part.size for part in parts] + [0]
    known = [len(part.known) for part in parts] + [0]
    return WordInContextResult(
        benchmark_name(development), scores, (sizes[0], sizes[1]), (known[0], known[1])
    )


@dataclass(frozen=True)
class _Part:
    """One part of a benchmark, with the similarities of each word in its two sentences."""

    size: int
    known: IntArray
    same: BoolArray
    scores: dict[tuple[str, str], FloatArray]

    @classmethod
    def read(cls, reader: Reader, path: PathLike, metrics: Sequence[str], tokenizer: Tokenizer) -> _Part:
        items = read_words_in_context(path, tokenizer=tokenizer)
        known: list[int] = []
        sides: tuple[list[Occurrence], list[Occurrence]] = ([], [])
        for number, item in enumerate(items):
            first, second = (
                reader.occurrence(tokens, place, item.lemma)
                for tokens, place in zip(item.sentences, item.positions, strict=True)
            )
            if first is not None and second is not None:
                known.append(number)
                sides[0].append(first)
                sides[1].append(second)
        same = np.array([items[number].same for number in known], dtype=bool)
        scores = similarities_in_context(reader, *sides, metrics)
        return cls(len(items), np.array(known, dtype=np.intp), same, scores)

    def accuracy(self, which: tuple[str, str], threshold: float, bootstrap: Bootstrap) -> Estimate:
        right = (self.scores[which] >= threshold) == self.same
        return bootstrap.estimate(weighted_mean(right.astype(np.float64)[:, None]), self.known)[0]


def best_threshold(scores: FloatArray, same: BoolArray) -> float:
    """Return the threshold at and above which scores are best taken as true: halfway between two of them.

    Where several thresholds are as good, the lowest is returned.

    Examples
    --------
    >>> import numpy as np
    >>> best_threshold(np.array([0.9, 0.75, 0.25]), np.array([True, True, False]))
    0.5
    """
    if not len(scores):
        return float("nan")
    order = np.argsort(scores, kind="stable")
    values, truths = scores[order], same[order]
    # Below the i-th score everything is taken as false, from it on as true.
    right = (
        np.concatenate([[0], np.cumsum(~truths)]) + truths.sum() - np.concatenate([[0], np.cumsum(truths)])
    )
    possible = np.concatenate(
        [[True], values[1:] > values[:-1], [True]]
    )  # equal scores must not be separated
    best = int(np.argmax(np.where(possible, right, -1)))
    if best == 0:
        return float("-inf")
    if best == len(values):
        return float("inf")
    return float((values[best - 1] + values[best]) / 2)
