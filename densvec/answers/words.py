"""Answers about words and texts: similar words, what is a kind of what, which of two texts is nearer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from densvec.answers.documents import Document, Scored, Unknown, each_known, scored
from densvec.answers.messages import UsageError, check_known, spelt
from densvec.answers.tables import Table, columns
from densvec.questions.lookup import words_of

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities
    from densvec.questions.taxonomy import Taxonomy

Metric = Literal["cosine", "kl", "reverse_kl", "jeffreys", "expected_likelihood", "wasserstein"]
METRICS: tuple[str, ...] = get_args(Metric)

RELATED = 0.95
"""Two words are called related if they are nearer to each other than this share of all pairs."""


def ranked(name: str, found: Sequence[Scored]) -> Table:
    """Return words and their scores as a table, and how often they occur, if that is known."""
    if any(each.count is not None for each in found):
        return Table((name, "score", "times"), [(each.word, each.score, each.count) for each in found])
    return Table((name, "score"), [(each.word, each.score) for each in found])


@dataclass
class Similar(Document):
    """The words most like some words."""

    metric: str
    similar: list[Scored]

    def table(self) -> Table:
        """Return the words and their scores."""
        return ranked("similar", self.similar)


def similar(
    wv: KeyedDensities,
    asked: Sequence[tuple[list[str], list[str]]],
    metric: str = "cosine",
    topn: int = 10,
    restrict_vocab: int | None = None,
) -> list[Similar]:
    """Return the words most like each list of words, and unlike the list beside it; single words in one pass."""
    alone = [positive[0] for positive, negative in asked if len(positive) == 1 and not negative]
    options: dict[str, Any] = {"restrict_vocab": restrict_vocab, "metric": metric}
    batch = iter(wv.most_similar_batch(alone, topn, **options) if alone else ())
    return [
        Similar(
            metric,
            scored(
                next(batch)
                if len(positive) == 1 and not negative
                else wv.most_similar(positive, negative, topn=topn, **options),
                wv,
            ),
        )
        for positive, negative in asked
    ]


@dataclass
class Hypernyms(Document):
    """More general, or more specific, words."""

    word: str
    chance: float = field(metadata={"description": "The score of unrelated words."})
    hypernyms: list[Scored] | None = None
    hyponyms: list[Scored] | None = None

    def table(self) -> Table:
        """Return the words and their scores."""
        if self.hypernyms is not None:
            return ranked("hypernym", self.hypernyms)
        return ranked("hyponym", self.hyponyms or [])

    def __str__(self) -> str:
        table = self.table()
        last = ("(unrelated words)", self.chance, None)[: len(table.names)]
        return str(Table(table.names, [*table.rows, last]))


def hypernyms(
    wv: KeyedDensities,
    words: Sequence[str],
    topn: int = 10,
    hyponyms: bool = False,
    **options: Any,
) -> list[Hypernyms]:
    """Return what each word is a kind of, or its kinds."""
    search = wv.hyponyms if hyponyms else wv.hypernyms
    name, chance = "hyponyms" if hyponyms else "hypernyms", float(wv.hypernymy_scale.chance)
    return [Hypernyms(word, chance, **{name: scored(search(word, topn, **options), wv)}) for word in words]


@dataclass
class Entails(Document):
    """How the densities of two words compare."""

    a: str
    b: str
    related: bool = field(
        metadata={"description": "Whether they are nearer to each other than 95 of 100 pairs of words."}
    )
    nearer_than: float = field(metadata={"description": "Which share of all pairs of words is less near."})
    hypernymy: float = field(metadata={"description": "How far a is a kind of b, from 0 to 1."})
    reverse_hypernymy: float = field(metadata={"description": "How far b is a kind of a, from 0 to 1."})
    kl: float | None = field(metadata={"description": "KL[a‖b], in nats."})
    reverse_kl: float | None = field(metadata={"description": "KL[b‖a], in nats."})
    direction: float | None = field(
        metadata={"description": "KL[b‖a] − KL[a‖b]: positive if b is the more general."}
    )
    entails: bool = field(metadata={"description": "Whether they are related and b is the more general."})
    cosine: float | None
    generality: dict[str, float | None]

    def table(self) -> Table:
        """Return one row."""
        names = [each.name for each in fields(self) if each.name != "generality"]
        row = [getattr(self, name) for name in names]
        general = [self.generality[word] for word in (self.a, self.b)]
        return Table([*names, "generality_a", "generality_b"], [[*row, *general]])

    def __str__(self) -> str:
        a, b = self.a, self.b
        figures = {
            f"{a} a kind of {b}": self.hypernymy,
            f"{b} a kind of {a}": self.reverse_hypernymy,
            f"KL[{a}‖{b}]": self.kl,
            f"KL[{b}‖{a}]": self.reverse_kl,
            "cosine": self.cosine,
            **{f"generality of {word}": value for word, value in self.generality.items()},
        }
        rows = [(name, f"{value:.3f}") for name, value in figures.items()]
        return f"{self._verdict()}\n{columns(rows, right=[1], indent='  ')}"

    def _verdict(self) -> str:
        a, b = self.a, self.b
        if not self.related:
            share = f"{100 * self.nearer_than:.0f} % of all pairs of words"
            return f"{a} and {b} are not related: they are nearer to each other than {share}"
        if not self.direction:
            return f"{a} and {b} are related, and neither is more general"
        specific, general = (a, b) if self.entails else (b, a)
        return f"{a} and {b} are related: {specific} entails {general}, rather than the other way round"


def entails(wv: KeyedDensities, pairs: Sequence[tuple[str, str]]) -> list[Entails]:
    """Return how the densities of each pair of words compare."""
    return [_entails(wv, a, b) for a, b in pairs]


def _entails(wv: KeyedDensities, a: str, b: str) -> Entails:
    forward, backward = float(wv.kl_divergence(a, b)), float(wv.kl_divergence(b, a))
    cosine = float(wv.similarity(a, b))
    nearer = float(wv.hypernymy_scale.relatedness(cosine))
    return Entails(
        a,
        b,
        related=nearer >= RELATED,
        nearer_than=nearer,
        hypernymy=float(wv.hypernymy(a, b)),
        reverse_hypernymy=float(wv.hypernymy(b, a)),
        kl=forward,
        reverse_kl=backward,
        direction=backward - forward,
        entails=nearer >= RELATED and forward < backward,
        cosine=cosine,
        generality={word: float(wv.generality(word)) for word in (a, b)},
    )


@dataclass
class Tree(Document):
    """Words in a tree, each under what it is most likely a kind of."""

    tree: Taxonomy
    unknown: list[Unknown]

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as it says itself, and the unknown words if there are any."""
        return {**self.tree.to_dict(), **({"unknown": self.unknown} if self.unknown else {})}

    def table(self) -> Table:
        """Return each word with the one that it stands under."""
        tree = self.tree
        return Table(
            ("word", "hypernym", "score"), list(zip(tree.words, tree.parents, tree.scores, strict=True))
        )

    def __str__(self) -> str:
        return "\n".join(map(str, [self.tree, *self.unknown]))


