#!/usr/bin/env python
"""Find the more general of two words, by KL and by variance, compared with guessing by frequency."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.evaluation import entailment_direction

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--sentences", type=int, default=20_000, help="how many to generate (default: 20000)")
args = parser.parse_args()

corpus = toy_language(args.sentences)
wv = BayesianSkipGram(corpus, vector_size=20, sample=0.01, alpha=0.05, epochs=20, workers=1).wv

for specific, general in (("kakapo", "bird"), ("bird", "animal"), ("kakapo", "animal")):
    print(f"{specific:8} → {general:8} {wv.direction(specific, general):+7.2f}")

# The same question for all pairs of the language, in the format of the BBDS and BLESS benchmarks.
with tempfile.TemporaryDirectory() as directory:
    path = Path(directory) / "toy_direction.txt"
    path.write_text("".join(f"{specific} {general} True\n" for specific, general in corpus.hypernyms))
    print(f"\n{entailment_direction(wv, path)}")
