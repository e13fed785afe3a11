"""Telling a file from others that lie at its path."""

import os

import pytest

from densvec.files.fingerprint import difference, fingerprint


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(b"a line of text\n" * 20_000)
    return path


def test_a_file_is_told_by_its_size_its_beginning_and_its_end(text):
    recorded = fingerprint(text)
    assert difference(text, recorded) is None
    content = text.read_bytes()
    for changed, why in [
        (content + b"!", "it had 300000 bytes and has 300001"),
        (b"A" + content[1:], "other text"),
        (content[:-1] + b"!", "other text"),
    ]:
        text.write_bytes(changed)
        assert why in difference(text, recorded)
    text.unlink()
    assert difference(text, recorded) == "does not exist"


@pytest.mark.parametrize("recorded", [None, {}, {"bytes": "many", "ends": 5}])
def test_a_record_that_says_nothing_fits_nothing(text, recorded):
    assert difference(text, recorded) is not None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_only_regular_files_are_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for good
    for path in (tmp_path / "pipe", tmp_path, "/dev/null", "https://example.org/a", "nul\0l"):
        assert difference(path, {"bytes": 0, "ends": ""}) is not None
    for path in (tmp_path / "pipe", tmp_path, "/dev/null", "https://example.org/a"):
        assert fingerprint(path) is None
