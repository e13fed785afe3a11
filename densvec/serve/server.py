"""Running the application: one process or several that share a socket and the mapped models, and their signals."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

from densvec.answers.messages import route_messages, say
from densvec.serve.limits import LOCAL_HOSTS, Limits

__all__ = ["Settings", "Supervisor", "listen", "run", "serve", "shared", "url_of"]

_BACKLOG = 2048
_GRACE = 30
"""Seconds that requests in flight have to end after SIGTERM."""


@dataclass(frozen=True)
class Settings:
    """What a process needs to know to serve.

    Parameters
    ----------
    paths : mapping of str to str
        The files of the models, by the models' names.
    host : str
        The address to listen on.
    token : str, optional
        What requests for data must send.
    allow_origins : tuple of str
        Sites whose pages may ask.
    workers : int
        How many processes answer.
    limits : Limits
    corpus : str, optional
        A text to find the senses of words in.
    """

    paths: Mapping[str, str]
    host: str = "127.0.0.1"
    token: str | None = None
    allow_origins: tuple[str, ...] = ()
    workers: int = 1
    limits: Limits = field(default_factory=Limits)
    corpus: str | None = None

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The names to answer for: with a token any, since pages of other sites do not know it."""
        return None if self.token is not None else (*LOCAL_HOSTS, self.host)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise OSError(
            f"cannot listen on {host}:{port} ({error.strerror}): give another --port, 0 for any that is free"
        ) from error
    sock.listen(_BACKLOG)
    sock.set_inheritable(True)
    return sock


def shared(sock: socket.socket, count: int) -> list[socket.socket]:
    """Return a socket for each of several processes, all listening where one does.

    On Linux they are different ones, and the system gives each a like share of the connections. Processes that
    accept from the same socket are not so fair: the first to wake up may take all.
    """
    socks = [sock]
    if not sys.platform.startswith("linux"):
        return socks * count
    # Only now: a socket that may share its port from the beginning would also share that of another service.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    while len(socks) < count:
        another = socket.socket(sock.family, sock.type)
        another.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        another.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        another.bind(sock.getsockname())
        another.listen(_BACKLOG)
        another.set_inheritable(True)
        socks.append(another)
    return socks


def url_of(sock: socket.socket) -> str:
    """Return the address to open in a browser."""
    host, port = sock.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def run(settings: Settings, sock: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT, and call `ready` when the first answer can be given.

    SIGHUP loads the files of the models again.
    """
    if settings.workers > 1:
        Supervisor(settings, sock).run(ready)
    else:
        serve(settings, sock, ready)


def serve(settings: Settings, sock: socket.socket, ready: Callable[[], None] = lambda: None) -> None:
    """Serve in this process."""
    import uvicorn
    from threadpoolctl import threadpool_limits

    from densvec.serve.application import app
    from densvec.serve.models import Models

    models = Models.from_files(settings.paths)
    application = app(
        models,
        token=settings.token,
        hosts=settings.hosts,
        allow_origins=settings.allow_origins,
        limits=settings.limits,
        corpus=settings.corpus,
    )

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

    config = uvicorn.Config(
        application,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing here asks where a request came from
        timeout_graceful_shutdown=_GRACE,
        lifespan="off",
    )
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, _reloading(models))
    _set_aside()
    # While a thread answers, the loop that reads and writes should not wait for its turn for 5 ms, the default.
    sys.setswitchinterval(0.001)
    # The server raises the signal that stopped it once more at its end: being stopped is not an error.
    signal.signal(signal.SIGTERM, lambda signum, frame: None)
    # Matrix products of several processes on all cores at once would only wait for each other.
    with threadpool_limits(max((os.cpu_count() or 1) // settings.workers, 1)):
        Server(config).run(sockets=[sock])


def _set_aside() -> None:
    """Let the garbage collector pass over what the models hold: no answer is given while it looks through that."""
    gc.unfreeze()
    gc.collect()  # a model that was replaced
    gc.freeze()


def _reloading(models: Any) -> Callable[[int, FrameType | None], None]:
    """Return a signal's handler that loads the models again in a thread, while the old ones answer."""
    one_at_a_time = threading.Lock()

    def reload() -> None:
        with one_at_a_time:
            models.reload()
            _set_aside()

    def handle(signum: int, frame: FrameType | None) -> None:
        threading.Thread(target=reload, name="densvec-reload", daemon=True).start()

    return handle


class Supervisor:
    """Keeps several processes serving: one that dies is replaced, and signals are passed on."""

    def __init__(self, settings: Settings, sock: socket.socket) -> None:
        self._settings = settings
        self._socks = shared(sock, settings.workers)
        # Spawned processes inherit no threads and no locks; what they know, they have from the files.
        self._context = multiprocessing.get_context("spawn")
        self._processes: list[BaseProcess] = []
        self._stopping = threading.Event()

    def run(self, ready: Callable[[], None]) -> None:
        """Serve until SIGTERM or SIGINT."""
        handlers = {signal.SIGTERM: self._stop, signal.SIGINT: self._stop}
        if hasattr(signal, "SIGHUP"):
            handlers[signal.SIGHUP] = self._pass_on
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        started = [self._context.Event() for _ in range(self._settings.workers)]
        try:
            self._processes = [
                self._start(sock, event) for sock, event in zip(self._socks, started, strict=True)
            ]
            if self._wait_for(started):
                ready()
            while not self._stopping.wait(0.5):
                self._replace_dead()
        finally:
            for process in self._processes:
                _send(process, signal.SIGTERM)
            for process in self._processes:
                process.join(_GRACE + 5)
                if process.is_alive():
                    process.kill()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _start(self, sock: socket.socket, event: Any = None) -> BaseProcess:
        process = self._context.Process(target=_work, args=(self._settings, sock, event), daemon=True)
        process.start()
        return process

    def _wait_for(self, started: list[Any]) -> bool:
        """Wait until all processes answer; one that ends before that has said why."""
        for process, event in zip(self._processes, started, strict=True):
            while not event.wait(0.1):
                if self._stopping.is_set():
                    return False
                if not process.is_alive():
                    raise RuntimeError(
                        f"a worker ended with code {process.exitcode} before it could answer; "
                        "its own message is above"
                    )
        return True

    def _replace_dead(self) -> None:
        for i, process in enumerate(self._processes):
            if not process.is_alive() and not self._stopping.is_set():
                say(
                    f"densvec serve: worker {process.pid} ended with code {process.exitcode}; another takes its place"
                )
                self._processes[i] = self._start(self._socks[i])  # where its connections are waiting

    def _stop(self, signum: int, frame: FrameType | None) -> None:
        self._stopping.set()

    def _pass_on(self, signum: int, frame: FrameType | None) -> None:
        for process in self._processes:
            _send(process, signum)


def _send(process: BaseProcess, signum: int) -> None:
    if process.pid is not None and process.is_alive():
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signum)


def _work(settings: Settings, sock: socket.socket, event: Any) -> None:
    """Serve in a spawned process."""
    route_messages()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        serve(settings, sock, event.set if event is not None else lambda: None)


def _end_with_parent() -> None:
    """End when the supervisor is gone, for whatever reason, so that no worker is left behind."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
