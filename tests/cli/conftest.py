"""A corpus and models for the tests of the command line, made once."""

import pytest

from densvec.cli import main
from densvec.datasets import toy_language
from tests.cli.cases import QUICK, densvec_process


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "toy.txt"
    toy_language(1500).write(path)
    return path


@pytest.fixture(scope="session")
def trained(corpus, tmp_path_factory):
    """A model trained by the command line, and what that printed."""
    path = tmp_path_factory.mktemp("model") / "toy.dv"
    done = densvec_process("train", corpus, "-o", path, *QUICK)
    assert done.returncode == 0, done.stderr.decode()
    return path, done


@pytest.fixture
def model(trained):
    return str(trained[0])


@pytest.fixture(scope="session")
def foreign_words(tmp_path_factory):
    """A model of words that need Unicode."""
    directory = tmp_path_factory.mktemp("unicode")
    (directory / "text.txt").write_text("café 日本 naïve ☕ tea\n" * 30, encoding="utf-8")
    path = str(directory / "model.dv")
    options = ["--vector-size", "4", "--min-count", "1", "--sample", "0", "--epochs", "1", "--quiet"]
    assert main(["train", str(directory / "text.txt"), "-o", path, *options]) == 0
    return path
