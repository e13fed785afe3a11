#!/usr/bin/env python
"""Tell the senses of ambiguous words apart, without being told that they exist.

Every occurrence gets its own posterior. It is compared with the words that are said of each sense: here we know them,
since the language is generated; the model was never told.
"""

from __future__ import annotations

import argparse

import numpy as np

from densvec import BayesianSkipGram
from densvec.datasets import toy_language

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--sentences", type=int, default=20_000, help="how many to generate (default: 20000)")
args = parser.parse_args()

corpus = toy_language(args.sentences)
wv = BayesianSkipGram(corpus, vector_size=20, sample=0.01, alpha=0.05, epochs=20, workers=1).wv

print(f"{'word':8} {'senses':26} {'right':>6}   from its prior alone")
shares = []
for word, senses in corpus.senses.items():
    occurrences = corpus.occurrences(word, 100)
    posteriors = wv.infer_posteriors([(word, o.tokens, o.position) for o in occurrences])  # a batch of 100
    names = list(senses)
    said = [wv.density([w for w in words if w in wv]) for words in senses.values()]  # the words of each sense
    # Mean divergence of each posterior from the words of each sense: (occurrences, senses).
    divergences = np.stack([posteriors[:, None].kl(words[None, :]).mean(axis=1) for words in said], axis=1)
    truth = np.array([names.index(o.sense) for o in occurrences])
    shares.append(np.mean(divergences.argmin(axis=1) == truth))
    prior = wv.density(word)
    guess = int(np.argmin([prior.kl(words).mean() for words in said]))
    print(f"{word:8} {' / '.join(names):26} {shares[-1]:6.0%}   {np.mean(truth == guess):.0%}")
print(f"\nin all: {np.mean(shares):.1%} of occurrences, sentences that were not trained on")
