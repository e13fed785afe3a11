"""A long time of everything at once: train, ask, save, load, grow and interrupt at random, under watch.

    python -m tests.soak --minutes 30 --requests 20000

First the service answers many requests of every kind, right and wrong, while other clients are slow, silent or never
read: its memory must stay level, and it must not fail once. Then every command that writes meets a full disk: the
old file must stay. Then the models: one at a time lives in the main thread; other threads ask it and save it whenever
they like. After every round the numbers must be finite, a saved model must be equal to the one that was saved, no
thread may be left, and memory must not grow from round to round.
"""

import argparse
import contextlib
import faulthandler
import gc
import http.client
import json
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from densvec import BayesianSkipGram, SkipGram, Word2Gauss
from densvec.datasets import toy_language
from densvec.training.backend import UnstableTrainingError
from tests.cli.cases import command, environment
from tests.cli.test_files import WRITES
from tests.model.test_round_trip import assert_equal
from tests.serve.running import Service, memory_of

TEXTS = [list(toy_language(300, seed=seed)) for seed in range(4)]
HUNG = 300  # seconds
WARM_UP = 20  # rounds before memory is compared
GROWTH = 150  # MB that memory may grow by afterwards
SERVICE_GROWTH = 40  # MB that the service's memory may grow by after a tenth of all requests
EXPECTED = {200, 202, 400, 401, 404, 405, 413, 422, 431, 503}  # what a service under abuse may answer


def resident_megabytes():
    """Memory of this process now."""
    status = Path("/proc/self/status").read_text().split("VmRSS:")[1]
    return int(status.split()[0]) / 1024


class Others(threading.Thread):
    """Asks and saves a model until told to stop."""

    def __init__(self, model, path, counts, seed):
        super().__init__(daemon=True)
        self.model, self.path, self.counts = model, path, counts
        self.random, self.stop, self.error = random.Random(seed), False, None

    def run(self):
        try:
            while not self.stop:
                self.act()
        except BaseException as error:
            self.error = error

    def act(self):
        wv = self.model.wv
        word = self.random.choice(wv.index_to_key)
        choice = self.random.random()
        if choice < 0.05:
            self.model.save(self.path)
            type(self.model).load(self.path)
            self.counts["saved by another thread"] += 1
        elif choice < 0.5:
            wv.most_similar(word, topn=3)
            self.counts["queries"] += 1
        elif wv.encoder is not None:
            wv.infer([self.random.choice(wv.index_to_key) for _ in range(5)], word=word)
            self.counts["inferences"] += 1
        time.sleep(self.random.random() * 0.01)


class Soak:
    """Rounds of random actions."""

    def __init__(self, folder, seed):
        self.random = random.Random(seed)
        self.path = Path(folder, "model.dv")
        self.other_path = Path(folder, "other.dv")
        self.counts = Counter()

    def new_model(self):
        kind = self.random.choice([BayesianSkipGram, BayesianSkipGram, SkipGram, Word2Gauss])
        changes = {"backend": "torch"} if kind is BayesianSkipGram and self.random.random() < 0.1 else {}
        if kind is not SkipGram:
            changes["covariance"] = self.random.choice(["spherical", "diagonal"])
        model = kind(
            vector_size=self.random.choice([4, 16, 50]), min_count=2, sample=0.01, epochs=self.random.randint(1, 5),
            workers=self.random.randint(1, 3), batch_words=self.random.choice([100, 1000, 10_000]), **changes,
        )  # fmt: skip
        model.build_vocab(self.random.choice(TEXTS))
        return model

    def round(self):
        """Build up one model in spite of everything, and check it."""
        model = self.new_model()
        others = [Others(model, self.other_path, self.counts, self.random.random()) for _ in range(2)]
        for other in others:
            other.start()
        try:
            for _ in range(self.random.randint(1, 4)):
                self.train(model)
        finally:
            for other in others:
                other.stop = True
            for other in others:
                other.join()
        for other in others:
            if other.error is not None:
                raise other.error
        for _ in range(self.random.randint(0, 2)):
            self.grow(model)
            self.train(model)
        for name, array in model._arrays().items():
            assert np.isfinite(array).all(), name
        model.save(self.path)
        assert_equal(model, type(model).load(self.path))
        self.counts["saved and loaded"] += 1

    def train(self, model):
        """Train, perhaps interrupted, perhaps much too fast."""
        if self.random.random() < 0.7:
            signal.setitimer(signal.ITIMER_REAL, self.random.uniform(1e-4, 0.5))
        try:
            try:
                if self.random.random() < 0.1:
                    model.train(self.random.choice(TEXTS), total_examples=300, epochs=1, start_alpha=50.0)
                else:
                    model.alpha = 0.025
                    text = self.random.choice(TEXTS)
                    model.train(text, total_examples=len(text), epochs=self.random.randint(1, 3))
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            self.counts["trained"] += 1
        except KeyboardInterrupt:
            self.counts["interrupted"] += 1
        except UnstableTrainingError:
            self.counts["diverged"] += 1
        model.alpha = 0.025

    def grow(self, model):
        """Add words, by a text or by hand, or sort them."""
        choice = self.random.random()
        self.counts["grown"] += 1
        if choice < 0.5:
            new = [f"word{self.random.randrange(1000)}" for _ in range(10)]
            model.build_vocab([new, new, *self.random.choice(TEXTS)], update=True)
        elif choice < 0.8:
            model.wv.add_vectors([f"hand{self.random.randrange(1000)}"], np.ones((1, model.vector_size)))
        else:
            model.wv.sort_by_descending_frequency()


