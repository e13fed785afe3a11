"""Collocations, with gensim's as the oracle."""

import numpy as np
import pytest
from gensim.models.phrases import Phrases as GensimPhrases
from hypothesis import given
from hypothesis import strategies as st

from densvec import phrases as module
from densvec.cli import main
from densvec.corpora import LineSentence
from densvec.phrases import Phrases
from tests.cli.cases import answer

texts = st.lists(st.lists(st.sampled_from("abcde"), max_size=8), max_size=20)


@given(texts, st.integers(1, 3), st.floats(-0.9, 0.9))
def test_as_gensim(text, min_count, threshold):
    ours = Phrases(text, min_count, threshold)
    if not any(map(len, text)):
        assert not ours.scores
        return
    theirs = GensimPhrases(text, min_count=min_count, threshold=threshold, scoring="npmi")
    expected = theirs.export_phrases()
    mine = {"_".join(pair): score for pair, score in ours.scores.items()}
    # on the threshold rounding decides, in either of them
    near = {
        key for found in (mine, expected) for key, score in found.items() if abs(score - threshold) < 1e-6
    }
    assert set(expected) - near <= set(mine)
    assert set(mine) - near <= set(expected)
    for key in set(mine) & set(expected):
        assert mine[key] == pytest.approx(expected[key])
    if not near:
        for sentence in text:
            assert ours[sentence] == theirs[sentence]


def test_blocks_and_memory(monkeypatch):
    rng = np.random.default_rng(0)
    text = [list(map(str, row)) for row in rng.zipf(1.5, size=(400, 10)) % 50]
    whole = Phrases(text, 2, -1)
    monkeypatch.setattr(module, "_BLOCK", 64)
    assert Phrases(text, 2, -1).scores == whole.scores
    few = Phrases(text, 2, -1, max_pairs=100)
    assert 0 < len(few) <= 100


def test_wrong_arguments():
    with pytest.raises(ValueError, match="threshold=10"):
        Phrases([], threshold=10)
    with pytest.raises(ValueError, match="min_count=0"):
        Phrases([], min_count=0)


def test_the_command(tmp_path, capsys):
    words = ["red", "green", "blue", "black", "white", "brown", "pink", "grey", "cyan", "gold"]
    text = "".join(f"The {word}, New York City {other}.\n" for word in words for other in words)
    (tmp_path / "book.txt").write_text(text)
    out = tmp_path / "joined.txt.gz"
    arguments = ["phrases", tmp_path / "book.txt", "-o", out, "--rounds", "2"]
    [found] = answer(capsys, *arguments, "--threshold", "0.4")
    assert "new_york" in {each["phrase"] for each in found["best"]}
    assert all("new_york_city" in sentence for sentence in LineSentence(out))
    assert main([*map(str, arguments)]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main([*map(str, arguments), "--overwrite"]) == 0
    assert "phrases joined" in capsys.readouterr().out
