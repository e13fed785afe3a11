"""Analogies: a is to b as c is to which word (word2vec's questions-words)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from densvec.evaluation.baselines import Means
from densvec.evaluation.reading import PathLike, read_lines, some
from densvec.evaluation.task import Method, Task
from densvec.statistics.weighted import Statistic, mean
from densvec.types import Floats

__all__ = ["Analogy", "read_analogies", "word_analogies"]

_VOCABULARY = 300_000
"""Only this many words, the most frequent, are asked for and answered with."""
_TOGETHER = 256


class Analogy(NamedTuple):
    """Four words, of which the fourth is to the third as the second is to the first, and a kind of question."""

    a: str
    b: str
    c: str
    d: str
    section: str


def read_analogies(path: PathLike) -> list[Analogy]:
    """Read ``: section`` lines, each followed by lines of four words."""
    found, section = [], None
    for line in read_lines(path):
        if line.text.startswith(":"):
            section = line.text[1:].strip()
            continue
        if section is None:
            line.fail("expected a section header, ': name', before the first question")
        words = line.text.split()
        if len(words) != 4:
            line.fail(f"expected four words, found {len(words)}")
        a, b, c, d = words
        found.append(Analogy(a, b, c, d, section))
    return some(found, path, "questions")


def _by_sum(a: Floats, b: Floats, c: Floats, units: Floats) -> Floats:
    scores: Floats = (b - a + c) @ units.T
    return scores


def _by_product(a: Floats, b: Floats, c: Floats, units: Floats) -> Floats:
    """Levy and Goldberg (2014): cosines are moved to [0, 1], so that products and quotients make sense."""
    of_a, of_b, of_c = ((1 + vectors @ units.T) / 2 for vectors in (a, b, c))
    scores: Floats = of_b * of_c / (of_a + 1e-6)
    return scores


def _baselines(means: Means) -> Mapping[str, Method[Analogy]]:
    units = means.units[:_VOCABULARY]

    def answered(scores_of: Callable[[Floats, Floats, Floats, Floats], Floats]) -> Method[Analogy]:
        def answer(questions: Sequence[Analogy]) -> list[Any]:
            rows = means.rows(word for each in questions for word in each[:4]).reshape(-1, 4)
            known = np.flatnonzero(((rows >= 0) & (rows < len(units))).all(axis=1))
            found: list[Any] = [None] * len(questions)
            for start in range(0, len(known), _TOGETHER):
                places = known[start : start + _TOGETHER]
                asked = rows[places, :3]
                scores = scores_of(units[asked[:, 0]], units[asked[:, 1]], units[asked[:, 2]], units)
                np.put_along_axis(scores, asked, -np.inf, axis=1)
                for place, best in zip(places, scores.argmax(axis=1), strict=True):
                    found[place] = means.wv.index_to_key[best]
            return found

        return answer

    return {"3CosAdd": answered(_by_sum), "3CosMul": answered(_by_product)}


def _score(questions: Sequence[Analogy], answers: Sequence[str]) -> Mapping[str, Statistic]:
    right = [answer.lower() == each.d.lower() for each, answer in zip(questions, answers, strict=True)]
    sections = np.array([each.section for each in questions])
    measures = {"accuracy": mean(right)}
    if len(set(sections)) > 1:
        measures |= {section: mean(right, sections == section) for section in dict.fromkeys(sections)}
    return measures


word_analogies = Task("analogies", read_analogies, _baselines, _score)
"""a is to b as c is to …: the share of questions whose words are all known that the nearest word answers which is none
of the three, in all and in each section. An answer is a word."""
