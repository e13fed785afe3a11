"""Batches of questions: one that cannot be answered does not stop the others."""

import io
import json
import sys

import pytest

from densvec.cli import main

BATCHES = {
    "similar": (["kiwi", "xyzzy", "owl"], 1),
    "hypernyms": (["kiwi", "xyzzy", "owl"], 1),
    "entails": (["kiwi owl", "kiwi xyzzy", "owl", "owl kiwi"], 2),
    "infer": (["a ripe [[kiwi]]", "a ripe [[xyzzy]]", "no mark", "[[owl]]"], 2),
    "substitutes": (["a ripe [[kiwi]]", "a ripe [[xyzzy]]", "[[owl]]"], 1),
}


def run(monkeypatch, capsys, lines, *arguments):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n".join(lines).encode())))
    code = main([*arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


@pytest.mark.parametrize("command", BATCHES)
class TestBatches:
    def test_json(self, command, model, monkeypatch, capsys):
        lines, unknown = BATCHES[command]
        code, out, err = run(monkeypatch, capsys, lines, command, model, "-", "--json")
        documents = [json.loads(line) for line in out.splitlines()]
        assert code == 0
        assert len(documents) == len(lines)
        assert sum("error" in document for document in documents) == unknown
        assert "error" not in documents[0]
        assert "error" in documents[1]
        assert f"{unknown} of {len(lines)} could not be answered" in err

    def test_for_people(self, command, model, monkeypatch, capsys):
        lines, unknown = BATCHES[command]
        code, out, _ = run(monkeypatch, capsys, lines, command, model, "-")
        assert code == 0
        assert out.count("unknown: ") == unknown

    def test_when_nothing_is_known(self, command, model, monkeypatch, capsys):
        lines, _ = BATCHES[command]
        code, _, err = run(monkeypatch, capsys, lines[1:2], command, model, "-")
        assert code == 1
        assert "1 of 1" in err


def test_unknown_candidates_are_left_out(model, capsys):
    question = ["substitutes", model, "a ripe [[kiwi]]", "--candidates"]
    assert main([*question, "owl", "xyzzy"]) == 0
    output = capsys.readouterr()
    assert "unknown candidates left out: xyzzy" in output.err
    assert "owl" in output.out
    assert main([*question, "owl", "xyzzy", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unknown_candidates"] == ["xyzzy"]
    assert main([*question, "xyzzy"]) == 1


def test_infer_gives_the_density(model, capsys):
    assert main(["infer", model, "a ripe [[kiwi]]", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["mean"]) == 12
    assert len(document["variance"]) == 1
