"""What the page shows, as JSON documents: a word in its sentence, a single word, two side by side, a map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from densvec.cli.output import plain, scored
from densvec.cli.words import parse_marked
from densvec.gaussian import Gaussian
from densvec.plot import Plane
from densvec.serve.answers import Document
from densvec.serve.layout import plane_of_shift, spread
from densvec.serve.limits import Limits
from densvec.serve.models import Model
from densvec.serve.schemas import Compared, Looked, Mapped, Tokens

__all__ = ["MAPPED", "compared", "in_context", "mapped", "tokens", "word_page"]

MAPPED = 600
"""The most words on a map: the time to lay them out grows with the square of their number."""

_NEIGHBOURS = 12
_WORD = re.compile(r"\w+(?:['’.\-]\w+)*")


def tokens(model: Model, question: Tokens, limits: Limits) -> Document:
    """Split a text into words, each with the key under which the model knows it, None if it does not."""
    if len(question.text) > limits.text:
        raise ValueError(
            f"the text has {len(question.text):,} characters, more than the {limits.text:,} that may be sent"
        )
    found: list[Document] = []
    for match in _WORD.finditer(question.text):
        key = _key(model, match[0])
        parts = [match] if key is not None else list(re.finditer(r"\w+", match[0]))
        if key is None and len(parts) > 1 and any(_key(model, part[0]) for part in parts):
            for part in parts:  # of "river-bank", at least its halves may be known
                start = match.start() + part.start()
                found.append({"text": part[0], "start": start, "key": _key(model, part[0])})
        else:
            found.append({"text": match[0], "start": match.start(), "key": key})
    return {"tokens": found}


def in_context(model: Model, question: Looked, limits: Limits) -> Document:
    """Return what a word means in its sentence, and what each word of its context does to it."""
    wv = model.wv
    _check_size(question.tokens, question.topn, limits)
    if not 0 <= question.position < len(question.tokens):
        raise IndexError(
            f"position={question.position} is outside the sentence, which has {len(question.tokens)} tokens"
        )
    word = question.tokens[question.position]
    model.check_known([word])
    window = _window(model, question.tokens, question.position)
    off = set(question.off)
    active = [i for i in window if i not in off]
    sets = [list(window), active, *([j for j in active if j != i] for i in active)]
    posteriors = _posteriors(model, question, window, sets)
    whole, posterior = posteriors[0], posteriors[1]
    prior = wv.density(word)
    nearest_to_prior = wv.most_similar(word, topn=_at_least(question.topn), metric=question.metric)
    nearest_to_whole = wv.most_similar(whole, topn=_at_least(question.topn), metric=question.metric)
    nearest = wv.most_similar(posterior, topn=question.topn, metric=question.metric)
    around = dict.fromkeys(
        key for key, _ in [*nearest_to_whole[:_NEIGHBOURS], *nearest_to_prior[:_NEIGHBOURS]] if key != word
    )
    document = {
        "word": word,
        "position": question.position,
        "window": list(window),
        "weights": list(window.values()),
        "off": sorted(off & set(window)),
        "unknown": [token for token in question.tokens if token not in wv.key_to_index],
        "entropy": {"prior": prior.entropy(), "posterior": posterior.entropy()},
        "kl": posterior.kl(prior),
        "shift": np.linalg.norm(posterior.mean - prior.mean),
        "metric": question.metric,
        "contributions": _contributions(active, posterior, posteriors[2:]),
        "nearest_to_prior": scored(nearest_to_prior[: question.topn]),
        "nearest_to_posterior": scored(nearest),
        "substitutes": scored(_substitutes(model, question, posterior)),
        "picture": _picture(model, prior, whole, posterior, list(around)),
    }
    return plain(document)  # type: ignore[no-any-return]


def word_page(model: Model, word: str, topn: int, limits: Limits) -> Document:
    """Return all there is to say about a word out of context."""
    wv = model.wv
    _check_size([], topn, limits)
    model.check_known([word])
    document: Document = {"word": word, "rank": wv.key_to_index[word] + 1, "words": len(wv)}
    if "count" in wv.expandos:
        document["count"] = int(wv.get_vecattr(word, "count"))
        document["frequency"] = document["count"] / max(int(wv.expandos["count"].sum()), 1)
    neighbours = {
        metric: wv.most_similar(word, topn=max(topn, _NEIGHBOURS), metric=metric) for metric in model.metrics
    }
    document["neighbours"] = {metric: scored(found[:topn]) for metric, found in neighbours.items()}
    if wv.log_variances is not None:
        prior = wv.density(word)
        near = [key for key, _ in neighbours["cosine"][:_NEIGHBOURS]]
        plane = Plane.fitted(np.concatenate([prior.mean[None], wv.density(near).mean]))
        document |= {
            "prior": {
                "variance": float(np.mean(prior.variance)),
                "entropy": prior.entropy(),
                "generality": wv.generality(word),
                "more_general_than": _share_below(model, wv.generality(word)),
            },
            "generality_of_neighbours": [
                {"word": key, "generality": value}
                for key, value in zip(near, wv.generality(near), strict=True)
            ],
            "hypernyms": scored(wv.hypernyms(word, topn=topn)),
            "hyponyms": scored(wv.hyponyms(word, topn=topn)),
            "picture": _points(model, plane, [word, *near]),
        }
    return plain(document)  # type: ignore[no-any-return]


def compared(model: Model, question: Compared, limits: Limits) -> Document:
    """Lay two words, or two words in sentences, side by side."""
    wv = model.wv
    sides = [_side(model, text, limits) for text in (question.a, question.b)]
    priors = [wv.density(side["word"]) for side in sides]
    densities = [side.pop("density") for side in sides]
    in_a_sentence = any(side["sentence"] for side in sides)
    a, b = densities
    near = [
        key
        for side, density in zip(sides, densities, strict=True)
        for key, _ in wv.most_similar(density, topn=_NEIGHBOURS // 2 + 1, metric="kl")
        if key != side["word"]
    ]
    words = list(dict.fromkeys(key for key in near if key not in {side["word"] for side in sides}))
    plane = plane_of_shift(a.mean, b.mean, wv.density(words).mean if words else a.mean[None])
    document = {
        "a": {**sides[0], "generality": a.log_determinant, "entropy": a.entropy()},
        "b": {**sides[1], "generality": b.log_determinant, "entropy": b.entropy()},
        "similarity": [
            {
                "metric": metric,
                "out_of_context": wv.similarity(*priors, metric=metric),
                "in_context": wv.similarity(a, b, metric=metric) if in_a_sentence else None,
            }
            for metric in model.metrics
        ],
        "out_of_context": _entailment(model, *priors),
        "in_context": _entailment(model, a, b) if in_a_sentence else None,
        "picture": {
            "a": _circle(plane, a),
            "b": _circle(plane, b),
            "a_prior": _circle(plane, priors[0]) if sides[0]["sentence"] else None,
            "b_prior": _circle(plane, priors[1]) if sides[1]["sentence"] else None,
            "words": _points(model, plane, words),
        },
    }
    return plain(document)  # type: ignore[no-any-return]


def mapped(model: Model, question: Mapped, limits: Limits) -> Document:
    """Lay out words on a map."""
    wv = model.wv
    words = list(question.words)
    model.check_known([*words, *([question.around] if question.around else [])])
    top = min(question.top or (0 if words else 300), MAPPED)
    if len(words) > MAPPED:
        raise ValueError(f"a map shows at most {MAPPED} words: got {len(words)}")
    if question.around:
        found = wv.most_similar(question.around, topn=top or 100, metric="cosine")
        words += [question.around, *(key for key, _ in found)]
    else:
        words += map(str, wv.index_to_key[question.skip : question.skip + top])
    words = list(dict.fromkeys(words))[:MAPPED]
    points = spread(wv.vectors[[wv.key_to_index[word] for word in words]])
    general = wv.generality(words) if wv.log_variances is not None and words else [None] * len(words)
    counts = wv.expandos.get("count")
    return plain(  # type: ignore[no-any-return]
        {
            "words": [
                {
                    "word": word,
                    "x": x,
                    "y": y,
                    "generality": value,
                    "count": None if counts is None else counts[wv.key_to_index[word]],
                }
                for word, (x, y), value in zip(words, points.tolist(), general, strict=True)
            ]
        }
    )


def _key(model: Model, text: str) -> str | None:
    known = model.wv.key_to_index
    straight = text.replace("’", "'")
    return next((form for form in (text, straight, straight.lower()) if form in known), None)


def _window(model: Model, sentence: Sequence[str], position: int) -> dict[int, float]:
    """Return the positions that `wv.infer` reads, and how much each of them counts."""
    positions, weights = model.wv.read_around(sentence, position)
    return dict(zip(positions.tolist(), weights.tolist(), strict=True))


def _posteriors(
    model: Model, question: Looked, window: dict[int, float], sets: Sequence[Sequence[int]]
) -> Gaussian:
    """Return the posteriors from parts of a window, whose words count as they do in all of it.

    Switching a word off neither makes room for words further away nor brings others nearer.
    """
    rows = model.wv.key_to_index
    centre = rows[question.tokens[question.position]]
    contexts = np.array([rows[question.tokens[i]] for kept in sets for i in kept], dtype=np.int64)
    weights = np.array([window[i] for kept in sets for i in kept], dtype=np.float64)
    offsets = np.cumsum([0, *map(len, sets)])
    return model.wv._posteriors(np.full(len(sets), centre), contexts, offsets, weights)


def _substitutes(model: Model, question: Looked, posterior: Gaussian) -> list[tuple[str, float]]:
    """Return what ``wv.substitutes`` does, from a posterior."""
    word = question.tokens[question.position]
    if not question.topn:
        return []
    context = set(question.tokens)
    return model.wv._substitutes([word], posterior, [context], question.topn, exclude_inflections=True)[0]


def _contributions(active: Sequence[int], posterior: Gaussian, without: Gaussian) -> list[Document]:
    """Return what leaving out each active context word changes."""
    if not active:
        return []
    kl = np.asarray([float(posterior.kl(other)) for other in without])
    shifts = np.linalg.norm(without.mean - posterior.mean, axis=1)
    total = float(kl.sum()) or 1.0
    return [
        {"position": i, "kl": float(kl[j]), "shift": float(shifts[j]), "share": float(kl[j]) / total}
        for j, i in enumerate(active)
    ]


def _picture(
    model: Model, prior: Gaussian, whole: Gaussian, posterior: Gaussian, words: list[str]
) -> Document:
    """Return where to draw the shift, in the plane of the whole context: switching words moves only the arrow."""
    others = model.wv.density(words).mean if words else prior.mean[None]
    plane = plane_of_shift(prior.mean, whole.mean, others)
    return {
        "prior": _circle(plane, prior),
        "whole": _circle(plane, whole),
        "posterior": _circle(plane, posterior),
        "words": _points(model, plane, words),
    }


def _circle(plane: Plane, density: Gaussian) -> Document:
    """Return a density in a plane: its mean, and as radius its standard deviation there."""
    x, y = plane.points(density.mean)
    return {"x": x, "y": y, "r": float(np.sqrt(np.trace(plane.covariance(density)) / 2))}


def _points(model: Model, plane: Plane, words: list[str]) -> list[Document]:
    if not words:
        return []
    return [
        {"word": word, **_circle(plane, density)}
        for word, density in zip(words, model.wv.density(words), strict=True)
    ]


def _side(model: Model, text: str, limits: Limits) -> dict[str, Any]:
    """Return one of two sides: a word, or a word in its sentence."""
    if len(text) > limits.text:
        raise ValueError(
            f"the text has {len(text):,} characters, more than the {limits.text:,} that may be sent"
        )
    if "[[" not in text:
        word = _key(model, text.strip()) or text.strip()
        model.check_known([word])
        return {"word": word, "sentence": None, "density": model.wv.density(word)}
    marked = parse_marked(text)
    sentence = [_key(model, token) or token for token in _words_of(marked.tokens)]
    position = len(_words_of(marked.tokens[: marked.position]))
    word = _key(model, marked.word) or marked.word
    model.check_known([word])
    density = model.wv.infer(sentence, word, position)
    return {"word": word, "sentence": text, "density": density}


def _words_of(pieces: Sequence[str]) -> list[str]:
    """Return pieces of a text without their punctuation."""
    return [match[0] for piece in pieces for match in [_WORD.search(piece)] if match]


def _entailment(model: Model, a: Gaussian, b: Gaussian) -> Document:
    """Return which of two densities entails the other, and how much of the divergence says so."""
    forward, backward = float(a.kl(b)), float(b.kl(a))
    total = forward + backward
    return {
        "kl": forward,
        "reverse_kl": backward,
        "direction": backward - forward,
        "lean": (backward - forward) / total if total else 0.0,
        "hypernymy": model.wv.hypernymy(a, b),
        "reverse_hypernymy": model.wv.hypernymy(b, a),
    }


def _share_below(model: Model, generality: float) -> float:
    below = int(np.searchsorted(model.generalities, generality))
    return below / max(len(model.generalities), 1)


def _at_least(topn: int) -> int:
    return max(topn, _NEIGHBOURS)


def _check_size(sentence: Sequence[str], topn: int, limits: Limits) -> None:
    size = sum(map(len, sentence)) + len(sentence)
    if size > limits.text:
        raise ValueError(f"the text has {size:,} characters, more than the {limits.text:,} that may be sent")
    if topn > limits.topn:
        raise ValueError(f"topn={topn} is more than the {limits.topn:,} words that a question may ask for")
