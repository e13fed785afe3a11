"""What a service has to do: counts of its requests for Prometheus, and an access log."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Collection
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from starlette.responses import Response

from densvec.serve.faults import shortened

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

access = logging.getLogger("densvec.serve.access")

TOGETHER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable of the environment with the folder in which several processes add up their counts."""

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds that the answers are sorted by."""

_GONE = 499
"""The status of a request whose client left before the answer, as nginx has it."""


class Metrics:
    """How many requests there were for each route, with which status, and how long they took."""

    def __init__(self) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Histogram
            from prometheus_client.multiprocess import MultiProcessCollector
        except ImportError as error:
            raise ImportError('metrics need prometheus-client: pip install "densvec[serve]"') from error
        self._registry = CollectorRegistry()
        several = TOGETHER in os.environ
        if several:
            MultiProcessCollector(self._registry)
        registry = None if several else self._registry
        self._requests = Counter(
            "densvec_requests", "Requests answered.", ["route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "densvec_request_seconds",
            "Time from the headers of a request to the end of its answer.",
            ["route"],
            buckets=_BOUNDS,
            registry=registry,
        )

    def count(self, route: str, status: int, seconds: float) -> None:
        """Add a request."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def page(self) -> Response:
        """Return all counts, in Prometheus's text format."""
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)


class Traffic:
    """A layer around the application that counts its requests and logs them.

    A line of the log is a JSON object. It has the path of a request, but neither its query nor its body: what people
    ask is nobody's business. Paths that are no route are counted together.
    """

    def __init__(self, app: ASGIApp, routes: Collection[str], metrics: Metrics | None, log: bool) -> None:
        self.app, self._routes, self._metrics, self._log = app, routes, metrics, log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and note what becomes of it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, status, size = time.perf_counter(), _GONE, 0

        async def noted(message: Message) -> None:
            nonlocal status, size
            status = message.get("status", status)
            size += len(message.get("body", b"")) if scope["method"] != "HEAD" else 0
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            seconds = time.perf_counter() - start
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            if self._metrics is not None:
                self._metrics.count(path if path in self._routes else "other", status, seconds)
            if self._log:
                line = {
                    "time": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
                    "client": (scope.get("client") or ("",))[0],
                    "method": scope["method"],
                    "path": shortened(scope["path"]),
                    "status": status,
                    "bytes": size,
                    "ms": round(1000 * seconds, 2),
                }
                access.info("%s", json.dumps(line))
