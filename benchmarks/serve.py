"""The service under load: requests a second and latency beside a bare FastAPI route, and replaced files.

``python -m benchmarks.serve [MODEL] [--connections N] [--seconds S] [--workers N]`` measures with `wrk`
(apt-get install wrk). ``python -m benchmarks.serve [MODEL] --reload [--clients 64] [--seconds 60]`` replaces the
model's file twice while clients ask, and says how many requests failed and what became of the memory. Without
MODEL, a random one of 100,000 words is served. Words are drawn evenly from the whole vocabulary, so that hardly
anything is asked twice.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.files import make_densities, words_like_a_corpus
from tests.serve.running import Clients, Service, memory_of

LUA = """
local lines = {}
for line in io.lines(os.getenv("QUESTIONS")) do lines[#lines + 1] = line end
math.randomseed(1)
local headers = {["content-type"] = "application/json"}
function request()
  local path, body = lines[math.random(#lines)]:match("([^\\t]*)\\t(.*)")
  return wrk.format("POST", path, headers, body)
end
"""

BARE = """
from fastapi import FastAPI
from pydantic import BaseModel

class Question(BaseModel):
    positive: str
    topn: int = 10

app = FastAPI()

@app.post("/v1/bare")
async def bare(question: Question) -> dict:
    return {"positive": question.positive}
"""


def questions_about(wv, count=5000):
    """Return bodies for each route, about words drawn evenly."""
    rng = random.Random(1)
    words = wv.index_to_key

    def sentence():
        return [rng.choice(words) for _ in range(11)]

    def infer(**more):
        return [("/v1/infer", {"context": sentence(), "position": 5, **more}) for _ in range(count)]

    def similar(**more):
        return [("/v1/similar", {"positive": rng.choice(words), **more}) for _ in range(count)]

    return {
        "infer and similar, half and half": infer() + similar(),
        "infer": infer(),
        "similar": similar(),
        "similar, metric kl": similar(metric="kl"),
        "infer, topn 10": infer(topn=10),
        "substitutes": [("/v1/substitutes", body) for _, body in infer()],
    }


def measure(url, questions, folder, connections, seconds):
    """Return what wrk says: requests a second, latencies in ms, failed requests."""
    (folder / "ask.lua").write_text(LUA)
    lines = (f"{path}\t{json.dumps(body)}" for path, body in questions)
    (folder / "questions").write_text("\n".join(lines))
    command = [
        "wrk",
        "-t1",
        f"-c{connections}",
        f"-d{seconds}s",
        "--latency",
        "-s",
        str(folder / "ask.lua"),
        url,
    ]
    environment = {**os.environ, "QUESTIONS": str(folder / "questions")}
    text = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout

    def latency(share):
        number, unit = re.search(rf"{share}%\s+([\d.]+)(us|ms|s)", text).groups()
        return float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]

    failed = sum(
        int(number)
        for number in re.findall(r"(?:Non-2xx or 3xx responses:|connect|read|write|timeout) (\d+)", text)
    )
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    return rate, latency(50), latency(99), failed


def cpu_of(pid):
    """Return the CPU seconds that a process and its children have used: what load by others does not change."""
    ticks = 0
    for each in [pid, *Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]:
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def bare_service(folder, workers):
    """Serve a FastAPI route that does nothing."""
    (folder / "bare.py").write_text(BARE)
    with contextlib.closing(socket.socket()) as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    arguments = ["bare:app", "--port", str(port), "--workers", str(workers), "--log-level", "error"]
    process = subprocess.Popen([sys.executable, "-m", "uvicorn", *arguments], cwd=folder)
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        time.sleep(2)
        yield f"http://127.0.0.1:{port}/", process.pid
    finally:
        process.terminate()
        process.wait()


def speed(path, wv, args):
    """Print the table of requests a second and latencies."""
    print(
        f"{len(wv):,} words, {wv.vector_size} dimensions; {args.workers} workers, {args.connections} connections, "
        f"{os.cpu_count()} cores\n"
    )
    print("| requests | a second | median, ms | p99, ms | failed | of a bare route | CPU of a request, ms |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def row(title, url, questions, pid, beside=None):
            measure(url, questions, folder, args.connections, 2)  # warm up
            before = cpu_of(pid)
            rate, middle, slow, failed = measure(url, questions, folder, args.connections, args.seconds)
            cpu = 1e3 * (cpu_of(pid) - before) / max(rate * args.seconds, 1)
            share = f"{100 * rate / (beside or rate):.0f} %"
            print(
                f"| {title} | {rate:,.0f} | {middle:.1f} | {slow:.1f} | {failed} | {share} | {cpu:.2f} |",
                flush=True,
            )
            return rate

        with bare_service(folder, args.workers) as (url, pid):
            bare = row("a bare FastAPI route", url, [("/v1/bare", {"positive": "kiwi"})], pid)
        with Service(path, "--workers", args.workers) as service:
            for title, questions in questions_about(wv).items():
                row(title, service.url, questions, service.process.pid, bare)


def reload(path, wv, args):
    """Print what happens when the file is replaced twice under load."""
    with tempfile.TemporaryDirectory() as name:
        served = Path(name) / "served.dv"
        shutil.copy(path, served)
        with Service(served) as service, Clients(service, args.clients, wv.index_to_key[:2000]) as clients:
            memory = []
            for part in range(6):
                time.sleep(args.seconds / 6)
                memory.append(memory_of(service.process.pid) / 1e6)
                if part in (0, 2):
                    shutil.copy(path, Path(name) / "new.dv")
                    os.replace(Path(name) / "new.dv", served)
                    done = service.reloads() + 1
                    service.signal(signal.SIGHUP)
                    while (
                        service.reloads() < done
                    ):  # however long a busy machine takes: what follows is the new one
                        time.sleep(0.1)
        shown = ", ".join(f"{size:.0f}" for size in memory)
        print(
            f"{args.clients} clients, {args.seconds} s: {clients.answered:,} requests answered, "
            f"{len(clients.failures)} failed, {service.reloads()} reloads; private memory in MB every "
            f"{args.seconds / 6:g} s: {shown}"
        )
        for failure in clients.failures[:5]:
            print(failure)


def main() -> None:
    """Measure."""
    from densvec import KeyedDensities

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--reload", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = args.model or str(Path(folder) / "random.dv")
        if args.model is None:
            make_densities(words_like_a_corpus(100_000), 100).save(path)
        wv = KeyedDensities.load(path, mmap="r")
        (reload if args.reload else speed)(path, wv, args)


if __name__ == "__main__":
    main()
