"""Sense induction: the occurrences of a word are clustered without being told how many senses it has (SemEval-2010)."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from densvec.evaluation.baselines import Means, unit
from densvec.evaluation.reading import read_all
from densvec.evaluation.task import Method, Task
from densvec.keyed import KeyedDensities
from densvec.statistics.clusters import adjusted_rand_index, kmeans, paired_f, v_measure
from densvec.statistics.weighted import Statistic, mean
from densvec.text.concordance import Occurrence
from densvec.types import PathLike

_REACH = 5.0
"""Words of thinned text on either side that the averages look at."""


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


def _calls(wv: KeyedDensities) -> Mapping[str, Method[AmbiguousWord]]:
    if wv.encoder is None:
        return {}

    def senses(words: Sequence[AmbiguousWord]) -> list[Any]:
        return [wv.senses(each.word, each.occurrences).labels if each.word in wv else None for each in words]

    return {"wv.senses": senses}


def _baselines(means: Means) -> Mapping[str, Method[AmbiguousWord]]:
    def clustered(number: int) -> Method[AmbiguousWord]:
        def cluster(words: Sequence[AmbiguousWord]) -> list[Any]:
            points = [unit(means.around(each.occurrences, _REACH)) for each in words]
            return [kmeans(each, min(number, len(each))) for each in points]

        return cluster

    def by_chance(words: Sequence[AmbiguousWord]) -> list[Any]:
        rng = np.random.default_rng(0)
        return [rng.integers(2, size=len(each.occurrences)) for each in words]

    return {
        "2-means of averages": clustered(2),
        "3-means of averages": clustered(3),
        "one sense": lambda words: [np.zeros(len(each.occurrences), int) for each in words],
        "two by chance": by_chance,
    }


def _score(words: Sequence[AmbiguousWord], answers: Sequence[Any]) -> Mapping[str, Statistic]:
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


sense_induction = Task("sense induction", read_sense_induction, _baselines, _score, _calls)
"""Clusters of a word's occurrences against its senses (SemEval-2010 task 14): adjusted Rand index, V-measure and paired
F, means over words weighted by their occurrences, and the number of senses found. An answer is a label for each
occurrence."""
