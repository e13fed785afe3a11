"""``densvec export``."""

from pathlib import Path

import numpy as np
import pytest

from densvec import KeyedDensities
from densvec.cli import main
from densvec.cli.words import parse_marked
from tests.cli.cases import SENTENCE, answer


class TestExport:
    def test_word2vec(self, model, tmp_path, capsys):
        wv = KeyedDensities.load(model)
        means, variances = str(tmp_path / "means"), str(tmp_path / "variances")
        for name, binary in [("word2vec", False), ("word2vec-binary", True)]:
            [found] = answer(capsys, "export", model, "--format", name, "-o", means, "--variances", variances)
            assert found["written"] == [means, variances]
            back = KeyedDensities.load_word2vec_format(means, binary=binary, variances=variances)
            np.testing.assert_array_equal(back[wv.index_to_key], wv.vectors)
            np.testing.assert_allclose(back.get_variance(wv.index_to_key), wv.variances, rtol=1e-5)

    def test_gensim(self, model, tmp_path, capsys):
        gensim = pytest.importorskip("gensim.models")
        assert main(["export", model, "--format", "gensim", "-o", str(tmp_path / "kv")]) == 0
        wv = KeyedDensities.load(model)
        np.testing.assert_array_equal(gensim.KeyedVectors.load(str(tmp_path / "kv"))["kiwi"], wv["kiwi"])

    def test_others(self, model, tmp_path, capsys):
        wv = KeyedDensities.load(model)
        place = {name: str(tmp_path / name) for name in ("tsv", "bsg", "densvec")}
        for name, path in place.items():
            assert main(["export", model, "--format", name, "-o", path]) == 0
        assert len(Path(place["tsv"], "vectors.tsv").read_text().splitlines()) == len(wv)
        back = KeyedDensities.load_bsg_format(f"{place['bsg']}/mu.vectors", f"{place['bsg']}/sigma.vectors")
        np.testing.assert_array_equal(back["kiwi"], wv["kiwi"])
        tokens = parse_marked(SENTENCE).tokens
        assert KeyedDensities.load(place["densvec"]).infer(tokens, position=2) == wv.infer(tokens, position=2)

    def test_needs_a_place(self, model, capsys):
        assert main(["export", model, "--format", "tsv"]) == 2
        assert main(["export", model, "--format", "tsv", "-o", "x", "--variances", "y"]) == 2
