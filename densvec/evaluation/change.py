"""Change of meaning between two times: how much a word's uses differ (DWUG, SemEval-2020 task 1)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from densvec.evaluation.baselines import Means, cosines, unit
from densvec.evaluation.reading import Line, read_all
from densvec.evaluation.task import Method, Task
from densvec.keyed import KeyedDensities
from densvec.statistics.weighted import Statistic, pearson, spearman
from densvec.text.concordance import Occurrence
from densvec.types import Floats, PathLike


class ChangedWord(NamedTuple):
    """A word, its uses in an earlier and a later time, and how much people's readings of them differ."""

    word: str
    earlier: list[Occurrence]
    later: list[Occurrence]
    change: float


def read_changes(path: PathLike) -> list[ChangedWord]:
    """Read a directory of DWUG: ``change.tsv``, and ``WORD.csv`` for each word, both with tabs and a header.

    Of the first, the columns ``lemma`` and ``change_graded`` are used; of the others ``grouping`` (1 or 2),
    ``context_tokenized`` and ``indexes_target_token_tokenized``. The target stands as its lemma.
    """
    folder, words = os.fspath(path), []
    for line, row in _table(os.path.join(folder, "change.tsv"), "lemma", "change_graded"):
        lemma = row["lemma"].rpartition("_")[0] or row["lemma"]
        uses: tuple[list[Occurrence], list[Occurrence]] = ([], [])
        columns = ("grouping", "context_tokenized", "indexes_target_token_tokenized")
        for use, values in _table(os.path.join(folder, f"{row['lemma']}.csv"), *columns):
            tokens = values["context_tokenized"].lower().split(" ")
            position = int(use.figure(values["indexes_target_token_tokenized"]))
            if values["grouping"] not in ("1", "2") or not 0 <= position < len(tokens):
                use.fail(
                    f"expected grouping 1 or 2, and a position in {len(tokens)} tokens, found {position}"
                )
            tokens[position] = lemma
            uses[values["grouping"] == "2"].append(Occurrence(tokens, position))
        words.append(ChangedWord(lemma, *uses, line.figure(row["change_graded"])))
    return words


def _table(path: PathLike, *columns: str) -> list[tuple[Line, dict[str, str]]]:
    header, *lines = read_all(path)
    names = header.text.split("\t")
    if not set(columns) <= set(names):
        header.fail(f"expected a header with {', '.join(columns)}")
    return [(line, dict(zip(names, line.text.split("\t"), strict=False))) for line in lines]


def _calls(wv: KeyedDensities) -> Mapping[str, Method[ChangedWord]]:
    if wv.encoder is None:
        return {}

    def compare(words: Sequence[ChangedWord]) -> list[float | None]:
        return [
            wv.compare(each.word, each.earlier, each.later, permutations=1).shift if each.word in wv else None
            for each in words
        ]

    return {"wv.compare": compare}


def _baselines(means: Means) -> Mapping[str, Method[ChangedWord]]:
    def around(word: ChangedWord) -> tuple[Floats, Floats]:
        return unit(means.around(word.earlier)), unit(means.around(word.later))

    def of_averages(words: Sequence[ChangedWord]) -> list[float]:
        return [_distance(*(side.mean(axis=0) for side in around(each))) for each in words]

    def of_pairs(words: Sequence[ChangedWord]) -> list[float]:
        return [1 - float((a @ b.T).mean()) for a, b in map(around, words)]

    def known(method: Method[ChangedWord]) -> Method[ChangedWord]:
        """Leave out words that the model does not know, as its own call does."""

        def answer(words: Sequence[ChangedWord]) -> list[float | None]:
            there = [i for i, each in enumerate(words) if means.row(each.word) >= 0]
            found = dict(zip(there, method([words[i] for i in there]), strict=True))
            return [found.get(i) for i in range(len(words))]

        return answer

    return {"average": known(of_averages), "mean distance": known(of_pairs)}


def _distance(a: Floats, b: Floats) -> float:
    return float(1 - cosines(a[None], b[None])[0])


def _score(words: Sequence[ChangedWord], scores: Sequence[float]) -> Mapping[str, Statistic]:
    changes = [word.change for word in words]
    return {"Spearman": spearman(scores, changes), "Pearson": pearson(scores, changes)}


graded_change = Task("graded change", read_changes, _baselines, _score, _calls)
"""How much the use of words has changed (DWUG): Spearman's and Pearson's correlations with how far people's readings of
the two times differ. An answer is a number, larger for more change."""
