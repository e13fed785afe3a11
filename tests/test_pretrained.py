"""Models by name: those that come with densvec."""

import os

import pytest

import densvec
from densvec import pretrained
from densvec.cli import main
from tests.cli.cases import answer


@pytest.fixture(scope="module")
def english():
    return densvec.load("english")


class TestEnglish:
    def test_it_is_small_and_complete(self, english):
        assert os.path.getsize(pretrained.find("english")) <= 8_000_000
        assert len(english) >= 25_000
        assert english.encoder is not None
        assert english.covariance is not None

    def test_its_card_says_what_it_is(self, english):
        for text in ("Wikipedia", "CC BY-SA", "epochs", "not good for", "GAP"):
            assert text in english.card

    def test_contexts_tell_senses_apart(self, english):
        money = english.substitutes(
            "bank", ["the", "bank", "refused", "to", "lend", "him", "money", "for", "the", "loan"], topn=30
        )
        river = english.substitutes(
            "bank", ["the", "house", "on", "the", "south", "bank", "of", "the", "river"], topn=30
        )
        money, river = ({word for word, _ in found} for found in (money, river))
        assert len(money & river) < 15
        assert money & {"banks", "loan", "credit", "finance", "financial", "fund", "insurance", "cash"}
        assert river & {"river", "banks", "bridge", "valley", "creek", "lake", "shore", "canal", "tributary"}

    def test_instruments(self, english):
        kinds = ("cello", "piano", "viola", "guitar", "flute", "violinist")
        assert {word for word, _ in english.most_similar("violin", topn=10)} & set(kinds)
        assert english.hypernymy("violin", "instrument") > english.hypernymy("instrument", "violin")


class TestNames:
    def test_a_path_works_too(self, tmp_path, english):
        english.restrict(100).save(tmp_path / "english")
        assert len(densvec.load(tmp_path / "english")) == 100
        assert len(densvec.load(tmp_path / "english", mmap=None)) == 100

    def test_compressed_files_are_read(self, tmp_path, english):
        english.restrict(100).save(tmp_path / "words.dv.gz")
        assert len(densvec.load(tmp_path / "words.dv.gz")) == 100

    def test_a_folder_of_the_hub(self, tmp_path, english):
        english.restrict(100).save_pretrained(tmp_path / "folder")
        assert len(densvec.load(tmp_path / "folder")) == 100
        assert english.card in (tmp_path / "folder" / "README.md").read_text(encoding="utf-8")

    def test_names_come_before_files(self, tmp_path, monkeypatch, english):
        monkeypatch.chdir(tmp_path)
        english.restrict(100).save("english")
        assert len(densvec.load("english")) == len(english)
        assert len(densvec.load("./english")) == 100

    def test_unknown_names_list_the_known_ones(self):
        with pytest.raises(
            FileNotFoundError, match=r"comes with densvec \('english'\); did you mean 'english'"
        ):
            densvec.load("Englisch")


class TestCommands:
    def test_every_command_takes_the_name(self, capsys):
        [found] = answer(capsys, "similar", "english", "violin")
        assert found["similar"]
        assert main(["info", "english"]) == 0
        assert "## What it is not good for" in capsys.readouterr().out
        assert main(["similar", "englisch", "violin"]) == 1
        assert "did you mean 'english'?" in capsys.readouterr().err
