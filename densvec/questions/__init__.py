"""What can be asked of words and their densities: one function for each question, `KeyedDensities`'s methods.

`densities` (what only densities can answer), `hypernymy` (what is a kind of what), `inference` (words in context),
`in_context` (comparing words in context), `substitution` (words that could replace one), `beside` (the frequent words
directly before and after each word, which `substitution` and others use), `kinds` (what the text says is a kind of
what, which `hypernymy` uses), `prediction` (the words that a context suggests), `senses`, `contrast` (a word in two
corpora), `learning` (new words from sentences), `subwords` (new words from their spelling) and `texts`. `comparison`
compares two models. All of them look up what they are asked about with `lookup`.
"""

from densvec.questions import (
    beside,
    contrast,
    densities,
    hypernymy,
    in_context,
    inference,
    learning,
    prediction,
    senses,
    substitution,
    subwords,
    texts,
)

__all__ = [
    "beside",
    "contrast",
    "densities",
    "hypernymy",
    "in_context",
    "inference",
    "learning",
    "prediction",
    "senses",
    "substitution",
    "subwords",
    "texts",
]
