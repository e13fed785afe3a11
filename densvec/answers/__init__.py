"""What densvec answers: one document for each question, the same on the command line and over HTTP.

A function takes the model and one question, or several that are answered together, and returns a dataclass. Its
fields are the JSON that both print and the service's schema, `table` makes rows of it, and `str` what people read.
"""

from densvec.answers.corpus import Evaluation, SensesOf, compare, senses, where
from densvec.answers.documents import Document, Scored, Table, Unknown, each_known, encoded, scored
from densvec.answers.words import (
    METRICS,
    Entails,
    Hypernyms,
    Inferred,
    Learnt,
    Metric,
    Similar,
    Substitutes,
    entails,
    hypernyms,
    infer,
    parse_marked,
    similar,
    substitutes,
    taxonomy,
    texts,
)

__all__ = [
    "METRICS",
    "Document",
    "Entails",
    "Evaluation",
    "Hypernyms",
    "Inferred",
    "Learnt",
    "Metric",
    "Scored",
    "SensesOf",
    "Similar",
    "Substitutes",
    "Table",
    "Unknown",
    "compare",
    "each_known",
    "encoded",
    "entails",
    "hypernyms",
    "infer",
    "parse_marked",
    "scored",
    "senses",
    "similar",
    "substitutes",
    "taxonomy",
    "texts",
    "where",
]
