#!/usr/bin/env python
"""Train with torch on a GPU, or on the CPU if there is none."""

from __future__ import annotations

import argparse
import sys

from densvec import BayesianSkipGram
from densvec.datasets import toy_language

try:
    import torch
except ImportError:
    sys.exit('this example needs torch: pip install "densvec[torch]"')

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--sentences", type=int, default=5_000, help="how many to generate (default: 5000)")
parser.add_argument("--epochs", type=int, default=10, help="passes over the corpus (default: 10)")
args = parser.parse_args()

if torch.cuda.is_available():
    device = "cuda"
elif torch.backends.mps.is_available():
    device = "mps"
else:
    device = "cpu"
print("training on", device)

# On a CPU the native kernel is several times faster: backend="auto" takes it unless there is a CUDA device. Everything
# that comes after training is NumPy, wherever the model was trained.
model = BayesianSkipGram(
    toy_language(args.sentences),
    vector_size=20,
    sample=0.01,
    alpha=0.05,
    epochs=args.epochs,
    backend="torch",
    device=device,
)
last = model.loss_history[-1]
print(f"loss {last.loss:.2f} per word at {last.words_per_second:,.0f} words/s")
posterior = model.infer_posterior("kiwi", "the flightless kiwi digs and nests")
print([word for word, _ in model.wv.most_similar(posterior, metric="kl", topn=5)])
