"""The limits of a request, and the guard in front of the routes."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

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
    unread : int
        Bytes of answers that may wait in each of its processes for their clients to read them; beyond that, it closes
        the connection with the largest.
    """

    body: int = 1_000_000
    batch: int = 256
    text: int = 10_000
    topn: int = 1_000
    seconds: float = 10.0
    waiting: int = 4_096
    connections: int = 1_000
    unread: int = 1 << 28

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

    Requests for data must send the token; `hosts` are the names, without port, that the service may be asked for
    under, which turns away pages of other sites whose own host name points to 127.0.0.1.
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
        if scope["method"] == "HEAD":  # wherever GET is answered, HEAD is; the server leaves the body out
            scope = {**scope, "method": "GET"}
        answer: list[
            Message
        ] = []  # all of it before any is sent: a client that reads slowly costs no time limit

        async def keep(message: Message) -> None:
            answer.append(message)

        refusal = self._refusal(scope) or await self._fault(scope, receive, keep)
        if refusal is not None:
            status, reason = refusal
            headers = {"www-authenticate": "Bearer"} if status == 401 else {}
            headers |= {"connection": "close"} if status in (408, 413, 431) else {}  # the rest is not read
            answer.clear()
            await JSONResponse({"error": reason}, status, headers)(scope, receive, keep)
        for message in answer:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
            await send(message)

    async def _fault(self, scope: Scope, receive: Receive, send: Send) -> tuple[int, str] | None:
        """Answer a request; return status and reason if that takes too long, or too much is sent."""
        limits, body = self.limits, bytearray()
        try:
            with anyio.fail_after(limits.seconds):
                async for part in Request(scope, receive).stream():
                    body += part
                    if len(body) > limits.body:
                        return 413, f"the body is longer than {limits.body:,} bytes: send less at once"
        except TimeoutError:
            return 408, f"the request did not arrive within {limits.seconds:g} seconds"
        except ClientDisconnect:
            return None
        whole = iter([{"type": "http.request", "body": bytes(body), "more_body": False}])

        async def replayed() -> Message:
            return next(whole, None) or await receive()

        try:
            with anyio.fail_after(limits.seconds):
                await self.app(scope, replayed, send)
        except TimeoutError:
            return 503, f"the answer took longer than {limits.seconds:g} seconds: ask for less at once"
        return None

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
        if self._token is not None and (path.startswith("/v1/") or path in ("/openapi.json", "/metrics")):
            scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
            if scheme.lower() != b"bearer" or not hmac.compare_digest(given.strip(), self._token):
                return 401, "a token is needed: send the header 'Authorization: Bearer TOKEN'"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self.limits.body:
            return 413, f"the body is longer than {self.limits.body:,} bytes: send less at once"
        return None
