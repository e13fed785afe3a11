"""The limits of a request, and the guard in front of the routes."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "LOCAL_HOSTS", "Answer", "Deadline", "Guard", "Limits"]

LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")

_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)

HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
]


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
        Time to send it, and again time to answer it.
    waiting : int
        Questions that may wait for their turn, over all requests; more are turned away with status 503.
    """

    body: int = 1_000_000
    batch: int = 256
    text: int = 10_000
    topn: int = 1_000
    seconds: float = 10.0
    waiting: int = 4_096


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
        self._expected = None if token is None else f"Bearer {token}".encode()
        self._hosts = None if hosts is None else frozenset(host.lower().encode() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or say why not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        answer = Answer(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await answer.refuse(*refusal)
            return
        try:
            async with Deadline(self.limits.seconds):
                body = await self._body(receive)
        except asyncio.TimeoutError:
            await answer.refuse(408, f"the request did not arrive within {self.limits.seconds:g} seconds")
            return
        if body is None:
            await answer.refuse(413, f"the body is longer than {self.limits.body:,} bytes: send less at once")
            return
        try:
            async with Deadline(self.limits.seconds):
                await self.app(scope, _replayed(body, receive), answer.send)
        except asyncio.TimeoutError:
            await answer.refuse(
                503, f"the answer took longer than {self.limits.seconds:g} seconds: ask for less at once"
            )

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Return why a request is refused, if it is, from its headers alone."""
        headers = dict(scope["headers"])
        if self._hosts is not None:
            host = headers.get(b"host", b"").lower()
            name = host[: host.index(b"]") + 1] if b"]" in host else host.split(b":")[0]
            if name not in self._hosts:
                return 421, f"this service does not answer for the host {host.decode('latin-1')!r}"
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        if self._expected is not None and (path.startswith("/v1/") or path == "/openapi.json"):
            given = headers.get(b"authorization", b"")
            if not hmac.compare_digest(given, self._expected):
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


class Deadline:
    """Ends what is awaited inside of it with TimeoutError when the time is up.

    ``asyncio.wait_for`` starts a task for it, which costs as much as a third of a small request, and
    ``asyncio.timeout`` came with Python 3.11 only.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._passed = False

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._pass)

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._timer.cancel()
        if self._passed:
            wanted_by_others = self._task.uncancel() if hasattr(self._task, "uncancel") else 0
            if kind is asyncio.CancelledError and not wanted_by_others:
                raise asyncio.TimeoutError

    def _pass(self) -> None:
        self._passed = True
        self._task.cancel()


class Answer:
    """Sends an answer, with the headers that every answer has."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = False

    async def send(self, message: Message) -> None:
        """Send a part of the answer."""
        if message["type"] == "http.response.start":
            self._started = True
            message = {**message, "headers": [*message.get("headers", ()), *HEADERS]}
        await self._send(message)

    async def refuse(self, status: int, reason: str) -> None:
        """Send a sentence instead, unless the answer is on its way."""
        if self._started:
            return
        body = json.dumps({"error": reason}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        if status in (408, 413):  # the rest of the body is not read
            headers.append((b"connection", b"close"))
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body})


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body already read, and then what comes after it."""
    given = False

    async def again() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
