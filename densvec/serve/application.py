"""The application: routes, page, errors as sentences, and the guard in front of everything."""

from __future__ import annotations

import logging
import mimetypes
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import FileResponse, JSONResponse
from starlette.staticfiles import StaticFiles

from densvec._version import __version__
from densvec.keyed import KeyedDensities
from densvec.serve import routes
from densvec.serve.faults import FAULTS_OF_THE_REQUEST, BusyError, answer_to, sentence_of, shortened
from densvec.serve.limits import Guard, Limits
from densvec.serve.models import Models
from densvec.serve.senses import SenseFinder
from densvec.serve.traffic import Metrics, Traffic
from densvec.types import Corpus

logger = logging.getLogger(__name__)

_PAGE = Path(__file__).parent / "static"

mimetypes.add_type(
    "text/javascript", ".js"
)  # which the registry of Windows may override, and browsers insist on

_DESCRIPTION = (
    "Words as probability densities: the methods of `KeyedDensities`, under their names and with their defaults. "
    'Whatever is wrong with a request is said in one sentence: `{"error": "..."}`.'
)


def app(
    wv: KeyedDensities | Mapping[str, KeyedDensities] | Models,
    *,
    token: str | None = None,
    hosts: Iterable[str] | None = None,
    allow_origins: Iterable[str] = (),
    limits: Limits | None = None,
    corpus: Corpus | None = None,
    metrics: bool = False,
    access_log: bool = False,
) -> FastAPI:
    """Return an application that answers from a model, to be served or to be mounted in another one.

    Parameters
    ----------
    wv : KeyedDensities, or mapping of str to KeyedDensities
        The model, or several by name: requests choose with ``?model=NAME``, and get the first by default.
    token : str, optional
        What requests for data must send as ``Authorization: Bearer TOKEN``; nothing is needed by default.
    hosts : iterable of str, optional
        The host names that it answers to (``densvec serve`` gives those of this machine); any by default.
    allow_origins : iterable of str, optional
        Sites, such as ``"https://example.org"``, whose pages may send requests; none by default.
    limits : Limits, optional
        What one request may ask for.
    corpus : path, list of paths, or iterable of token lists, optional
        A text to find the senses of words in (``/v1/senses``).
    metrics : bool, optional
        Whether to count requests for Prometheus, at ``/metrics``, which needs the token if there is one.
    access_log : bool, optional
        Whether to log a line of JSON for each request, at level INFO of the logger ``densvec.serve.access``.

    Returns
    -------
    fastapi.FastAPI

    Examples
    --------
    >>> from fastapi.testclient import TestClient
    >>> client = TestClient(app(wv))
    >>> client.post("/v1/similar", json={"positive": "dog", "metric": "kl", "topn": 1}).json()["similar"]
    [{'word': 'animal', 'score': -0.7612...}]

    In an application of your own:

    >>> from fastapi import FastAPI
    >>> mine = FastAPI()
    >>> mine.mount("/words", app(wv))
    >>> TestClient(mine).get("/words/v1/words", params={"prefix": "c"}).json()["words"]
    ['cat', 'car']
    """
    limits = limits or Limits()
    models = wv if isinstance(wv, Models) else Models(wv)
    application = FastAPI(
        title="densvec",
        version=__version__,
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
    )
    application.state.limits = limits
    application.include_router(routes.router(models, limits, SenseFinder(corpus)))
    application.mount("/static", StaticFiles(directory=_PAGE))
    for path, name in {"/": "index.html", "/docs": "docs.html"}.items():
        application.get(path, include_in_schema=False)(_file(name))
    for kind in (*FAULTS_OF_THE_REQUEST, BusyError, Exception):
        application.add_exception_handler(kind, _fault)
    application.add_exception_handler(RequestValidationError, _invalid)
    application.add_exception_handler(HTTPException, _http_error)
    # The last one added is the outermost: a CORS preflight request has no token.
    application.add_middleware(Guard, limits=limits, token=token, hosts=hosts)
    origins = list(allow_origins)
    if origins:
        application.add_middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )
    if metrics or access_log:
        counted = Metrics() if metrics else None
        if counted is not None:
            application.get("/metrics", include_in_schema=False)(counted.page)
        known = {"/", "/metrics", *application.openapi()["paths"]}
        application.add_middleware(Traffic, routes=known, metrics=counted, log=access_log)
    return application


def _file(name: str) -> Callable[[], Awaitable[FileResponse]]:
    async def route() -> FileResponse:
        return FileResponse(_PAGE / name)

    return route


async def _fault(request: Request, error: Exception) -> JSONResponse:
    document, status = answer_to(error)
    if status == 500:
        logger.error("%s %s: %r", request.method, request.url.path, error)
    return JSONResponse(document, status, {"retry-after": "1"} if status == 503 else None)


async def _invalid(request: Request, error: Any) -> JSONResponse:
    return JSONResponse({"error": sentence_of(error.errors())}, 422)


async def _http_error(request: Request, error: Any) -> JSONResponse:
    path = shortened(request.url.path)
    text = {
        404: f"there is no {path} here: / is the page, /docs lists the routes",
        405: f"{path} does not take {request.method}: /docs lists the routes",
        400: "the body could not be read: it should be JSON in UTF-8",
    }.get(error.status_code, str(error.detail))
    return JSONResponse({"error": text}, error.status_code, error.headers)
