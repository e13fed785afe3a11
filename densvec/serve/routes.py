"""The routes under /v1, and /health."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Body, Query
from starlette.responses import Response

from densvec.answers import Document, Entails, Hypernyms, Inferred, Substitutes, encoded
from densvec.serve import answers, schemas, views
from densvec.serve.answers import check_topn
from densvec.serve.batching import Batcher
from densvec.serve.limits import Limits
from densvec.serve.models import Models
from densvec.serve.senses import FoundSenses, Reading, SenseFinder

__all__ = ["ModelName", "router"]

_FAULTS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.Fault, "description": text}
    for status, text in {
        401: "A token is needed.",
        404: "A word, or a model, is unknown.",
        413: "The body is too long.",
        422: "The request makes no sense.",
        503: "Too much to do, or too much asked for.",
    }.items()
}

ModelName = Annotated[
    str | None,
    Query(alias="model", description="Which model, if there are several; the first by default."),
]
TopN = Annotated[int, Query(ge=0)]


class _Route(NamedTuple):
    """A question that is posted."""

    answer: Callable[..., Any]
    question: Any
    reply: Any
    summary: str
    cost: Callable[..., int | None] | None = (
        None  # where answers may be found faster than a thread could be asked
    )


_QUESTIONS = {
    "similar": _Route(
        answers.similar,
        schemas.SimilarQuestion,
        schemas.SimilarAnswer,
        "The words most like some words",
        answers.cost_of_similar,
    ),
    "infer": _Route(
        answers.infer,
        schemas.InferQuestion,
        Inferred,
        "What a word means in its context",
        answers.cost_in_context,
    ),
    "substitutes": _Route(
        answers.substitutes,
        schemas.SubstitutesQuestion,
        Substitutes,
        "What could replace a word in its context",
        answers.cost_in_context,
    ),
    "entails": _Route(
        answers.entails, schemas.EntailsQuestion, Entails, "Which of two words is more general"
    ),
    "hypernyms": _Route(answers.hypernyms, schemas.HypernymsQuestion, Hypernyms, "What a word is a kind of"),
    "hyponyms": _Route(answers.hyponyms, schemas.HypernymsQuestion, Hypernyms, "The kinds of a word"),
}
"""These take one question or a list of them, and answer those of several requests together."""

_VIEWS = {
    "tokens": _Route(
        views.tokens, schemas.TokensQuestion, views.TokenList, "A text split into words that the model knows"
    ),
    "context": _Route(
        views.in_context,
        schemas.ContextQuestion,
        views.InSentence,
        "A word in its sentence, and what each context word does",
    ),
    "compare": _Route(
        views.compared,
        schemas.CompareQuestion,
        views.Compared,
        "Two words, or two words in sentences, side by side",
    ),
    "map": _Route(views.mapped, schemas.MapQuestion, views.Map, "Words laid out on a map"),
}
"""What the page asks: one question each."""


@dataclass
class Words(Document):
    """Words that begin alike."""

    prefix: str
    words: list[str]


@dataclass
class ModelFacts(Document):
    """What a model contains, and what else the service has."""

    name: str
    words: int
    vector_size: int
    covariance: str | None
    encoder: bool
    window: int
    counts: bool
    metrics: list[str]
    loaded: str
    models: list[str]
    corpus: bool


def router(models: Models, limits: Limits, finder: SenseFinder) -> APIRouter:
    """Return all routes."""
    routes = APIRouter(responses=_FAULTS)
    threads = ThreadPoolExecutor(2, thread_name_prefix="densvec-views")

    async def in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(threads, function, *arguments)

    for path, posted in _QUESTIONS.items():
        routes.post(
            f"/v1/{path}",
            name=path,
            summary=posted.summary,
            description=f"{posted.question.__doc__}\n\nA list of questions is answered by a list.",
            response_model=posted.reply | list[posted.reply],  # type: ignore[name-defined]
        )(_questions(models, limits, posted))

    def view(posted: _Route) -> Any:
        async def route(body: Any, model: str | None = None) -> Response:
            return _json(await in_thread(posted.answer, models.get(model), body, limits))

        route.__annotations__ = {"body": posted.question, "model": ModelName, "return": Response}
        return route

    for path, posted in _VIEWS.items():
        routes.post(
            f"/v1/{path}",
            name=path,
            summary=posted.summary,
            description=posted.question.__doc__,
            response_model=posted.reply,
        )(view(posted))

    @routes.get(
        "/v1/word",
        summary="A single word: its prior, its neighbours by each metric, its generality",
        response_model=views.WordPage,
    )
    async def word(word: str, topn: TopN = 10, model: ModelName = None) -> Response:
        return _json(await in_thread(views.word_page, models.get(model), word, topn, limits))

    @routes.get(
        "/v1/senses",
        summary="The senses of a word in the service's corpus",
        description="202 while the corpus is being read: ask again in a second.",
        response_model=FoundSenses,
        responses={202: {"model": Reading, "description": "The corpus is being read."}},
    )
    async def senses(word: str, model: ModelName = None) -> Response:
        answer = finder.ask(models.get(model), word)
        return _json(answer, 202 if answer.state == "reading" else 200)

    @routes.get("/v1/words", summary="Words that begin alike, the most frequent first", response_model=Words)
    async def words(prefix: str = "", topn: TopN = 10, model: ModelName = None) -> Response:
        topn = check_topn(topn, limits)
        return _json(Words(prefix, await in_thread(models.get(model).words_from, prefix, topn)))

    @routes.get("/v1/model", summary="What the model contains", response_model=ModelFacts)
    async def described(model: ModelName = None) -> Response:
        facts = models.get(model).describe()
        return _json(ModelFacts(**facts, models=models.names, corpus=finder.has_corpus))

    @routes.get("/health", summary="Whether the service answers", responses={})
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    return routes


def _questions(models: Models, limits: Limits, posted: _Route) -> Any:
    """Return what answers one question or a list of them."""
    batcher = Batcher(posted.answer, limits, posted.cost)

    async def route(body: Any, model: str | None = None) -> Response:
        many = isinstance(body, list)
        questions = body if many else [body]
        if len(questions) > limits.batch:
            raise ValueError(f"at most {limits.batch} questions may be asked at once: got {len(questions)}")
        found = await batcher.ask(models.get(model), questions) if questions else []
        for i, one in enumerate(found):
            if isinstance(one, Exception):
                raise _about(one, i) if many else one
        return _json(found if many else found[0])

    one_or_many: Any = schemas.OneOrMany
    # Older versions of FastAPI take a choice of two for a part of the address unless told that it is the body.
    body: Any = Annotated[one_or_many[posted.question], Body()]
    route.__annotations__ = {"body": body, "model": ModelName, "return": Response}
    return route


def _about(error: Exception, i: int) -> Exception:
    """Return an exception that says which of several questions it is about."""
    text = error.args[0] if error.args else ""
    return type(error)(f"question {i}: {text}")


def _json(document: Any, status: int = 200) -> Response:
    text = encoded(document, separators=(",", ":"))
    return Response(text.encode("utf-8", "backslashreplace"), status, media_type="application/json")
