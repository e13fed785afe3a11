"""The text of ``densvec train``: how words are found in it, and which text training goes on with."""

import io
import sys

import pytest

from densvec import BayesianSkipGram
from densvec.cli import main

BOOK = "The Kiwi, they say, isn't ripe. In 1999 the kiwi was a bird; nobody knew!\n" * 30
QUICK = ["--vector-size", "4", "--epochs", "1", "--sample", "0", "--workers", "1", "--min-count", "5"]


@pytest.fixture
def book(tmp_path):
    (tmp_path / "book.txt").write_text(BOOK)
    return str(tmp_path / "book.txt")


def train(corpus, tmp_path, *options, code=0):
    path = str(tmp_path / "model.dv")
    assert main(["train", corpus, "-o", path, *QUICK, *options]) == code
    return set(BayesianSkipGram.load(path).wv.index_to_key) if code == 0 else None


class TestReading:
    def test_raw_text_is_recognised(self, book, tmp_path, capsys):
        words = train(book, tmp_path)
        assert words == {
            *["the", "kiwi", "they", "say", "isn't", "ripe", "in", "was", "a", "bird", "nobody", "knew"]
        }
        assert "book.txt; words are taken in lower case" in capsys.readouterr().err

    def test_tokenised_text_is_left_alone(self, tmp_path, capsys):
        (tmp_path / "text.txt").write_text("The kiwi is a Bird .\n" * 30)
        assert "Bird" in train(str(tmp_path / "text.txt"), tmp_path)
        assert "not tokenised" not in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("options", "among", "not_among"),
        [
            (["--tokenize", "none"], {"Kiwi,", "ripe."}, {"kiwi,"}),
            (["--tokenize", "none", "--lower"], {"kiwi,"}, {"Kiwi,"}),
            (["--no-lower"], {"Kiwi", "kiwi"}, {"Kiwi,"}),
            (["--keep-numbers"], {"1999"}, set()),
            (["--tokenize", r"regex:\w+"], {"isn", "1999"}, {"isn't"}),
        ],
    )
    def test_options(self, book, tmp_path, options, among, not_among):
        words = train(book, tmp_path, *options)
        assert among <= words
        assert not not_among & words

    def test_encodings(self, tmp_path, caplog):
        (tmp_path / "old.txt").write_bytes("Un café, s'il vous plaît.\n".encode("cp1252") * 30)
        path = str(tmp_path / "old.txt")
        assert "café" in train(path, tmp_path, "--encoding", "windows-1252")
        assert "café" in train(path, tmp_path, "--overwrite")
        assert caplog.text.count("old.txt is not UTF-8, and read as cp1252") == 1

    def test_standard_input(self, tmp_path, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BOOK.encode())))
        assert "isn't" in train("-", tmp_path)

    def test_scripts_without_blanks(self, tmp_path, capsys):
        (tmp_path / "cat.txt").write_text("吾輩は猫である。名前はまだ無い。\n" * 30, encoding="utf-8")
        train(str(tmp_path / "cat.txt"), tmp_path, "--min-count", "1")
        assert "jieba" in capsys.readouterr().err

    @pytest.mark.parametrize(
        "wrong", [["--tokenize", "nltk"], ["--tokenize", "regex:("], ["--encoding", "x"]]
    )
    def test_wrong_options(self, book, tmp_path, wrong):
        assert main(["train", book, "-o", str(tmp_path / "m.dv"), *wrong]) == 2


class TestGoingOn:
    def test_another_text_is_refused(self, book, tmp_path, capsys):
        train(book, tmp_path)
        (tmp_path / "other.txt").write_text(BOOK.replace("bird", "fruit"))
        other, model = str(tmp_path / "other.txt"), str(tmp_path / "model.dv")
        again = ["train", other, "-o", model, "--resume", "--epochs", "2"]
        assert main(again) == 2
        assert "other.txt is another text" in capsys.readouterr().err
        assert main([*again, "--other-text"]) == 0

    def test_the_same_text_elsewhere_is_not(self, book, tmp_path):
        train(book, tmp_path)
        (tmp_path / "copy.txt").write_text(BOOK)
        again = ["train", str(tmp_path / "copy.txt"), "-o", str(tmp_path / "model.dv"), "--resume"]
        assert main([*again, "--epochs", "2"]) == 0

    def test_it_is_read_as_before(self, book, tmp_path, capsys):
        train(book, tmp_path, "--keep-numbers")
        again = ["train", "-o", str(tmp_path / "model.dv"), "--resume", "--epochs", "2"]
        assert main(again) == 0
        model = BayesianSkipGram.load(tmp_path / "model.dv")
        assert model.loss_history[0].words == model.loss_history[1].words
        assert main([*again, "--tokenize", "none"]) == 2
        assert "--tokenize cannot change" in capsys.readouterr().err
