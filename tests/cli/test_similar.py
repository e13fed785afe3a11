"""``densvec similar``."""

import json
import os

import pytest

from densvec import KeyedDensities
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
