"""``densvec evaluate``."""

import csv
import json

import pytest

from densvec import KeyedDensities
from densvec.cli import main
from tests.cli.cases import answer


@pytest.fixture
def data(tmp_path):
    (tmp_path / "word-sim").mkdir()
    (tmp_path / "word-sim" / "EN-MC-30.txt").write_text("owl kakapo 9\nowl apple 2\nkakapo apple 1\n")
    return tmp_path


class TestEvaluate:
    def test_equals_the_library(self, model, data, capsys):
        from densvec.evaluation import Bootstrap, evaluate_all

        [found] = answer(capsys, "evaluate", model, data, "--resamples", 0)
        expected = evaluate_all(KeyedDensities.load(model), data, bootstrap=Bootstrap(0))
        assert found == json.loads(expected.to_json())
        assert main(["evaluate", model, str(data), "--resamples", "10", "--markdown"]) == 0
        assert "| SUM" in capsys.readouterr().out

    def test_other_vectors_stand_beside(self, model, data, capsys):
        wv = KeyedDensities.load(model)
        wv.save_word2vec_format(data / "text.txt")
        wv.save_word2vec_format(data / "words.bin", binary=True)
        beside = ["--beside", data / "text.txt", "--beside", data / "words.bin", "--beside", model]
        [found] = answer(capsys, "evaluate", model, data, *beside, "--resamples", 0)
        figures = [each for each in found["figures"] if each["benchmark"] == "MC-30"]
        assert [each["method"] for each in figures[:3]] == ["cosine", "text: cosine", "words: cosine"]
        assert {each["value"] for each in figures} == {figures[0]["value"]}
        (data / "other.txt").write_text("no vectors at all\n")
        assert main(["evaluate", model, str(data), "--beside", str(data / "other.txt")]) == 1
        assert "other.txt" in capsys.readouterr().err

    def test_a_table_of_one_task(self, model, data, capsys):
        table = data / "figures.csv"
        words = [
            "evaluate",
            model,
            str(data),
            "--task",
            "word similarity",
            "--resamples",
            "20",
            "-o",
            str(table),
        ]
        assert main(words) == 0
        with open(table) as file:
            rows = list(csv.DictReader(file))
        assert {row["task"] for row in rows} == {"word similarity"}
        assert float(rows[0]["low"]) <= float(rows[0]["value"]) <= float(rows[0]["high"])
        assert main(["evaluate", model, str(data), "--task", "speed"]) == 1
        assert "there is no task 'speed'" in capsys.readouterr().err

    def test_no_data(self, model, tmp_path, capsys):
        assert main(["evaluate", model, str(tmp_path / "nowhere")]) == 1
        assert "no such directory of benchmarks" in capsys.readouterr().err
