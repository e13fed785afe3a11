"""``densvec plot``."""

import pytest

from densvec.cli import main
from tests.cli.cases import SENTENCE, answer


class TestPlot:
    @pytest.mark.parametrize(
        "items",
        [["owl", "kakapo", "bird"], [SENTENCE, "a ripe [[kiwi]] tastes sweet"], []],
    )
    def test_draws(self, items, model, tmp_path, capsys):
        pytest.importorskip("matplotlib")
        pytest.importorskip("densvec.plot")
        [found] = answer(capsys, "plot", model, *items, "-o", tmp_path / "picture.png", "--dpi", 50)
        assert found["written"] == [str(tmp_path / "picture.png")]
        assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")

    def test_one_word_at_a_time(self, model, tmp_path, capsys):
        place = ["-o", str(tmp_path / "picture.png")]
        assert main(["plot", model, SENTENCE, "an [[owl]] hunts", *place]) == 2
        assert main(["plot", model, "kiwy", *place]) == 1
        assert "did you mean 'kiwi'" in capsys.readouterr().err
