"""Answers about words, words in their sentences, and texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, get_args

from densvec.answers.documents import Document, Scored, Table, Unknown, columns, each_known, scored
from densvec.answers.messages import UsageError, check_known, spelt
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


Split = Callable[[str], list[str]]

Asked = tuple[str, Sequence[str], int | None]
"""A word, its context or sentence, and where it stands in that, as ``wv.infer_posteriors`` takes them."""


def parse_marked(text: str, split: Split = str.split) -> tuple[str, list[str], int]:
    """Return the marked word of a sentence, the sentence's words, and where it stands among them.

    `split` finds the words of a text.
    """
    before_it, _, rest = text.partition("[[")
    marked, closed, after_it = rest.partition("]]")
    if not closed or not marked.strip() or "[[" in after_it:
        found = (
            "no word is" if not closed else "several words are" if "[[" in after_it else "an empty word is"
        )
        raise UsageError(
            f"{found} marked in {text!r}: put one word in double brackets, as in 'a ripe [[kiwi]]'"
        )
    before, after = split(before_it), split(after_it)
    word = "_".join(split(marked)) or marked.strip()
    return word, [*before, word, *after], len(before)


@dataclass
class InContext(Document):
    """A word in its context."""

    word: str
    position: int | None
    unknown: list[str] = field(metadata={"description": "Words of the context that the model does not know."})


@dataclass
class Entropy(Document):
    """Entropies in nats."""

    prior: float | None
    posterior: float | None


@dataclass
class Inferred(InContext):
    """The posterior density of a word in its context, and what it says."""

    entropy: Entropy
    kl: float | None = field(metadata={"description": "KL[posterior‖prior], in nats."})
    mean: list[float]
    variance: list[float] = field(metadata={"description": "One number if spherical."})
    metric: str | None = None
    nearest_to_prior: list[Scored] | None = None
    nearest_to_posterior: list[Scored] | None = None
    substitutes: list[Scored] | None = None

    def table(self) -> Table:
        """Return the rows of the three lists."""
        rows = [
            (name, rank, each.word, each.score)
            for name in ("nearest_to_prior", "nearest_to_posterior", "substitutes")
            for rank, each in enumerate(getattr(self, name) or (), 1)
        ]
        return Table(("list", "rank", "answer", "score"), rows)

    def __str__(self) -> str:
        before, after = self.entropy.prior or 0.0, self.entropy.posterior or 0.0
        rows = [[f"prior, by {self.metric}", "", "posterior (in context)", "", "substitutes", ""]]
        for line in zip_longest(
            self.nearest_to_prior or (), self.nearest_to_posterior or (), self.substitutes or ()
        ):
            rows.append([cell for each in line for cell in _cells(each)])
        return (
            f"entropy of {self.word}: {before:.2f} before, {after:.2f} in context "
            f"({after - before:+.2f} nats); KL[posterior‖prior] = {self.kl:.2f}\n\n"
            + columns(rows, right=[1, 3, 5], indent="  ")
        )


def _cells(found: Scored | None) -> tuple[str, str]:
    return ("", "") if found is None else (found.word, f"{found.score:.3f}")


@dataclass
class Substitutes(InContext):
    """What could replace a word."""

    substitutes: list[Scored]
    unknown_candidates: list[str] | None = None

    def table(self) -> Table:
        """Return the words and their scores."""
        return ranked("substitute", self.substitutes)


def infer(wv: KeyedDensities, asked: Sequence[Asked], metric: str = "kl", topn: int = 0) -> list[Inferred]:
    """Return what each word means in its context; with `topn`, also the nearest words and the substitutes."""
    words = [word for word, _, _ in asked]
    posteriors, priors = wv.infer_posteriors(asked), wv.density(words)
    lists: list[dict[str, Any]] = [{} for _ in asked]
    if topn:
        before = wv.most_similar_batch(words, topn, metric=metric)
        after = wv.most_similar_batch(posteriors, topn, metric=metric)
        instead = wv.substitutes_batch(asked, topn=topn, posteriors=posteriors)
        found = [[scored(each, wv) for each in some] for some in (before, after, instead)]
        lists = [
            {"metric": metric, "nearest_to_prior": a, "nearest_to_posterior": b, "substitutes": c}
            for a, b, c in zip(*found, strict=True)
        ]
    figures = zip(
        priors.entropy().tolist(),
        posteriors.entropy().tolist(),
        posteriors.kl(priors).tolist(),
        posteriors.mean.tolist(),
        posteriors.variance.tolist(),
        strict=True,
    )
    return [
        Inferred(*_about(wv, one), Entropy(prior, posterior), kl, mean, variance, **more)
        for one, (prior, posterior, kl, mean, variance), more in zip(asked, figures, lists, strict=True)
    ]


def substitutes(
    wv: KeyedDensities,
    asked: Sequence[Asked],
    candidates: Sequence[str] | None = None,
    topn: int = 10,
    exclude_inflections: bool = True,
    exclude_context: bool = True,
) -> list[Substitutes]:
    """Return what could replace each word in its context."""
    lists = wv.substitutes_batch(
        asked, candidates, topn, exclude_inflections, exclude_context=exclude_context
    )
    return [Substitutes(*_about(wv, one), scored(found, wv)) for one, found in zip(asked, lists, strict=True)]


def _about(wv: KeyedDensities, asked: Asked) -> tuple[str, int | None, list[str]]:
    """Return the fields of `InContext`."""
    word, tokens, position = asked
    known = wv.key_to_index
    unknown = (token for i, token in enumerate(tokens) if i != position and token not in known)
    return word, position, list(dict.fromkeys(unknown))
