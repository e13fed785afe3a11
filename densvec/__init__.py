"""Words as probability densities: gensim's Word2Vec interface over the Bayesian Skip-gram.

>>> from densvec import BayesianSkipGram
>>> from densvec.datasets import toy_language
>>> model = BayesianSkipGram(toy_language(2000), vector_size=10, sample=0.01, workers=1)
>>> model.wv.density("kiwi").mean.shape
(10,)
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from densvec._version import __version__

if find_spec("densvec._corpus") is None:
    raise ImportError(
        "densvec has not been compiled here: in a checkout,  pip install -e .  compiles it, which needs a C compiler; "
        "elsewhere, start Python outside the folder of the sources"
    )

if TYPE_CHECKING:
    from densvec.bsg import BayesianSkipGram
    from densvec.callbacks import Checkpoint
    from densvec.files.persistence import DensvecFileError
    from densvec.gaussian import Gaussian
    from densvec.keyed import KeyedDensities
    from densvec.pretrained import load
    from densvec.questions.comparison import compare
    from densvec.questions.regression import regress
    from densvec.skipgram import SkipGram
    from densvec.training.backend import DivergenceError, UnstableTrainingError
    from densvec.word2gauss import Word2Gauss

__all__ = [
    "BayesianSkipGram",
    "Checkpoint",
    "DensvecFileError",
    "DivergenceError",
    "Gaussian",
    "KeyedDensities",
    "SkipGram",
    "UnstableTrainingError",
    "Word2Gauss",
    "__version__",
    "compare",
    "load",
    "regress",
]

# Imported on first use, so that a command that needs no model starts at once.
_MODULES = {
    "BayesianSkipGram": "densvec.bsg",
    "Checkpoint": "densvec.callbacks",
    "DensvecFileError": "densvec.files.persistence",
    "DivergenceError": "densvec.training.backend",
    "Gaussian": "densvec.gaussian",
    "KeyedDensities": "densvec.keyed",
    "SkipGram": "densvec.skipgram",
    "UnstableTrainingError": "densvec.training.backend",
    "Word2Gauss": "densvec.word2gauss",
    "compare": "densvec.questions.comparison",
    "load": "densvec.pretrained",
    "regress": "densvec.questions.regression",
}


def __getattr__(name: str) -> Any:
    """Import a public name."""
    if name not in _MODULES:
        raise AttributeError(f"module 'densvec' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
