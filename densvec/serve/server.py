"""Running the application with uvicorn: one process, or several that share the port and the mapped models."""

from __future__ import annotations

import functools
import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from densvec.answers.messages import route_messages, sentence
from densvec.serve.connection import Connection
from densvec.serve.limits import HEADER_BYTES, LOCAL_HOSTS, Limits
from densvec.serve.models import Models
from densvec.serve.traffic import TOGETHER, access

if TYPE_CHECKING:
    from fastapi import FastAPI

logger = logging.getLogger(__name__)

_GRACE = 30
"""Seconds that requests in flight have to end after SIGTERM."""

_LOADING = 600
"""Seconds that a worker has to load its models."""


@dataclass(frozen=True)
class Settings:
    """What a process needs to know to serve."""

    paths: Mapping[str, str]  # the files of the models, by the models' names
    host: str = "127.0.0.1"
    token: str | None = None
    allow_origins: tuple[str, ...] = ()
    workers: int = 1
    limits: Limits = field(default_factory=Limits)
    corpus: str | None = None
    metrics: bool = False
    access_log: bool = False

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The host names to answer for; any with a token, which pages of other sites do not know."""
        if self.token is not None:
            return None
        return *LOCAL_HOSTS, f"[{self.host}]" if ":" in self.host else self.host


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise OSError(
            f"cannot listen on {host}:{port} ({reason}): give another --port, 0 for any that is free"
        ) from error


def url_of(sock: socket.socket) -> str:
    """Return the address to open in a browser."""
    host, port = sock.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def run(settings: Settings, sock: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT, and call `ready` when the first answer can be given.

    SIGHUP loads the files of the models again.
    """
    config = uvicorn.Config(
        functools.partial(_application, settings),
        factory=True,
        workers=settings.workers,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error" if settings.workers == 1 else "info",  # of workers that were replaced
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing here asks where a request came from
        h11_max_incomplete_event_size=HEADER_BYTES,
        timeout_graceful_shutdown=_GRACE,
        timeout_worker_healthcheck=_GRACE,
    )
    if settings.workers > 1:
        with tempfile.TemporaryDirectory(prefix="densvec-metrics-") as folder:
            if settings.metrics:
                os.environ[TOGETHER] = folder
            _Supervisor(config, sock, ready).run()
        return
    # uvicorn raises the signal that stopped it again at its end, but being stopped is no error.
    signal.signal(signal.SIGTERM, lambda signum, frame: None)
    _Server(config, ready).run(sockets=[sock])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


class _Supervisor(Multiprocess):
    """Keeps several processes serving: one that dies is replaced, one that cannot start ends all."""

    def __init__(self, config: uvicorn.Config, sock: socket.socket, ready: Callable[[], None]) -> None:
        super().__init__(config, [sock])
        self._ready = ready

    def init_processes(self) -> None:
        super().init_processes()
        if all(process.wait_until_ready(_LOADING, self.should_exit) for process in self.processes):
            self._ready()

    def handle_hup(self) -> None:
        """Let the workers reload the files; replacing the workers would cut connections."""
        for process in self.processes:
            if process.pid is not None and process.exitcode is None:
                os.kill(process.pid, signal.SIGHUP)

    def run(self) -> None:
        super().run()
        if any(process.exitcode == STARTUP_FAILURE for process in self.processes):
            raise RuntimeError("a worker could not start: its own message is above")


def _within_files(limits: Limits) -> Limits:
    """Let connections take at most half of the files that the process may open."""
    try:
        import resource
    except ImportError:  # this is not Unix
        return limits
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return limits if files < 0 else replace(limits, connections=min(limits.connections, files // 2))


def _application(settings: Settings) -> FastAPI:
    """Load the models and prepare the process that will answer from them."""
    from threadpoolctl import threadpool_limits

    from densvec.serve.application import app

    supervised = multiprocessing.parent_process() is not None
    if supervised:
        route_messages()
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        models = Models.from_files(settings.paths)
    except Exception as error:
        if not supervised:
            raise
        logger.error("%s", sentence(error))
        sys.exit(STARTUP_FAILURE)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, _reloading(models))
    if settings.access_log:
        access.addHandler(logging.StreamHandler())
        access.setLevel(logging.INFO)
        access.propagate = False
    _set_aside()
    # By default, the event loop waits up to 5 ms for its turn while a thread answers.
    sys.setswitchinterval(0.001)
    # Several processes that multiply matrices on all cores would slow each other down.
    threadpool_limits(max((os.cpu_count() or 1) // settings.workers, 1))
    return app(
        models,
        token=settings.token,
        hosts=settings.hosts,
        allow_origins=settings.allow_origins,
        limits=_within_files(settings.limits),
        corpus=settings.corpus,
        metrics=settings.metrics,
        access_log=settings.access_log,
    )


def _set_aside() -> None:
    """Exclude the models from garbage collection, which would otherwise pause answers while it scans them."""
    gc.unfreeze()
    gc.collect()  # a model that was replaced
    gc.freeze()


def _reloading(models: Models) -> Callable[[int, FrameType | None], None]:
    """Return a signal's handler that loads the models again in a thread, while the old ones answer."""
    one_at_a_time = threading.Lock()

    def reload() -> None:
        with one_at_a_time:
            models.reload()
            _set_aside()

    def handle(signum: int, frame: FrameType | None) -> None:
        threading.Thread(target=reload, name="densvec-reload", daemon=True).start()

    return handle


def _end_with_parent() -> None:
    """End when the supervisor is gone, for whatever reason, so that no worker is left behind."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
