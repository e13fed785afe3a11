"""The torch backend on a CPU, next to the same loss written naively: ``python -m benchmarks.torch_speed [CORPUS]``.

Ways to train the same model on the same text, in minibatches of the same size, a CPU's for this text:

- densvec: gradients in closed form, only used rows updated;
- autograd: the same loss, differentiated by torch, with dense gradients of whole tables and Adam for all, as in the
  paper's own code.

They take turns on each batch, so that a busy machine disturbs all of them alike. Then what the host does by itself:
`prepare`, which sends the ids of a batch to the device. At last densvec trains the whole corpus, reading and sampling
included. ``--operators`` lists how often torch calls what for a minibatch.
"""

import argparse
import copy
import itertools
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from densvec import BayesianSkipGram
from densvec.training.torch.step import Tables
from densvec.training.torch.windows import windows

TOKENS, WORDS = 2_000_000, 60_000
BATCHES = 5

#: Operators that only look at memory in another way: nothing is computed, and no device is called.
VIEWS = {
    "alias", "as_strided", "detach", "expand", "lift_fresh", "select", "slice", "split", "split_with_sizes", "t",
    "tensor_split", "transpose", "unbind", "unsafe_view", "_unsafe_view", "unsqueeze", "view", "values",
}  # fmt: skip


def write_zipf(path, tokens=TOKENS, words=WORDS, seed=1):
    """Write text whose word frequencies follow Zipf's law, in sentences of 20 words."""
    weights = 1.0 / np.arange(1, words + 1)
    ids = np.random.default_rng(seed).choice(words, size=(tokens // 20, 20), p=weights / weights.sum())
    path.write_text("\n".join(" ".join(f"w{i}" for i in sentence) for sentence in ids))


class Autograd:
    """What one writes first in torch: dense gradients by autograd, one Adam for all."""

    def __init__(self, backend):
        self.model = backend.model
        self.tables = Tables(*(torch.nn.Parameter(table.clone()) for table in backend.tables))
        self.optimiser = torch.optim.Adam(self.tables, lr=3e-4)

    def step(self, prepared):
        """Train one chunk."""
        for batch in prepared:
            around = windows(batch, paired=self.model.objective.pairing == "paired")
            loss = self.model.losses(self.tables, around).loss
            self.optimiser.zero_grad()
            loss.backward()
            self.optimiser.step()


class Operators(TorchDispatchMode):
    """Counts the operators that torch calls."""

    def __init__(self):
        super().__init__()
        self.calls = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls[func.overloadpacket._qualified_op_name.split("::")[-1]] += 1
        return func(*args, **(kwargs or {}))


def batches(chunks, words):
    """Return chunks gathered into batches with so many words at least, as training does."""
    gathered = [[]]
    for chunk in chunks:
        gathered[-1].append(chunk)
        if sum(part.words for part in gathered[-1]) >= words:
            gathered.append([])
    return gathered[:-1]


def contest(model, chunks):
    """Train in each of the ways, in turns; return each one's words/s, batch by batch."""
    ours = model._make_backend()
    autograd = Autograd(ours)
    contenders = {"densvec": lambda prepared: ours.step(prepared, model.alpha), "autograd": autograd.step}
    speeds = {name: [] for name in (*contenders, "prepare")}
    for batch in batches(chunks, ours.batch_words)[: BATCHES + 1]:
        started = time.process_time()
        prepared = ours.prepare(*batch)
        taken = {"prepare": time.process_time() - started}
        for name, step in contenders.items():
            started = time.process_time()
            step(prepared)
            taken[name] = time.process_time() - started
        for name, seconds in taken.items():
            speeds[name].append(sum(chunk.words for chunk in batch) / seconds)
    return {name: found[1:] for name, found in speeds.items()}  # the first is for warming up


def operators(model, chunks):
    """Return how often each operator is called for a minibatch."""
    backend = model._make_backend()
    prepared = backend.prepare(*batches(chunks, backend.batch_words)[0])
    backend.step(prepared, model.alpha)
    with Operators() as counted:
        backend.step(prepared, model.alpha)
    return {name: calls / len(prepared) for name, calls in counted.calls.most_common()}


def main(path=None, list_operators=False):
    """Train, and print words/s."""
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            path = Path(folder) / "zipf.txt"
            write_zipf(path)
        model = BayesianSkipGram(backend="torch", device="cpu", epochs=1, show_progress=False)
        model.build_vocab(corpus_file=path)
        with model._feeds()(0, 0) as feed:
            chunks = list(itertools.islice(feed, 300))
        backend = model._make_backend()
        with backend.threads(1):  # several would wait for each other on a busy machine
            speeds = contest(copy.deepcopy(model), chunks)
            calls = operators(copy.deepcopy(model), chunks)
        model.train()
    entry = model.loss_history[0]
    print(
        f"{len(model.wv):,} words, {model.vector_size} dimensions, {model.workers} workers, "
        f"batches of {backend.batch_words:,} words, minibatches of {backend.centres:,} centres"
    )
    print(f"training on {entry.words:,} tokens: {entry.words_per_second:,.0f} words/s, all included")
    print(f"on one thread, in words for each second of the CPU, over {BATCHES} batches in turns:")
    for name in ("densvec", "autograd"):
        ratios = [ours / theirs for ours, theirs in zip(speeds["densvec"], speeds[name], strict=True)]
        print(
            f"  {name:16}{statistics.harmonic_mean(speeds[name]):>12,.0f} words/s   densvec is "
            f"{statistics.median(ratios):.1f} times as fast"
        )
    print(f"  {'prepare':16}{statistics.median(speeds['prepare']):>12,.0f} words/s")
    kernels = {name: count for name, count in calls.items() if name not in VIEWS}
    views = sum(calls.values()) - sum(kernels.values())
    print(f"{sum(kernels.values()):.0f} operators for a minibatch, besides {views:.0f} views")
    if list_operators:
        print("  " + ", ".join(f"{name} {count:.3g}" for name, count in kernels.items()))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", help="a text file, one sentence per line; generated by default")
    parser.add_argument("--operators", action="store_true", help="list the operators of a minibatch")
    given = parser.parse_args()
    main(given.corpus, given.operators)
