"""Folders as the hub has them; the network is never touched unless a remote name is asked for."""

import json
import shutil
import socket
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

from conftest import example_densities
from densvec import DensvecFileError, KeyedDensities
from densvec.integrations.hub import model_card


@pytest.fixture
def wv():
    return example_densities()


@pytest.fixture
def folder(wv, tmp_path):
    wv.save_pretrained(tmp_path / "kiwi", card={"license": "cc-by-sa-4.0", "language": ["en", "de"]})
    return tmp_path / "kiwi"


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)  # importing it fails


def test_a_round_trip(wv, folder, no_network):
    for name in (folder, str(folder)):
        again = KeyedDensities.from_pretrained(name)
        assert again.index_to_key == wv.index_to_key
        np.testing.assert_array_equal(again.vectors, wv.vectors)
        assert again.infer("cat animal", word="dog") == wv.infer("cat animal", word="dog")
    assert not KeyedDensities.from_pretrained(folder, mmap="r").vectors.flags.writeable


def test_anyone_can_read_the_files(wv, folder):
    tensors = load_file(folder / "model.safetensors")
    np.testing.assert_array_equal(tensors["means"], wv.vectors)
    config = json.loads((folder / "config.json").read_text())
    assert config["model_type"] == "densvec"
    assert (config["vocab_size"], config["vector_size"], config["covariance"]) == (4, 2, "spherical")


def test_the_model_card(wv, folder):
    yaml = pytest.importorskip("yaml")
    text = (folder / "README.md").read_text()
    _, top, body = text.split("---\n", 2)
    fields = yaml.safe_load(top)
    assert fields["library_name"] == "densvec"
    assert (fields["license"], fields["language"]) == ("cc-by-sa-4.0", ["en", "de"])
    assert "4 words as probability densities in 2 dimensions" in body
    assert 'from_pretrained("kiwi")' in body
    code = body.split("```python\n")[1].split("```")[0]
    compile(code, "the card", "exec")


def test_the_card_says_how_a_model_was_made():
    from densvec import BayesianSkipGram
    from densvec.datasets import toy_language

    model = BayesianSkipGram(list(toy_language(200)), vector_size=4, epochs=1, min_count=1, workers=1)
    model.wv.add_lifecycle_event("trained", msg="on 200 sentences")
    assert "trained: on 200 sentences" in model_card(model.wv, "toy", {})


def test_a_card_that_is_there_is_left_alone(wv, folder):
    (folder / "README.md").write_text("mine")
    wv.save_pretrained(folder)
    assert (folder / "README.md").read_text() == "mine"


@pytest.mark.parametrize("name", ["./no/such", "/no/such", "~/no", "no/such/folder", "C:\\no", "../no"])
def test_a_path_never_becomes_a_remote_name(name, no_network):
    with pytest.raises(FileNotFoundError, match="no folder"):
        KeyedDensities.from_pretrained(name)


def test_a_path_object_is_a_path(tmp_path, no_network, monkeypatch):
    monkeypatch.chdir(tmp_path)
    from pathlib import Path

    with pytest.raises(FileNotFoundError, match="no folder"):
        KeyedDensities.from_pretrained(Path("user/model"))


def test_a_remote_name_needs_the_hub(no_network):
    with pytest.raises(ImportError, match=r"densvec\[hub\]"):
        KeyedDensities.from_pretrained("user/model")


def test_a_remote_name_is_found_in_the_hubs_cache(wv, folder, tmp_path):
    pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    cached = tmp_path / "cache" / "models--user--kiwi"
    revision = "0123456789abcdef0123456789abcdef01234567"
    shutil.copytree(folder, cached / "snapshots" / revision)
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text(revision)
    found = KeyedDensities.from_pretrained("user/kiwi", cache_dir=tmp_path / "cache", local_files_only=True)
    np.testing.assert_array_equal(found.vectors, wv.vectors)


def test_foreign_folders_are_refused(folder, tmp_path):
    with pytest.raises(DensvecFileError, match=r"config\.json does not exist"):
        KeyedDensities.from_pretrained(tmp_path)
    (folder / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(DensvecFileError, match="'bert', not 'densvec'"):
        KeyedDensities.from_pretrained(folder)
    for text in ("{", 100_000 * "["):
        (folder / "config.json").write_text(text)
        with pytest.raises(DensvecFileError, match=r"config\.json is not JSON"):
            KeyedDensities.from_pretrained(folder)
