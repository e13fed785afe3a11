"""The routes under /v1, and /health."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from starlette.responses import Response

from densvec.cli.output import plain
from densvec.serve import answers, schemas, views
from densvec.serve.batching import Batcher
from densvec.serve.limits import Limits
from densvec.serve.models import Models
from densvec.serve.senses import SenseFinder

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

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))

# Questions that are often answered faster than a thread could be asked to.
_COSTS: dict[str, Callable[..., int | None]] = {
    "similar": answers.cost_of_similar,
    "infer": answers.cost_in_context,
    "substitutes": answers.cost_in_context,
}

# Path, what answers, its questions, its answers, what it is for.
_QUESTIONS: tuple[tuple[str, Callable[..., Any], Any, Any, str], ...] = (
    ("similar", answers.similar, schemas.Similar, schemas.SimilarAnswer, "The words most like some words"),
    ("infer", answers.infer, schemas.Infer, schemas.InferAnswer, "What a word means in its context"),
    (
        "substitutes",
        answers.substitutes,
        schemas.Substitutes,
        schemas.SubstitutesAnswer,
        "What could replace a word in its context",
    ),
    (
        "entails",
        answers.entails,
        schemas.Entails,
        schemas.EntailsAnswer,
        "Which of two words is more general",
    ),
    ("hypernyms", answers.hypernyms, schemas.Hypernyms, schemas.HypernymsAnswer, "What a word is a kind of"),
    ("hyponyms", answers.hyponyms, schemas.Hypernyms, schemas.HypernymsAnswer, "The kinds of a word"),
)

# Those of the page: one question each, whose answer is made for the page.
_VIEWS: tuple[tuple[str, Callable[..., Any], Any, str], ...] = (
    ("tokens", views.tokens, schemas.Tokens, "A text split into words that the model knows"),
    ("context", views.in_context, schemas.Looked, "A word in its sentence, and what each context word does"),
    ("compare", views.compared, schemas.Compared, "Two words, or two words in sentences, side by side"),
    ("map", views.mapped, schemas.Mapped, "Words laid out on a map"),
)


def router(models: Models, limits: Limits, finder: SenseFinder) -> APIRouter:
    """Return all routes."""
    routes = APIRouter(responses=_FAULTS)
    for path, answer, question, reply, summary in _QUESTIONS:
        _add_questions(routes, models, limits, path, answer, question, reply, summary)
    threads = ThreadPoolExecutor(2, thread_name_prefix="densvec-views")
    for path, view, question, summary in _VIEWS:
        _add_view(routes, models, limits, threads, path, view, question, summary)

    @routes.get("/v1/word", summary="A single word: its prior, its neighbours by each metric, its generality")
    async def word(
        word: str, topn: Annotated[int, Query(ge=0)] = 10, model: ModelName = None
    ) -> dict[str, Any]:
        page: dict[str, Any] = await _in_thread(
            threads, views.word_page, models.get(model), word, topn, limits
        )
        return page

    @routes.get(
        "/v1/senses",
        summary="The senses of a word in the service's corpus",
        description="202 while the corpus is being read: ask again in a second.",
    )
    async def senses(word: str, model: ModelName = None) -> Response:
        answer = finder.ask(models.get(model), word)
        return _json(answer, 202 if answer["state"] == "reading" else 200)

    @routes.get("/v1/words", summary="Words that begin alike, the most frequent first")
    async def words(
        prefix: str = "", topn: Annotated[int, Query(ge=0)] = 10, model: ModelName = None
    ) -> dict[str, Any]:
        if topn > limits.topn:
            raise ValueError(
                f"topn={topn} is more than the {limits.topn:,} words that a question may ask for"
            )
        chosen = models.get(model)
        return {"prefix": prefix, "words": await _in_thread(threads, chosen.words_from, prefix, topn)}

    @routes.get("/v1/model", summary="What the model contains")
    async def described(model: ModelName = None) -> dict[str, Any]:
        return {**models.get(model).describe(), "models": models.names, "corpus": finder.has_corpus}

    @routes.get("/health", summary="Whether the service answers", responses={})
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    return routes


def _add_questions(
    routes: APIRouter,
    models: Models,
    limits: Limits,
    path: str,
    answer: Callable[..., Any],
    question: Any,
    reply: Any,
    summary: str,
) -> None:
    batcher = Batcher(answer, limits, _COSTS.get(path))

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
    body = Annotated[one_or_many[question], Body()]
    route.__annotations__ = {"body": body, "model": ModelName, "return": Response}
    routes.add_api_route(
        f"/v1/{path}",
        route,
        methods=["POST"],
        name=path,
        summary=summary,
        description=f"{question.__doc__}\n\nA list of questions is answered by a list.",
        response_model=reply | list[reply],
    )


def _add_view(
    routes: APIRouter,
    models: Models,
    limits: Limits,
    threads: ThreadPoolExecutor,
    path: str,
    view: Callable[..., Any],
    question: Any,
    summary: str,
) -> None:
    async def route(body: Any, model: str | None = None) -> Response:
        return _json(await _in_thread(threads, view, models.get(model), body, limits))

    route.__annotations__ = {"body": question, "model": ModelName, "return": Response}
    routes.add_api_route(
        f"/v1/{path}", route, methods=["POST"], name=path, summary=summary, description=question.__doc__
    )


async def _in_thread(threads: ThreadPoolExecutor, function: Callable[..., Any], *arguments: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(threads, function, *arguments)


def _about(error: Exception, i: int) -> Exception:
    """Return an exception that says which of several questions it is about."""
    text = error.args[0] if error.args else ""
    return type(error)(f"question {i}: {text}")


def _json(document: Any, status: int = 200) -> Response:
    try:
        text = _ENCODER.encode(document)
    except (TypeError, ValueError):  # NumPy's numbers, or some that are not finite: rarely, and slower
        text = _ENCODER.encode(plain(document))
    return Response(text.encode("utf-8", "surrogatepass"), status, media_type="application/json")
