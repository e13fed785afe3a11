"""The page's files, read once: a request only ever picks one of them by its name."""

from __future__ import annotations

import hashlib
from importlib import resources

from fastapi import APIRouter, Request
from starlette.responses import Response

from densvec.serve.errors import NotFoundError

__all__ = ["router"]

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def router() -> APIRouter:
    """Return the routes of the page: / and /static/NAME."""
    files = {
        item.name: item.read_bytes()
        for item in resources.files("densvec.serve").joinpath("static").iterdir()
        if item.name.endswith(tuple(_TYPES))
    }
    tags = {name: f'"{hashlib.sha256(content).hexdigest()[:16]}"' for name, content in files.items()}
    routes = APIRouter(include_in_schema=False)

    def reply(name: str, request: Request) -> Response:
        if name not in files:
            raise NotFoundError(f"there is no {request.url.path} here: / is the page, /docs lists the routes")
        headers = {"etag": tags[name], "cache-control": "no-cache"}
        if request.headers.get("if-none-match") == tags[name]:
            return Response(status_code=304, headers=headers)
        ending = name[name.rindex(".") :]
        return Response(files[name], media_type=_TYPES[ending], headers=headers)

    @routes.get("/")
    async def index(request: Request) -> Response:
        return reply("index.html", request)

    @routes.get("/docs")
    async def documentation(request: Request) -> Response:
        return reply("docs.html", request)

    @routes.get("/static/{name}")
    async def static(name: str, request: Request) -> Response:
        return reply(name, request)

    return routes
