"""Benchmarks of word embeddings: similarity, analogies, lexical substitution, entailment, generality.

Every function takes a KeyedDensities (or a gensim KeyedVectors where that makes sense) and a path, and
returns a typed result that prints as a table and turns into JSON or a DataFrame. `evaluate_all` runs the
whole suite of the paper.
"""

from densvec.evaluation.analogies import AnalogyResult, AnalogySection, word_analogies
from densvec.evaluation.bootstrap import Bootstrap, Estimate
from densvec.evaluation.entailment import (
    DirectionResult,
    EntailmentResult,
    EntailmentScore,
    direction,
    entailment,
)
from densvec.evaluation.files import BenchmarkFileError
from densvec.evaluation.generality import GeneralityResult, generality_frequency
from densvec.evaluation.lexicon import Lexicon
from densvec.evaluation.similarity import (
    SimilarityResult,
    SimilarityTable,
    word_similarities,
    word_similarity,
)
from densvec.evaluation.substitution import SubstitutionResult, gap, lexical_substitution
from densvec.evaluation.suite import Comparison, Report, evaluate_all

__all__ = [
    "AnalogyResult",
    "AnalogySection",
    "BenchmarkFileError",
    "Bootstrap",
    "Comparison",
    "DirectionResult",
    "EntailmentResult",
    "EntailmentScore",
    "Estimate",
    "GeneralityResult",
    "Lexicon",
    "Report",
    "SimilarityResult",
    "SimilarityTable",
    "SubstitutionResult",
    "direction",
    "entailment",
    "evaluate_all",
    "gap",
    "generality_frequency",
    "lexical_substitution",
    "word_analogies",
    "word_similarities",
    "word_similarity",
]
