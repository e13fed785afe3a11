"""Words in context: do two occurrences mean the same (WiC), and how alike do people find them (SCWS)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from densvec.evaluation.baselines import Means, cosines
from densvec.evaluation.reading import Line, read_all, tokenize
from densvec.evaluation.task import Method, Task
from densvec.keyed import KeyedDensities
from densvec.statistics.weighted import Statistic, mean, roc_area, spearman
from densvec.text.concordance import Occurrence
from densvec.types import Booleans, Floats, PathLike

_REACH = 5.0
"""Words of thinned text on either side whose average is added to the word."""

_MARKED = re.compile(r"<b>(.*?)</b>", re.DOTALL)


class PairInContext(NamedTuple):
    """Two words in their sentences, their lemmas, and how alike they are: a rating, or 1 for the same meaning."""

    first: Occurrence
    second: Occurrence
    lemmas: tuple[str, str]
    likeness: float


def read_word_in_context(path: PathLike) -> list[PairInContext]:
    """Read WiC's format: ``train.data.txt``, and the answers, T or F, in ``train.gold.txt`` beside it.

    A line is the lemma, its part of speech, the places of the word in the two sentences (``3-7``, counted from 0 over
    words separated by spaces) and the sentences, separated by tabs.
    """
    lines, answers = read_all(path), read_all(_gold_beside(path))
    if len(lines) != len(answers):
        answers[-1].fail(f"the last of {len(answers)} answers, where {lines[0].path} has {len(lines)} lines")
    pairs = []
    for line, answer in zip(lines, answers, strict=True):
        fields = line.fields("\t", 5, "lemma, part of speech, positions, sentence, sentence")
        if answer.text.strip() not in ("T", "F"):
            answer.fail("expected T or F")
        places = fields[2].split("-")
        if len(places) != 2:
            line.fail(f"expected two positions such as 3-7, found {fields[2]!r}")
        first, second = (
            _occurrence(line, place, text.lower().split(" "))
            for place, text in zip(places, fields[3:5], strict=True)
        )
        same = float(answer.text.strip() == "T")
        pairs.append(PairInContext(first, second, (fields[0], fields[0]), same))
    return pairs


def read_similarity_in_context(path: PathLike) -> list[PairInContext]:
    """Read SCWS's format.

    Tabs between id, word 1, its part of speech, word 2, its part of speech, text 1, text 2, mean rating, and single
    ratings, which are not used. The word stands between ``<b>`` and ``</b>``.
    """
    pairs = []
    for line in read_all(path):
        fields = line.fields(
            "\t", 8, "id, word, part of speech, word, part of speech, text, text, mean rating"
        )
        first, second = (_marked(line, text) for text in fields[5:7])
        pairs.append(PairInContext(first, second, (fields[1], fields[3]), line.figure(fields[7])))
    return pairs


def best_threshold(scores: Floats, truth: Booleans) -> float:
    """Return the threshold at and above which scores are best taken as true: halfway between two of them.

    Examples
    --------
    >>> best_threshold(np.array([0.9, 0.75, 0.25]), np.array([True, True, False]))
    0.5
    """
    order = np.argsort(scores, kind="stable")
    values, true = scores[order], truth[order]
    # Below the i-th score everything is taken as false, from it on as true; equal scores must not be separated.
    right = np.concatenate([[0], np.cumsum(~true)]) + true.sum() - np.concatenate([[0], np.cumsum(true)])
    possible = np.concatenate([[True], values[1:] > values[:-1], [True]])
    best = int(np.argmax(np.where(possible, right, -1)))
    ends = np.concatenate([[-np.inf], values, [np.inf]])
    return float((ends[best] + ends[best + 1]) / 2) if len(values) else 0.0


def _calls(wv: KeyedDensities) -> Mapping[str, Method[PairInContext]]:
    if wv.encoder is None:
        return {}

    def similarities(pairs: Sequence[PairInContext]) -> Floats:
        means, result = Means(wv), np.full(len(pairs), np.nan)
        questions, known = [], []
        for i, pair in enumerate(pairs):
            sides = (pair.first, pair.second)
            words = [means.key(lemma, use.word) for use, lemma in zip(sides, pair.lemmas, strict=True)]
            if None not in words:
                questions.append([(w, use.tokens, use.position) for w, use in zip(words, sides, strict=True)])
                known.append(i)
        if known:
            result[known] = wv.similarities_in_context(questions)
        return result

    return {"wv.similarity_in_context": similarities}


def _baselines(means: Means) -> Mapping[str, Method[PairInContext]]:
    def words(pairs: Sequence[PairInContext]) -> tuple[Floats, Floats]:
        sides = ([(p.first.word, p.lemmas[0]) for p in pairs], [(p.second.word, p.lemmas[1]) for p in pairs])
        rows = [np.array([means.row(*forms) for forms in side], dtype=np.intp) for side in sides]
        first, second = (means.units[row] * (row >= 0)[:, None] for row in rows)
        return first, second

    def contexts(pairs: Sequence[PairInContext], reach: float | None = None) -> tuple[Floats, Floats]:
        first, second = [pair.first for pair in pairs], [pair.second for pair in pairs]
        return means.around(first, reach), means.around(second, reach)

    def both(pairs: Sequence[PairInContext]) -> Floats:
        (a, b), (x, y) = words(pairs), contexts(pairs, _REACH)
        known = (np.abs(a).sum(axis=1) > 0) & (np.abs(b).sum(axis=1) > 0)
        return np.where(known, cosines(a + x, b + y), np.nan)

    return {
        "word": lambda pairs: cosines(*words(pairs)),
        "average": lambda pairs: cosines(*contexts(pairs)),
        "word + average": both,
    }


def _same_meaning(pairs: Sequence[PairInContext], scores: Sequence[float]) -> Mapping[str, Statistic]:
    same, values = (
        np.array([pair.likeness > 0 for pair in pairs], dtype=bool),
        np.asarray(scores, dtype=np.float64),
    )
    first = np.arange(len(pairs)) < len(pairs) // 2
    right = (values >= best_threshold(values[first], same[first])) == same
    return {"accuracy": mean(right, ~first), "AUC": roc_area(values, same)}


def _rated(pairs: Sequence[PairInContext], scores: Sequence[float]) -> Mapping[str, Statistic]:
    return {"rho": spearman(scores, [pair.likeness for pair in pairs])}


word_in_context = Task("word in context", read_word_in_context, _baselines, _same_meaning, _calls)
"""Whether a word means the same in two sentences (WiC): accuracy on the second half of the file, by the threshold that
is best on the first half, and the area under the ROC curve. An answer is a similarity."""

similarity_in_context = Task("similarity in context", read_similarity_in_context, _baselines, _rated, _calls)
"""How alike people find two words, each in its text (SCWS): Spearman's ρ. An answer is a similarity."""


def _gold_beside(path: PathLike) -> str:
    """Return ``train.gold.txt`` for ``train.data.txt``, and ``train.gold`` for ``train.data``."""
    folder, _, name = str(path).replace("\\", "/").rpartition("/")
    return f"{folder}{'/' * bool(folder)}{name.replace('.data', '.gold')}"


def _occurrence(line: Line, place: str, tokens: list[str]) -> Occurrence:
    if not place.isdecimal() or int(place) >= len(tokens):
        line.fail(f"{place!r} is not a position in the sentence of {len(tokens)} tokens")
    return Occurrence(tokens, int(place))


def _marked(line: Line, text: str) -> Occurrence:
    found = _MARKED.search(text)
    word = tokenize(found[1]) if found else []
    if not found or not word:
        line.fail("expected a word between <b> and </b>")
    before, after = tokenize(text[: found.start()]), tokenize(text[found.end() :])
    return Occurrence([*before, *word, *after], len(before))
