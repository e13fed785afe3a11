"""Words in context: their meaning (WiC, SCWS), their senses (SemEval-2010), and change of meaning (DWUG)."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from densvec.distances.vectors import unit_rows
from densvec.evaluation.baselines import Means, cosines
from densvec.evaluation.reading import Line, read_all, read_with_gold, tokenize
from densvec.evaluation.task import Method, Task, for_known
from densvec.statistics.clusters import adjusted_rand_index, kmeans, paired_f, v_measure
from densvec.statistics.weighted import Statistic, mean, pearson, roc_area, spearman
from densvec.text.concordance import Occurrence
from densvec.types import Booleans, Floats, PathLike

_REACH = 5.0
"""Words of thinned text on either side that some averages look at."""

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
    pairs = []
    for line, answer in read_with_gold(path):
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


def best_threshold(scores: Floats, truth: Booleans) -> float:
    """Return the threshold that classifies best, halfway between two scores: scores at or above it count as true.

    Examples
    --------
    >>> best_threshold(np.array([0.9, 0.75, 0.25]), np.array([True, True, False]))
    0.5
    """
    order = np.argsort(scores, kind="stable")
    values, true = scores[order], truth[order]
    # Scores before the i-th count as false, the others as true; a threshold cannot separate equal scores.
    right = np.concatenate([[0], np.cumsum(~true)]) + true.sum() - np.concatenate([[0], np.cumsum(true)])
    possible = np.concatenate([[True], values[1:] > values[:-1], [True]])
    best = int(np.argmax(np.where(possible, right, -1)))
    ends = np.concatenate([[-np.inf], values, [np.inf]])
    return float((ends[best] + ends[best + 1]) / 2) if len(values) else 0.0


def _calls(means: Means) -> Mapping[str, Method[PairInContext]]:
    def question(pair: PairInContext) -> list[Any] | None:
        uses = (pair.first, pair.second)
        words = [means.key(lemma, use.word) for use, lemma in zip(uses, pair.lemmas, strict=True)]
        placed = zip(words, uses, strict=True)
        return None if None in words else [(word, use.tokens, use.position) for word, use in placed]

    def similarities(pairs: Sequence[PairInContext]) -> list[Any]:
        asked = [question(pair) for pair in pairs]
        return for_known(
            asked, lambda known: means.wv.similarities_in_context([asked[i] or [] for i in known])
        )

    return {"wv.similarity_in_context": similarities}


def _baselines(means: Means) -> Mapping[str, Method[PairInContext]]:
    def words(pairs: Sequence[PairInContext]) -> tuple[Floats, Floats]:
        sides = ([(p.first.word, p.lemmas[0]) for p in pairs], [(p.second.word, p.lemmas[1]) for p in pairs])
        rows = [np.array([means.row(*forms) for forms in side], dtype=np.intp) for side in sides]
        first, second = (means.units[row] * (row >= 0)[:, None] for row in rows)
        return first, second

    def contexts(pairs: Sequence[PairInContext], reach: float = np.inf) -> tuple[Floats, Floats]:
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


class AmbiguousWord(NamedTuple):
    """A word, its occurrences, and the sense that people gave to each."""

    word: str
    occurrences: list[Occurrence]
    senses: list[str]


def read_sense_induction(path: PathLike) -> list[AmbiguousWord]:
    """Read occurrences of words, and their senses from the file of the same name that ends in ``.key``.

    For each word there is a line ``word.pos n``, and n lines of what stands to the left and, after a tab, to the right
    of the word. The key has lines ``word.pos word.pos.i sense``, i from 1.
    """
    senses: dict[str, dict[str, str]] = defaultdict(dict)
    for line in read_all(os.path.splitext(os.fspath(path))[0] + ".key"):
        target, number, sense = line.fields(None, 3, "word.pos word.pos.i sense")[:3]
        senses[target][number] = sense
    words: list[AmbiguousWord] = []
    target, left = "", 0
    for line in read_all(path):
        if "\t" not in line.text:
            if left:
                line.fail(
                    f"expected {left} more occurrences of {target!r}, with a tab in the place of the word"
                )
            target, count = line.fields(None, 2, "word.pos and the number of its occurrences")
            left = int(line.figure(count))
            word = target.rpartition(".")[0] or target
            words.append(AmbiguousWord(word, [], []))
            continue
        word, occurrences, found = words[-1]
        before, after = (part.split() for part in line.text.split("\t")[:2])
        key = f"{target}.{len(occurrences) + 1}"
        if key not in senses[target]:
            line.fail(f"the key has no sense for {key}")
        occurrences.append(Occurrence([*before, word, *after], len(before)))
        found.append(senses[target][key])
        left -= 1
    return words


def _senses(means: Means) -> Mapping[str, Method[AmbiguousWord]]:
    wv = means.wv

    def senses(words: Sequence[AmbiguousWord]) -> list[Any]:
        return [wv.senses(each.word, each.occurrences).labels if each.word in wv else None for each in words]

    return {"wv.senses": senses}


def _clusterings(means: Means) -> Mapping[str, Method[AmbiguousWord]]:
    def clustered(number: int) -> Method[AmbiguousWord]:
        def cluster(words: Sequence[AmbiguousWord]) -> list[Any]:
            points = [unit_rows(means.around(each.occurrences, _REACH)) for each in words]
            return [kmeans(each, min(number, len(each))) for each in points]

        return cluster

    return {
        "2-means of averages": clustered(2),
        "3-means of averages": clustered(3),
        "one sense": lambda words: [np.zeros(len(each.occurrences), int) for each in words],
    }


def _agreement(words: Sequence[AmbiguousWord], answers: Sequence[Any]) -> Mapping[str, Statistic]:
    sizes = [len(word.senses) for word in words]

    def average(measure: Any) -> Statistic:
        return mean(
            [measure(word.senses, labels) for word, labels in zip(words, answers, strict=True)], sizes
        )

    return {
        "ARI": average(adjusted_rand_index),
        "V": average(v_measure),
        "paired F": average(paired_f),
        "number of senses": mean([len(np.unique(labels)) for labels in answers]),
    }


sense_induction = Task("sense induction", read_sense_induction, _clusterings, _agreement, _senses)
"""Clusters of a word's occurrences against its senses (SemEval-2010 task 14): adjusted Rand index, V-measure and paired
F, means over words weighted by their occurrences, and the number of senses found. An answer is a label for each
occurrence."""


class ChangedWord(NamedTuple):
    """A word, its uses in an earlier and a later period, and how much annotators found its meaning to change."""

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


def _comparison(means: Means) -> Mapping[str, Method[ChangedWord]]:
    def shift(word: ChangedWord) -> float:
        return means.wv.compare(word.word, word.earlier, word.later, permutations=1).shift

    return {"wv.compare": _of_known(means, shift)}


def _shifts(means: Means) -> Mapping[str, Method[ChangedWord]]:
    def around(word: ChangedWord) -> tuple[Floats, Floats]:
        return unit_rows(means.around(word.earlier)), unit_rows(means.around(word.later))

    def of_averages(word: ChangedWord) -> float:
        earlier, later = (side.mean(axis=0, keepdims=True) for side in around(word))
        return float(1 - cosines(earlier, later)[0])

    def of_pairs(word: ChangedWord) -> float:
        earlier, later = around(word)
        return 1 - float((earlier @ later.T).mean())

    return {"average": _of_known(means, of_averages), "mean distance": _of_known(means, of_pairs)}


def _of_known(means: Means, change: Callable[[ChangedWord], float]) -> Method[ChangedWord]:
    """Return a method that answers for the words that the model knows."""

    def answer(words: Sequence[ChangedWord]) -> list[float | None]:
        return [change(each) if each.word in means.wv else None for each in words]

    return answer


def _correlations(words: Sequence[ChangedWord], scores: Sequence[float]) -> Mapping[str, Statistic]:
    changes = [word.change for word in words]
    return {"Spearman": spearman(scores, changes), "Pearson": pearson(scores, changes)}


graded_change = Task("graded change", read_changes, _shifts, _correlations, _comparison)
"""How much the use of words has changed (DWUG): Spearman's and Pearson's correlations with how far people's readings of
the two times differ. An answer is a number, larger for more change."""
