"""Meanings from text: the similarity of sentences (STS-B), and new words learnt from sentences.

New words come from a definition (nonces), or from a few sentences, and are compared with known words (chimeras).
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from densvec.evaluation.baselines import Means, cosines
from densvec.evaluation.reading import read_all, read_lines, tokenize
from densvec.evaluation.task import Method, Task, for_known
from densvec.questions.learning import learnt
from densvec.statistics.weighted import Statistic, mean, median, pearson, spearman
from densvec.types import Floats, PathLike

_SIF = 1e-3
"""The constant of smooth inverse frequency."""

_SLOT = "___"
"""Stands for the new word."""


class PairOfTexts(NamedTuple):
    """Two sentences as tokens, and people's rating of their similarity."""

    first: list[str]
    second: list[str]
    rating: float


def read_texts(path: PathLike) -> list[PairOfTexts]:
    """Read lines of two sentences and a rating, separated by commas; a sentence with a comma is in quotes."""
    pairs = []
    for line in read_all(path):
        fields = next(csv.reader([line.text]))
        if len(fields) != 3:
            line.fail(f"expected two sentences and a rating, found {len(fields)} fields")
        pairs.append(PairOfTexts(tokenize(fields[0]), tokenize(fields[1]), line.figure(fields[2])))
    return pairs


def _calls(means: Means) -> Mapping[str, Method[PairOfTexts]]:
    wv = means.wv
    if "count" not in wv.expandos:
        return {}

    def similarity(pairs: Sequence[PairOfTexts]) -> list[Any]:
        known = [all(any(word in wv for word in text) for text in pair[:2]) or None for pair in pairs]
        return for_known(known, lambda known: wv.text_similarities([pairs[i][:2] for i in known]))

    return {"wv.text_similarities": similarity}


def _baselines(means: Means) -> Mapping[str, Method[PairOfTexts]]:
    share = means.counts / means.counts.sum()

    def sides(pairs: Sequence[PairOfTexts], weights: Floats) -> tuple[Floats, Floats]:
        texts = [pair.first for pair in pairs], [pair.second for pair in pairs]
        return means.averages(texts[0], weights), means.averages(texts[1], weights)

    def averaged(weights: Floats) -> Method[PairOfTexts]:
        return lambda pairs: cosines(*sides(pairs, weights))

    def without_first_component(pairs: Sequence[PairOfTexts]) -> Floats:
        """Remove the component that all sentences share (Arora et al., 2017)."""
        first, second = sides(pairs, _SIF / (_SIF + share))
        common = np.linalg.svd(np.concatenate([first, second]), full_matrices=False)[2][:1]
        return cosines(first - first @ common.T @ common, second - second @ common.T @ common)

    return {
        "average": averaged(np.ones(len(share))),
        "thinned average": averaged(means.keep),
        "SIF": without_first_component,
    }


def _score(pairs: Sequence[PairOfTexts], scores: Sequence[float]) -> Mapping[str, Statistic]:
    ratings = [pair.rating for pair in pairs]
    return {"Pearson": pearson(scores, ratings), "Spearman": spearman(scores, ratings)}


text_similarity = Task("similarity of texts", read_texts, _baselines, _score, _calls, "log_variances")
"""How alike people find two sentences (STS-B): Pearson's and Spearman's correlations. An answer is a similarity."""


class Nonce(NamedTuple):
    """A word and a sentence that defines it, in which slots, ``___``, stand for the word."""

    word: str
    text: list[str]


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
    """Return the tokens of a text, with a slot wherever the word itself occurs."""
    return [_SLOT if token == word else token for token in text.split()]


Answer = Callable[[Means, Any, Any], Any]
"""Turns the vector that was found for the word in the slots of an item's text into an answer."""


def _by_average(answer: Answer) -> Callable[[Means], Mapping[str, Method[Any]]]:
    """Return baselines that answer with the average of a text."""

    def baselines(means: Means) -> Mapping[str, Method[Any]]:
        def average(items: Sequence[Any]) -> list[Any]:
            vectors = means.averages([item.text for item in items])
            return [answer(means, item, vector) for item, vector in zip(items, vectors, strict=True)]

        return {"average": average}

    return baselines


def _by_learning(answer: Answer) -> Callable[[Means], Mapping[str, Method[Any]]]:
    """Return calls that answer with the density that `learn` finds."""

    def calls(means: Means) -> Mapping[str, Method[Any]]:
        def learn(item: Any) -> Any:
            density = learnt(means.wv, [[token for token in item.text if token != _SLOT]])
            return None if density is None else answer(means, item, density.mean)

        return {"wv.learn": lambda items: [learn(item) for item in items]}

    return calls


def _rank(means: Means, nonce: Nonce, vector: Any) -> float | None:
    """Return the rank of the word among all words, by cosine with the vector."""
    row = means.row(nonce.word)
    if row < 0:
        return None
    scores = means.units @ np.asarray(vector, dtype=means.units.dtype)
    # Half of the words with an equal score count as better, so a zero vector ranks the word by chance.
    return float((1 + (scores > scores[row]).sum() + (scores >= scores[row]).sum()) / 2)


def _likeness(means: Means, trial: Chimera, vector: Any) -> Floats | None:
    """Return the similarities of the vector to the probes."""
    rows = means.rows(trial.probes)
    return np.where(rows >= 0, means.units[rows] @ vector, np.nan) if (rows >= 0).sum() >= 2 else None


def _ranked(nonces: Sequence[Nonce], ranks: Sequence[float]) -> Mapping[str, Statistic]:
    return {"MRR": mean(1 / np.asarray(ranks, dtype=np.float64)), "median rank": median(ranks)}


def _within_trials(trials: Sequence[Chimera], answers: Sequence[Any]) -> Mapping[str, Statistic]:
    rhos = []
    for trial, scores in zip(trials, answers, strict=True):
        known = ~np.isnan(scores)
        rho = spearman(scores[known], np.array(trial.ratings)[known])(np.ones((1, int(known.sum()))))[0]
        rhos.append(0.0 if np.isnan(rho) else rho)  # all answers are equal
    return {"rho": mean(rhos, [len(set(trial.ratings)) > 1 for trial in trials])}


nonces = Task("nonce words", read_nonces, _by_average(_rank), _ranked, _by_learning(_rank), "log_variances")
"""A known word is learnt from its definition as if it were new, and its own mean looked for among all words: mean
reciprocal rank and median rank. An answer is the rank."""

chimeras = Task(
    "chimeras",
    read_chimeras,
    _by_average(_likeness),
    _within_trials,
    _by_learning(_likeness),
    "log_variances",
)
"""A new word is learnt from two, four or six sentences and compared with known ones (Lazaridou et al. 2017): the mean
over trials of Spearman's ρ with people's ratings. An answer is a similarity for each probe, NaN if it is unknown."""
