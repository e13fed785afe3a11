"""Models by name: those that come with densvec, and those that are downloaded."""

import os

import pytest

import densvec
from densvec import pretrained
from densvec.cli import main
from densvec.integrations import hub
from tests.cli.cases import answer


@pytest.fixture(scope="module")
def english():
    return densvec.load("english")


class TestEnglish:
    def test_it_is_small_and_complete(self, english):
        assert os.path.getsize(pretrained.find("english")) <= 12_000_000
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
            FileNotFoundError, match=r"no model of that name; there are 'english'.*; did you mean 'english'"
        ):
            densvec.load("Englisch")


class TestLargerModels:
    @pytest.fixture(autouse=True)
    def no_folder(self, monkeypatch):
        monkeypatch.delenv("DENSVEC_MODELS", raising=False)
        monkeypatch.setitem(pretrained.RELEASED, "small", "densvec/small@v1")

    def test_they_are_those_of_the_hub(self, monkeypatch, tmp_path, english):
        english.restrict(100).save(tmp_path / "model.safetensors")
        fetched = {"densvec/small@v1": str(tmp_path / "model.safetensors")}
        monkeypatch.setattr(hub, "weights_of", fetched.__getitem__)
        assert len(densvec.load("small")) == 100
        assert "small" in pretrained.names()

    def test_a_folder_takes_the_place_of_the_hub(self, monkeypatch, tmp_path, english):
        monkeypatch.setenv("DENSVEC_MODELS", str(tmp_path))
        for name, words in (("small", 100), ("mine", 50)):
            english.restrict(words).save(tmp_path / f"{name}.dv")
            assert len(densvec.load(name)) == words
            assert name in pretrained.names()

    def test_without_a_network_it_says_what_to_do(self, monkeypatch, capsys):
        def weights_of(name):
            raise FileNotFoundError(f"there is no folder {name!r}, and the Hugging Face hub gave none")

        monkeypatch.setattr(hub, "weights_of", weights_of)
        with pytest.raises(FileNotFoundError, match=r"the hub|put small\.dv into a folder"):
            densvec.load("small")
        assert main(["similar", "small", "violin"]) == 1
        assert "DENSVEC_MODELS" in capsys.readouterr().err


class TestCommands:
    def test_every_command_takes_the_name(self, capsys):
        [found] = answer(capsys, "similar", "english", "violin")
        assert found["similar"]
        assert main(["info", "english"]) == 0
        assert "## What it is not good for" in capsys.readouterr().out
        assert main(["similar", "englisch", "violin"]) == 1
        assert "did you mean 'english'?" in capsys.readouterr().err
