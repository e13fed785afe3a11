"""Folders and names of the hub; the network is never touched unless a remote name is asked for."""

import json
import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import densvec
from conftest import example_densities
from densvec import DensvecFileError, KeyedDensities
from densvec.cli import main
from densvec.evaluation import Estimate, Figure, Results
from densvec.integrations.hub import is_name, model_card
from densvec.text.text_reading import TextReading
from tests.integrations.hub_server import Hub


@pytest.fixture
def wv():
    return example_densities()


@pytest.fixture
def folder(wv, tmp_path):
    wv.save_pretrained(tmp_path / "kiwi", card={"license": "cc-by-sa-4.0", "language": ["en", "de"]})
    return tmp_path / "kiwi"


@pytest.fixture
def no_sockets(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def no_network(no_sockets, monkeypatch):
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
    assert 'densvec.load("kiwi")' in body
    assert fields["pipeline_tag"] == "feature-extraction"
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
    with pytest.raises(FileNotFoundError, match="no folder"):
        KeyedDensities.from_pretrained(Path("user/model"))


def test_a_remote_name_needs_the_hub(no_network):
    with pytest.raises(ImportError, match=r"densvec\[hub\]"):
        KeyedDensities.from_pretrained("user/model")


@pytest.fixture
def hub(folder, tmp_path, monkeypatch):
    """A hub of this machine that has the model, with files beside it that nobody should fetch."""
    constants = pytest.importorskip("huggingface_hub.constants")
    server = Hub()
    monkeypatch.setattr(constants, "ENDPOINT", server.address)
    template = server.address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    others = {"modeling.py": b"raise SystemExit", "pytorch_model.bin": pickle.dumps(print)}
    server.first = server.commit("user/kiwi", {**files, **others})
    yield server
    server.stop()


class TestNames:
    def test_one_name_one_line(self, hub, wv, tmp_path):
        found = densvec.load("user/kiwi")
        np.testing.assert_array_equal(found.vectors, wv.vectors)
        assert found.infer("cat animal", word="dog") == wv.infer("cat animal", word="dog")
        assert not found.vectors.flags.writeable  # mapped from the cache

    def test_nothing_but_weights_and_configuration_is_fetched(self, hub, tmp_path):
        densvec.load("user/kiwi")
        fetched = {path.name for path in tmp_path.glob("cache/models--user--kiwi/snapshots/*/*")}
        assert fetched == {"config.json", "model.safetensors"}
        assert not any("modeling" in line or "pytorch" in line for line in hub.asked)

    def test_a_commit_that_is_cached_needs_no_network(self, hub, wv):
        densvec.load(f"user/kiwi@{hub.first}")
        asked = len(hub.asked)
        densvec.load(f"user/kiwi@{hub.first}")
        assert len(hub.asked) == asked

    def test_a_revision_is_pinned(self, hub, wv, tmp_path):
        hub.references["user/kiwi"]["v1"] = hub.first
        wv.add_vectors(["kiwi"], [[5, 5]])
        wv.save(tmp_path / "more.dv", ignore=["encoder"])
        hub.commit("user/kiwi", {"model.safetensors": (tmp_path / "more.dv").read_bytes()})
        assert "kiwi" in densvec.load("user/kiwi")
        for revision in ("v1", hub.first):
            assert "kiwi" not in densvec.load(f"user/kiwi@{revision}")
            assert "kiwi" not in KeyedDensities.from_pretrained("user/kiwi", revision=revision)

    def test_configuration_and_weights_are_of_one_commit(self, hub, monkeypatch):
        import huggingface_hub

        download = huggingface_hub.hf_hub_download

        def and_then_someone_commits(name, file, **options):
            path = download(name, file, **options)
            hub.commit(name, {"model.safetensors": b"of another commit"})
            return path

        monkeypatch.setattr(huggingface_hub, "hf_hub_download", and_then_someone_commits)
        assert len(densvec.load("user/kiwi")) == 4

    def test_without_a_network_the_cache_answers(self, hub, monkeypatch):
        densvec.load("user/kiwi")
        hub.stop()
        assert len(densvec.load("user/kiwi")) == 4
        with pytest.raises(FileNotFoundError, match="the Hugging Face hub gave none"):
            densvec.load("user/other")

    def test_offline_mode_is_obeyed(self, hub, monkeypatch, no_sockets):
        from huggingface_hub import constants

        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        with pytest.raises(FileNotFoundError, match="the Hugging Face hub gave none"):
            densvec.load("user/kiwi")

    def test_what_is_not_there_is_named(self, hub):
        for name in ("user/none", "user/kiwi@v2"):
            with pytest.raises(
                FileNotFoundError, match=f"no folder '{name}', and the Hugging Face hub gave none: .*404"
            ):
                densvec.load(name)

    def test_models_of_other_libraries_are_refused_before_their_weights_are_fetched(self, hub):
        hub.commit("user/bert", {"config.json": b'{"model_type": "bert"}', "model.safetensors": bytes(100)})
        with pytest.raises(DensvecFileError, match="'bert', not 'densvec'"):
            densvec.load("user/bert")
        assert not any("user/bert" in line and "safetensors" in line for line in hub.asked)

    def test_what_is_on_this_machine_comes_first(self, hub, wv, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "user").mkdir()
        wv.restrict(2).save(tmp_path / "user" / "kiwi")
        assert len(densvec.load("user/kiwi")) == 2
        assert len(densvec.load("english")) > 4
        assert hub.asked == []

    def test_commands_take_names(self, hub, capsys, tmp_path):
        assert main(["similar", "user/kiwi", "dog", "--json"]) == 0
        assert main(["info", f"user/kiwi@{hub.first}", "--verify"]) == 0
        assert hub.first in capsys.readouterr().out
        assert main(["compress", "user/kiwi", "-o", str(tmp_path / "small.dv")]) == 0
        assert main(["export", "user/kiwi", "--format", "word2vec", "-o", str(tmp_path / "kiwi.txt")]) == 0
        assert len(KeyedDensities.load(tmp_path / "small.dv")) == 4
        assert main(["compare", "user/kiwi", "user/kiwi", "--min-count", "1"]) == 0

    def test_a_model_that_is_none_of_ours_is_called_so_wherever_vectors_may_stand(
        self, hub, tmp_path, capsys
    ):
        hub.commit("user/bert", {"config.json": b'{"model_type": "bert"}'})
        assert main(["evaluate", "user/kiwi", str(tmp_path), "--beside", "user/bert"]) == 1
        assert "'bert', not 'densvec'" in capsys.readouterr().err

    def test_a_new_process_finds_the_hub_by_its_own_settings(self, hub, tmp_path):
        paths = {"HF_ENDPOINT": hub.address, "HF_HOME": str(tmp_path / "home")}
        command = [sys.executable, "-m", "densvec", "similar", "user/kiwi", "dog", "--json"]
        ran = subprocess.run(command, env=os.environ | paths, capture_output=True, text=True, check=True)
        assert "animal" in ran.stdout


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("user/model", True),
        ("user/model-v1.5", True),
        ("user/small.en@main", True),
        ("user/model.dv", False),
        ("docs/model", False),
        ("model", False),
        ("a/b/c", False),
        ("https://x/y", False),
        ("user/model@", False),
        (Path("user/model"), False),
    ],
)
def test_what_is_a_name(name, expected, tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    monkeypatch.chdir(tmp_path)
    assert is_name(name) == expected


class TestPush:
    def card(self, hub, commit):
        from huggingface_hub import ModelCard

        return ModelCard(hub.commits["user/new"][commit]["README.md"].decode())

    def test_what_is_pushed_is_found(self, hub, wv):
        commit = wv.push_to_hub("user/new", card={"license": "cc-by-sa-4.0", "language": "en"})
        np.testing.assert_array_equal(densvec.load(f"user/new@{commit}").vectors, wv.vectors)
        assert set(hub.commits["user/new"][commit]) == {
            ".gitattributes",
            "README.md",
            "config.json",
            "model.safetensors",
        }

    def test_sentence_transformers_finds_its_files_there(self, hub, wv):
        pytest.importorskip("tokenizers")
        commit = wv.push_to_hub("user/new", sentence_transformers=True)
        assert {"modules.json", "0_StaticEmbedding/tokenizer.json"} < set(hub.commits["user/new"][commit])

    def test_the_card_says_what_the_hub_shows(self, hub, wv):
        wv.text_reading = TextReading("simple", lower=True)
        figures = Results(
            [
                Figure("word similarity", "MEN", "rho", "cosine", Estimate(0.71), 3, 3),
                Figure("word similarity", "RW", "rho", "cosine", Estimate(float("nan")), 0, 3),
            ]
        )
        card = self.card(hub, wv.push_to_hub("user/new", card={"license": "mit"}, figures=figures))
        fields = card.data.to_dict()
        assert (fields["pipeline_tag"], fields["library_name"]) == ("feature-extraction", "densvec")
        assert (fields["license"], fields["tokenizer"]) == ("mit", "simple")
        [result] = card.data.eval_results
        assert (result.dataset_name, result.metric_value, result.metric_name) == (
            "MEN",
            0.71,
            "rho by cosine",
        )
        assert 'densvec.load("user/new")' in card.text

    def test_what_people_wrote_into_the_card_stays(self, hub, wv):
        wv.push_to_hub("user/new", card={"license": "mit"})
        hub.commit("user/new", {"README.md": b"---\nlicense: mit\ndatasets: [books]\n---\nMy own words.\n"})
        card = self.card(hub, wv.push_to_hub("user/new", card={"language": "en"}))
        assert "My own words." in card.text
        fields = card.data.to_dict()
        assert (fields["license"], fields["datasets"], fields["language"]) == ("mit", ["books"], "en")

    def test_a_card_that_the_hub_refuses_is_not_pushed(self, hub, wv):
        hub.faults.append("the licence is unknown")
        with pytest.raises(ValueError, match="errors"):
            wv.push_to_hub("user/new")
        assert "user/new" not in hub.commits


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
