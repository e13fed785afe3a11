"""Benchmarks of word embeddings: similarity, analogies, substitution, entailment, generality, words in context.

Every function takes a KeyedDensities (or a gensim KeyedVectors where that makes sense) and a path to a benchmark
or to a text, and returns a typed result that prints as a table and turns into JSON or a DataFrame. `evaluate_all`
runs the whole suite.
"""

from densvec.evaluation.analogies import AnalogyResult, AnalogySection, word_analogies
from densvec.evaluation.context import (
    ChangeScore,
    ContextualChangeResult,
    ContextualSimilarityResult,
    contextual_change,
    contextual_similarity,
)
from densvec.evaluation.dispersion import DispersionResult, explained_dispersion
from densvec.evaluation.entailment import (
    DirectionResult,
    EntailmentResult,
    EntailmentScore,
    direction,
    entailment,
)
from densvec.evaluation.entropy import EntropyResult, entropy_in_context
from densvec.evaluation.generality import GeneralityResult, generality_frequency
from densvec.evaluation.graded import GradedEntailmentResult, graded_entailment
from densvec.evaluation.lexicon import Lexicon
from densvec.evaluation.merged import (
    MergedPair,
    MergedText,
    SenseInductionResult,
    draw_pairs,
    merged_pairs,
    sense_induction,
)
from densvec.evaluation.reading import BenchmarkFileError
from densvec.evaluation.similarity import (
    SimilarityResult,
    SimilarityTable,
    word_similarities,
    word_similarity,
)
from densvec.evaluation.substitution import SubstitutionResult, gap, lexical_substitution
from densvec.evaluation.suite import Comparison, Report, evaluate_all
from densvec.evaluation.word_in_context import WordInContextResult, WordInContextScore, word_in_context
from densvec.statistics.bootstrap import Bootstrap, Estimate
from densvec.statistics.clusters import adjusted_rand_index, kmeans

__all__ = [
    "AnalogyResult",
    "AnalogySection",
    "BenchmarkFileError",
    "Bootstrap",
    "ChangeScore",
    "Comparison",
    "ContextualChangeResult",
    "ContextualSimilarityResult",
    "DirectionResult",
    "DispersionResult",
    "EntailmentResult",
    "EntailmentScore",
    "EntropyResult",
    "Estimate",
    "GeneralityResult",
    "GradedEntailmentResult",
    "Lexicon",
    "MergedPair",
    "MergedText",
    "Report",
    "SenseInductionResult",
    "SimilarityResult",
    "SimilarityTable",
    "SubstitutionResult",
    "WordInContextResult",
    "WordInContextScore",
    "adjusted_rand_index",
    "contextual_change",
    "contextual_similarity",
    "direction",
    "draw_pairs",
    "entailment",
    "entropy_in_context",
    "evaluate_all",
    "explained_dispersion",
    "gap",
    "generality_frequency",
    "graded_entailment",
    "kmeans",
    "lexical_substitution",
    "merged_pairs",
    "sense_induction",
    "word_analogies",
    "word_in_context",
    "word_similarities",
    "word_similarity",
]
