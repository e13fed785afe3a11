"""``densvec similar``."""

import json

import pytest

from densvec import KeyedDensities
from tests.cli.cases import answer, densvec_process


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
