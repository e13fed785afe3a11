"""What every doctest may use, `np` and the four words of `wv`; how hypothesis runs."""

from __future__ import annotations

import signal
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from densvec.encoder import Encoder
from densvec.keyed import KeyedDensities

# A background job may have inherited to ignore interrupts; those of tests would then be lost.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Modules and tests for packages that not everyone has.
OPTIONAL = {
    "densvec/integrations/arrow.py": "pyarrow",
    "densvec/distributed/exchange.py": "torch",
    "densvec/distributed/loop.py": "torch",
    "densvec/distributed/rows.py": "torch",
    "densvec/integrations/mteb.py": "mteb",
    "densvec/integrations/onnx.py": "onnxruntime",
    "densvec/integrations/sentence_transformers.py": "tokenizers",
    "densvec/search/engines.py": "faiss",
    "densvec/sklearn.py": "sklearn",
    "densvec/spacy.py": "spacy",
    "densvec/serve": "fastapi",
    "tests/serve": "fastapi",
    "tests/distributed": "torch",
    "tests/files/fuzz_headers.py": "atheris",
    # Tests with torch as their oracle.
    "tests/native/test_exponents.py": "torch",
    "tests/test_divergences.py": "torch",
    "tests/test_encoder.py": "torch",
    "tests/test_gaussian.py": "torch",
    "tests/test_skipgram.py": "torch",
    "tests/test_word2gauss.py": "torch",
    "tests/training": "torch",
    # Tests with gensim as their oracle.
    "tests/cli/test_importing.py": "gensim",
    "tests/files/test_fasttext.py": "gensim",
    "tests/files/test_gensim.py": "gensim",
    "tests/files/test_word2vec.py": "gensim",
    "tests/integrations/test_exchange.py": "gensim",
    "tests/keyed/test_differential.py": "gensim",
    "tests/keyed/test_gensim_suite.py": "gensim",
    "tests/model/test_front.py": "gensim",
    "tests/model/test_small_text.py": "gensim",
    "tests/model/test_vocabulary.py": "gensim",
    "tests/test_corpora.py": "gensim",
    "tests/test_gensim_tutorials.py": "gensim",
    "tests/test_phrases.py": "gensim",
    "tests/text/test_counting.py": "gensim",
    "tests/text/test_thinning.py": "gensim",
    "tests/text/test_vocabulary.py": "gensim",
}
collect_ignore = [path for path, package in OPTIONAL.items() if find_spec(package) is None]

settings.register_profile("densvec", deadline=None)  # how long an example takes depends on the machine
settings.load_profile("densvec")


NEEDS = {
    "torch": "torch",
    "gpu_training": "torch",
    "from_gensim": "gensim",
    "docs/gensim.md": "gensim",
    "docs/howto/arrow.md": "duckdb",
    "docs/howto/gpu.md": "torch",
    "docs/howto/onnx.md": "onnxruntime",
    "docs/howto/search_faiss.md": "faiss",
    "docs/howto/search_databases.md": "duckdb",
    "docs/howto/search_usearch.md": "usearch",
    "docs/howto/sentence_transformers.md": "tokenizers",
    "docs/howto/serve.md": "fastapi",
    "docs/howto/sklearn.md": "sklearn",
}
"""Parameters of tests, a backend, an example or a page, and the package that each needs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the cases that need a package which is not installed."""
    missing = {name: package for name, package in NEEDS.items() if find_spec(package) is None}
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        given = list(parameters.values())
        given += [setting for value in given if isinstance(value, dict) for setting in value.values()]
        for value in given:
            if isinstance(value, str) and value in missing:
                item.add_marker(pytest.mark.skip(reason=f"{missing[value]} is not installed"))


def example_densities() -> KeyedDensities:
    """Return a wide animal, a dog and a cat beside it, and a car far away, in two dimensions."""
    encoder = Encoder(
        embeddings=np.array([[1, 1], [2, 0], [0, 2], [-2, -2]], dtype=np.float32),
        context_layer=np.eye(2, dtype=np.float32),
        centre_layer=np.eye(2, dtype=np.float32),
        mean_head=np.eye(2, dtype=np.float32) / 2,
        mean_bias=np.zeros(2, dtype=np.float32),
        variance_head=np.full((2, 1), -0.1, dtype=np.float32),
        variance_bias=np.zeros(1, dtype=np.float32),
    )
    wv = KeyedDensities(2, covariance="spherical")
    wv.add_vectors(
        ["animal", "dog", "cat", "car"],
        [[1, 1], [2, 1], [1, 2], [-3, 0]],
        extras={"count": np.array([400, 300, 200, 100])},
        log_variances=np.log([[4], [1], [1], [1]]),
    )
    wv.encoder = encoder
    return wv


@pytest.fixture(autouse=True)
def _example(doctest_namespace: dict[str, Any]) -> None:
    """Give every doctest its own `wv`."""
    doctest_namespace["np"] = np
    doctest_namespace["wv"] = example_densities()
