"""``densvec evaluate``."""

import json

from densvec import KeyedDensities
from densvec.cli import main
from densvec.datasets import toy_language
from tests.cli.cases import answer


class TestEvaluate:
    def test_equals_the_library(self, model, tmp_path, capsys):
        from densvec.evaluation import evaluate_all

        (tmp_path / "word-sim").mkdir()
        (tmp_path / "word-sim" / "EN-MC-30.txt").write_text("owl kakapo 9\nowl apple 2\nkakapo apple 1\n")
        [found] = answer(capsys, "evaluate", model, "--data", tmp_path, "--resamples", 0)
        expected = evaluate_all(KeyedDensities.load(model), tmp_path, resamples=0)
        assert found == json.loads(expected.to_json())
        assert main(["evaluate", model, "--data", str(tmp_path), "--resamples", "10", "--markdown"]) == 0
        assert "| SUM" in capsys.readouterr().out

    def test_text_alone(self, model, tmp_path, capsys):
        from densvec.evaluation import evaluate_all

        toy_language(300).write(tmp_path / "toy.txt")
        words = ["evaluate", model, "--corpus", tmp_path / "toy.txt", "--sample", 0.01, "--resamples", 0]
        [found] = answer(capsys, *words)
        wv = KeyedDensities.load(model)
        expected = evaluate_all(wv, corpus=tmp_path / "toy.txt", sample=0.01, resamples=0)
        assert found == json.loads(expected.to_json())
        assert main(["evaluate", model]) == 2
        assert "--corpus" in capsys.readouterr().err

    def test_no_data(self, model, tmp_path, capsys):
        assert main(["evaluate", model, "--data", str(tmp_path / "nowhere")]) == 1
        assert "no such directory of benchmarks" in capsys.readouterr().err
