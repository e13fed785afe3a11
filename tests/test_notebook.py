"""The notebook of the examples: its cells run in order, and find what they say."""

import ast
import contextlib
import io
import json
from pathlib import Path

import pytest

NOTEBOOK = json.loads((Path(__file__).parents[1] / "examples" / "tour.ipynb").read_text(encoding="utf-8"))


def code_cells():
    """Return the code of the cells, without the commands of the notebook itself."""
    cells = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    return [cell for cell in cells if not cell.startswith("%")]


def test_the_cells_run_and_find_what_the_text_has(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    names, printed = {}, []
    for i, cell in enumerate(code_cells()):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(cell, f"cell {i}", "exec"), names)
        printed.append(out.getvalue())
    look, compared = printed[1], printed[3]
    assert "['owl', 'bird', 'animal']" in look
    fruit, bird = [line for line in look.splitlines() if "[[kiwi]]" in line]
    assert "ripe" in fruit.partition("[[kiwi]]")[2]
    assert "flightless" in bird or "digs" in bird.partition("[[kiwi]] sniffs and digs")[2]
    assert {line.split()[0] for line in compared.splitlines()[:2]} == {"dog", "owl"}


def test_it_is_a_notebook_without_outputs():
    """Outputs of one machine would change with every run; Colab shows fresh ones."""
    assert (NOTEBOOK["nbformat"], len(NOTEBOOK["cells"])) == (4, 10)
    for cell in NOTEBOOK["cells"]:
        assert cell["id"]
        assert not cell.get("outputs")
    for cell in code_cells():
        ast.parse(cell)
    # A notebook of Colab has nothing but what it installs.
    assert NOTEBOOK["cells"][1]["source"] == ['%pip install --quiet "densvec[plot]"']
