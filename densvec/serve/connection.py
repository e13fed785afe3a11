"""One connection: uvicorn's own, with the bounds for which uvicorn has no setting."""

from __future__ import annotations

import asyncio
import json
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from densvec.serve.limits import HEADER_BYTES, HEADERS, Limits

_AHEAD = 1 << 20
"""Bytes that a client may send before it has the answer to what it sent first."""


class Connection(H11Protocol):
    """A connection with time limits, which answers requests that are not HTTP in JSON.

    h11 reads one request at a time and limits the size of its headers, and uvicorn closes connections between two
    requests. What remains are clients that never send complete headers, that never read their answers, or that send
    one request after the other without reading.
    """

    since = 0.0  # time of the last activity, by the loop's clock
    _ahead = 0  # bytes received since the request that is being answered was complete
    _seen: object = None
    _watching: asyncio.TimerHandle | None = None

    @property
    def limits(self) -> Limits:
        """Those of the application."""
        return self.app.state.limits  # type: ignore

    @property
    def waits(self) -> bool:
        """Whether it is the client's turn: to send a request, the rest of one, or to read what has been answered."""
        answered = self.cycle is None or self.cycle.response_complete
        return not self.transport.is_closing() and (answered or self.conn.their_state is h11.SEND_BODY)

    def _everyone(self) -> set[Connection]:
        """Return all connections, this one too."""
        return cast("set[Connection]", self.connections)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to watch; if there are too many connections, the one that has waited longest is closed."""
        super().connection_made(transport)
        self._watch()
        if len(self.connections) > self.limits.connections:
            waiting = [one for one in self._everyone() if one.waits]
            min(waiting, key=lambda one: one.since).transport.abort()  # this one if all others are busy

    def data_received(self, data: bytes) -> None:
        """Receive data, but only so much while the client has answers to wait for."""
        self._ahead = self._ahead + len(data) if self.conn.their_state is h11.DONE else 0
        if self._ahead > _AHEAD:
            self.transport.abort()
        else:
            super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        if self._watching is not None:
            self._watching.cancel()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Close the connection if the client should send or read, and does not in time."""
        seconds, now = self.limits.seconds, self.loop.time()
        unread = self.transport.get_write_buffer_size()
        seen = self.cycle, unread
        if seen != self._seen or not (unread or self.waits):
            self._seen, self.since = seen, now
        elif now - self.since >= seconds:
            self.transport.abort()
            return
        if unread > _AHEAD:  # large answers together may take only so much memory: the largest goes
            sizes = {one: one.transport.get_write_buffer_size() for one in self._everyone()}
            if sum(sizes.values()) > self.limits.unread:
                max(sizes, key=lambda one: sizes[one]).transport.abort()
        self._watching = self.loop.call_later(min(seconds / 4, 1.0), self._watch)

    def send_400_response(self, msg: str) -> None:
        """Say what is wrong, as all other answers do, and close the connection."""
        if len(self.conn.trailing_data[0]) > HEADER_BYTES:
            status, reason = 431, f"the headers are longer than {HEADER_BYTES:,} bytes"
        else:
            status, reason = 400, "this is not a request in HTTP/1.1"
        body = json.dumps({"error": reason}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
            (b"connection", b"close"),
            *HEADERS,
        ]
        events = (
            h11.Response(status_code=status, headers=headers),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        self.transport.write(b"".join(self.conn.send(event) or b"" for event in events))
        self.transport.close()
