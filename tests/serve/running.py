"""A service in a process of its own, and clients that ask it without pause."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[2]


class Service:
    """``densvec serve`` with some arguments, until the end of a `with` block."""

    def __init__(self, *arguments: object, **options: object) -> None:
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "densvec", "serve", *map(str, arguments), "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            text=True,
            **options,  # type: ignore[call-overload]
        )
        self.errors: list[str] = []
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the service did not start: {self.process.stderr.read()}")  # type: ignore[union-attr]
        self.url = json.loads(line)["url"]
        self.host = urlsplit(self.url).netloc
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stderr:  # type: ignore[union-attr]
            self.errors.append(line)

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(10)

    def ask(
        self, path: str, body: object = None, connection: http.client.HTTPConnection | None = None
    ) -> dict:
        """Return the answer, which must be one of status 200."""
        with contextlib.ExitStack() as stack:
            if connection is None:
                connection = stack.enter_context(contextlib.closing(self.connect()))
            content = None if body is None else json.dumps(body)
            connection.request(
                "GET" if body is None else "POST", path, content, {"content-type": "application/json"}
            )
            response = connection.getresponse()
            text = response.read()
            if response.status != 200:
                raise RuntimeError(f"{path}: status {response.status}: {text!r}")
            return json.loads(text)

    def connect(self) -> http.client.HTTPConnection:
        """Return a new connection."""
        return http.client.HTTPConnection(self.host, timeout=60)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def reloads(self) -> int:
        """Return how often a file was loaded again."""
        return sum("was loaded again" in line for line in self.errors)


class Clients:
    """Many clients that ask one question after another, each over its own connection, until the `with` block ends."""

    def __init__(self, service: Service, count: int, words: list[str]) -> None:
        self.service, self.words = service, words
        self.answered, self.failures = 0, []
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._threads = [threading.Thread(target=self._work, args=(i,), daemon=True) for i in range(count)]

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def _work(self, number: int) -> None:
        connection, answered = self.service.connect(), 0
        while not self._stop.is_set():
            word = self.words[(number + answered) % len(self.words)]
            question = [
                ("/v1/similar", {"positive": word, "topn": 3}),
                ("/v1/infer", {"context": self.words[:6], "word": word}),
                ("/v1/substitutes", {"context": self.words[:6], "word": word, "topn": 3}),
            ][answered % 3]
            try:
                self.service.ask(*question, connection)
                answered += 1
            except Exception as error:
                with self._lock:
                    self.failures.append(repr(error))
                connection.close()
                connection = self.service.connect()
        connection.close()
        with self._lock:
            self.answered += answered


def memory_of(pid: int) -> int:
    """Return the memory that a process alone needs, in bytes: its private pages, not those of the mapped file."""
    fields = (line.split() for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines())
    sizes = {field[0]: int(field[1]) for field in fields if len(field) == 3 and field[1].isdigit()}
    return 1024 * (sizes["Private_Dirty:"] + sizes.get("Swap:", 0))
