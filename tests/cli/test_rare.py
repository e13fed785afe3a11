"""Words that occur too seldom to say much: left out, or said to be uncertain."""

import pytest

from densvec import BayesianSkipGram
from densvec.cli import main
from densvec.datasets import toy_language
from tests.cli.cases import answer


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of a text in which some words occur five times."""
    often = [[f"often{i}", "hoots"] for i in range(1000) for _ in range(25)]
    rare = [["the", f"rare{i}", "owl", "hoots", "the", "barn"] for i in range(200) for _ in range(5)]
    sentences = [*toy_language(3000), *often, *rare]
    path = str(tmp_path_factory.mktemp("rare") / "model.dv")
    BayesianSkipGram(sentences, vector_size=8, epochs=2, min_count=1, workers=1, sample=0.01).save(path)
    return path


@pytest.mark.parametrize("name", ["similar", "hypernyms"])
def test_they_are_left_out_unless_asked_for(model, name, capsys):
    [found] = answer(capsys, name, model, "owl", "-n", 5000)
    assert min(each["count"] for each in found[name]) >= 20
    [found] = answer(capsys, name, model, "owl", "-n", 5000, "--rare")
    assert min(each["count"] for each in found[name]) < 20
    assert main([name, model, "owl"]) == 0
    shown = capsys.readouterr()
    assert "fewer than 20 times are left out: --rare" in shown.err
    best = found[name][0]
    assert f"{best['count']:,}" in shown.out


def test_a_word_seen_too_seldom_is_said_to_be_uncertain(model, capsys):
    assert main(["similar", model, "rare7"]) == 0
    assert "rare7 occurs 5 times only: what is said of it is uncertain" in capsys.readouterr().err


def test_of_a_small_text_all_words_are_listed(tmp_path, capsys):
    path = str(tmp_path / "model.dv")
    BayesianSkipGram(toy_language(100), vector_size=4, epochs=1, min_count=1, workers=1, sample=0.01).save(
        path
    )
    [found] = answer(capsys, "similar", path, "the", "-n", 1000)
    assert {each["count"] for each in found["similar"]} >= {1, 2, 3}
