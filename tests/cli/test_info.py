"""``densvec info``."""

from pathlib import Path

from densvec import KeyedDensities
from densvec.cli import main
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

    def test_densities_alone(self, model, tmp_path, capsys):
        KeyedDensities.load(model).save(tmp_path / "words.dv")
        assert main(["info", str(tmp_path / "words.dv")]) == 0
        assert "KeyedDensities" in capsys.readouterr().out
