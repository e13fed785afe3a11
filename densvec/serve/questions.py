"""The questions of a request: the arguments of the Python methods, under their names and with their defaults."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from densvec.answers import words as answers
from densvec.answers.documents import Document
from densvec.answers.words import Metric
from densvec.keyed import KeyedDensities
from densvec.serve.limits import Limits

Text = str | list[str]
Split = Callable[[str], list[str]]

_SUBSTITUTES, _HYPERNYMS = 20, 40
"""About how many times as long as `similar` these take."""


class Question(BaseModel):
    """What all questions share: nothing is converted, and a misspelt name is an error."""

    model_config = ConfigDict(strict=True, extra="forbid")


class Batched(Question):
    """A question that is answered together with others of the same settings."""

    answer: ClassVar[Callable[..., Sequence[Document]]]  # (wv, what each is about, *settings)
    reply: ClassVar[type[Document]]
    shared: ClassVar[Sequence[str]] = ()  # the settings: what questions answered in one call have in common
    passes: ClassVar[int] = 1  # over all words, to find the answer

    def about(self, limits: Limits, split: Split = str.split) -> tuple[Any, list[str]]:
        """Return what the question is about, as `densvec.answers` takes it, and the words that must be known."""
        raise NotImplementedError

    def settings(self, limits: Limits) -> tuple[Hashable, ...]:
        """Return the values of the settings."""
        limits.check_topn(getattr(self, "topn", 0))
        values = (getattr(self, name) for name in self.shared)
        return tuple(tuple(value) if isinstance(value, list) else value for value in values)

    def scans(self) -> int:
        """Return about how many passes over all words the answer takes."""
        return self.passes


@dataclass
class SimilarAnswer(answers.Similar):
    """The words most like some words."""

    positive: list[str]
    negative: list[str]


def _similar(
    wv: KeyedDensities, asked: Sequence[tuple[list[str], list[str]]], metric: str, topn: int
) -> list[SimilarAnswer]:
    found = zip(answers.similar(wv, asked, metric, topn), asked, strict=True)
    return [SimilarAnswer(**vars(one), positive=a, negative=b) for one, (a, b) in found]


class SimilarQuestion(Batched):
    """The words most like some words, as ``wv.most_similar``."""

    answer = _similar
    reply = SimilarAnswer
    shared = ("metric", "topn")

    positive: Text = Field(description="A word or a list of words that the answers should be like.")
    negative: Text = Field([], description="Words that they should be unlike.")
    metric: Metric = "cosine"
    topn: int = Field(10, ge=0)

    def about(self, limits: Limits, split: Split = str.split) -> tuple[Any, list[str]]:
        """Return both lists."""
        positive, negative = _listed(self.positive), _listed(self.negative)
        words = [*positive, *negative]
        if not words:
            raise ValueError("nothing to be similar to: give at least one positive or negative item")
        if len(words) > limits.batch:
            raise ValueError(f"at most {limits.batch} words may be given: got {len(words)}")
        return (positive, negative), words

    def scans(self) -> int:
        """Return how many words are given."""
        return len(_listed(self.positive)) + len(_listed(self.negative))


class InContextQuestion(Batched):
    """A word in its context, as ``wv.infer`` takes it, or a sentence with the word in double brackets."""

    word: str | None = Field(None, description="The word; not needed with `position` or `sentence`.")
    context: Text | None = Field(None, description="Words, or a string of them separated by spaces.")
    position: int | None = Field(
        None, description="Where the word stands in `context`, which then is its sentence."
    )
    sentence: str | None = Field(None, description="Instead of all of these: 'a ripe [[kiwi]] tastes sweet'.")

    @model_validator(mode="after")
    def _is_complete(self) -> InContextQuestion:
        if self.sentence is not None:
            if self.word is not None or self.context is not None or self.position is not None:
                raise ValueError("a sentence is enough: leave out word, context and position")
        elif self.context is None:
            raise ValueError("give a sentence with a [[word]], or a context with a word or a position")
        elif self.word is None and self.position is None:
            raise ValueError("say which word is meant: give word or position")
        return self

    def about(self, limits: Limits, split: Split = str.split) -> tuple[Any, list[str]]:
        """Return the word, its context, and where it stands in it."""
        limits.check_text(self.sentence or self.context or "")
        if self.sentence is not None:
            found = answers.parse_marked(self.sentence, split)
            return found, [found[0]]
        context, position = self.context or [], self.position
        tokens = context
        if isinstance(context, str):  # a position counts what stands between white space
            pieces = context.split()
            tokens = (
                split(context) if position is None else ["_".join(split(each)) or each for each in pieces]
            )
        if position is not None and not 0 <= position < len(tokens):
            raise IndexError(f"position={position} is outside the sentence, which has {len(tokens)} tokens")
        word = tokens[position] if self.word is None and position is not None else self.word
        assert word is not None  # _is_complete has seen to it
        return (word, tokens, position), [word]


class InferQuestion(InContextQuestion):
    """What a word means in its context, as ``wv.infer``; with `topn`, as ``densvec infer``."""

    answer = answers.infer
    reply = answers.Inferred
    shared = ("metric", "topn")

    metric: Metric = Field("kl", description="For the nearest words.")
    topn: int = Field(
        0, ge=0, description="How many nearest words and substitutes to find; none unless asked for."
    )

    def scans(self) -> int:
        """Return what the nearest words and the substitutes take."""
        return 2 + _SUBSTITUTES if self.topn else 0


class SubstitutesQuestion(InContextQuestion):
    """What could replace a word in its context, as ``wv.substitutes``."""

    answer = answers.substitutes
    reply = answers.Substitutes
    shared = ("candidates", "topn", "exclude_inflections", "exclude_context")
    passes = _SUBSTITUTES

    candidates: list[str] | None = Field(
        None, description="The words to rank; unknown ones are left out. By default all words."
    )
    topn: int = Field(10, ge=0)
    exclude_inflections: bool = True
    exclude_context: bool = True


class EntailsQuestion(Batched):
    """Which of two words is the more general one, as ``wv.direction`` and ``densvec entails``."""

    answer = answers.entails
    reply = answers.Entails

    a: str
    b: str

    def about(self, limits: Limits, split: Split = str.split) -> tuple[Any, list[str]]:
        """Return both words."""
        return (self.a, self.b), [self.a, self.b]


class HypernymsQuestion(Batched):
    """What a word is a kind of, as ``wv.hypernyms``."""

    answer = answers.hypernyms
    reply = answers.Hypernyms
    shared = ("topn", "hyponyms")
    passes = _HYPERNYMS
    hyponyms: ClassVar[bool] = False

    word: str
    topn: int = Field(10, ge=0)

    def about(self, limits: Limits, split: Split = str.split) -> tuple[Any, list[str]]:
        """Return the word."""
        return self.word, [self.word]


class HyponymsQuestion(HypernymsQuestion):
    """The kinds of a word, as ``wv.hyponyms``."""

    hyponyms = True


BATCHED: dict[str, type[Batched]] = {
    "similar": SimilarQuestion,
    "infer": InferQuestion,
    "substitutes": SubstitutesQuestion,
    "entails": EntailsQuestion,
    "hypernyms": HypernymsQuestion,
    "hyponyms": HyponymsQuestion,
}
"""The routes that take one question or a list of them, and answer those of several requests together."""


class ContextQuestion(Question):
    """A word of a sentence, and which words of its context are switched off."""

    tokens: list[str] = Field(description="The words of the sentence, as /v1/tokens gives them.")
    position: int
    off: list[int] = Field([], description="Positions of context words to leave out.")
    metric: Metric = "kl"
    topn: int = Field(10, ge=0)


class CompareQuestion(Question):
    """Two words, or words in sentences, to be laid side by side."""

    a: str = Field(description="A word, or a sentence with a [[word]].")
    b: str = Field(description="The other.")


class MapQuestion(Question):
    """Words to be laid out on a map."""

    words: list[str] = Field([], description="These words; together with `around` and `top`.")
    around: str | None = Field(None, description="The neighbours of this word.")
    top: int = Field(0, ge=0, description="How many of the most frequent words.")
    skip: int = Field(0, ge=0, description="How many of the most frequent words to pass over first.")


class TokensQuestion(Question):
    """A text to be split into words that the model knows."""

    text: str


Q = TypeVar("Q", bound=Question)


def _one_or_many(value: Any) -> str:
    return "many" if isinstance(value, list) else "one"


OneOrMany = Annotated[Annotated[Q, Tag("one")] | Annotated[list[Q], Tag("many")], Discriminator(_one_or_many)]
"""A question, answered by an object, or a list of them, answered by a list."""


def _listed(words: Text) -> list[str]:
    return [words] if isinstance(words, str) else words
