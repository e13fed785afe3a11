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


def modules_after(code):
    """Return all modules that a new interpreter has loaded after some code and not before."""
    script = f"import sys; before = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def test_import_loads_the_standard_library_only():
    """Not even NumPy, so that ``import densvec`` and ``densvec --help`` cost what Python itself costs."""
    packages = {name.partition(".")[0] for name in modules_after("import densvec")}
    assert packages <= {"densvec", *sys.stdlib_module_names}


def test_all_public_names_load_nothing_heavy():
    names = "import densvec, densvec.search; [getattr(densvec, name) for name in densvec.__all__]"
    assert not modules_after(names).intersection(HEAVY)


def test_every_public_name_is_there():
    import densvec

    for name in densvec.__all__:
        assert getattr(densvec, name) is not None


def test_the_other_name_of_an_error_still_catches_it():
    import densvec

    assert densvec.DivergenceError is densvec.UnstableTrainingError
