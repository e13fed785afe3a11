"""The limits of a request, and the guard in front of the routes."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")

HEADER_BYTES = 65_536

_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

HEADERS = [
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]

_HOST = re.compile(rb"(\[[0-9a-f:.]+\]|[^][:]+)(?::\d{1,5})?")


@dataclass(frozen=True)
class Limits:
    """What one request may ask for.

    Parameters
    ----------
    body : int
        Bytes of its body.
    batch : int
        Questions in it.
    text : int
        Characters of a sentence.
    topn : int
        Words to find for each question.
    seconds : float
        Time to send its headers, again its body, and again to answer it.
    waiting : int
        Questions that may wait for their turn, over all requests; more are turned away with status 503.
    connections : int
        Connections of ``densvec serve`` to each of its processes; to let in one more, it closes the one that has
        been silent longest.
    """

    body: int = 1_000_000
    batch: int = 256
    text: int = 10_000
    topn: int = 1_000
    seconds: float = 10.0
    waiting: int = 4_096
    connections: int = 1_000

    def check_topn(self, topn: int) -> int:
        """Return `topn`, or raise ValueError if it is too large."""
        if topn > self.topn:
            raise ValueError(f"topn={topn} is more than the {self.topn:,} words that a question may ask for")
        return topn

    def check_text(self, text: str | Sequence[str]) -> None:
        """Raise ValueError for a text, or its words, that is longer than may be sent."""
        size = len(text) if isinstance(text, str) else sum(map(len, text)) + len(text)
        if size > self.text:
            raise ValueError(
                f"the text has {size:,} characters, more than the {self.text:,} that may be sent: send less"
            )


class Guard:
    """The outermost layer: hosts, token, size and time, and the headers that tell browsers to be strict.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    limits : Limits
    token : str, optional
        What every request for data must send, as ``Authorization: Bearer TOKEN``.
    hosts : iterable of str, optional
        The names that the service may be asked for under, without port; any if not given. This turns
        away pages of other sites whose own host name points to 127.0.0.1.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        token: str | None = None,
        hosts: Iterable[str] | None = None,
    ) -> None:
        self.app = app
        self.limits = limits
        self._token = None if token is None else token.encode()
        self._hosts = None if hosts is None else frozenset(host.lower().encode() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body_follows = scope["method"] != "HEAD"
        if not body_follows:  # wherever GET is answered, HEAD is
            scope = {**scope, "method": "GET"}
        for message in await self._answer(scope, receive):
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            elif not body_follows:
                message = {**message, "body": b""}
            await send(message)

    async def _answer(self, scope: Scope, receive: Receive) -> list[Message]:
        """Return the whole answer before any of it is sent: a client that reads slowly costs no time limit."""
        limits = self.limits
        refusal = self._refusal(scope)
        if refusal is not None:
            return _refuse(*refusal)
        try:
            with anyio.fail_after(limits.seconds):
                body = await self._body(receive)
        except TimeoutError:
            return _refuse(408, f"the request did not arrive within {limits.seconds:g} seconds")
        if body is None:
            return _refuse(413, f"the body is longer than {limits.body:,} bytes: send less at once")
        answer: list[Message] = []

        async def keep(message: Message) -> None:
            answer.append(message)

        try:
            with anyio.fail_after(limits.seconds):
                await self.app(scope, _replayed(body, receive), keep)
        except TimeoutError:
            return _refuse(
                503, f"the answer took longer than {limits.seconds:g} seconds: ask for less at once"
            )
        return answer

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return why a request must be refused by its headers, or None."""
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADER_BYTES:
            return 431, f"the headers are longer than {HEADER_BYTES:,} bytes"
        headers = dict(scope["headers"])
        if self._hosts is not None:
            host = headers.get(b"host", b"").lower()
            named = _HOST.fullmatch(host)
            if named is None or named[1] not in self._hosts:
                return 421, f"this service does not answer for the host {host[:80].decode('latin-1')!r}"
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if self._token is not None and (path.startswith("/v1/") or path == "/openapi.json"):
            scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
            if scheme.lower() != b"bearer" or not hmac.compare_digest(given.strip(), self._token):
                return 401, "a token is needed: send the header 'Authorization: Bearer TOKEN'"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self.limits.body:
            return 413, f"the body is longer than {self.limits.body:,} bytes: send less at once"
        return None

    async def _body(self, receive: Receive) -> bytes | None:
        """Return the whole body, or None if there is too much of it."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b"".join(parts)  # the client has gone, and nobody will read the answer
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self.limits.body:
                return None
            if not message.get("more_body"):
                return b"".join(parts)


def _refuse(status: int, reason: str) -> list[Message]:
    """Return an error with a sentence."""
    body = json.dumps({"error": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status in (408, 413, 431):  # the rest of the request is not read
        headers.append((b"connection", b"close"))
    return [
        {"type": "http.response.start", "status": status, "headers": headers},
        {"type": "http.response.body", "body": body},
    ]


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that first gives a body that has been read, then what follows."""
    given = False

    async def again() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
