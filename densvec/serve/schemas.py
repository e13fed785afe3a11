"""What requests look like: the arguments of the Python methods, under their names and with their defaults.

Answers are the documents of `densvec.answers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from densvec import answers
from densvec.answers import Metric

__all__ = [
    "CompareQuestion",
    "ContextQuestion",
    "EntailsQuestion",
    "Fault",
    "HypernymsQuestion",
    "InContextQuestion",
    "InferQuestion",
    "MapQuestion",
    "OneOrMany",
    "Question",
    "SimilarAnswer",
    "SimilarQuestion",
    "SubstitutesQuestion",
    "TokensQuestion",
]

Text = str | list[str]


class Question(BaseModel):
    """What all questions share: nothing is converted, and a misspelt name is an error."""

    model_config = ConfigDict(strict=True, extra="forbid")


class SimilarQuestion(Question):
    """Which words are most like these? As ``wv.most_similar``."""

    positive: Text = Field(description="A word or a list of words that the answers should be like.")
    negative: Text = Field([], description="Words that they should be unlike.")
    metric: Metric = "cosine"
    topn: int = Field(10, ge=0)


class InContextQuestion(Question):
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


class InferQuestion(InContextQuestion):
    """What does a word mean in its context? As ``wv.infer``; with `topn`, as ``densvec infer``."""

    metric: Metric = Field("kl", description="For the nearest words.")
    topn: int = Field(
        0, ge=0, description="How many nearest words and substitutes to find; none unless asked for."
    )


class SubstitutesQuestion(InContextQuestion):
    """What could replace a word in its context? As ``wv.substitutes``."""

    candidates: list[str] | None = Field(
        None, description="The words to rank; unknown ones are left out. By default all words."
    )
    topn: int = Field(10, ge=0)
    exclude_inflections: bool = False
    exclude_context: bool = False


class EntailsQuestion(Question):
    """Which of two words is the more general one? As ``wv.direction`` and ``densvec entails``."""

    a: str
    b: str


class HypernymsQuestion(Question):
    """What is a word a kind of? As ``wv.hypernyms``."""

    word: str
    topn: int = Field(10, ge=0)


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


@dataclass
class SimilarAnswer(answers.Similar):
    """The words most like some words."""

    positive: list[str]
    negative: list[str]


class Fault(BaseModel):
    """What was wrong, in one sentence."""

    error: str