class Client(threading.Thread):
    """Sends requests of every kind over one connection after another."""

    def __init__(self, service, words, requests, seed):
        super().__init__(daemon=True)
        self.service, self.words, self.left = service, words, requests
        self.random, self.counts, self.error = random.Random(seed), Counter(), None

    def run(self):
        connection = None
        try:
            while self.left:
                self.left -= 1
                if connection is None or self.random.random() < 0.05:
                    connection = self.service.connect()
                try:
                    connection.request(*self.request())
                    answer = connection.getresponse()
                    text = answer.read()
                    if text and "json" in answer.headers["content-type"]:
                        json.loads(text)
                    assert answer.status in EXPECTED, answer.status
                    self.counts[answer.status] += 1
                except (http.client.HTTPException, ConnectionError):  # closed to let others in
                    self.counts["closed"] += 1
                    connection = None
        except BaseException as error:
            self.error = error

    def request(self):
        """Return method, path, body and headers."""
        pick, word = self.random.choice, self.random.choice(self.words)
        context = self.random.choices(self.words, k=self.random.choice([1, 5, 200]))
        odd = pick([word, "\ud800", "", "x" * 9000])
        question = pick(
            [
                (
                    "similar",
                    {"positive": word, "metric": pick(["cosine", "kl", "euclid"]), "topn": pick([1, 50, -1])},
                ),
                ("similar", [{"positive": context, "topn": 1000}] * pick([1, 30, 300])),
                ("infer", {"context": context, "position": pick([0, 3, -1]), "topn": pick([0, 5])}),
                ("infer", {"sentence": f"a [[{odd}]] b"}),
                ("substitutes", [{"context": context, "word": word}] * pick([1, 64])),
                ("entails", {"a": word, "b": pick(self.words)}),
                ("hypernyms", {"word": word + pick(["", "x"])}),
                ("context", {"tokens": context, "position": 0, "off": [1]}),
                ("compare", {"a": word, "b": f"[[{word}]] {' '.join(context)}"}),
                ("map", {"top": pick([10, 600]), "around": pick([None, word])}),
                ("tokens", {"text": " ".join(context) * pick([1, 20])}),
            ]
        )
        headers = {"content-type": "application/json"}
        kind = self.random.random()
        if kind < 0.1:
            return (
                "GET",
                pick(["/", "/docs", "/v1/model", f"/v1/word?word={word}", "/nothing", "/v1/words"]),
                None,
                headers,
            )
        if kind < 0.15:
            return "POST", "/v1/similar", pick(["{", "[" * 50_000, "x" * 1_100_000, "null"]), headers
        if kind < 0.17:
            return pick(["HEAD", "DELETE", "PUT"]), "/v1/model", None, {"x-long": "y" * pick([10, 60_000])}
        return "POST", f"/v1/{question[0]}", json.dumps(question[1]), headers


