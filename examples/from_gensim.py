#!/usr/bin/env python
"""Move from gensim: the same call trains densities, and vectors go both ways."""

from __future__ import annotations

import argparse
import sys

import numpy as np

from densvec import BayesianSkipGram, KeyedDensities
from densvec.datasets import toy_language

try:
    from gensim.models import Word2Vec
except ImportError:
    sys.exit("this example needs gensim: pip install gensim")

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--sentences", type=int, default=20_000, help="how many to generate (default: 20000)")
args = parser.parse_args()
corpus = list(toy_language(args.sentences))

# An existing model: its vectors give the same answers here as there.
old = Word2Vec(corpus, sg=1, vector_size=20, sample=0.01, alpha=0.05, epochs=20, workers=1, seed=1)
points = KeyedDensities.from_gensim(old.wv)
print("gensim: ", [word for word, _ in old.wv.most_similar("kiwi", topn=4)])
print("densvec:", [word for word, _ in points.most_similar("kiwi", topn=4)])
assert np.allclose(points.vectors, old.wv.vectors)

# Points have no variances, and say so.
try:
    points.generality("kiwi")
except ValueError as error:
    print("generality:", error)

# Densities: change the name of the class and keep the arguments. Only sg=1 exists here.
new = BayesianSkipGram(corpus, sg=1, vector_size=20, sample=0.01, alpha=0.05, epochs=20, workers=1, seed=1)
print(
    "now known:", f"generality of kiwi {new.wv.generality('kiwi'):.1f}, of dog {new.wv.generality('dog'):.1f}"
)

# And back, for code that wants gensim's class.
back = new.wv.to_gensim()
print(type(back).__module__, back.most_similar("dog", topn=1)[0][0], back.get_vecattr("dog", "count"))
