"""What ``import densvec`` loads: nothing heavy."""

import shutil
import subprocess
import sys
from pathlib import Path

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
HEAVY += ("tokenizers", "transformers", "sentence_transformers", "mteb", "datasets")


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


def test_a_checkout_that_was_not_compiled_says_so(tmp_path):
    import densvec

    # -S: an editable installation, if there is one, would lend its own modules.
    (tmp_path / "densvec").mkdir()
    for name in ("__init__.py", "__main__.py", "_version.py"):
        shutil.copy(Path(densvec.__file__).with_name(name), tmp_path / "densvec")
    for run in (["-c", "import densvec"], ["-m", "densvec", "--help"]):
        done = subprocess.run(
            [sys.executable, "-S", *run], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert "densvec has not been compiled here" in done.stderr
        assert "No module named" not in done.stderr