class Silent(threading.Thread):
    """Keeps connections open that say nothing, too little, or more than they read."""

    BEGINNINGS = (
        b"",
        b"GET / HT",
        b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n" * 3000,
        b"POST /v1/similar HTTP/1.1\r\nx: ",
    )

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.stop = service, False

    def run(self):
        host, port = self.service.host.split(":")
        held = []
        while not self.stop:
            with contextlib.suppress(OSError):
                held.append(socket.create_connection((host, int(port)), timeout=1))
                held[-1].settimeout(0.2)
                held[-1].sendall(self.BEGINNINGS[len(held) % len(self.BEGINNINGS)])
            for sock in held[:-300]:
                sock.close()
            del held[:-300]
            time.sleep(0.02)


def soak_service(folder, requests, clients=8):
    """Ask a service from many sides at once."""
    path = Path(folder, "served.dv")
    model = BayesianSkipGram(TEXTS[0], vector_size=50, min_count=2, epochs=1)
    model.save(path)
    with Service(path, "--max-seconds", "5") as service:
        pid, words = service.process.pid, list(model.wv.index_to_key)
        silent = Silent(service)
        silent.start()
        asking = [Client(service, words, requests // clients, seed) for seed in range(clients)]
        for client in asking:
            client.start()
        warm = None
        while any(client.is_alive() for client in asking):
            time.sleep(0.2)
            if warm is None and sum(client.left for client in asking) < 0.9 * requests:
                warm = memory_of(pid) >> 20
        silent.stop = True
        silent.join()
        for client in asking:
            if client.error is not None:
                raise client.error
        service.ask("/v1/similar", {"positive": words[0]})
        end = memory_of(pid) >> 20
        assert end < (warm or end) + SERVICE_GROWTH, f"the service's memory grew from {warm} to {end} MB"
        assert not any("Traceback" in line for line in service.errors), service.errors
        counts = sum((client.counts for client in asking), Counter())
    print(f"service: {dict(sorted(counts.items(), key=str))}; memory: {warm} MB, {end} MB at the end")


def soak_disk(folder):
    """Let every command that writes meet a disk that is full after some bytes, ever later."""
    text, vectors = Path(folder, "text.txt"), Path(folder, "vectors.txt")
    toy_language(300).write(text)
    model = BayesianSkipGram(TEXTS[0], vector_size=12, min_count=2, epochs=1)
    model.save(Path(folder, "read.dv"))
    model.wv.save_word2vec_format(vectors)
    places = {"MODEL": "read.dv", "CORPUS": "text.txt", "VECTORS": "vectors.txt"}
    for name, template in WRITES.items():
        arguments = [places.get(each, each) for each in template]
        target = Path(folder, arguments[-1])
        whole = refused = 0
        for room in (None, 0, 100, 3_000, 50_000, 1 << 40):
            before = target.read_bytes() if room is not None else b""
            limit = resource.RLIM_INFINITY if room is None else room
            done = subprocess.run(
                command(*arguments),
                cwd=folder,
                env=environment(),
                capture_output=True,
                preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
                check=False,
            )
            if done.returncode == 0:
                whole += 1
                continue
            refused += 1
            assert room is not None, done.stderr
            assert target.name.encode() in done.stderr, done.stderr
            assert b"Traceback" not in done.stderr, done.stderr
            assert target.read_bytes() == before, f"{name} left a fragment"
        left = [each for each in os.listdir(folder) if each.endswith(".tmp")]
        assert not left, left
        print(f"full disk: {name}: {refused} times refused, {whole} times whole")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    with tempfile.TemporaryDirectory() as folder:
        soak_service(folder, options.requests)
        soak_disk(folder)
    deadline, warm, rounds = time.monotonic() + 60 * options.minutes, None, 0
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(folder, options.seed)
        while time.monotonic() < deadline:
            faulthandler.dump_traceback_later(HUNG, exit=True)
            soak.round()
            rounds += 1
            left = [thread.name for thread in threading.enumerate() if thread.name.startswith("densvec")]
            assert not left, f"threads are left: {left}"
            gc.collect()
            if rounds == WARM_UP:
                warm = resident_megabytes()
            assert warm is None or resident_megabytes() < warm + GROWTH, "memory grows from round to round"
    faulthandler.cancel_dump_traceback_later()
    print(
        f"{rounds} rounds: " + ", ".join(f"{number} {name}" for name, number in sorted(soak.counts.items()))
    )
    print(
        f"memory: {warm and round(warm)} MB after {WARM_UP} rounds, {round(resident_megabytes())} MB at the end"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
