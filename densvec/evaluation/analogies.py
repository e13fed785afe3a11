"""Analogies: a is to b as c is to which word, by sums of cosines (3CosAdd) or products of them (3CosMul)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from densvec.evaluation.lexicon import BoolArray, FloatArray, IntArray, Lexicon, unit
from densvec.evaluation.reading import BenchmarkFileError, PathLike, read_lines
from densvec.evaluation.results import Result, Row, share
from densvec.statistics.bootstrap import Bootstrap, Estimate, weighted_mean

__all__ = ["METHODS", "AnalogyResult", "AnalogySection", "read_analogies", "word_analogies"]

METHODS = ("add", "mul")
_CELLS_AT_ONCE = 1 << 24  # similarities in memory at a time: 64 MB


@dataclass(frozen=True)
class AnalogySection:
    """One section: its questions, those whose words are all known, and those answered right."""

    name: str
    correct: int
    known: int
    questions: int

    @property
    def accuracy(self) -> float:
        """Share of right answers among the questions whose words are all known."""
        return share(self.correct, self.known)


@dataclass(frozen=True)
class AnalogyResult(Result):
    """Share of right answers to analogy questions whose words are all known."""

    accuracy: Estimate
    sections: tuple[AnalogySection, ...]

    @property
    def coverage(self) -> float:
        """Share of the questions whose words are all known."""
        return share(self._total("known"), self._total("questions"))

    def _total(self, name: str) -> int:
        return sum(getattr(section, name) for section in self.sections)

    def rows(self) -> list[Row]:
        """One line for each section, then all together."""
        totals = (self._total(name) for name in ("correct", "known", "questions"))
        whole = _row(AnalogySection("all", *totals), self.accuracy)
        return [*(_row(section, section.accuracy) for section in self.sections), whole]


def _row(section: AnalogySection, accuracy: Estimate | float) -> Row:
    return {
        "section": section.name,
        "accuracy": accuracy,
        "correct": section.correct,
        "known": section.known,
        "questions": section.questions,
    }


def read_analogies(path: PathLike) -> dict[str, list[tuple[str, str, str, str]]]:
    """Read word2vec's questions-words format: ``: section`` lines, each followed by lines of four words."""
    sections: dict[str, list[tuple[str, str, str, str]]] = {}
    questions: list[tuple[str, str, str, str]] | None = None
    for line in read_lines(path):
        if line.text.startswith(":"):
            questions = sections.setdefault(line.text[1:].strip(), [])
            continue
        if questions is None:
            line.fail("expected a section header, ': name', before the first question")
        words = line.text.split()
        if len(words) != 4:
            line.fail(f"expected four words, found {len(words)}")
        questions.append((words[0], words[1], words[2], words[3]))
    if not any(sections.values()):
        raise BenchmarkFileError(f"{os.fspath(path)}: no questions in the file")
    return sections


def word_analogies(
    wv: Any,
    path: PathLike,
    *,
    method: str = "add",
    restrict_vocab: int | None = 300_000,
    bootstrap: Bootstrap | None = None,
) -> AnalogyResult:
    r"""Answer "a is to b as c is to …" with the nearest word that is none of the three.

    Parameters
    ----------
    wv : KeyedDensities, gensim KeyedVectors, or a model of either
        What to evaluate; see `Lexicon`.
    path : str or path
        File in word2vec's questions-words format. Words are looked up in lower case first, then as they are.
    method : {"add", "mul"}
        3CosAdd, the cosine with b − a + c of unit vectors, or 3CosMul, the product of the cosines with b
        and c over that with a, each shifted to [0, 1] (Levy & Goldberg 2014).
    restrict_vocab : int, optional
        Ask about, and answer with, only this many words of the vocabulary, the first (the most frequent, as
        models sort them).
    bootstrap : Bootstrap, optional
        How to make the interval.

    Examples
    --------
    >>> import tempfile, types, numpy as np
    >>> words = ["man", "woman", "king", "queen", "fish"]
    >>> means = np.array([[1.0, 1, 0], [1, -1, 0], [1, 1, 2], [1, -1, 2], [-1, 0, 0]])
    >>> wv = types.SimpleNamespace(key_to_index={word: i for i, word in enumerate(words)}, vectors=means)
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write(": family\nman woman king queen\nman woman boy girl\n")
    ...     file.flush()
    ...     print(word_analogies(wv, file.name, bootstrap=Bootstrap(0)))
    section  accuracy  correct  known  questions
    family      1.000        1      1          2
    all         1.000        1      1          2
    """
    if method not in METHODS:
        raise ValueError(f"method={method!r} is not one of {', '.join(map(repr, METHODS))}")
    lexicon = Lexicon.of(wv)
    sections = read_analogies(path)
    questions = [question for section in sections.values() for question in section]
    rows = lexicon.indices(word for question in questions for word in question).reshape(-1, 4)
    limit = len(lexicon) if restrict_vocab is None else min(restrict_vocab, len(lexicon))
    known = np.all((rows >= 0) & (rows < limit), axis=1)
    right = np.zeros(len(rows), dtype=bool)
    answers = _answers(unit(lexicon.means[:limit]).astype(np.float32), rows[known], method)
    right[known] = answers == rows[known, 3]
    columns, places = right[known, None].astype(np.float64), np.flatnonzero(known)
    (estimate,) = (bootstrap or Bootstrap()).estimate(weighted_mean(columns), places)
    return AnalogyResult(estimate, tuple(_count(sections, known, right)))


def _count(
    sections: dict[str, list[tuple[str, str, str, str]]], known: BoolArray, right: BoolArray
) -> Iterator[AnalogySection]:
    start = 0
    for name, questions in sections.items():
        part = slice(start, start + len(questions))
        yield AnalogySection(name, int(right[part].sum()), int(known[part].sum()), len(questions))
        start += len(questions)


def _answers(units: FloatArray, questions: IntArray, method: str) -> IntArray:
    """Row of the best answer to each question (a, b, c, …)."""
    answers = np.empty(len(questions), dtype=np.intp)
    block = max(1, _CELLS_AT_ONCE // max(1, len(units)))
    for start in range(0, len(questions), block):
        asked = questions[start : start + block, :3]
        a, b, c = (units[asked[:, i]] for i in range(3))
        if method == "add":
            scores = (b - a + c) @ units.T
        else:
            scores = _shifted(b @ units.T) * _shifted(c @ units.T) / (_shifted(a @ units.T) + 1e-6)
        np.put_along_axis(scores, asked, -np.inf, axis=1)
        answers[start : start + block] = scores.argmax(axis=1)
    return answers


def _shifted(cosines: FloatArray) -> FloatArray:
    """Cosines moved to [0, 1], so that products and quotients of them make sense."""
    return (1 + cosines) / 2
