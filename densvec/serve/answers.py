"""Answers to lists of questions, as JSON documents. A question that cannot be answered gets its exception.

Questions of many requests may be answered together: what one of them gets wrong must not touch the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from densvec.cli.entails import compare
from densvec.cli.output import scored
from densvec.cli.words import parse_marked
from densvec.gaussian import Gaussian
from densvec.serve.errors import FAULTS_OF_THE_REQUEST
from densvec.serve.limits import Limits
from densvec.serve.models import Model
from densvec.serve.schemas import Entails, Hypernyms, InContext, Infer, Similar, Substitutes

__all__ = [
    "Answers",
    "Document",
    "Occurrence",
    "Q",
    "cost_in_context",
    "cost_of_similar",
    "entails",
    "hypernyms",
    "hyponyms",
    "infer",
    "similar",
    "substitutes",
]

Document = dict[str, Any]
Answers = list["Document | Exception"]
Q = TypeVar("Q")


def similar(model: Model, questions: Sequence[Similar], limits: Limits) -> Answers:
    """Answer /v1/similar; questions about one word by the same metric in one pass over the words."""
    answers: Answers = _each(questions, lambda question: _similar_to_several(model, question, limits))
    together: dict[str, list[int]] = {}
    for i, answer in enumerate(answers):
        if isinstance(answer, dict) and "similar" not in answer:
            together.setdefault(answer["metric"], []).append(i)
    for metric, places in together.items():
        words = [_listed(questions[i].positive)[0] for i in places]
        topn = max(questions[i].topn for i in places)
        try:
            found = model.wv.most_similar_batch(words, topn, metric=metric)
        except FAULTS_OF_THE_REQUEST as error:
            for i in places:
                answers[i] = error
            continue
        for i, best in zip(places, found, strict=True):
            answers[i] = _with(answers[i], best[: questions[i].topn])
    return answers


def infer(model: Model, questions: Sequence[Infer], limits: Limits) -> Answers:
    """Answer /v1/infer, all posteriors together."""
    read = _each(questions, lambda question: _read(model, question, limits))
    places = [i for i, one in enumerate(read) if isinstance(one, Occurrence)]
    answers: Answers = [one if isinstance(one, Exception) else {} for one in read]
    if not places:
        return answers
    occurrences = [read[i] for i in places]
    try:
        posteriors = model.wv.infer_posteriors(occurrences)
        priors = model.wv.density([one.word for one in occurrences])
    except FAULTS_OF_THE_REQUEST as error:  # there is no encoder, say
        return [answer if isinstance(answer, Exception) else error for answer in answers]
    entropies = (priors.entropy().tolist(), posteriors.entropy().tolist(), posteriors.kl(priors).tolist())
    means, variances = posteriors.mean.tolist(), posteriors.variance.tolist()
    for j, i in enumerate(places):
        before, after, kl = (values[j] for values in entropies)
        answers[i] = {
            **occurrences[j].document(model),
            "entropy": {"prior": before, "posterior": after},
            "kl": kl,
            "mean": means[j],
            "variance": variances[j],
        }
    by_metric: dict[str, list[int]] = {}
    for j, i in enumerate(places):
        if questions[i].topn:
            by_metric.setdefault(questions[i].metric, []).append(j)
    for some in by_metric.values():
        asked = [questions[places[j]] for j in some]
        lists = _nearest(model, [occurrences[j] for j in some], posteriors[some], asked)
        for j, more in zip(some, lists, strict=True):
            answers[places[j]] = {**answers[places[j]], **more}  # type: ignore[dict-item]
    return answers


def substitutes(model: Model, questions: Sequence[Substitutes], limits: Limits) -> Answers:
    """Answer /v1/substitutes; questions without candidates of their own in one pass over the words."""
    read = _each(questions, lambda question: _read(model, question, limits))
    answers: Answers = list(read)
    together: dict[tuple[bool, bool], list[int]] = {}
    for i, (question, one) in enumerate(zip(questions, read, strict=True)):
        if isinstance(one, Exception):
            continue
        if question.candidates is None:
            together.setdefault((question.exclude_inflections, question.exclude_context), []).append(i)
        else:
            try:
                answers[i] = _among_candidates(model, one, question)
            except FAULTS_OF_THE_REQUEST as error:
                answers[i] = error
    for exclude, places in together.items():
        occurrences = [read[i] for i in places]
        topn = max(questions[i].topn for i in places)
        try:
            posteriors = model.wv.infer_posteriors(occurrences)
            found = _substitutes(model, occurrences, posteriors, topn, *exclude)
        except FAULTS_OF_THE_REQUEST as error:  # there is no encoder, say
            for i in places:
                answers[i] = error
            continue
        for i, one, best in zip(places, occurrences, found, strict=True):
            answers[i] = {**one.document(model), "substitutes": scored(best[: questions[i].topn])}
    return answers


def entails(model: Model, questions: Sequence[Entails], limits: Limits) -> Answers:
    """Answer /v1/entails."""

    def answer(question: Entails) -> Document:
        model.check_known([question.a, question.b])
        return compare(model.wv, question.a, question.b)

    return _each(questions, answer)


def hypernyms(model: Model, questions: Sequence[Hypernyms], limits: Limits) -> Answers:
    """Answer /v1/hypernyms."""
    return _kinds("hypernyms", model.wv.hypernyms, model, questions, limits)


def hyponyms(model: Model, questions: Sequence[Hypernyms], limits: Limits) -> Answers:
    """Answer /v1/hyponyms."""
    return _kinds("hyponyms", model.wv.hyponyms, model, questions, limits)


def _kinds(
    name: str, find: Callable[..., Any], model: Model, questions: Sequence[Hypernyms], limits: Limits
) -> Answers:
    def answer(question: Hypernyms) -> Document:
        model.check_known([question.word])
        found = find(question.word, topn=_checked_topn(question.topn, limits))
        return {"word": question.word, name: scored(found)}

    return _each(questions, answer)


def cost_of_similar(model: Model, question: Similar) -> int | None:
    """Return about how many numbers are read to answer /v1/similar; None if something may be wrong with it."""
    words = [*_listed(question.positive), *_listed(question.negative)]
    known = model.wv.key_to_index
    if not all(word in known for word in words):
        return None  # to find words that are spelt alike takes long
    return len(words) * model.wv.vectors.size


def cost_in_context(model: Model, question: Infer | Substitutes) -> int | None:
    """Return the same of /v1/infer and /v1/substitutes."""
    scans = 1 if isinstance(question, Substitutes) else 3 if question.topn else 0
    try:
        word = _occurrence(question).word
    except FAULTS_OF_THE_REQUEST:
        return 0
    if word not in model.wv.key_to_index or getattr(question, "candidates", None):
        return None
    return scans * model.wv.vectors.size


class Occurrence(NamedTuple):
    """A word in its context, as ``wv.infer_posteriors`` takes it."""

    word: str
    context: Sequence[str]
    position: int | None

    def document(self, model: Model) -> Document:
        """Return what is said about the occurrence itself."""
        known = model.wv.key_to_index
        unknown = dict.fromkeys(
            token for i, token in enumerate(self.context) if i != self.position and token not in known
        )
        return {"word": self.word, "position": self.position, "unknown": list(unknown)}


def _each(questions: Sequence[Q], answer: Callable[[Q], Any]) -> list[Any]:
    """Answer questions one by one; the exception is the answer where there is one."""
    answers: list[Any] = []
    for question in questions:
        try:
            answers.append(answer(question))
        except FAULTS_OF_THE_REQUEST as error:
            answers.append(error)
    return answers


def _among_candidates(model: Model, one: Occurrence, question: Substitutes) -> Document:
    found = model.wv.substitutes(
        one.word,
        one.context,
        question.candidates,
        question.topn,
        question.exclude_inflections,
        position=one.position,
        exclude_context=question.exclude_context,
    )
    return {**one.document(model), "substitutes": scored(found)}


def _with(answer: Any, found: Any) -> Document:
    return {**answer, "similar": scored(found)}


def _similar_to_several(model: Model, question: Similar, limits: Limits) -> Document:
    """Return the answer to a question about several words; to one about one word, the answer but for its words."""
    _checked_topn(question.topn, limits)
    positive, negative = _listed(question.positive), _listed(question.negative)
    if not positive and not negative:
        raise ValueError("nothing to be similar to: give at least one positive or negative item")
    if len(positive) + len(negative) > limits.batch:
        raise ValueError(f"at most {limits.batch} words may be given: got {len(positive) + len(negative)}")
    model.check_known([*positive, *negative])
    answer = {"positive": positive, "negative": negative, "metric": question.metric}
    if len(positive) == 1 and not negative:
        return answer
    found = model.wv.most_similar(positive, negative, topn=question.topn, metric=question.metric)
    return _with(answer, found)


def _read(model: Model, question: InContext, limits: Limits) -> Occurrence:
    """Return the occurrence that a question is about, once it is known to make sense."""
    context = question.sentence or question.context or ""
    _checked_text(context if isinstance(context, str) else " ".join(context), limits)
    _checked_topn(getattr(question, "topn", 0), limits)
    occurrence = _occurrence(question)
    model.check_known([occurrence.word])
    return occurrence


def _occurrence(question: InContext) -> Occurrence:
    """Return the occurrence that a question is about."""
    if question.sentence is not None:
        marked = parse_marked(question.sentence)
        return Occurrence(marked.word, marked.tokens, marked.position)
    context, position = question.context or [], question.position
    tokens = context.split() if isinstance(context, str) else context
    if position is not None and not 0 <= position < len(tokens):
        raise IndexError(f"position={position} is outside the sentence, which has {len(tokens)} tokens")
    word = tokens[position] if question.word is None and position is not None else question.word
    assert word is not None  # the schema has seen to it
    return Occurrence(word, tokens, position)


def _nearest(
    model: Model, occurrences: Sequence[Occurrence], posteriors: Gaussian, questions: Sequence[Infer]
) -> list[Document]:
    """Return the lists that the command line prints, for questions by the same metric, in three passes."""
    wv, metric = model.wv, questions[0].metric
    topn = max(question.topn for question in questions)
    before = wv.most_similar_batch([one.word for one in occurrences], topn, metric=metric)
    after = wv.most_similar_batch(posteriors, topn, metric=metric)
    instead = _substitutes(model, occurrences, posteriors, topn, True, True)
    return [
        {
            "metric": metric,
            "nearest_to_prior": scored(before[i][: question.topn]),
            "nearest_to_posterior": scored(after[i][: question.topn]),
            "substitutes": scored(instead[i][: question.topn]),
        }
        for i, question in enumerate(questions)
    ]


def _substitutes(
    model: Model,
    occurrences: Sequence[Occurrence],
    posteriors: Gaussian,
    topn: int,
    exclude_inflections: bool,
    exclude_context: bool,
) -> list[list[tuple[str, float]]]:
    """Return what ``wv.substitutes`` returns, of many words in one pass over all."""
    words = [one.word for one in occurrences]
    contexts = [set(one.context if exclude_context else ()) for one in occurrences]
    return model.wv._substitutes(words, posteriors, contexts, topn, exclude_inflections)


def _listed(words: str | list[str]) -> list[str]:
    return [words] if isinstance(words, str) else words


def _checked_topn(topn: int, limits: Limits) -> int:
    if topn > limits.topn:
        raise ValueError(f"topn={topn} is more than the {limits.topn:,} words that a question may ask for")
    return topn


def _checked_text(text: str, limits: Limits) -> None:
    if len(text) > limits.text:
        raise ValueError(
            f"the text has {len(text):,} characters, more than the {limits.text:,} that may be sent: send less"
        )
