"""New words: learnt from a definition (nonces), or from a few sentences and compared with known words (chimeras)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from densvec.evaluation.baselines import Means
from densvec.evaluation.reading import read_all, read_lines
from densvec.evaluation.task import Method, Task
from densvec.keyed import KeyedDensities
from densvec.questions.learning import learnt
from densvec.statistics.weighted import Statistic, mean, median, spearman
from densvec.types import Floats, PathLike

_SLOT = "___"


class Nonce(NamedTuple):
    """A word and a sentence that defines it, in which slots, ``___``, stand for the word."""

    word: str
    sentence: list[str]


class Chimera(NamedTuple):
    """Sentences with slots for a new word, and people's ratings of its similarity to known words, the probes."""

    text: list[str]
    probes: list[str]
    ratings: list[float]


def read_nonces(path: PathLike) -> list[Nonce]:
    """Read lines of a word, a tab and its definition; lines that start with # are comments."""
    nonces = []
    for line in read_lines(path):
        if line.text.startswith("#"):
            continue
        word, definition = line.fields("\t", 2, "a word, a tab and its definition")[:2]
        nonces.append(Nonce(word.strip(), _with_slots(definition, word.strip())))
    return nonces


def read_chimeras(path: PathLike) -> list[Chimera]:
    """Read lines of a number, a text with slots, probes and ratings, separated by tabs; lists by commas."""
    found = []
    for line in read_all(path, encoding="latin-1"):
        _, text, probes, ratings = line.fields("\t", 4, "number, text, probes and ratings")[:4]
        words, numbers = probes.strip().split(","), [line.figure(each) for each in ratings.split(",")]
        if len(words) != len(numbers):
            line.fail(f"there are {len(words)} probes and {len(numbers)} ratings")
        found.append(Chimera(_with_slots(text, _SLOT), words, numbers))
    return found


def _with_slots(text: str, word: str) -> list[str]:
    """Return the tokens of a text; the word itself, where it is given away, is a slot too."""
    return [_SLOT if token == word else token for token in text.split()]


def _learnt(wv: KeyedDensities, sentence: list[str]) -> Floats | None:
    """Return the mean that the package learns from a sentence for the word in its slots."""
    density = learnt(wv, [[token for token in sentence if token != _SLOT]])
    return None if density is None else density.mean


Vectors = Any  # a function from sentences to a vector for each, or None


def _learners(wv: KeyedDensities) -> dict[str, Vectors]:
    if wv.log_variances is None:
        return {}
    return {"wv.learn": lambda sentences: [_learnt(wv, each) for each in sentences]}


def _averages(means: Means) -> dict[str, Vectors]:
    return {"average": means.averages}


def _ranks(wv: KeyedDensities, vectors: Vectors) -> Method[Nonce]:
    means = Means(wv)

    def ranks(nonces: Sequence[Nonce]) -> Floats:
        """Return the rank of the word among all by the cosine with the vector; NaN for an unknown word."""
        result = np.full(len(nonces), np.nan)
        for i, (nonce, vector) in enumerate(
            zip(nonces, vectors([each.sentence for each in nonces]), strict=True)
        ):
            row = means.row(nonce.word)
            if row >= 0 and vector is not None:
                scores = means.units @ np.asarray(vector, dtype=means.units.dtype)
                # Of equal words half are better: a vector of nothing finds the word by chance.
                result[i] = (1 + (scores > scores[row]).sum() + (scores >= scores[row]).sum()) / 2
        return result

    return ranks


def _likenesses(wv: KeyedDensities, vectors: Vectors) -> Method[Chimera]:
    means = Means(wv)

    def likenesses(trials: Sequence[Chimera]) -> list[Any]:
        found: list[Any] = []
        for trial, vector in zip(trials, vectors([each.text for each in trials]), strict=True):
            rows = means.rows(trial.probes)
            if vector is None or (rows >= 0).sum() < 2:
                found.append(None)
            else:
                found.append(np.where(rows >= 0, means.units[rows] @ vector, np.nan))
        return found

    return likenesses


def _ranked(nonces: Sequence[Nonce], ranks: Sequence[float]) -> Mapping[str, Statistic]:
    return {"MRR": mean(1 / np.asarray(ranks, dtype=np.float64)), "median rank": median(ranks)}


def _within_trials(trials: Sequence[Chimera], answers: Sequence[Any]) -> Mapping[str, Statistic]:
    rhos = []
    for trial, scores in zip(trials, answers, strict=True):
        known = ~np.isnan(scores)
        rho = spearman(scores[known], np.array(trial.ratings)[known])(np.ones((1, int(known.sum()))))[0]
        rhos.append(0.0 if np.isnan(rho) else rho)  # all answers the same: nothing is told
    return {"rho": mean(rhos, [len(set(trial.ratings)) > 1 for trial in trials])}


nonces = Task(
    "nonce words",
    read_nonces,
    lambda means: {name: _ranks(means.wv, each) for name, each in _averages(means).items()},
    _ranked,
    lambda wv: {name: _ranks(wv, each) for name, each in _learners(wv).items()},
)
"""A known word is learnt from its definition as if it were new, and its own mean looked for among all words: mean
reciprocal rank and median rank. An answer is the rank."""

chimeras = Task(
    "chimeras",
    read_chimeras,
    lambda means: {name: _likenesses(means.wv, each) for name, each in _averages(means).items()},
    _within_trials,
    lambda wv: {name: _likenesses(wv, each) for name, each in _learners(wv).items()},
)
"""A new word is learnt from two, four or six sentences and compared with known ones (Lazaridou et al. 2017): the mean
over trials of Spearman's ρ with people's ratings. An answer is a similarity for each probe, NaN if it is unknown."""
