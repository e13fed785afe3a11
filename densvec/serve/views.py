"""What the page shows: a word in its sentence, a single word, two side by side, a map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from densvec.answers import Document, Scored, parse_marked, scored
from densvec.answers.context import Entropy, best_substitutes
from densvec.gaussian import Gaussian
from densvec.plot import Plane
from densvec.serve.answers import check_text, check_topn
from densvec.serve.layout import plane_of_shift, spread
from densvec.serve.limits import Limits
from densvec.serve.models import Model
from densvec.serve.schemas import CompareQuestion, ContextQuestion, MapQuestion, TokensQuestion

__all__ = [
    "MAPPED",
    "Compared",
    "InSentence",
    "Map",
    "TokenList",
    "WordPage",
    "compared",
    "in_context",
    "mapped",
    "tokens",
    "word_page",
]

MAPPED = 600
"""The most words on a map: the time to lay them out grows with the square of their number."""

_NEIGHBOURS = 12
_WORD = re.compile(r"\w+(?:['’.\-]\w+)*")


@dataclass
class Token(Document):
    """A word of a text, where it begins, and the key under which the model knows it."""

    text: str
    start: int
    key: str | None


@dataclass
class TokenList(Document):
    """The words of a text."""

    tokens: list[Token]


def tokens(model: Model, question: TokensQuestion, limits: Limits) -> TokenList:
    """Split a text into words."""
    check_text(question.text, limits)
    found: list[Token] = []
    for match in _WORD.finditer(question.text):
        key = _key(model, match[0])
        parts = [] if key is not None else list(re.finditer(r"\w+", match[0]))
        if len(parts) > 1 and any(_key(model, part[0]) for part in parts):
            for part in parts:  # of "river-bank", at least its halves may be known
                found.append(Token(part[0], match.start() + part.start(), _key(model, part[0])))
        else:
            found.append(Token(match[0], match.start(), key))
    return TokenList(found)


@dataclass
class Circle(Document):
    """A density in a plane: its mean, and as radius its standard deviation there."""

    x: float
    y: float
    r: float


@dataclass
class WordCircle(Circle):
    """The density of a word in a plane."""

    word: str


@dataclass
class ShiftPicture(Document):
    """The way from a prior to a posterior."""

    prior: Circle
    whole: Circle
    posterior: Circle
    words: list[WordCircle]


@dataclass
class Contribution(Document):
    """What leaving out one context word changes."""

    position: int
    kl: float
    shift: float
    share: float


@dataclass
class InSentence(Document):
    """What a word means in its sentence, and what each word of its context does to it."""

    word: str
    position: int
    window: list[int]
    weights: list[float]
    off: list[int]
    unknown: list[str]
    entropy: Entropy
    kl: float
    shift: float
    metric: str
    contributions: list[Contribution]
    nearest_to_prior: list[Scored]
    nearest_to_posterior: list[Scored]
    substitutes: list[Scored]
    picture: ShiftPicture


def in_context(model: Model, question: ContextQuestion, limits: Limits) -> InSentence:
    """Infer a word in its sentence, with all its context, with what is switched on, and without each word of that."""
    wv, sentence, position = model.wv, question.tokens, question.position
    check_text(sentence, limits)
    topn, metric = check_topn(question.topn, limits), question.metric
    if not 0 <= position < len(sentence):
        raise IndexError(f"position={position} is outside the sentence, which has {len(sentence)} tokens")
    word = sentence[position]
    model.check_known([word])
    positions, weights = wv.read_around(sentence, position)
    window = dict(zip(positions.tolist(), weights.tolist(), strict=True))
    active = [i for i in window if i not in question.off]
    sets = [list(window), active, *([j for j in active if j != i] for i in active)]
    prior, posteriors = wv.density(word), _posteriors(model, sentence, position, window, sets)
    whole, posterior = posteriors[0], posteriors[1]
    most = max(topn, _NEIGHBOURS)
    near = wv.most_similar(word, topn=most, metric=metric)
    near_whole = wv.most_similar(whole, topn=most, metric=metric)
    around = dict.fromkeys(key for key, _ in [*near_whole[:_NEIGHBOURS], *near[:_NEIGHBOURS]] if key != word)
    instead = best_substitutes(wv, [word], posterior, [sentence], topn, True)[0] if topn else []
    # The plane is that of the whole context: switching words moves only the arrow.
    others = wv.density(list(around)).mean if around else prior.mean[None]
    plane = plane_of_shift(prior.mean, whole.mean, others)
    picture = ShiftPicture(
        _circle(plane, prior),
        _circle(plane, whole),
        _circle(plane, posterior),
        _circles(model, plane, list(around)),
    )
    return InSentence(
        word,
        position,
        window=list(window),
        weights=list(window.values()),
        off=sorted(set(question.off) & set(window)),
        unknown=[token for token in sentence if token not in wv.key_to_index],
        entropy=Entropy(float(prior.entropy()), float(posterior.entropy())),
        kl=float(posterior.kl(prior)),
        shift=float(np.linalg.norm(posterior.mean - prior.mean)),
        metric=metric,
        contributions=_contributions(active, posterior, posteriors[2:]),
        nearest_to_prior=scored(near[:topn]),
        nearest_to_posterior=scored(wv.most_similar(posterior, topn=topn, metric=metric)),
        substitutes=scored(instead),
        picture=picture,
    )


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
    wv, prior = model.wv, model.wv.density(sentence[position])
    kept = [i for some in sets for i in some]
    rows = [wv.key_to_index[sentence[i]] for i in kept]
    priors = (np.tile(prior.mean, (len(sets), 1)), np.tile(np.log(prior.variance), (len(sets), 1)))
    assert wv.encoder is not None  # read_around has seen to it
    means, log_variances = wv.encoder.posteriors(
        [wv.key_to_index[sentence[position]]] * len(sets),
        rows,
        np.cumsum([0, *map(len, sets)]),
        priors,
        np.array([window[i] for i in kept], dtype=np.float64),
    )
    for i, some in enumerate(sets):
        if not some:  # without any context it is the prior
            means[i], log_variances[i] = prior.mean, np.log(prior.variance)
    return Gaussian(means, np.exp(log_variances))


def _contributions(active: Sequence[int], posterior: Gaussian, without: Gaussian) -> list[Contribution]:
    if not active:
        return []
    kl = np.array([float(posterior.kl(other)) for other in without])
    shifts = np.linalg.norm(without.mean - posterior.mean, axis=1)
    shares = kl / (kl.sum() or 1.0)
    return [Contribution(i, *map(float, each)) for i, *each in zip(active, kl, shifts, shares, strict=True)]


@dataclass
class Prior(Document):
    """The density of a word out of context."""

    variance: float
    entropy: float
    generality: float
    more_general_than: float


@dataclass
class WordGenerality(Document):
    """A word and how general it is."""

    word: str
    generality: float


@dataclass
class WordPage(Document):
    """All there is to say about a word out of context; of a model without variances or counts, less."""

    word: str
    rank: int
    words: int
    neighbours: dict[str, list[Scored]]
    count: int | None = None
    frequency: float | None = None
    prior: Prior | None = None
    generality_of_neighbours: list[WordGenerality] | None = None
    hypernyms: list[Scored] | None = None
    hyponyms: list[Scored] | None = None
    picture: list[WordCircle] | None = None


def word_page(model: Model, word: str, topn: int, limits: Limits) -> WordPage:
    """Look a word up."""
    wv = model.wv
    check_topn(topn, limits)
    model.check_known([word])
    neighbours = {
        metric: wv.most_similar(word, topn=max(topn, _NEIGHBOURS), metric=metric) for metric in model.metrics
    }
    lists = {metric: scored(found[:topn]) for metric, found in neighbours.items()}
    page = WordPage(word, wv.key_to_index[word] + 1, len(wv), lists)
    if "count" in wv.expandos:
        page.count = int(wv.get_vecattr(word, "count"))
        page.frequency = page.count / max(int(wv.expandos["count"].sum()), 1)
    if wv.log_variances is not None:
        density, generality = wv.density(word), float(wv.generality(word))
        below = np.searchsorted(model.generalities, generality) / max(len(wv), 1)
        page.prior = Prior(
            float(np.mean(density.variance)), float(density.entropy()), generality, float(below)
        )
        near = [key for key, _ in neighbours["cosine"][:_NEIGHBOURS]]
        page.generality_of_neighbours = [
            WordGenerality(key, float(value)) for key, value in zip(near, wv.generality(near), strict=True)
        ]
        page.hypernyms = scored(wv.hypernyms(word, topn=topn))
        page.hyponyms = scored(wv.hyponyms(word, topn=topn))
        plane = Plane.fitted(np.concatenate([density.mean[None], wv.density(near).mean]))
        page.picture = _circles(model, plane, [word, *near])
    return page


@dataclass
class Side(Document):
    """One of two sides: a word, or a word in its sentence."""

    word: str
    sentence: str | None
    generality: float
    entropy: float


@dataclass
class Similarity(Document):
    """How similar two sides are by a metric."""

    metric: str
    out_of_context: float
    in_context: float | None


@dataclass
class Entailment(Document):
    """Which of two densities entails the other, and how much of the divergence says so."""

    kl: float
    reverse_kl: float
    direction: float
    lean: float
    hypernymy: float
    reverse_hypernymy: float


@dataclass
class PairPicture(Document):
    """Two densities among their neighbours."""

    a: Circle
    b: Circle
    a_prior: Circle | None
    b_prior: Circle | None
    words: list[WordCircle]


@dataclass
class Compared(Document):
    """Two words, or two words in sentences, side by side."""

    a: Side
    b: Side
    similarity: list[Similarity]
    out_of_context: Entailment
    in_context: Entailment | None
    picture: PairPicture


def compared(model: Model, question: CompareQuestion, limits: Limits) -> Compared:
    """Compare two words."""
    wv = model.wv
    (a_side, a), (b_side, b) = (_side(model, text, limits) for text in (question.a, question.b))
    own = (a_side.word, b_side.word)
    priors = [wv.density(word) for word in own]
    in_a_sentence = bool(a_side.sentence or b_side.sentence)
    near = [
        key
        for density in (a, b)
        for key, _ in wv.most_similar(density, topn=_NEIGHBOURS // 2 + 1, metric="kl")
        if key not in own
    ]
    words = list(dict.fromkeys(near))
    plane = plane_of_shift(a.mean, b.mean, wv.density(words).mean if words else a.mean[None])
    picture = PairPicture(
        _circle(plane, a),
        _circle(plane, b),
        _circle(plane, priors[0]) if a_side.sentence else None,
        _circle(plane, priors[1]) if b_side.sentence else None,
        _circles(model, plane, words),
    )
    return Compared(
        a_side,
        b_side,
        [
            Similarity(
                metric,
                float(wv.similarity(*priors, metric=metric)),
                float(wv.similarity(a, b, metric=metric)) if in_a_sentence else None,
            )
            for metric in model.metrics
        ],
        _entailment(model, *priors),
        _entailment(model, a, b) if in_a_sentence else None,
        picture,
    )


def _side(model: Model, text: str, limits: Limits) -> tuple[Side, Gaussian]:
    check_text(text, limits)
    if "[[" in text:
        marked, words, place = parse_marked(text)
        word = _key(model, marked) or marked
        model.check_known([word])
        sentence = [_key(model, token) or token for token in _words_of(words)]
        density = model.wv.infer(sentence, word=word, position=len(_words_of(words[:place])))
    else:
        word = _key(model, text.strip()) or text.strip()
        model.check_known([word])
        density = model.wv.density(word)
    shown = text if "[[" in text else None
    return Side(word, shown, float(density.log_determinant), float(density.entropy())), density


def _words_of(pieces: Sequence[str]) -> list[str]:
    """Return pieces of a text without their punctuation."""
    return [match[0] for piece in pieces for match in [_WORD.search(piece)] if match]


def _entailment(model: Model, a: Gaussian, b: Gaussian) -> Entailment:
    forward, backward = float(a.kl(b)), float(b.kl(a))
    lean = (backward - forward) / (forward + backward) if forward + backward else 0.0
    kinds = float(model.wv.hypernymy(a, b)), float(model.wv.hypernymy(b, a))
    return Entailment(forward, backward, backward - forward, lean, *kinds)


@dataclass
class MapWord(Document):
    """A word on a map."""

    word: str
    x: float
    y: float
    generality: float | None
    count: int | None


@dataclass
class Map(Document):
    """Words laid out so that words that are used alike are close together."""

    words: list[MapWord]


def mapped(model: Model, question: MapQuestion, limits: Limits) -> Map:
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
    rows = [wv.key_to_index[word] for word in words]
    blank = [None] * len(words)
    general = wv.generality(words).tolist() if wv.log_variances is not None and words else blank
    counts = wv.expandos["count"][rows].tolist() if "count" in wv.expandos else blank
    points = spread(wv.vectors[rows]).tolist()
    return Map(
        [
            MapWord(word, *point, *more)
            for word, point, *more in zip(words, points, general, counts, strict=True)
        ]
    )


def _key(model: Model, text: str) -> str | None:
    """Return the key under which the model knows a word of a text."""
    known = model.wv.key_to_index
    straight = text.replace("’", "'")
    return next((form for form in (text, straight, straight.lower()) if form in known), None)


def _circle(plane: Plane, density: Gaussian) -> Circle:
    return Circle(*_place(plane, density))


def _circles(model: Model, plane: Plane, words: list[str]) -> list[WordCircle]:
    if not words:
        return []
    densities = model.wv.density(words)
    return [WordCircle(*_place(plane, each), word) for word, each in zip(words, densities, strict=True)]


def _place(plane: Plane, density: Gaussian) -> tuple[float, float, float]:
    x, y = plane.points(density.mean).tolist()
    return x, y, float(np.sqrt(np.trace(plane.covariance(density)) / 2))
