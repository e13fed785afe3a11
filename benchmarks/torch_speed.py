"""The torch backend on a CPU, next to the same step written naively: ``python -m benchmarks.torch_speed [CORPUS]``.

Three ways to train the same model on the same chunks, in minibatches of the same size:

- densvec: distinct words projected once, divergences as inner products along links, only used rows updated;
- naive encoder: a product of matrices for the concatenated embeddings of every pair, the rest as densvec;
- naive: that, and every word looked up on its own in whole tables, with dense gradients and Adam, as in the
  paper's own code.

They take turns on each chunk, so that a busy machine disturbs all of them alike. Then densvec trains the whole
corpus, reading and sampling included.
"""

import argparse
import copy
import dataclasses
import itertools
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from densvec import BayesianSkipGram
from densvec.encoder import LOG_VARIANCE_BOUNDS
from densvec.training.torch.backend import BATCH_CENTRES, PreparedChunk, TorchBackend
from densvec.training.torch.step import Posteriors, Rows, TorchStep

TOKENS, WORDS = 2_000_000, 60_000
CHUNKS = 12


def write_zipf(path, tokens=TOKENS, words=WORDS, seed=1):
    """Write text whose word frequencies follow Zipf's law, in sentences of 20 words."""
    weights = 1.0 / np.arange(1, words + 1)
    ids = np.random.default_rng(seed).choice(words, size=(tokens // 20, 20), p=weights / weights.sum())
    path.write_text("\n".join(" ".join(f"w{i}" for i in sentence) for sentence in ids))


class ConcatenatingStep(TorchStep):
    """The first layer as it is drawn in the paper: a product of matrices for every pair."""

    def posteriors(self, batch, rows):
        """Return mean and log-variance of each centre's posterior."""
        pairs, embeddings = batch.pairs, rows.embeddings
        context = F.embedding(pairs.words, embeddings)
        centre = F.embedding(batch.centres.index_select(0, pairs.centres), embeddings)
        layer = torch.cat((self.context_layer, self.centre_layer))
        active = (torch.cat((context, centre), dim=1) @ layer).relu()
        hidden = active.new_zeros(len(batch.centres), active.shape[1]).index_add(0, pairs.centres, active)
        mean = hidden @ self.mean_head + self.mean_bias
        log_variance = hidden @ self.variance_head + self.variance_bias
        if self.residual:
            mean = mean + F.embedding(batch.centres, rows.means)
            log_variance = log_variance + F.embedding(batch.centres, rows.log_variances.detach())
        return Posteriors(mean, log_variance.clamp(*LOG_VARIANCE_BOUNDS))


class NaiveStep(ConcatenatingStep):
    """Divergences from gathered rows, one pair of Gaussians at a time."""

    def divergences(self, batch, rows, mean, log_variance):
        """Return KL[q‖N(word)] for each use of a word."""
        q_mean, q_log_variance = mean[batch.uses.centres], log_variance[batch.uses.centres]
        p_mean = F.embedding(batch.uses.words, rows.means)
        p_log_variance = F.embedding(batch.uses.words, rows.log_variances)
        size = mean.shape[1]
        squares = (q_mean - p_mean).square().sum(1, keepdim=True)
        ratio = (size * q_log_variance.exp() + squares) / p_log_variance.exp()
        return 0.5 * (ratio + size * (p_log_variance - q_log_variance - 1)).sum(1)


class NaiveTraining:
    """What one writes first in torch: tables looked up word by word, dense gradients, one Adam for all."""

    def __init__(self, backend, step):
        self.tables = Rows(*(torch.nn.Parameter(table.clone()) for table in backend.tables))
        self.step_module = step
        self.optimiser = torch.optim.Adam([*self.tables, *step.parameters()], lr=3e-4)

    def step(self, prepared):
        """Train one chunk, of minibatches that `by_vocabulary` numbered."""
        for batch in prepared.minibatches:
            losses, _, _ = self.step_module(batch, self.tables)
            self.optimiser.zero_grad()
            losses.loss.backward()
            self.optimiser.step()


def by_vocabulary(prepared):
    """Return a prepared chunk whose words go by their numbers in the vocabulary, not in the minibatch."""
    renumbered = []
    for batch in prepared.minibatches:
        pairs = dataclasses.replace(batch.pairs, words=batch.words[batch.pairs.words])
        uses = dataclasses.replace(batch.uses, words=batch.words[batch.uses.words])
        centres = batch.words[batch.centres]
        renumbered.append(dataclasses.replace(batch, centres=centres, pairs=pairs, uses=uses))
    return PreparedChunk(prepared.chunk, renumbered)


def contest(model):
    """Train the first chunks in each of the three ways, in turns; return each one's words/s, chunk by chunk."""
    with model._feeds()(0, 0) as feed:
        chunks = list(itertools.islice(feed, CHUNKS + 1))
    ours, concatenating = model._make_backend(), model._make_backend()
    assert isinstance(ours, TorchBackend)
    weights = {name: value.detach().clone() for name, value in ours.module.named_parameters()}
    concatenating.module.__class__ = ConcatenatingStep
    naive = NaiveTraining(ours, NaiveStep(weights, ours.module.objective, ours.module.residual))
    contenders = {
        "densvec": lambda chunk: ours.step(chunk, model.alpha),
        "naive encoder": lambda chunk: concatenating.step(chunk, model.alpha),
        "naive": naive.step,
    }
    speeds = {name: [] for name in contenders}
    with ours.threads(1):  # several would wait for each other on a busy machine
        for number, chunk in enumerate(chunks):
            prepared = ours.prepare(chunk)
            renumbered = by_vocabulary(prepared)
            for name, step in contenders.items():
                started = time.perf_counter()
                step(renumbered if name == "naive" else prepared)
                if number:  # the first is for warming up
                    speeds[name].append(chunk.words / (time.perf_counter() - started))
    return speeds


def main(path=None):
    """Train, and print words/s."""
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            path = Path(folder) / "zipf.txt"
            write_zipf(path)
        model = BayesianSkipGram(backend="torch", device="cpu", epochs=1, show_progress=False)
        model.build_vocab(corpus_file=path)
        speeds = contest(copy.deepcopy(model))
        model.train()
    entry = model.loss_history[0]
    print(
        f"{len(model.wv):,} words, {model.vector_size} dimensions, {model.workers} workers, "
        f"minibatches of {BATCH_CENTRES['cpu']} centres"
    )
    print(f"training on {entry.words:,} tokens: {entry.words_per_second:,.0f} words/s, all included")
    print(f"the step alone, on one thread, medians of {CHUNKS} chunks in turns:")
    for name, found in speeds.items():
        ratios = [ours / theirs for ours, theirs in zip(speeds["densvec"], found, strict=True)]
        print(
            f"{name:16}{statistics.median(found):>10,.0f} words/s   densvec is {statistics.median(ratios):.1f} times "
            "as fast"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", nargs="?", help="a text file, one sentence per line; generated by default")
    main(parser.parse_args().corpus)
