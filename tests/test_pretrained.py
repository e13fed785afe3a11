"""Models by name: those that come with densvec, and those that are downloaded."""

import functools
import hashlib
import http.server
import os
import threading

import pytest

import densvec
from densvec import pretrained
from densvec.cli import main
from densvec.pretrained.download import RELEASED, Released, cache_folder
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


class Server(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def release(tmp_path, monkeypatch, english):
    """A release that has a model called 'small', on a server of this machine; its requests are counted."""
    folder = tmp_path / "release"
    folder.mkdir()
    english.restrict(100).save(folder / "small.dv")
    content = (folder / "small.dv").read_bytes()
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Server, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/small.dv"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DENSVEC_MODELS", raising=False)
    monkeypatch.setitem(
        RELEASED, "small", Released(address, len(content), hashlib.sha256(content).hexdigest())
    )
    yield folder, server
    server.shutdown()
    server.server_close()


def stop(server):
    server.shutdown()
    server.server_close()


class TestDownloads:
    def test_once_downloaded_a_model_needs_no_network(self, release):
        _, server = release
        assert len(densvec.load("small")) == 100
        stop(server)
        assert len(densvec.load("small")) == 100
        assert [path.name for path in cache_folder().iterdir()] == ["small.dv"]

    def test_a_model_without_an_address_says_that_no_release_offers_it(self, release, monkeypatch):
        monkeypatch.setitem(RELEASED, "later", Released(None, 1_000_000, "0" * 64))
        with pytest.raises(
            FileNotFoundError, match=r"no release offers it yet; get later\.dv elsewhere \(1 MB\)"
        ):
            densvec.load("later")

    def test_a_damaged_file_of_the_cache_is_fetched_again(self, release):
        path = pretrained.find("small")
        with open(path, "r+b") as file:
            file.truncate(1000)
        assert len(densvec.load("small")) == 100
        assert os.path.getsize(path) == RELEASED["small"].size

    @pytest.mark.parametrize(
        ("change", "error"),
        [
            (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "is not the file of this release"),
            (lambda content: content + b"more", "is not the file of this release"),
            (lambda content: content[:5000], r"ended after 5,000 of"),
        ],
    )
    def test_a_wrong_file_is_refused_and_not_kept(self, release, change, error):
        folder, _ = release
        (folder / "small.dv").write_bytes(change((folder / "small.dv").read_bytes()))
        with pytest.raises((ValueError, FileNotFoundError), match=error):
            densvec.load("small")
        assert list(cache_folder().iterdir()) == []

    def test_without_a_network_it_says_what_to_do(self, release, capsys):
        _, server = release
        stop(server)
        with pytest.raises(
            FileNotFoundError, match=r"get small\.dv elsewhere \(.* MB\) and put it into .*densvec"
        ):
            densvec.load("small")
        assert main(["similar", "small", "violin"]) == 1
        assert "DENSVEC_MODELS" in capsys.readouterr().err

    def test_a_file_that_was_put_into_the_cache_by_hand_is_found(self, release):
        folder, server = release
        stop(server)
        cache_folder().mkdir(parents=True)
        (folder / "small.dv").rename(cache_folder() / "small.dv")
        assert len(densvec.load("small")) == 100

    def test_a_mirror_takes_the_place_of_the_release(self, release, monkeypatch):
        _, server = release
        monkeypatch.setenv("DENSVEC_MODELS", f"http://127.0.0.1:{server.server_address[1]}/")
        monkeypatch.setitem(
            RELEASED, "small", Released(None, RELEASED["small"].size, RELEASED["small"].sha256)
        )
        assert len(densvec.load("small")) == 100

    def test_a_folder_takes_the_place_of_cache_and_release(self, release, monkeypatch):
        folder, server = release
        stop(server)
        monkeypatch.setenv("DENSVEC_MODELS", str(folder))
        assert pretrained.find("small") == str(folder / "small.dv")
        assert not cache_folder().exists()
        (folder / "small.dv").write_bytes(b"another")
        with pytest.raises(ValueError, match="is not the file of this release"):
            densvec.load("small")
        (folder / "small.dv").unlink()
        with pytest.raises(FileNotFoundError, match=r"there is no small\.dv in it"):
            densvec.load("small")

    def test_models_that_can_be_downloaded_are_listed(self, release):
        assert "small" in pretrained.names()


class TestCommands:
    def test_every_command_takes_the_name(self, capsys):
        [found] = answer(capsys, "similar", "english", "violin")
        assert found["similar"]
        assert main(["info", "english"]) == 0
        assert "## What it is not good for" in capsys.readouterr().out
        assert main(["similar", "englisch", "violin"]) == 1
        assert "did you mean 'english'?" in capsys.readouterr().err
