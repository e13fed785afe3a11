#!/usr/bin/env python
"""Continue training on new text with new words: old words keep their meaning, new ones find their place."""

from __future__ import annotations

import argparse

from densvec import BayesianSkipGram
from densvec.datasets import toy_language

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--sentences", type=int, default=20_000, help="how many to generate (default: 20000)")
args = parser.parse_args()

# Yesterday's text had no trucks; today's has all the sentences about them.
sentences = list(toy_language(args.sentences))
yesterday = [sentence for sentence in sentences if "truck" not in sentence]
today = [
    sentence
    for sentence in toy_language(args.sentences // 4, seed=2)
    if "truck" in sentence or "bus" in sentence
]

model = BayesianSkipGram(yesterday, vector_size=20, sample=0.01, alpha=0.05, epochs=20, workers=1)
before = model.wv.density("kakapo")
print("truck" in model.wv, f"{len(model.wv)} words")

model.build_vocab(today, update=True)
model.train(today, total_examples=model.corpus_count, epochs=10, start_alpha=0.02)
print("truck" in model.wv, f"{len(model.wv)} words")
print("nearest to truck:", [word for word, _ in model.wv.most_similar("truck", metric="kl", topn=5)])
print(f"kakapo, of which today's text says nothing, moved by KL {model.wv.density('kakapo').kl(before):.2f}")
for loss in (model.loss_history[0], model.loss_history[19], model.loss_history[-1]):
    print(f"epoch {loss.epoch:2}: loss {loss.loss:.2f} per word over {loss.words:,} words")
