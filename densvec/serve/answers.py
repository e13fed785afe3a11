"""Answers to the questions of requests. A question that cannot be answered gets its exception.

Questions of many requests are answered together, but what one of them gets wrong must not touch the others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

from densvec import answers
from densvec.answers import Document
from densvec.serve.errors import FAULTS_OF_THE_REQUEST
from densvec.serve.limits import Limits
from densvec.serve.models import Model
from densvec.serve.schemas import (
    EntailsQuestion,
    HypernymsQuestion,
    InContextQuestion,
    InferQuestion,
    Question,
    SimilarAnswer,
    SimilarQuestion,
    SubstitutesQuestion,
)

__all__ = [
    "Answers",
    "check_text",
    "check_topn",
    "cost_in_context",
    "cost_of_similar",
    "entails",
    "hypernyms",
    "hyponyms",
    "infer",
    "similar",
    "substitutes",
]

Answers = list["Document | Exception"]


class _Read(NamedTuple):
    """A question as `densvec.answers` takes it; those with the same settings are answered together."""

    asked: Any
    settings: tuple[Hashable, ...]


def similar(model: Model, questions: Sequence[SimilarQuestion], limits: Limits) -> Answers:
    """Answer /v1/similar."""

    def read(question: SimilarQuestion) -> _Read:
        positive, negative = _listed(question.positive), _listed(question.negative)
        if not positive and not negative:
            raise ValueError("nothing to be similar to: give at least one positive or negative item")
        if len(positive) + len(negative) > limits.batch:
            raise ValueError(
                f"at most {limits.batch} words may be given: got {len(positive) + len(negative)}"
            )
        model.check_known([*positive, *negative])
        return _Read((positive, negative), (question.metric, check_topn(question.topn, limits)))

    def find(asked: Sequence[tuple[list[str], list[str]]], *settings: Any) -> list[SimilarAnswer]:
        found = answers.similar(model.wv, asked, *settings)
        return [
            SimilarAnswer(**vars(one), positive=a, negative=b)
            for one, (a, b) in zip(found, asked, strict=True)
        ]

    return _together(questions, read, find)


def infer(model: Model, questions: Sequence[InferQuestion], limits: Limits) -> Answers:
    """Answer /v1/infer."""

    def read(question: InferQuestion) -> _Read:
        metric = question.metric if question.topn else "kl"
        return _Read(_in_context(model, question, limits), (metric, check_topn(question.topn, limits)))

    return _together(questions, read, lambda *asked: answers.infer(model.wv, *asked))


def substitutes(model: Model, questions: Sequence[SubstitutesQuestion], limits: Limits) -> Answers:
    """Answer /v1/substitutes."""

    def read(question: SubstitutesQuestion) -> _Read:
        candidates = None if question.candidates is None else tuple(question.candidates)
        topn = check_topn(question.topn, limits)
        settings = (candidates, topn, question.exclude_inflections, question.exclude_context)
        return _Read(_in_context(model, question, limits), settings)

    return _together(questions, read, lambda *asked: answers.substitutes(model.wv, *asked))


def entails(model: Model, questions: Sequence[EntailsQuestion], limits: Limits) -> Answers:
    """Answer /v1/entails."""

    def read(question: EntailsQuestion) -> _Read:
        model.check_known([question.a, question.b])
        return _Read((question.a, question.b), ())

    return _together(questions, read, lambda pairs: answers.entails(model.wv, pairs))


def hypernyms(
    model: Model, questions: Sequence[HypernymsQuestion], limits: Limits, hyponyms: bool = False
) -> Answers:
    """Answer /v1/hypernyms."""

    def read(question: HypernymsQuestion) -> _Read:
        model.check_known([question.word])
        return _Read(question.word, (check_topn(question.topn, limits), hyponyms))

    return _together(questions, read, lambda *asked: answers.hypernyms(model.wv, *asked))


def hyponyms(model: Model, questions: Sequence[HypernymsQuestion], limits: Limits) -> Answers:
    """Answer /v1/hyponyms."""
    return hypernyms(model, questions, limits, hyponyms=True)


def _together(
    questions: Sequence[Question],
    read: Callable[[Any], _Read],
    find: Callable[..., Iterable[Document]],
) -> Answers:
    """Answer questions; those with the same settings in one call."""
    found: dict[int, Document | Exception] = {}
    groups: dict[tuple[Hashable, ...], dict[int, Any]] = {}
    for i, question in enumerate(questions):
        try:
            asked, settings = read(question)
        except FAULTS_OF_THE_REQUEST as error:
            found[i] = error
        else:
            groups.setdefault(settings, {})[i] = asked
    for settings, group in groups.items():
        found |= _found(group, settings, find)
    return [found[i] for i in range(len(questions))]


def _found(
    group: dict[int, Any], settings: tuple[Hashable, ...], find: Callable[..., Iterable[Document]]
) -> dict[int, Document | Exception]:
    """Return the answers of a group; if there is a fault, each question is answered on its own."""
    try:
        return dict(zip(group, find(list(group.values()), *settings), strict=True))
    except FAULTS_OF_THE_REQUEST as error:
        if len(group) == 1:
            return dict.fromkeys(group, error)
        alone = [_found({i: asked}, settings, find) for i, asked in group.items()]
        return {i: answer for each in alone for i, answer in each.items()}


def cost_of_similar(model: Model, question: SimilarQuestion) -> int | None:
    """Return about how many numbers are read to answer /v1/similar; None if something may be wrong with it."""
    words = [*_listed(question.positive), *_listed(question.negative)]
    known = model.wv.key_to_index
    if not all(word in known for word in words):
        return None  # to find words that are spelt alike takes long
    return len(words) * model.wv.vectors.size


def cost_in_context(model: Model, question: InferQuestion | SubstitutesQuestion) -> int | None:
    """Return the same of /v1/infer and /v1/substitutes."""
    scans = 1 if isinstance(question, SubstitutesQuestion) else 3 if question.topn else 0
    try:
        word, _, _ = _occurrence(question)
    except FAULTS_OF_THE_REQUEST:
        return 0
    if word not in model.wv.key_to_index or getattr(question, "candidates", None):
        return None
    return scans * model.wv.vectors.size


def check_topn(topn: int, limits: Limits) -> int:
    """Return a number of words if a question may ask for so many."""
    if topn > limits.topn:
        raise ValueError(f"topn={topn} is more than the {limits.topn:,} words that a question may ask for")
    return topn


def check_text(text: str | Sequence[str], limits: Limits) -> None:
    """Raise ValueError for a text, or its words, that is longer than may be sent."""
    size = len(text) if isinstance(text, str) else sum(map(len, text)) + len(text)
    if size > limits.text:
        raise ValueError(
            f"the text has {size:,} characters, more than the {limits.text:,} that may be sent: send less"
        )


def _in_context(
    model: Model, question: InContextQuestion, limits: Limits
) -> tuple[str, Sequence[str], int | None]:
    """Return the occurrence that a question is about, once it is known to make sense."""
    check_text(question.sentence or question.context or "", limits)
    word, tokens, position = _occurrence(question)
    model.check_known([word])
    return word, tokens, position


def _occurrence(question: InContextQuestion) -> tuple[str, Sequence[str], int | None]:
    """Return a word, its context, and where it stands in it."""
    if question.sentence is not None:
        return answers.parse_marked(question.sentence)
    context, position = question.context or [], question.position
    tokens = context.split() if isinstance(context, str) else context
    if position is not None and not 0 <= position < len(tokens):
        raise IndexError(f"position={position} is outside the sentence, which has {len(tokens)} tokens")
    word = tokens[position] if question.word is None and position is not None else question.word
    assert word is not None  # the schema has seen to it
    return word, tokens, position


def _listed(words: str | list[str]) -> list[str]:
    return [words] if isinstance(words, str) else words
