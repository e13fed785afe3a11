"""``densvec info``."""

from pathlib import Path

import numpy as np
import pytest

from densvec import KeyedDensities
from densvec.cli import main
from densvec.files import persistence
from tests.cli.cases import answer


class TestInfo:
    def test_reads_the_header_only(self, model, tmp_path, capsys):
        damaged = tmp_path / "damaged.dv"
        data = bytearray(Path(model).read_bytes())
        data[len(data) // 2] ^= 1
        damaged.write_bytes(data)
        [found] = answer(capsys, "info", damaged)
        assert found["class"] == "BayesianSkipGram"
        assert found["parameters"]["vector_size"] == 12
        assert found["tensors"]["means"]["shape"] == [len(KeyedDensities.load(model)), 12]
        assert main(["info", str(damaged), "--verify"]) == 1
        assert main(["info", model, "--verify"]) == 0

    def test_for_people(self, model, capsys):
        assert main(["info", model]) == 0
        lines = [line.split() for line in capsys.readouterr().out.splitlines()]
        assert ["dimensions", "12"] in lines
        assert ["covariance", "spherical"] in lines

    @pytest.mark.parametrize(
        "crafted",
        [
            {"run": "epoch"},
            {"run": {"epoch": "1", "epochs": 2}},
            {"loss_history": "long"},
            {"loss_history": ["long"]},
            {"loss_history": [{"epoch": 1, "loss": "high"}]},
            {"counters": ["corpus_total_words"]},
            {"counters": {"corpus_total_words": "many"}},
            {"corpus_file": {"path": "x"}},
            {"parameters": "many"},
            {"class": ["SkipGram"]},
        ],
    )
    def test_crafted_headers_are_faults_of_the_file(self, crafted, model, tmp_path, capsys):
        path = tmp_path / "crafted.dv"
        tensors, header = persistence.read(model)
        persistence.write(path, tensors, {**header, **crafted})
        assert main(["info", str(path)]) == 1
        assert "crafted.dv: the header's" in capsys.readouterr().err

    def test_a_header_says_nothing_about_its_file(self, model, tmp_path, capsys):
        tensors, header = persistence.read(model)
        lies = {"file": "other.dv", "bytes": "many", "tensors": "none", "verified": True}
        for name in ("lies.dv", "lies.dv.gz"):
            persistence.write(tmp_path / name, tensors, {**header, **lies})
            assert main(["info", str(tmp_path / name)]) == 0
            shown = capsys.readouterr().out
            assert str(tmp_path / name) in shown
            assert "every byte" not in shown

    def test_odd_tensors_are_described_all_the_same(self, model, tmp_path, capsys):
        _, header = persistence.read(model, only=())
        persistence.write(tmp_path / "odd.dv", {"means": np.ones(3), "log_variances": np.array(1.0)}, header)
        assert main(["info", str(tmp_path / "odd.dv")]) == 0
        assert main(["info", str(tmp_path / "odd.dv"), "--verify"]) == 1
        assert "odd.dv: " in capsys.readouterr().err

    def test_densities_alone(self, model, tmp_path, capsys):
        KeyedDensities.load(model).save(tmp_path / "words.dv")
        assert main(["info", str(tmp_path / "words.dv")]) == 0
        assert "KeyedDensities" in capsys.readouterr().out
