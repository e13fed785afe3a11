"""What densvec answers: one document for each question, the same on the command line and over HTTP.

A function takes the model and one question, or several that are answered together, and returns a dataclass. Its
fields are the JSON that both print and the service's schema, `table` makes rows of it, and `str` what people read.
"""

from densvec.answers.context import InContext, Inferred, Substitutes, infer, parse_marked, substitutes
from densvec.answers.corpus import Comparison, Evaluation, Places, SensesOf, compare, senses, where
from densvec.answers.documents import Document, Scored, Unknown, each_known, encoded, scored
from densvec.answers.tables import Table
from densvec.answers.words import (
    METRICS,
    Entails,
    Hypernyms,
    Learnt,
    Metric,
    Similar,
    Texts,
    Tree,
    entails,
    hypernyms,
    similar,
    taxonomy,
    texts,
)

__all__ = [
    "METRICS",
    "Comparison",
    "Document",
    "Entails",
    "Evaluation",
    "Hypernyms",
    "InContext",
    "Inferred",
    "Learnt",
    "Metric",
    "Places",
    "Scored",
    "SensesOf",
    "Similar",
    "Substitutes",
    "Table",
    "Texts",
    "Tree",
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
