"""Substitutes of words in sentences (SemEval-2007 task 10, CoInCo): among all words, and among given candidates."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from densvec.evaluation.baselines import Means
from densvec.evaluation.reading import read_all
from densvec.evaluation.task import Method, Task, for_known
from densvec.statistics.weighted import Statistic, mean
from densvec.text.concordance import Occurrence
from densvec.text.spelling import stems
from densvec.types import Floats, PathLike

_ENCODING = "latin-1"  # the files are not clean UTF-8
_ANSWERS = 60
"""Words that a method returns for each instance; forms of the target and of each other are left out of them."""

_forms = lru_cache(maxsize=1 << 18)(stems)


class Instance(NamedTuple):
    """A word in a sentence, the substitutes that people gave with their weights, and candidates to be ranked.

    The target is the word's lemma and, after a point, its part of speech.
    """

    target: str
    occurrence: Occurrence
    gold: dict[str, float]
    candidates: Sequence[str] = ()

    @property
    def lemma(self) -> str:
        """The target without its part of speech."""
        return self.target.split(".")[0]


def read_substitution(path: PathLike) -> list[Instance]:
    """Read sentences from ``NAME.preprocessed``, and their substitutes from ``NAME.gold``.

    Lines are ``lemma.pos⇥id⇥index⇥tokens`` and ``lemma.pos id :: substitute weight;…``. Substitutes of several words,
    or with a hyphen, do not count; sentences without any are left out.
    """
    gold = _gold(os.path.splitext(os.fspath(path))[0] + ".gold")
    found = []
    for line in read_all(path, encoding=_ENCODING):
        fields = line.fields("\t", 4, "lemma.pos, id, index of the target and tokens")
        target, number, place, text = fields[:4]
        tokens = text.split(" ")
        position = int(line.figure(place))
        if not 0 <= position < len(tokens):
            line.fail(f"the index of the target {position} is outside the sentence of {len(tokens)} tokens")
        weights = gold.get((target, number))
        if weights:
            found.append(Instance(target, Occurrence(tokens, position), weights))
    return found


def read_candidates(path: PathLike) -> list[Instance]:
    """Read what `read_substitution` does, with ``lst.gold.candidates`` for ``lst_all.preprocessed``.

    Its lines are ``lemma.pos::substitute;…``; ``bar.n.v``, a verb tagged as a noun, has the candidates of ``bar.n``.
    A word is no candidate for its own place.
    """
    folder, name = os.path.split(os.fspath(path))
    table = {}
    file = os.path.join(folder, f"{name.split('_')[0].split('.')[0]}.gold.candidates")
    for line in read_all(file, encoding=_ENCODING):
        target, _, tail = line.text.partition("::")
        listed = (word.strip().lower() for word in tail.split(";"))
        table[target.strip()] = list(dict.fromkeys(filter(_is_one_word, listed)))
    found = []
    for instance in read_substitution(path):
        names = [instance.target, ".".join(instance.target.split(".")[:2])]
        words = next((table[each] for each in names if each in table), [])
        own = (instance.lemma.lower(), instance.occurrence.word.lower())
        found.append(instance._replace(candidates=[word for word in words if word not in own]))
    return found


def _gold(path: PathLike) -> dict[tuple[str, str], dict[str, float]]:
    gold = {}
    for line in read_all(path, encoding=_ENCODING):
        head, separator, tail = line.text.partition("::")
        key = head.rsplit(maxsplit=1)  # a lemma may be two words
        if not separator or len(key) != 2:
            line.fail("expected 'lemma.pos id :: substitute weight;…'")
        weights: dict[str, float] = {}
        for item in filter(str.strip, tail.split(";")):
            word, _, weight = item.strip().rpartition(" ")
            if line.figure(weight) <= 0:
                line.fail(f"expected 'substitute weight' with a weight above 0, found {item.strip()!r}")
            word = word.strip().lower()
            if _is_one_word(word):
                weights[word] = weights.get(word, 0.0) + float(weight)
        gold[key[0].strip(), key[1]] = weights
    return gold


def _is_one_word(text: str) -> bool:
    return bool(text) and " " not in text and "-" not in text


def _calls(means: Means) -> Mapping[str, Method[Instance]]:
    def substitutes(instances: Sequence[Instance]) -> list[Any]:
        words = [_target(means, each) for each in instances]

        def answer(known: list[int]) -> list[Any]:
            questions = [(words[i], *_place(instances[i])) for i in known]
            found = means.wv.substitutes_batch(questions, topn=_ANSWERS)
            return [[substitute for substitute, _ in each] for each in found]

        return for_known(words, answer)

    return {"wv.substitutes": substitutes}


def _target(means: Means, instance: Instance) -> str | None:
    return means.key(instance.occurrence.word, instance.lemma)


def _place(instance: Instance) -> tuple[Sequence[str], int]:
    return instance.occurrence.tokens, instance.occurrence.position


def _targets(means: Means, instances: Sequence[Instance]) -> Floats:
    """Return the unit vectors of the targets; 0 for unknown ones."""
    rows = np.array([means.row(each.occurrence.word, each.lemma) for each in instances], dtype=np.intp)
    units: Floats = means.units[rows] * (rows >= 0)[:, None]
    return units


def _directions(means: Means) -> dict[str, Any]:
    """Return the vectors that baselines search with: the target's, or its sum with the average of its context."""

    def both(instances: Sequence[Instance]) -> Floats:
        targets = _targets(means, instances)
        around: Floats = targets + means.around([each.occurrence for each in instances])
        around[~targets.any(axis=1)] = 0
        return around

    return {"cosine": lambda instances: _targets(means, instances), "word + average": both}


