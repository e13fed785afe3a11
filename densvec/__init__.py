"""Words as probability densities: gensim's Word2Vec interface over the Bayesian Skip-gram.

>>> from densvec import BayesianSkipGram
>>> from densvec.datasets import toy_language
>>> model = BayesianSkipGram(toy_language(2000), vector_size=10, sample=0.01, workers=1)
>>> model.wv.density("kiwi").mean.shape
(10,)
"""

from densvec._version import __version__
from densvec.bsg import BayesianSkipGram
from densvec.checkpoint import Checkpoint
from densvec.gaussian import Gaussian
from densvec.keyed import KeyedDensities
from densvec.persistence import DensvecFileError
from densvec.training.settings import DivergenceError

__all__ = [
    "BayesianSkipGram",
    "Checkpoint",
    "DensvecFileError",
    "DivergenceError",
    "Gaussian",
    "KeyedDensities",
    "__version__",
]
