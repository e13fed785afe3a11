"""``densvec similar``."""

import json
import os

import numpy as np
import pytest

from densvec import KeyedDensities
from densvec.cli import main
from tests.cli.cases import answer, assert_one_sentence, densvec_process


def test_similar(model, capsys):
    wv = KeyedDensities.load(model)
    for metric in ("cosine", "kl"):
        [found] = answer(capsys, "similar", model, "kiwi", "--metric", metric, "-n", 4)
        assert [(item["word"], item["score"]) for item in found["similar"]] == [
            (word, pytest.approx(score)) for word, score in wv.most_similar("kiwi", topn=4, metric=metric)
        ]
    [found] = answer(capsys, "similar", model, "owl", "apple", "--minus", "bird")
    expected = wv.most_similar(["owl", "apple"], ["bird"])
    assert [item["word"] for item in found["similar"]] == [word for word, _ in expected]


def test_similar_of_many(model):
    done = densvec_process("similar", model, "-", "--json", input=b"kiwi\nowl\n\n")
    assert [json.loads(line)["words"] for line in done.stdout.splitlines()] == [["kiwi"], ["owl"]]


@pytest.mark.parametrize("arguments", [("similar", "MODEL", "-"), ("train", "-", "-o", "new.dv")])
def test_standard_input_may_be_closed(model, tmp_path, arguments):
    done = densvec_process(
        *(model if argument == "MODEL" else argument for argument in arguments),
        cwd=tmp_path,
        preexec_fn=lambda: os.close(0),
    )
    assert "standard input is closed" in assert_one_sentence(done, code=2)


@pytest.mark.parametrize(
    "asked",
    [
        ["similar", "Kiwi", "--minus", "OWL"],
        ["hypernyms", "Kiwi"],
        ["entails", "Kiwi", "bird"],
        ["taxonomy", "Kiwi", "bird", "owl"],
        ["infer", "A ripe [[Kiwi]] digs"],
        ["substitutes", "a ripe [[Kiwi]] digs", "--candidates", "Owl", "bird"],
        ["texts", "a Kiwi", "An Owl", "a bird"],
    ],
)
def test_words_known_in_lower_case_only_are_found_so(asked, model, capsys):
    name, *words = asked
    assert main([name, model, *words]) == 0
    found = capsys.readouterr()
    if name != "texts":
        assert "densvec: the model knows Kiwi as kiwi" in found.err
    lower = [word if word.startswith("-") else word.lower() for word in words]
    assert main([name, model, *lower]) == 0
    plain = capsys.readouterr()
    assert plain.err == ""
    assert plain.out.lower() == found.out.lower()


def test_a_word_that_is_known_as_it_is_written_stays(tmp_path, capsys):
    wv = KeyedDensities.from_arrays(["May", "may", "june"], np.eye(3))
    wv.save(tmp_path / "wv.dv")
    assert main(["similar", str(tmp_path / "wv.dv"), "May"]) == 0
    found = capsys.readouterr()
    assert "may" in found.out
    assert found.err == ""
