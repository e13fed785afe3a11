"""The documented format is the real one: the examples of docs/file_format.md read and check our files."""

import pathlib
import re

import numpy as np
import pytest

from densvec.files import packing, persistence

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "file_format.md"


@pytest.fixture
def path(tmp_path):
    tensors = {
        **packing.pack_words(["the", "cat", "nul\0é"]),
        "means": np.arange(6, dtype=np.float32).reshape(3, 2),
        "log_variances": np.zeros((3, 1), np.float32),
        "training.empty": np.zeros((0, 2)),
    }
    path = tmp_path / "model.dv"
    persistence.write(path, tensors, {"class": "KeyedDensities"})
    return path


def run_examples(path):
    names = {"path": path}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S):
        exec(block, names)
    return names


def test_the_examples_read_what_we_read(path, capsys):
    names = run_examples(path)
    tensors, header = persistence.read(path)
    assert names["words"] == packing.unpack_words(tensors) == ["the", "cat", "nul\0é"]
    assert names["document"] == header
    for name, tensor in tensors.items():
        np.testing.assert_array_equal(names["tensors"][name], tensor)
    assert capsys.readouterr().out == "KeyedDensities [2. 3.] [1.]\nTrue\n"


def test_the_example_finds_damage(path):
    is_whole = run_examples(path)["is_whole"]
    content = path.read_bytes()
    for place in range(len(content) - 100, len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert not is_whole(path)
