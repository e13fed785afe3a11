"""Benchmarks of word embeddings, each figure beside simple baselines from the same means.

Every benchmark is a `Task`. Called with a KeyedDensities and a file it scores the model's own calls, the baselines, and
any other method, and returns `Results`, which print as a table and turn into JSON or a DataFrame. `evaluate_all` runs
all that a directory has.
"""

from densvec.evaluation.change import graded_change
from densvec.evaluation.everything import evaluate_all
from densvec.evaluation.figures import Figure, Results
from densvec.evaluation.hypernyms import hypernym_discovery
from densvec.evaluation.in_context import similarity_in_context, word_in_context
from densvec.evaluation.neighbours import nearest_neighbours
from densvec.evaluation.new_words import chimeras, nonces
from densvec.evaluation.pairs import entailment, entailment_direction, graded_entailment, word_similarity
from densvec.evaluation.reading import BenchmarkFileError
from densvec.evaluation.senses import sense_induction
from densvec.evaluation.substitutes import gap, lexical_substitution, ranking_of_candidates
from densvec.evaluation.task import Task
from densvec.evaluation.texts import text_similarity
from densvec.statistics.bootstrap import Bootstrap, Estimate

__all__ = [
    "BenchmarkFileError",
    "Bootstrap",
    "Estimate",
    "Figure",
    "Results",
    "Task",
    "chimeras",
    "entailment",
    "entailment_direction",
    "evaluate_all",
    "gap",
    "graded_change",
    "graded_entailment",
    "hypernym_discovery",
    "lexical_substitution",
    "nearest_neighbours",
    "nonces",
    "ranking_of_candidates",
    "sense_induction",
    "similarity_in_context",
    "text_similarity",
    "word_in_context",
    "word_similarity",
]
