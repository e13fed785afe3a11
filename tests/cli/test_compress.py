"""``densvec compress``."""

import os

from densvec import KeyedDensities
from densvec.answers.words import parse_marked
from densvec.cli import main
from tests.cli.cases import SENTENCE, answer


def test_compress(model, tmp_path, capsys):
    (tmp_path / "card.md").write_text("# Mine\n")
    small = tmp_path / "small.dv"
    [found] = answer(capsys, "compress", model, "-o", small, "--words", 20, "--card", tmp_path / "card.md")
    assert found["words"] == 20
    assert found["bytes"] == os.path.getsize(small) < found["bytes_before"]
    assert KeyedDensities.load(small).card == "# Mine\n"
    assert main(["compress", model, "-o", str(small)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main(["compress", model, "-o", str(small), "--overwrite", "--dtype", "float16"]) == 0
    assert "as float16" in capsys.readouterr().out


def test_full_precision_keeps_every_bit(model, tmp_path, capsys):
    assert main(["compress", model, "-o", str(tmp_path / "ship.dv"), "--dtype", "float32"]) == 0
    tokens = parse_marked(SENTENCE)[1]
    whole, ship = KeyedDensities.load(model), KeyedDensities.load(tmp_path / "ship.dv")
    assert ship.infer(tokens, position=2) == whole.infer(tokens, position=2)
