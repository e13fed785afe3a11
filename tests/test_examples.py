"""Every example runs, on little data, as a user runs it: in a process of its own."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import densvec
from densvec.datasets import toy_language

ROOT = Path(__file__).parents[1]
SMALL = ["--sentences", "1500"]

# What each example prints, whatever was learnt from so little.
EXAMPLES = {
    "quickstart": (SMALL, ["BayesianSkipGram<vocab=", "nearest to dog", "encoder"]),
    "polysemy": (SMALL, ["kiwi", "bird / fruit", "of occurrences"]),
    "lexical_substitution": (SMALL, ["kiwi", "jaguar", "mint"]),
    "hypernym_direction": (SMALL, ["kakapo", "wv.generality", "frequency"]),
    "from_gensim": (SMALL, ["there are only means here", "gensim.models.keyedvectors"]),
    "online_update": (["--sentences", "3000"], ["False", "True", "nearest to truck", "epoch 30"]),
    "gpu_training": (["--sentences", "500", "--epochs", "1"], ["training on", "words/s"]),
    "serving": ([*SMALL, "--processes", "2"], ["2,000 requests answered by 2 processes"]),
}


def run(name, arguments, directory):
    """Run an example in a directory of its own and return what it prints."""
    # From elsewhere, since an example must not depend on the checkout being the working directory.
    path = os.pathsep.join([str(directory), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [
        sys.executable,
        "-W",
        "error::DeprecationWarning:densvec",
        str(ROOT / "examples" / f"{name}.py"),
    ]
    done = subprocess.run(
        [*command, *arguments], cwd=directory, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def test_every_example_is_tested():
    found = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert found == {
        *EXAMPLES,
        "bias",
        "demo",
        "english_text",
        "paper_tables",
        "train_english",
        "un_speeches",
    }  # paper_tables has a test file of its own


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, tmp_path):
    arguments, expected = EXAMPLES[name]
    printed = run(name, arguments, tmp_path)
    for text in expected:
        assert text in printed


def test_the_demo_runs_without_torch_and_writes_its_picture(tmp_path):
    (tmp_path / "torch.py").write_text("raise ImportError('the demo imports torch')\n")
    printed = run("demo", SMALL, tmp_path)
    for text in ("violin", "they walked along the bank", "bank.png", "(no context)", "kakapo", "kiwi.png"):
        assert text in printed
    assert (tmp_path / "demo" / "kiwi.png").read_bytes().startswith(b"\x89PNG")


def test_the_demo_on_ones_own_text(tmp_path):
    toy_language(1500).write(tmp_path / "own.txt")
    printed = run("demo", ["own.txt", "--out", "pictures"], tmp_path)
    assert "Training on own.txt" in printed
    assert "wide:" in printed
    assert printed.count("(no context)") == 3
    assert len(list((tmp_path / "pictures").glob("*.png"))) == 1


def test_a_model_for_shipping_is_made(tmp_path):
    toy_language(1500).write(tmp_path / "own.txt")
    places = ["--model", "full.dv", "-o", "toy.dv", "--large", "toy-md.dv", "--card", "toy.md"]
    words = ["--words", "60", "--large-words", "90", "--title", "Toy language"]
    options = ["--epochs", "1", "--vector-size", "8", "--sample", "0.01", "--workers", "1"]
    printed = run("train_english", ["own.txt", *places, *words, *options], tmp_path)
    assert "60 words" in printed
    small, large = (densvec.load(tmp_path / name) for name in ("toy.dv", "toy-md.dv"))
    assert len(small) == 60
    assert len(large) == 90
    assert small.card == (tmp_path / "toy.md").read_text(encoding="utf-8")
    assert small.card.startswith("# Toy language")
    assert "--vector-size 8" in small.card
    assert hashlib.sha256((tmp_path / "toy-md.dv").read_bytes()).hexdigest() in small.card


def test_the_text_of_a_model_is_cleaned_and_mixed(tmp_path):
    names = [
        "Ahr",
        "Ems",
        "Inn",
        "Isar",
        "Lech",
        "Main",
        "Oder",
        "Ruhr",
        "Saar",
        "Spree",
        "Werra",
        "Weser",
        "Alz",
    ]
    stubs = [
        f"The {name} is a river that flows through the north of Germany and into the sea." for name in names
    ]
    numerals = ["".join(chr(ord("a") + int(digit)) for digit in str(i)) for i in range(400)]
    prose = [f"He said that {word} was much of what they had seen in Hong Kong." for word in numerals]
    (tmp_path / "a.txt").write_text(
        "\n".join(
            [
                *stubs,
                *prose,
                prose[0],
                "History.",
                "| rowspan=2 | of the table that it is in",
                "Smith, John; Brown, Robert; Miller, Jane; Cooper, Alice; Mason, Philip; Carter, Anne",
            ]
        )
    )
    (tmp_path / "b.txt").write_text(
        "\n".join(f"It was the {i}th of all those old books. " + "And so on it went. " * 9 for i in range(9))
    )
    run("english_text", ["a.txt", "b.txt:1.0", "-o", "out.txt", "--phrase-count", "80"], tmp_path)
    lines = (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()
    assert sum("is a river" in line for line in lines) == 10
    assert sum(line.startswith("He said that a was") for line in lines) == 1
    assert not any("Smith" in line or "rowspan" in line or line == "History." for line in lines)
    assert sum("Hong_Kong" in line for line in lines) > 100
    assert sum("Hong Kong" in line for line in lines) > 100
    assert any("old books" in line for line in lines)
    words = dict(line.split("\t", 1) for line in (tmp_path / "out.txt.words").read_text().splitlines())
    count, capitals = map(int, words["hong"].split("\t"))
    assert count == capitals > 10


def test_biases_are_measured(tmp_path):
    printed = run("bias", ["english"], tmp_path)
    assert "| flowers, insects; pleasant, unpleasant (a check: an effect is no harm) | +" in printed
