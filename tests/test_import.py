"""What ``import densvec`` loads: nothing heavy."""

import subprocess
import sys

HEAVY = (
    "torch",
    "matplotlib",
    "scipy.stats",
    "pandas",
    "gensim",
    "ot",
    "sklearn",
    "spacy",
    "pyarrow",
    "duckdb",
)
HEAVY += ("faiss", "usearch", "qdrant_client", "psycopg", "onnx", "onnxruntime", "huggingface_hub", "annoy")


def test_import_loads_nothing_heavy():
    # Some names are imported when they are first asked for.
    names = "import densvec.search; [getattr(densvec, name) for name in densvec.__all__]"
    code = f"import sys, densvec; {names}; print([name for name in {HEAVY!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_every_public_name_is_there():
    import densvec

    for name in densvec.__all__:
        assert getattr(densvec, name) is not None


def test_the_other_name_of_an_error_still_catches_it():
    import densvec

    assert densvec.DivergenceError is densvec.UnstableTrainingError
