"""The routes under /v1, and /health."""

from __future__ import annotations

import asyncio
import inspect
import typing
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query
from pydantic import BaseModel
from starlette.responses import Response

from densvec.answers.documents import encoded
from densvec.answers.messages import sentence, unknown_in
from densvec.questions.lookup import words_of
from densvec.serve import views
from densvec.serve.batching import Asked, Batcher
from densvec.serve.faults import FAULTS_OF_THE_REQUEST
from densvec.serve.limits import Limits
from densvec.serve.models import Model, ModelFacts, Models, Words
from densvec.serve.questions import BATCHED, Batched, OneOrMany
from densvec.serve.senses import FoundSenses, Reading, SenseFinder


class UnknownWordError(Exception):
    """A question is about a word that the model does not know."""

    def __init__(self, word: str, number: int) -> None:
        super().__init__(word)
        self.word, self.number = word, number


class Fault(BaseModel):
    """What was wrong, in one sentence."""

    error: str


_FAULTS: dict[int | str, dict[str, Any]] = {
    status: {"model": Fault, "description": text}
    for status, text in {
        401: "A token is needed.",
        404: "A word, or a model, is unknown.",
        413: "The body is too long.",
        422: "The request makes no sense.",
        503: "Too much to do, or too much asked for.",
    }.items()
}

_VIEWS: dict[str, Callable[..., views.View]] = {
    "tokens": views.tokens,
    "context": views.in_context,
    "compare": views.compared,
    "map": views.mapped,
}
"""What the page asks: (model, question, limits) → document."""

_THREADS = ThreadPoolExecutor(2, thread_name_prefix="densvec-routes")
"""For what takes longer than other requests should wait; the views of the page have a thread each."""

_LEAST = 1 << 22
"""Numbers read for a question of a small model, whose answers take time of their own."""

ModelName = Annotated[
    str | None,
    Query(alias="model", description="Which model, if there are several; the first by default."),
]
TopN = Annotated[int, Query(ge=0)]


def router(models: Models, limits: Limits, finder: SenseFinder) -> APIRouter:
    """Return all routes."""
    routes = APIRouter(responses=_FAULTS)
    words_thread = ThreadPoolExecutor(1, thread_name_prefix="densvec-word")

    def post(name: str, described: Any, route: Any, reply: Any = None) -> None:
        summary = (inspect.getdoc(described) or "").partition("\n")[0]
        options = {"name": name, "summary": summary, "description": " ", "response_model": reply}
        routes.post(f"/v1/{name}", **options)(route)

    for name, kind in BATCHED.items():
        reply: Any = kind.reply
        post(name, kind, _batched(models, limits, kind, name), reply | list[reply])
    for name, view in _VIEWS.items():
        post(name, view, _view(models, limits, view))

    @routes.get("/v1/word", summary="All there is to say about a word out of context", response_model=None)
    async def word(word: str, topn: TopN = 10, model: ModelName = None) -> Response:
        page = await _in_thread(views.word_page, models.get(model), word, topn, limits, thread=words_thread)
        return _json(page)

    @routes.get(
        "/v1/senses",
        summary="The senses of a word in the service's corpus",
        response_model=FoundSenses,
        description="202 while the corpus is being read: ask again in a second.",
        responses={202: {"model": Reading, "description": "The corpus is being read."}},
    )
    async def senses(word: str, model: ModelName = None) -> Response:
        answer = finder.ask(models.get(model), word)
        return _json(answer, 202 if answer.state == "reading" else 200)

    @routes.get("/v1/words", summary="Words that begin alike, the most frequent first", response_model=Words)
    async def words(prefix: str = "", topn: TopN = 10, model: ModelName = None) -> Response:
        return _json(await _in_thread(models.get(model).words_from, prefix, limits.check_topn(topn)))

    @routes.get("/v1/model", summary="What the model contains", response_model=ModelFacts)
    async def described(model: ModelName = None) -> Response:
        return _json(models.get(model).facts(models.names, finder.has_corpus))

    @routes.get("/health", summary="Whether the service answers", responses={})
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    return routes


def _batched(models: Models, limits: Limits, kind: type[Batched], name: str) -> Any:
    """Return a route that answers one question or a list of them."""
    batcher = Batcher(kind.answer, limits, name)

    async def route(body: Any, model: str | None = None) -> Response:
        many, chosen = isinstance(body, list), models.get(model)
        questions: list[Batched] = body if many else [body]
        if len(questions) > limits.batch:
            raise ValueError(f"at most {limits.batch} questions may be asked at once: got {len(questions)}")
        prepare = partial(_asked, chosen, questions, limits, many)
        try:  # a list of texts takes a while to split
            found = await _in_thread(prepare) if many else prepare()
        except UnknownWordError as error:  # similar spellings take a while to find
            unknown = await _in_thread(unknown_in, chosen.wv, error.word)
            raise _about(unknown, error.number) if many else unknown from None
        found = await batcher.ask(chosen, found)
        for i, one in enumerate(found):
            if isinstance(one, Exception):
                raise _about(one, i) if many and isinstance(one, FAULTS_OF_THE_REQUEST) else one
        return await _in_thread(_json, found) if many else _json(found[0])

    one_or_many: Any = OneOrMany
    # Older versions of FastAPI take a union for a query parameter unless told that it is the body.
    body: Any = Annotated[one_or_many[kind], Body()]
    route.__annotations__ = {"body": body, "model": ModelName, "return": Response}
    return route


def _asked(model: Model, questions: Sequence[Batched], limits: Limits, many: bool) -> list[Asked]:
    """Check questions, and return them in the form in which they are answered."""
    split, size = partial(words_of, model.wv), max(model.wv.vectors.size, _LEAST)
    found: list[Asked] = []
    for i, question in enumerate(questions):
        try:
            (subject, words), settings = question.about(limits, split), question.settings(limits)
        except FAULTS_OF_THE_REQUEST as error:
            raise (_about(error, i) if many else error) from None
        for word in words:
            if word not in model.wv.key_to_index:
                raise UnknownWordError(word, i)
        found.append(Asked(subject, settings, question.scans() * size))
    return found


def _view(models: Models, limits: Limits, view: Callable[..., views.View]) -> Any:
    thread = ThreadPoolExecutor(1, thread_name_prefix="densvec-view")

    async def route(body: Any, model: str | None = None) -> Response:
        return _json(await _in_thread(view, models.get(model), body, limits, thread=thread))

    question = typing.get_type_hints(view)["question"]
    route.__annotations__ = {"body": question, "model": ModelName, "return": Response}
    return route


async def _in_thread(function: Callable[..., Any], *arguments: Any, thread: Executor = _THREADS) -> Any:
    return await asyncio.get_running_loop().run_in_executor(thread, function, *arguments)


def _about(error: Exception, i: int) -> Exception:
    """Return an exception that says which of several questions it is about."""
    kind = KeyError if isinstance(error, KeyError) else ValueError
    return kind(f"question {i}: {sentence(error)}")


def _json(document: Any, status: int = 200) -> Response:
    """Return documents without FastAPI's validation, which would take longer than most answers."""
    text = encoded(document, separators=(",", ":"))
    return Response(text.encode("utf-8", "backslashreplace"), status, media_type="application/json")
