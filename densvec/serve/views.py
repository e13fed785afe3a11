"""What the page shows: a word in its sentence, a single word, two side by side, a map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from densvec.answers.documents import scored
from densvec.answers.messages import check_known
from densvec.answers.words import parse_marked
from densvec.gaussian import Gaussian
from densvec.plot import Plane
from densvec.questions.inference import posteriors_of
from densvec.questions.lookup import common_rows, least_count
from densvec.serve.limits import Limits
from densvec.serve.models import Model
from densvec.serve.questions import CompareQuestion, ContextQuestion, MapQuestion, TokensQuestion
from densvec.types import Floats

_MAPPED = 600
"""The most words on a map: the page draws no more of them smoothly."""

_NEIGHBOURS = 12
_WORD = re.compile(r"\w+(?:['’.\-]\w+)*")

View = dict[str, Any]
"""What the page draws; the answers to questions of programs have schemas instead."""


def tokens(model: Model, question: TokensQuestion, limits: Limits) -> View:
    """A text split into words: where each begins, and the key under which the model knows it."""
    limits.check_text(question.text)
    found: list[View] = []
    for match in _WORD.finditer(question.text):
        key = _key(model, match[0])
        parts = [] if key is not None else list(re.finditer(r"\w+", match[0]))
        if len(parts) > 1 and any(_key(model, part[0]) for part in parts):
            for part in parts:  # of "river-bank", at least its halves may be known
                start = match.start() + part.start()
                found.append({"text": part[0], "start": start, "key": _key(model, part[0])})
        else:
            found.append({"text": match[0], "start": match.start(), "key": key})
    return {"tokens": found}


def in_context(model: Model, question: ContextQuestion, limits: Limits) -> View:
    """A word in its sentence: with its whole context, with the words switched on, and without each of these in turn."""
    wv, sentence, position = model.wv, question.tokens, question.position
    limits.check_text(sentence)
    topn, metric = limits.check_topn(question.topn), question.metric
    if not 0 <= position < len(sentence):
        raise IndexError(f"position={position} is outside the sentence, which has {len(sentence)} tokens")
    word = sentence[position]
    check_known(wv, [word])
    positions, weights = wv.read_around(sentence, position)
    window = dict(zip(positions.tolist(), weights.tolist(), strict=True))
    active = [i for i in window if i not in question.off]
    sets = [list(window), active, *([j for j in active if j != i] for i in active)]
    prior, posteriors = wv.density(word), _posteriors(model, sentence, position, window, sets)
    whole, posterior = posteriors[0], posteriors[1]
    most = max(topn, _NEIGHBOURS)
    near = wv.most_similar(word, topn=most, restrict_vocab=common_rows(wv), metric=metric)
    near_whole = wv.most_similar(whole, topn=most, metric=metric)
    around = dict.fromkeys(key for key, _ in [*near_whole[:_NEIGHBOURS], *near[:_NEIGHBOURS]] if key != word)
    asked = [(word, sentence, position)]
    instead = wv.substitutes_batch(asked, topn=topn, posteriors=posterior)[0] if topn else []
    # The plane is that of the whole context: switching words moves only the arrow.
    others = wv.density(list(around)).mean if around else prior.mean[None]
    plane = plane_of_shift(prior.mean, whole.mean, others)
    return {
        "word": word,
        "position": position,
        "window": list(window),
        "weights": list(window.values()),
        "off": sorted(set(question.off) & set(window)),
        "unknown": [token for token in sentence if token not in wv.key_to_index],
        "entropy": {"prior": float(prior.entropy()), "posterior": float(posterior.entropy())},
        "kl": float(posterior.kl(prior)),
        "shift": float(np.linalg.norm(posterior.mean - prior.mean)),
        "metric": metric,
        "contributions": _contributions(active, posterior, posteriors[2:]),
        "nearest_to_prior": scored(near[:topn], wv),
        "nearest_to_posterior": scored(
            wv.most_similar(posterior, topn=topn, restrict_vocab=common_rows(wv), metric=metric), wv
        ),
        "substitutes": scored(instead, wv),
        "picture": {
            "prior": _circle(plane, prior),
            "whole": _circle(plane, whole),
            "posterior": _circle(plane, posterior),
            "words": _circles(model, plane, list(around)),
        },
    }


def _posteriors(
    model: Model,
    sentence: Sequence[str],
    position: int,
    window: dict[int, float],
    sets: Sequence[Sequence[int]],
) -> Gaussian:
    """Return the posteriors from parts of a window, whose words count as they do in all of it.

    Switching a word off neither makes room for words further away nor brings others nearer.
    """
    wv, kept = model.wv, [i for some in sets for i in some]
    return posteriors_of(
        wv,
        np.full(len(sets), wv.key_to_index[sentence[position]]),
        np.array([wv.key_to_index[sentence[i]] for i in kept], dtype=np.int64),
        np.cumsum([0, *map(len, sets)]),
        np.array([window[i] for i in kept], dtype=np.float64),
    )


def _contributions(active: Sequence[int], posterior: Gaussian, without: Gaussian) -> list[View]:
    """Return what leaving out each context word changes."""
    divergences = [float(posterior.kl(other)) for other in without] if active else []
    shifts = np.linalg.norm(without.mean - posterior.mean, axis=-1) if active else []
    total = sum(divergences) or 1.0
    return [
        {"position": i, "kl": kl, "shift": float(shift), "share": kl / total}
        for i, kl, shift in zip(active, divergences, shifts, strict=True)
    ]


def word_page(model: Model, word: str, topn: int, limits: Limits) -> View:
    """All there is to say about a word out of context; of a model without variances or counts, less."""
    wv = model.wv
    limits.check_topn(topn)
    check_known(wv, [word])
    neighbours = {
        metric: wv.most_similar(
            word, topn=max(topn, _NEIGHBOURS), restrict_vocab=common_rows(wv), metric=metric
        )
        for metric in model.metrics
    }
    page: View = {
        "word": word,
        "rank": wv.key_to_index[word] + 1,
        "words": len(wv),
        "neighbours": {metric: scored(found[:topn], wv) for metric, found in neighbours.items()},
    }
    if "count" in wv.expandos:
        page["count"] = int(wv.get_vecattr(word, "count"))
        page["least_count"] = least_count(wv)
        page["frequency"] = page["count"] / max(int(wv.expandos["count"].sum()), 1)
    if wv.log_variances is not None:
        density, generality = wv.density(word), float(wv.generality(word))
        page["prior"] = {
            "variance": float(np.mean(density.variance)),
            "entropy": float(density.entropy()),
            "generality": generality,
            "more_general_than": float(np.searchsorted(model.generalities, generality) / max(len(wv), 1)),
        }
        near = [key for key, _ in neighbours["cosine"][:_NEIGHBOURS]]
        values = zip(near, wv.generality(near), strict=True)
        page["generality_of_neighbours"] = [
            {"word": key, "generality": float(value)} for key, value in values
        ]
        page["hypernyms"] = scored(wv.hypernyms(word, topn=topn, restrict_vocab=common_rows(wv)), wv)
        page["hyponyms"] = scored(wv.hyponyms(word, topn=topn, restrict_vocab=common_rows(wv)), wv)
        plane = Plane.fitted(np.concatenate([density.mean[None], wv.density(near).mean]))
        page["picture"] = _circles(model, plane, [word, *near])
    return page


def compared(model: Model, question: CompareQuestion, limits: Limits) -> View:
    """Two words, or two words in sentences, side by side."""
    wv = model.wv
    (a_side, a), (b_side, b) = (_side(model, text, limits) for text in (question.a, question.b))
    own = (a_side["word"], b_side["word"])
    priors = [wv.density(word) for word in own]
    in_a_sentence = bool(a_side["sentence"] or b_side["sentence"])
    near = [
        key
        for density in (a, b)
        for key, _ in wv.most_similar(density, topn=_NEIGHBOURS // 2 + 1, metric="kl")
        if key not in own
    ]
    words = list(dict.fromkeys(near))
    plane = plane_of_shift(a.mean, b.mean, wv.density(words).mean if words else a.mean[None])
    return {
        "a": a_side,
        "b": b_side,
        "similarity": [
            {
                "metric": metric,
                "out_of_context": float(wv.similarity(*priors, metric=metric)),
                "in_context": float(wv.similarity(a, b, metric=metric)) if in_a_sentence else None,
            }
            for metric in model.metrics
        ],
        "out_of_context": _entailment(model, *priors),
        "in_context": _entailment(model, a, b) if in_a_sentence else None,
        "picture": {
            "a": _circle(plane, a),
            "b": _circle(plane, b),
            "a_prior": _circle(plane, priors[0]) if a_side["sentence"] else None,
            "b_prior": _circle(plane, priors[1]) if b_side["sentence"] else None,
            "words": _circles(model, plane, words),
        },
    }


def _side(model: Model, text: str, limits: Limits) -> tuple[View, Gaussian]:
    """Return one of two sides, a word or a word in its sentence, and its density."""
    limits.check_text(text)
    in_a_sentence = "[[" in text
    marked, tokens, position = parse_marked(text, _WORD.findall) if in_a_sentence else (text.strip(), [], 0)
    word = _key(model, marked) or marked
    check_known(model.wv, [word])
    if in_a_sentence:
        sentence = [_key(model, token) or token for token in tokens]
        density = model.wv.infer(sentence, word=word, position=position)
    else:
        density = model.wv.density(word)
    return {
        "word": word,
        "sentence": text if in_a_sentence else None,
        "generality": float(density.log_determinant),
        "entropy": float(density.entropy()),
    }, density


def _entailment(model: Model, a: Gaussian, b: Gaussian) -> View:
    """Return which of two densities entails the other, and how clearly."""
    forward, backward = float(a.kl(b)), float(b.kl(a))
    return {
        "kl": forward,
        "reverse_kl": backward,
        "direction": backward - forward,
        "lean": (backward - forward) / ((forward + backward) or 1.0),
        "hypernymy": float(model.wv.hypernymy(a, b)),
        "reverse_hypernymy": float(model.wv.hypernymy(b, a)),
    }


def mapped(model: Model, question: MapQuestion, limits: Limits) -> View:
    """Words laid out so that words that are used alike are close together."""
    wv = model.wv
    words = list(question.words)
    check_known(wv, [*words, *([question.around] if question.around else [])])
    top = min(question.top or (0 if words else 300), _MAPPED)
    if len(words) > _MAPPED:
        raise ValueError(f"a map shows at most {_MAPPED} words: got {len(words)}")
    if question.around:
        found = wv.most_similar(question.around, topn=top or 100, metric="cosine")
        words += [question.around, *(key for key, _ in found)]
    else:
        words += map(str, wv.index_to_key[question.skip : question.skip + top])
    words = list(dict.fromkeys(words))[:_MAPPED]
    rows = [wv.key_to_index[word] for word in words]
    blank = [None] * len(words)
    general = wv.generality(words).tolist() if wv.log_variances is not None and words else blank
    counts = wv.expandos["count"][rows].tolist() if "count" in wv.expandos else blank
    points = spread(wv.vectors[rows]).tolist()
    return {
        "words": [
            {"word": word, "x": x, "y": y, "generality": generality, "count": count}
            for word, (x, y), generality, count in zip(words, points, general, counts, strict=True)
        ]
    }


def _key(model: Model, text: str) -> str | None:
    """Return the key under which the model knows a word of a text."""
    known = model.wv.key_to_index
    straight = text.replace("’", "'")
    return next((form for form in (text, straight, straight.lower()) if form in known), None)


def _circle(plane: Plane, density: Gaussian) -> View:
    """Return a density in a plane: its mean, and as radius its standard deviation there."""
    x, y = plane.points(density.mean).tolist()
    return {"x": x, "y": y, "r": float(np.sqrt(np.trace(plane.covariance(density)) / 2))}


def _circles(model: Model, plane: Plane, words: list[str]) -> list[View]:
    densities: Any = model.wv.density(words) if words else []
    return [{**_circle(plane, each), "word": word} for word, each in zip(words, densities, strict=True)]


def plane_of_shift(before: Floats, after: Floats, others: Floats) -> Plane:
    """Return a plane that shows one shift in full length, to the right, and the other points as well as possible."""
    before, after, others = (np.asarray(means, dtype=np.float64) for means in (before, after, others))
    shift = after - before
    if np.linalg.norm(shift) < 1e-9 or len(shift) < 2:
        return Plane(before, Plane.fitted(np.concatenate([before[None], others])).directions)
    rest = others - before
    rest = rest - np.outer(rest @ shift, shift) / (shift @ shift)
    # How the others differ, not how far away they are; which way is up is arbitrary: the first goes up.
    centred = rest - rest.mean(axis=0) if len(rest) > 1 else rest
    up = np.linalg.svd(centred, full_matrices=False)[2][0] if len(rest) else np.zeros_like(shift)
    up = -up if len(rest) and rest[0] @ up < 0 else up
    directions, sizes = np.linalg.qr(np.stack([shift, up], axis=1))  # any direction, if all lie on the line
    return Plane(before, directions * np.where(np.diag(sizes) < 0, -1.0, 1.0))


def spread(means: Floats) -> Floats:
    """Lay out words, (n, D), on the first two principal components of their directions, (n, 2)."""
    vectors = np.asarray(means, dtype=np.float64)
    if len(vectors) < 2:
        return np.zeros((len(vectors), 2))
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return Plane.fitted(vectors).points(vectors)
