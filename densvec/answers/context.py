"""Answers about a word in its sentence: what it means there, and what could replace it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from densvec.answers.documents import Document, Scored, scored
from densvec.answers.messages import UsageError
from densvec.answers.tables import Table, columns
from densvec.answers.words import ranked

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

Split = Callable[[str], list[str]]

Asked = tuple[str, Sequence[str], int | None]
"""A word, its context or sentence, and where it stands in that, as ``wv.infer_posteriors`` takes them."""


def parse_marked(text: str, split: Split = str.split) -> tuple[str, list[str], int]:
    """Return the marked word of a sentence, the sentence's words, and where it stands among them.

    `split` finds the words of a text.

    Examples
    --------
    >>> parse_marked("a ripe [[kiwi]] tastes sweet")
    ('kiwi', ['a', 'ripe', 'kiwi', 'tastes', 'sweet'], 2)
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
