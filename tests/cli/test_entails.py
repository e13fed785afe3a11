"""``densvec entails``."""

import pytest

from densvec import KeyedDensities
from densvec.cli import main
from tests.cli.cases import answer


def test_entails(model, capsys):
    wv = KeyedDensities.load(model)
    [found] = answer(capsys, "entails", model, "kakapo", "bird")
    assert found["kl"] == pytest.approx(wv.kl_divergence("kakapo", "bird"))
    assert found["direction"] == pytest.approx(wv.direction("kakapo", "bird"))
    assert found["entails"] == (wv.direction("kakapo", "bird") > 0)
    assert main(["entails", model, "kakapo", "bird"]) == 0
    winner = "kakapo entails bird" if found["entails"] else "bird entails kakapo"
    assert capsys.readouterr().out.startswith(f"kakapo and bird are related: {winner}")


def test_words_that_have_nothing_to_do_with_each_other_entail_nothing(model, capsys):
    wv = KeyedDensities.load(model)
    far = wv.index_to_key[int(wv.distances("kakapo").argmax())]
    [found] = answer(capsys, "entails", model, "kakapo", far)
    assert not found["related"]
    assert not found["entails"]
    assert main(["entails", model, "kakapo", far]) == 0
    assert capsys.readouterr().out.startswith(f"kakapo and {far} are not related: ")


def test_hypernyms_and_hyponyms(model, capsys):
    wv = KeyedDensities.load(model)
    [found] = answer(capsys, "hypernyms", model, "kakapo", "-n", "3")
    assert [each["word"] for each in found["hypernyms"]] == [word for word, _ in wv.hypernyms("kakapo", 3)]
    [found] = answer(capsys, "hypernyms", model, "bird", "--hyponyms", "-n", "3")
    assert [each["word"] for each in found["hyponyms"]] == [word for word, _ in wv.hyponyms("bird", 3)]
    assert main(["hypernyms", model, "kakapo"]) == 0
    assert "(unrelated words)" in capsys.readouterr().out


def test_taxonomy(model, capsys):
    words = ["bird", "kakapo", "owl"]
    assert main(["taxonomy", model, *words]) == 0
    assert capsys.readouterr().out.rstrip("\n") == str(KeyedDensities.load(model).taxonomy(words))
    [found] = answer(capsys, "taxonomy", model, *words)
    assert found == KeyedDensities.load(model).taxonomy(words).to_dict()
