#!/usr/bin/env python
"""Answer from several processes that share one memory-mapped model.

The file is mapped, not read: a process starts in milliseconds, and all of them use the same pages of memory. In a web
service, do what `start` does when a worker starts (gunicorn's post_fork, FastAPI's lifespan) and what `answer` does in
the handler.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from densvec import BayesianSkipGram, KeyedDensities
from densvec.datasets import toy_language


def start(path: str) -> None:
    """Map the model, once in each process."""
    global wv
    wv = KeyedDensities.load(path, mmap="r")


def answer(request: tuple[str, list[str], int]) -> dict[str, object]:
    """Answer one request: a word, its sentence, and its position there."""
    word, sentence, position = request
    if word not in wv:
        return {"error": f"unknown word {word!r}"}
    posterior = wv.infer(sentence, word=word, position=position)
    return {
        "process": os.getpid(),
        "nearest": [key for key, _ in wv.most_similar(posterior, metric="kl", topn=3)],
        "entropy": round(float(posterior.entropy()), 2),
    }


def main() -> None:
    """Train and save a small model, then ask it from several processes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=20_000, help="how many to generate (default: 20000)")
    parser.add_argument("--processes", type=int, default=4, help="how many answer (default: 4)")
    args = parser.parse_args()
    corpus = toy_language(args.sentences)
    with tempfile.TemporaryDirectory() as directory:
        path = str(Path(directory) / "kiwi.dv")
        model = BayesianSkipGram(corpus, vector_size=20, sample=0.01, alpha=0.05, epochs=20, workers=1)
        model.wv.save(path)  # densities and encoder, without the training state
        requests = [("kiwi", o.tokens, o.position) for o in corpus.occurrences("kiwi", 2000)]
        # Spawned processes inherit nothing: whatever they know, they have from the file.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(args.processes, context, initializer=start, initargs=(path,)) as pool:
            list(pool.map(answer, requests[: 8 * args.processes]))  # let them start
            started = time.perf_counter()
            answers = list(pool.map(answer, requests, chunksize=50))
            seconds = time.perf_counter() - started
    for (_, sentence, _), reply in zip(requests[:3], answers[:3], strict=True):
        print(" ".join(sentence), "→", ", ".join(reply["nearest"]), f"({reply['entropy']} nats)")
    processes = len({reply["process"] for reply in answers})
    print(
        f"{len(answers):,} requests answered by {processes} processes, {len(answers) / seconds:,.0f} a second"
    )


if __name__ == "__main__":
    main()