def taxonomy(wv: KeyedDensities, words: Sequence[str]) -> Tree:
    """Arrange the words that are known in a tree; at least one must be known."""

    def known(word: str) -> str:
        check_known(wv, [word])
        return word

    found, unknown = each_known(words, known)
    return Tree(wv.taxonomy(found), unknown)


@dataclass
class TextScore(Document):
    """A text and how similar it is."""

    text: str
    score: float | None


@dataclass
class Texts(Document):
    """Texts by their similarity to the first."""

    text: str
    similar: list[TextScore]

    def table(self) -> Table:
        """Return the texts and their scores."""
        return Table(("score", "similar"), [(each.score, each.text) for each in self.similar])


def texts(
    wv: KeyedDensities,
    asked: Sequence[str],
    words: Sequence[Sequence[str]] | None = None,
    *,
    weights: str = "sif",
    metric: str = "cosine",
    topn: int | None = None,
) -> Texts:
    """Rank texts by how similar they are to the first; their words may be given, which then stand under their names."""
    if len(asked) < 2:
        raise UsageError("at least two texts are needed: the question, and one to compare it with")
    if words is None:
        words = [words_of(wv, text) for text in asked]
    densities = wv.text_density([[spelt(wv, word) for word in each] for each in words], weights=weights)
    scores = wv.text_similarity(densities[0], densities[1:], metric=metric)[0]
    order = (-scores).argsort(kind="stable")[:topn]
    return Texts(asked[0], [TextScore(asked[1 + i], float(scores[i])) for i in order])


@dataclass
class Learnt(Document):
    """A new word: its variance, and the words nearest to it."""

    word: str
    variance: float
    nearest: list[Scored]

    def table(self) -> Table:
        """Return the words and their scores."""
        return ranked("nearest", self.nearest)
