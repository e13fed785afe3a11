"""Errors are one sentence each."""

from densvec.cli import main
from tests.cli.cases import assert_one_sentence, densvec_process


def test_a_bad_path_is_one_sentence(tmp_path):
    done = densvec_process("similar", tmp_path / "nowhere.dv", "kiwi")
    sentence = assert_one_sentence(done)
    assert "there is no file" in sentence
    assert "nowhere.dv" in sentence


def test_debug_shows_the_traceback(tmp_path, capsys):
    assert main(["similar", str(tmp_path / "nowhere.dv"), "kiwi", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_foreign_file_is_named(corpus, capsys):
    assert main(["similar", str(corpus), "kiwi"]) == 1
    assert capsys.readouterr().err.startswith(f"densvec similar: error: {corpus}: ")
