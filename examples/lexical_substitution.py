#!/usr/bin/env python
"""Find words that can replace another in a sentence, ranked by KL from the word's posterior there."""

from __future__ import annotations

import argparse

from densvec import BayesianSkipGram
from densvec.datasets import toy_language

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--sentences", type=int, default=20_000, help="how many to generate (default: 20000)")
args = parser.parse_args()

corpus = toy_language(args.sentences)
model = BayesianSkipGram(corpus, vector_size=20, sample=0.01, alpha=0.05, epochs=20, workers=1)

# Candidates come from a thesaurus, a dictionary or an annotator; here they are the names of all things.
candidates = sorted({word for pair in corpus.hypernyms for word in pair})

for word in ("kiwi", "jaguar", "mint"):
    print(f"\n{word}")
    for sense in corpus.senses[word]:
        occurrence = next(o for o in corpus.occurrences(word, 50) if o.sense == sense)
        ranking = model.wv.substitutes(
            word, occurrence.tokens, candidates, topn=4, position=occurrence.position
        )
        shown = ", ".join(f"{substitute} {score:.1f}" for substitute, score in ranking)
        print(f"  {' '.join(occurrence.tokens):48} {shown}")
