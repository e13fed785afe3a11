"""Answers written to a file: comma- or tab-separated, Markdown, or JSON, by its name."""

import csv
import io
import json
import sys

import pytest

from densvec.cli import main
from tests.cli.cases import SENTENCE, answer

ASKED = {
    "similar": (["kiwi", "-n", "3"], "words minus metric similar score times", 3),
    "infer": ([SENTENCE, "-n", "2"], "sentence list rank answer score", 6),
    "substitutes": ([SENTENCE, "-n", "3"], "sentence substitute score times", 3),
    "hypernyms": (["owl", "bird", "-n", "2"], "word hypernym score times", 4),
    "taxonomy": (["owl", "bird"], "word hypernym score", 2),
    "texts": (["an owl", "a bird", "a fruit", "-n", "1"], "score similar", 1),
    "learn": (["wug", "the wug hoots", "-n", "2"], "nearest score times", 2),
}


@pytest.mark.parametrize("command", ASKED)
def test_rows_are_written(command, model, tmp_path, capsys):
    asked, names, count = ASKED[command]
    path = tmp_path / "answers.csv"
    [found] = answer(capsys, command, model, *asked, "-o", path)
    assert found == {"written": str(path), "rows": count}
    rows = list(csv.reader(path.open(encoding="utf-8")))
    assert rows[0] == names.split()
    assert len(rows) == 1 + count


def test_the_other_commands(model, corpus, tmp_path, capsys):
    index, path = str(tmp_path / "index"), tmp_path / "answers.tsv"
    assert main(["index", model, str(corpus), "-o", index, "--words", "kiwi", "-q"]) == 0
    pairs = tmp_path / "eval" / "word-sim" / "EN-MC-30.txt"
    pairs.parent.mkdir(parents=True)
    pairs.write_text("owl kakapo 9\nowl apple 2\nkakapo apple 1\n")
    for asked, names in [
        (["entails", model, "kakapo", "bird"], "a b related"),
        (["where", model, index, SENTENCE, "-n", "4"], "sentence score occurrence"),
        (
            ["senses", model, str(corpus), "kiwi", "--max-occurrences", "50"],
            "word sense share occurrences nearest example",
        ),
        (
            ["compare", model, model, "--min-count", "5", "-n", "2"],
            "word count_in_first count_in_second shift",
        ),
        (
            ["evaluate", model, str(tmp_path / "eval"), "--resamples", "0"],
            "task benchmark measure method value",
        ),
    ]:
        assert main([*asked, "-o", str(path)]) == 0
        assert path.read_text(encoding="utf-8").startswith(names.replace(" ", "\t"))
    assert len(path.read_text().splitlines()) > 2


def test_json_and_markdown(model, tmp_path, capsys):
    path = tmp_path / "answers.json"
    expected = answer(capsys, "similar", model, "kiwi", "-n", "2")
    assert main(["similar", model, "kiwi", "-n", "2", "-o", str(path)]) == 0
    assert json.loads(path.read_text()) == expected
    path = tmp_path / "answers.md"
    assert main(["entails", model, "owl", "bird", "-o", str(path)]) == 0
    assert path.read_text().splitlines()[1].startswith("| --- | --- |")


def test_what_cannot_be_answered_is_said(model, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"kiwi\nxyzzy\n")))
    path = tmp_path / "answers.csv"
    assert main(["similar", model, "-", "-n", "2", "-o", str(path)]) == 0
    assert "xyzzy: 'xyzzy' is not among" in capsys.readouterr().err
    assert len(path.read_text().splitlines()) == 3


def test_work_is_not_begun_for_a_file_that_cannot_be_written(tmp_path, capsys):
    assert main(["evaluate", "no.dv", str(tmp_path), "-o", str(tmp_path / "figures.txt")]) == 2
    assert "must end in .csv, .tsv, .md, .tex or .json" in capsys.readouterr().err


def test_other_endings_are_wrong_usage(model, tmp_path, capsys):
    assert main(["similar", model, "kiwi", "-o", str(tmp_path / "answers.xls")]) == 2
    assert "must end in .csv, .tsv, .md, .tex or .json" in capsys.readouterr().err
    assert main(["similar", model, "kiwi", "-o", str(tmp_path / "no" / "answers.csv")]) == 1
    assert "there is no such directory" in capsys.readouterr().err