def _baselines(means: Means) -> Mapping[str, Method[Instance]]:
    def nearest(directions: Any) -> Method[Instance]:
        def answer(instances: Sequence[Instance]) -> list[Any]:
            vectors = directions(instances)
            found = means.words.most_similar_batch(vectors, _ANSWERS)
            return [
                [key for key, _ in each] if v.any() else None for v, each in zip(vectors, found, strict=True)
            ]

        return answer

    return {name: nearest(each) for name, each in _directions(means).items()}


def _distinct(words: Iterable[str], instance: Instance, number: int) -> list[str]:
    """Return the first answers, without forms of the target or of earlier answers."""
    seen = _forms(instance.lemma.lower()) | _forms(instance.occurrence.word.lower())
    kept: list[str] = []
    for word in words:
        forms = _forms(word.lower())
        if seen.isdisjoint(forms):
            seen = seen | forms
            kept.append(word)
            if len(kept) == number:
                break
    return kept


def _score(instances: Sequence[Instance], answers: Sequence[Sequence[str]]) -> Mapping[str, Statistic]:
    columns = []
    for instance, answer in zip(instances, answers, strict=True):
        left, weights = dict(instance.gold), []
        for word in _distinct(answer, instance, 10):
            # Gold answers are lemmas: a form of one counts as the lemma, once.
            same = [gold for gold in left if not _forms(gold).isdisjoint(_forms(word.lower()))]
            weights.append(sum(left.pop(gold) for gold in same))
        first = [weight > 0 for weight in weights[:3]]
        columns.append((sum(first[:1]), sum(first) / 3, sum(weights) / sum(instance.gold.values())))
    one, three, ten = np.array(columns, dtype=np.float64).reshape(-1, 3).T
    return {"P@1": mean(one), "P@3": mean(three), "oot": mean(ten)}


lexical_substitution = Task("substitutes", read_substitution, _baselines, _score, _calls)
"""Substitutes among all words: the share of first answers, and of the first three, that people gave too, and the share
of people's answers that are among the first ten (oot). Forms of the target do not count; of several forms of one word
the first does. An answer is a list of words, best first."""


def _known_candidates(means: Means, instance: Instance) -> list[str]:
    """Return the candidates that the model knows; none if it does not know the target."""
    known = _target(means, instance) is not None
    return [word for word in instance.candidates if known and word in means.wv.key_to_index]


def _rank_calls(means: Means) -> Mapping[str, Method[Instance]]:
    wv = means.wv

    def substitutes(instances: Sequence[Instance]) -> list[Any]:
        found: list[Any] = []
        for each in instances:
            known, (tokens, position) = _known_candidates(means, each), _place(each)
            asked = (_target(means, each), tokens, known)
            ranking = wv.substitutes(*asked, topn=None, position=position) if known else []
            found.append([substitute for substitute, _ in ranking])
        return found

    def by_posterior(instances: Sequence[Instance]) -> list[Any]:
        """The paper's order: by the divergence of a candidate's prior from the posterior."""
        candidates = [_known_candidates(means, each) for each in instances]

        def answer(asked: list[int]) -> Iterable[list[str]]:
            questions = [(_target(means, instances[i]), *_place(instances[i])) for i in asked]
            for i, posterior in zip(asked, wv.infer_posteriors(questions), strict=True):
                order = np.argsort(posterior.kl(wv.density(candidates[i])), kind="stable")
                yield [candidates[i][j] for j in order]

        found = for_known([known or None for known in candidates], answer)
        return [each or [] for each in found]

    return {"wv.substitutes": substitutes, "posterior": by_posterior}


def _rank_baselines(means: Means) -> Mapping[str, Method[Instance]]:
    def by_cosine(directions: Any) -> Method[Instance]:
        def answer(instances: Sequence[Instance]) -> list[Any]:
            found: list[Any] = []
            for instance, vector in zip(instances, directions(instances), strict=True):
                known = _known_candidates(means, instance)
                order = np.argsort(-(means.units[means.rows(known)] @ vector), kind="stable")
                found.append([known[i] for i in order])
            return found

        return answer

    def by_chance(instances: Sequence[Instance]) -> list[Any]:
        rng = np.random.default_rng(0)
        return [list(rng.permutation(_known_candidates(means, each))) for each in instances]

    return {name: by_cosine(each) for name, each in _directions(means).items()} | {"chance": by_chance}


def gap(ranking: Iterable[str], gold: Mapping[str, float]) -> float:
    """Return the generalised average precision of a ranking, best first, against gold weights.

    With x_i the gold weight of the candidate at rank i (0 if none) and y the gold weights in descending order, GAP is
    Σ_i [x_i > 0]·mean(x_1..x_i) / Σ_i mean(y_1..y_i).

    Examples
    --------
    >>> gap(["clever", "shiny", "smart"], {"clever": 3, "smart": 1})
    0.866...
    """

    def means_of_first(weights: Iterable[float]) -> tuple[Floats, Floats]:
        x = np.fromiter(weights, dtype=np.float64)
        return x, np.cumsum(x) / np.arange(1, len(x) + 1)

    x, means = means_of_first(gold.get(word, 0.0) for word in ranking)
    return float(means[x > 0].sum() / means_of_first(sorted(gold.values(), reverse=True))[1].sum())


def _gaps(instances: Sequence[Instance], rankings: Sequence[Sequence[str]]) -> Mapping[str, Statistic]:
    return {"GAP": mean([gap(r, each.gold) for r, each in zip(rankings, instances, strict=True)])}


ranking_of_candidates = Task("candidates", read_candidates, _rank_baselines, _gaps, _rank_calls)
"""Candidates for a word's place, ranked: the mean GAP (Melamud et al. 2015). A sentence that cannot be ranked counts 0,
and so do substitutes that are unknown. An answer is a list of the known candidates, best first."""
