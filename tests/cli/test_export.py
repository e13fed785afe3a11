"""``densvec export``."""

from pathlib import Path

import numpy as np
import pytest

from densvec import KeyedDensities
from densvec.cli import main
from tests.cli.cases import answer


class TestExport:
    def test_word2vec(self, model, tmp_path, capsys):
        wv = KeyedDensities.load(model)
        means, variances = str(tmp_path / "means"), str(tmp_path / "variances")
        for name, binary in [("word2vec", False), ("word2vec-binary", True)]:
            places = ("-o", means, "--variances", variances, "--overwrite")
            [found] = answer(capsys, "export", model, "--format", name, *places)
            assert found["written"] == [means, variances]
            back = KeyedDensities.load_word2vec_format(means, binary=binary, variances=variances)
            np.testing.assert_array_equal(back[wv.index_to_key], wv.vectors)
            np.testing.assert_allclose(back.get_variance(wv.index_to_key), wv.variances, rtol=1e-5)

    def test_gensim(self, model, tmp_path, capsys):
        gensim = pytest.importorskip("gensim.models")
        assert main(["export", model, "--format", "gensim", "-o", str(tmp_path / "kv")]) == 0
        wv = KeyedDensities.load(model)
        np.testing.assert_array_equal(gensim.KeyedVectors.load(str(tmp_path / "kv"))["kiwi"], wv["kiwi"])

    @pytest.mark.parametrize("name", ["word2vec", "word2vec-binary", "gensim"])
    @pytest.mark.parametrize("overwrite", [(), ("--overwrite",)])
    def test_never_replaces_what_it_reads(self, name, overwrite, model, tmp_path, capsys):
        own, link = tmp_path / "own.dv", tmp_path / "link.dv"
        own.write_bytes(Path(model).read_bytes())
        link.symlink_to(own)
        for place in (own, link, f"{tmp_path}/./own.dv", f"file://{own}"):
            assert main(["export", str(own), "--format", name, "-o", str(place), *overwrite]) == 2
            assert "choose another name" in capsys.readouterr().err
        if name == "word2vec":
            places = ["-o", str(tmp_path / "means"), "--variances", str(own)]
            assert main(["export", str(own), "--format", name, *places, *overwrite]) == 2
        assert own.read_bytes() == Path(model).read_bytes()

    def test_never_writes_two_files_to_one_place(self, model, tmp_path, capsys):
        place = str(tmp_path / "x")
        options = ["--format", "word2vec", "-o", place, "--variances", f"{tmp_path}/./x"]
        assert main(["export", model, *options]) == 2
        assert "is named twice" in capsys.readouterr().err
        assert not list(tmp_path.iterdir())

    def test_replaces_files_only_when_asked_to(self, model, tmp_path, capsys):
        place = str(tmp_path / "there")
        Path(place).write_text("mine")
        assert main(["export", model, "--format", "word2vec", "-o", place]) == 2
        assert "--overwrite replaces it" in capsys.readouterr().err
        assert Path(place).read_text() == "mine"
        assert main(["export", model, "--format", "word2vec", "-o", place, "--overwrite"]) == 0
        assert Path(place).read_bytes() != b"mine"

    def test_needs_a_place(self, model, capsys):
        assert main(["export", model, "--format", "gensim"]) == 2
        assert main(["export", model, "--format", "gensim", "-o", "x", "--variances", "y"]) == 2
