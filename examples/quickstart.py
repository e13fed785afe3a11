#!/usr/bin/env python
"""From text to densities: train, ask, infer a word in context, save and load."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from densvec import BayesianSkipGram, KeyedDensities
from densvec.datasets import toy_language

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--sentences", type=int, default=20_000, help="how many to generate (default: 20000)")
args = parser.parse_args()

# Any iterable of token lists will do, or corpus_file="corpus.txt" with one sentence per line. Real text needs none of
# these settings: they suit a language of 500 words.
corpus = toy_language(args.sentences)
model = BayesianSkipGram(corpus, vector_size=20, sample=0.01, alpha=0.05, epochs=20, workers=1)
print(model)

# gensim's questions, answered from the means ...
print("\nnearest to dog, by cosine:", [word for word, _ in model.wv.most_similar("dog", topn=4)])

# ... and questions that need densities.
print("a dog is an animal:", model.wv.direction("dog", "animal") > 0)
print("an animal is a dog:", model.wv.direction("animal", "dog") > 0)

# What does a word mean here?
for context in ("the juicy kiwi ripens and tempts", "the flightless kiwi digs and nests"):
    posterior = model.infer_posterior("kiwi", context)
    nearest = [word for word, _ in model.wv.most_similar(posterior, metric="kl", topn=5)]
    print(f"\n{context}: entropy {posterior.entropy():.1f} nats, nearest {nearest}")

# One file, no pickle. What people ship is model.wv: densities and encoder, without the training state.
with tempfile.TemporaryDirectory() as directory:
    path = Path(directory) / "kiwi.dv"
    model.wv.save(path)
    wv = KeyedDensities.load(path, mmap="r")
    print("\nloaded:", wv)
