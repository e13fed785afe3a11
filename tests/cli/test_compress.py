"""``densvec compress``."""

import os

from densvec import KeyedDensities
from densvec.cli import main
from tests.cli.cases import answer


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
