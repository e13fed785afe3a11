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


def test_senses_go_on(model, tmp_path, monkeypatch, capsys):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a ripe kiwi and an owl\n" * 20, encoding="utf-8")
    lines = ["kiwi", "xyzzy", "owl"]
    code, out, err = run(monkeypatch, capsys, lines, "senses", model, str(corpus), "-", "--json")
    documents = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert ["error" in document for document in documents] == [False, True, False]
    assert "1 of 3 could not be answered" in err
    code, out, _ = run(monkeypatch, capsys, ["xyzzy"], "senses", model, str(corpus), "-")
    assert code == 1
    assert "unknown: " in out


def test_where_goes_on(model, tmp_path, monkeypatch, capsys):
    corpus, index = tmp_path / "corpus.txt", str(tmp_path / "index")
    corpus.write_text("a ripe kiwi and an owl\n" * 20, encoding="utf-8")
    assert main(["index", model, str(corpus), "-o", index, "--words", "kiwi", "owl", "--quiet"]) == 0
    capsys.readouterr()
    lines = ["a ripe [[kiwi]]", "a ripe [[xyzzy]]", "no mark", "the [[owl]]"]
    code, out, err = run(monkeypatch, capsys, lines, "where", model, index, "-", "--json")
    documents = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert ["error" in document for document in documents] == [False, True, True, False]
    assert "2 of 4 could not be answered" in err
    assert run(monkeypatch, capsys, lines[1:2], "where", model, index, "-")[0] == 1
    plan = tmp_path / "index" / "occurrences.json"  # as an interruption leaves it
    plan.write_text(json.dumps({**json.loads(plan.read_text()), "complete": False}))
    code, out, err = run(monkeypatch, capsys, lines[:1], "where", model, index, "-")
    assert (code, bool(out)) == (0, True)
    assert f"{index} is not complete" in err


def test_a_taxonomy_leaves_out_unknown_words(model, monkeypatch, capsys):
    code, out, err = run(monkeypatch, capsys, ["animal", "xyzzy", "owl"], "taxonomy", model, "-")
    assert code == 0
    assert "xyzzy\n  unknown: " in out
    assert "unknown words left out: xyzzy" in err
    code, out, _ = run(monkeypatch, capsys, ["animal", "xyzzy", "owl"], "taxonomy", model, "-", "--json")
    assert code == 0
    assert [each["word"] for each in json.loads(out)["unknown"]] == ["xyzzy"]
    assert run(monkeypatch, capsys, ["xyzzy"], "taxonomy", model, "-")[0] == 1
