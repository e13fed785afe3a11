"""``densvec senses``, and the pictures that commands draw beside what they print."""

import pytest

from densvec.cli import main
from tests.cli.cases import answer


def is_picture(path):
    return path.read_bytes().startswith(b"\x89PNG")


def test_senses_are_printed_and_drawn(model, corpus, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "kiwi.png"
    [found] = answer(
        capsys, "senses", model, corpus, "kiwi", "--max-occurrences", 50, "-n", 3, "--plot", picture
    )
    assert found["word"] == "kiwi"
    assert 0 < found["occurrences"] <= 50
    assert sum(sense["share"] for sense in found["senses"]) == pytest.approx(1.0)
    for sense in found["senses"]:
        assert len(sense["nearest"]) == 3
        for example in sense["examples"]:
            assert example["tokens"][example["position"]] == "kiwi"
    assert is_picture(picture)


def test_the_number_of_senses_can_be_given(model, corpus, capsys):
    [found] = answer(capsys, "senses", model, corpus, "kiwi", "--max-occurrences", 100, "--number", 2)
    assert len(found["senses"]) == 2


def test_one_word_is_drawn_at_a_time(model, corpus, tmp_path, capsys):
    place = str(tmp_path / "senses.png")
    assert main(["senses", model, str(corpus), "kiwi", "owl", "--plot", place]) == 2
    assert "--plot draws one word: got 2" in capsys.readouterr().err


def test_a_tree_is_drawn(model, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    answer(capsys, "taxonomy", model, "bird", "owl", "kakapo", "--plot", tmp_path / "tree.png")
    assert is_picture(tmp_path / "tree.png")


def test_the_way_of_a_word_is_drawn(model, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    [found] = answer(
        capsys, "compare", model, model, "--words", "kiwi", "--min-count", 5, "--plot", tmp_path / "way.png"
    )
    assert found["word"] == "kiwi"
    assert found["p_value"] > 0.01  # it has not moved from itself
    assert is_picture(tmp_path / "way.png")


def test_an_unknown_word_leaves_the_others_to_be_compared(model, capsys):
    asked = ["compare", model, model, "--min-count", "5", "--words"]
    found, unknown = answer(capsys, *asked, "kiwi", "xyzzy")
    assert found["word"] == "kiwi"
    assert unknown["word"] == "xyzzy"
    assert "is not among the" in unknown["error"]
    assert main([*asked, "kiwi", "xyzzy"]) == 0
    printed = capsys.readouterr()
    assert "xyzzy\n  unknown: " in printed.out
    assert "unknown words left out: xyzzy" in printed.err
    assert main([*asked, "xyzzy"]) == 1


def test_long_work_is_announced(model, corpus, capsys):
    assert main(["compare", model, model, "--min-count", "5"]) == 0
    assert "densvec compare: bringing" in capsys.readouterr().err
    assert main(["senses", model, str(corpus), "kiwi", "--max-occurrences", "20"]) == 0
    assert "densvec senses: reading" in capsys.readouterr().err
