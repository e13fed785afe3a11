"""``densvec train``: the model that the library trains, also after a stop."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from densvec import BayesianSkipGram, KeyedDensities
from densvec.cli import main
from densvec.files import persistence
from tests.cli.cases import QUICK, answer, assert_one_sentence, command, densvec_process, environment


class TestTrain:
    def test_saves_a_model_with_the_given_parameters(self, trained):
        path, done = trained
        model = BayesianSkipGram.load(path)
        assert (model.vector_size, model.sample, model.alpha, model.epochs, model.seed) == (
            12,
            0.01,
            0.03,
            3,
            3,
        )
        assert len(model.loss_history) == 3
        assert done.stdout.decode().startswith(f"{path}: BayesianSkipGram of {len(model.wv):,} words")
        assert b"counting the words" in done.stderr

    def test_little_text_is_told_to_be_trained_longer(self, trained, tmp_path, capsys):
        assert b"little text" not in trained[1].stderr  # it was given --epochs
        path = tmp_path / "corpus.txt"
        path.write_text("a b c d\n" * 20, encoding="utf-8")
        assert (
            main(["train", str(path), "-o", str(tmp_path / "m.dv"), "--min-count", "1", "--vector-size", "4"])
            == 0
        )
        assert "little text, which gains from more than 5 epochs" in capsys.readouterr().err

    def test_equals_the_library(self, trained, corpus):
        same = BayesianSkipGram(
            corpus_file=corpus, vector_size=12, sample=0.01, alpha=0.03, epochs=3, workers=1, seed=3
        )
        np.testing.assert_array_equal(KeyedDensities.load(trained[0]).vectors, same.wv.vectors)

    def test_standard_input_gives_the_same_model(self, trained, corpus, tmp_path):
        path = tmp_path / "model.dv"
        done = densvec_process("train", "-", "-o", path, *QUICK, "--json", input=corpus.read_bytes())
        assert done.returncode == 0, done.stderr.decode()
        assert b"temporary file" in done.stderr
        assert json.loads(done.stdout)["epochs"] == 3
        np.testing.assert_array_equal(
            KeyedDensities.load(path).vectors, KeyedDensities.load(trained[0]).vectors
        )
        assert BayesianSkipGram.load(path)._corpus == (None, None)  # not the temporary file's path

    def test_any_parameter_of_the_class_can_be_set(self, corpus, tmp_path, capsys):
        path = str(tmp_path / "model.dv")
        start = ["train", str(corpus), "-o", path, *QUICK, "-q"]
        wanted = ["--set", "kl_weight=1", "--set", "residual=False", "--set", 'rates={"contrast": 3}']
        assert main([*start, *wanted, "--set", "comment=of the toy"]) == 0
        model = BayesianSkipGram.load(path)
        assert (model.kl_weight, model.residual, model.comment) == (1, False, "of the toy")
        assert model.rates["contrast"] == 3
        assert main([*start, "--overwrite", "--set", "kl_wait=1"]) == 1
        assert "'kl_weight'" in capsys.readouterr().err
        assert main(["train", "-o", path, "--resume", "--set", "kl_weight=2"]) == 2
        assert "kl_weight cannot change" in capsys.readouterr().err

    @pytest.mark.parametrize(("name", "cls"), [("skipgram", "SkipGram"), ("word2gauss", "Word2Gauss")])
    def test_other_models(self, name, cls, corpus, tmp_path, capsys):
        path = str(tmp_path / "model.dv")
        [found] = answer(
            capsys, "train", corpus, "-o", path, "--model", name, "--vector-size", 8, "--epochs", 1, "-q"
        )
        assert found["class"] == cls
        assert main(["similar", path, "kiwi"]) == 0

    def test_directory_and_compressed_file(self, corpus, trained, tmp_path):
        import gzip

        (tmp_path / "texts").mkdir()
        with gzip.open(tmp_path / "texts" / "toy.txt.gz", "wb") as file:
            file.write(corpus.read_bytes())
        for i, place in enumerate([tmp_path / "texts", tmp_path / "texts" / "toy.txt.gz"]):
            path = tmp_path / f"{i}.dv"
            assert main(["train", str(place), "-o", str(path), *QUICK, "--quiet"]) == 0
            np.testing.assert_array_equal(
                KeyedDensities.load(path).vectors, KeyedDensities.load(trained[0]).vectors
            )

    def test_empty_corpus(self, tmp_path):
        (tmp_path / "empty.txt").write_text("")
        done = densvec_process("train", tmp_path / "empty.txt", "-o", tmp_path / "model.dv", "--quiet")
        assert "the corpus has no words" in assert_one_sentence(done)
        assert not (tmp_path / "model.dv").exists()

    def test_bad_paths(self, corpus, tmp_path):
        done = densvec_process("train", tmp_path / "nowhere.txt", "-o", tmp_path / "model.dv")
        assert "nowhere.txt: No such file" in assert_one_sentence(done)
        for place, why in [
            (tmp_path / "no" / "model.dv", "there is no such directory"),
            (corpus, "choose another name"),  # the corpus is not overwritten by its model
        ]:
            before = corpus.read_bytes()
            assert why in assert_one_sentence(densvec_process("train", corpus, "-o", place, "--quiet"))
            assert corpus.read_bytes() == before

    def test_bad_parameters(self, corpus, tmp_path, capsys):
        place = ["-o", str(tmp_path / "model.dv"), "--quiet"]
        assert main(["train", str(corpus), *place, "--window", "0"]) == 1
        assert main(["train", str(corpus), *place, "--min-count", "100000"]) == 1
        assert main(["train", str(corpus), *place, "--window", "wide"]) == 2
        assert main(["train", str(corpus), *place, "--set", "rates"]) == 2
        assert main(["train", *place]) == 2
        error = capsys.readouterr().err
        assert "window=0 is too small" in error
        assert "lower min_count" in error
        assert "give the CORPUS" in error


def interrupted(corpus, path, signal_number, *options):
    """Train, and send a signal when the first checkpoint is there."""
    process = subprocess.Popen(
        command("train", corpus, "-o", path, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        # a test run in the background may have been told to ignore Ctrl-C, which its children inherit
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not path.exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal_number)
    output, error = process.communicate(timeout=120)
    assert output == b""
    return process.returncode, error.decode()


@pytest.mark.skipif(os.name == "nt", reason="signals")
class TestInterrupted:
    def test_training_goes_on_as_if_nothing_had_happened(self, corpus, tmp_path, capsys):
        whole, parts = tmp_path / "whole.dv", tmp_path / "parts.dv"
        options = [*QUICK, "--epochs", "25", "--set", "batch_words=1000"]
        code, error = interrupted(corpus, parts, signal.SIGINT, *options)
        assert code == 130, error
        assert f"To go on: densvec train {corpus} -o {parts} --resume" in error
        assert "Traceback" not in error
        stopped = BayesianSkipGram.load(parts)
        assert 1 <= len(stopped.loss_history) < 25

        # Nothing but --resume goes on with it, and only as it was begun.
        assert main(["train", str(corpus), "-o", str(parts), *options]) == 2
        assert main(["train", "-o", str(parts), "--resume", "--window", "3"]) == 2
        error = capsys.readouterr().err
        assert "--resume goes on with it, --overwrite starts again" in error
        assert "window cannot change" in error

        again = densvec_process("train", corpus, "-o", parts, "--resume")
        assert again.returncode == 0, again.stderr.decode()
        assert main(["train", str(corpus), "-o", str(whole), *options, "--quiet"]) == 0
        resumed, straight = BayesianSkipGram.load(parts), BayesianSkipGram.load(whole)
        assert [entry.loss for entry in resumed.loss_history] == [
            entry.loss for entry in straight.loss_history
        ]
        np.testing.assert_array_equal(resumed.wv.vectors, straight.wv.vectors)
        np.testing.assert_array_equal(resumed.wv.log_variances, straight.wv.log_variances)

    def test_end_of_a_job_saves_too(self, corpus, tmp_path):
        path = tmp_path / "model.dv"
        code, error = interrupted(corpus, path, signal.SIGTERM, *QUICK, "--epochs", "1000")
        assert code == 143, error
        assert "--resume" in error
        assert BayesianSkipGram.load(path).loss_history


class TestTargets:
    @pytest.mark.parametrize(
        ("name", "code", "why"),
        [
            ("m.dv.zip", 1, "cannot compress"),
            ("https://example.org/m.dv", 1, "web pages can only be read"),
            ("pigeon://m.dv", 1, "pigeon:// is unknown"),
            ("folder", 1, "give the name of a file"),
        ],
    )
    def test_what_cannot_be_written_is_an_error_before_anything_is_read(
        self, name, code, why, tmp_path, monkeypatch, capsys
    ):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "folder").mkdir()
        assert main(["train", "no-corpus-is-looked-for.txt", "-o", name]) == code
        assert why in capsys.readouterr().err

    def test_a_finished_model_is_replaced_only_when_asked_to(self, model, corpus, tmp_path, capsys):
        path = tmp_path / "model.dv"
        path.write_bytes(before := Path(model).read_bytes())
        assert main(["train", str(corpus), "-o", str(path), *QUICK]) == 2
        assert (
            "is there already: --resume goes on with it, --overwrite starts again" in capsys.readouterr().err
        )
        assert path.read_bytes() == before
        assert (
            main(["train", str(corpus), "-o", str(path), *QUICK, "--epochs", "1", "--overwrite", "-q"]) == 0
        )
        assert BayesianSkipGram.load(path).epochs_trained == 1

    def test_no_epochs_make_a_model_that_can_go_on(self, corpus, tmp_path, capsys):
        path = tmp_path / "model.dv"
        assert main(["train", str(corpus), "-o", str(path), *QUICK, "--epochs", "0"]) == 0
        assert str(path) in capsys.readouterr().out
        assert BayesianSkipGram.load(path).epochs_trained == 0
        assert main(["train", "-o", str(path), "--resume", "--epochs", "1", "-q"]) == 0
        assert BayesianSkipGram.load(path).epochs_trained == 1

    def test_only_the_corpus_that_was_recorded_is_opened(self, model, tmp_path, capsys):
        path, secret = tmp_path / "model.dv", tmp_path / "secret.txt"
        secret.write_text("kiwi owl " * 100)
        tensors, header = persistence.read(model)
        [event] = [event for event in header["lifecycle_events"] if event["event"] == "text"]
        for place in (str(secret), "https://example.org/corpus.txt"):
            for events in ([], [{**event, "path": place}], [{"event": "text", "path": place}]):
                crafted = {**header, "corpus_file": place, "lifecycle_events": events}
                persistence.write(path, tensors, crafted)
                assert main(["train", "-o", str(path), "--resume", "--epochs", "9"]) == 2
                assert f"the previous text, {place}, " in capsys.readouterr().err
        assert len(BayesianSkipGram.load(path).loss_history) == 3

    def test_a_text_that_has_changed_is_noticed(self, corpus, tmp_path, capsys):
        path, text = tmp_path / "model.dv", tmp_path / "text.txt"
        text.write_bytes(corpus.read_bytes())
        assert main(["train", str(text), "-o", str(path), *QUICK, "--epochs", "1", "-q"]) == 0
        text.write_bytes(corpus.read_bytes() + b"one more line\n")
        for given in ([str(text)], []):
            assert main(["train", *given, "-o", str(path), "--resume", "--epochs", "2"]) == 2
            assert "has changed since" in capsys.readouterr().err
        again = ["train", str(text), "-o", str(path), "--resume", "--epochs", "2", "--other-text", "-q"]
        assert main(again) == 0

    @pytest.mark.parametrize(
        "crafted", [{"run": "epoch"}, {"run": {"epoch": "x", "epochs": []}}, {"class": {}}]
    )
    def test_crafted_headers_are_faults_of_the_file(self, crafted, model, corpus, tmp_path, capsys):
        path = tmp_path / "model.dv"
        tensors, header = persistence.read(model)
        persistence.write(path, tensors, {**header, **crafted})
        assert main(["train", str(corpus), "-o", str(path)]) == 1
        assert "model.dv: the header's" in capsys.readouterr().err


class TestResume:
    def test_only_as_the_model_it_was_begun_as(self, model, capsys):
        assert main(["train", "-o", model, "--resume", "--model", "skipgram"]) == 2
        assert "it cannot be resumed as skipgram" in capsys.readouterr().err

    def test_starts_a_model_that_is_not_there(self, corpus, tmp_path, capsys):
        path = tmp_path / "model.dv"
        assert main(["train", str(corpus), "-o", str(path), "--resume", *QUICK]) == 0
        assert "starting it" in capsys.readouterr().err
        assert main(["train", "-o", str(path), "--resume"]) == 0
        assert "nothing to do" in capsys.readouterr().err
        assert main(["train", "-o", str(path), "--resume", "--epochs", "4"]) == 0
        assert len(BayesianSkipGram.load(path).loss_history) == 4

    def test_needs_the_state_of_training(self, model, corpus, tmp_path, capsys):
        KeyedDensities.load(model).save(tmp_path / "words.dv")
        assert main(["train", str(corpus), "-o", str(tmp_path / "words.dv"), "--resume"]) == 1
        assert "without a training state" in capsys.readouterr().err


class TestSeveralFiles:
    def test_files_directories_and_patterns_are_one_corpus(self, corpus, tmp_path):
        lines = corpus.read_text(encoding="utf-8").splitlines(keepends=True)
        half = len(lines) // 2
        folder = tmp_path / "texts"
        folder.mkdir()
        (folder / "a.txt").write_text("".join(lines[:half]), encoding="utf-8")
        (folder / "b.txt").write_text("".join(lines[half:]), encoding="utf-8")
        whole = BayesianSkipGram(corpus_file=corpus, vector_size=4, epochs=1, sample=0.01, workers=1)
        for number, given in enumerate(([folder / "a.txt", folder / "b.txt"], [folder], [folder / "*.txt"])):
            path = tmp_path / f"{number}.dv"
            options = ["--vector-size", "4", "--epochs", "1", "--sample", "0.01", "--workers", "1"]
            assert main(["train", *map(str, given), "-o", str(path), "-q", *options]) == 0
            model = BayesianSkipGram.load(path)
            np.testing.assert_array_equal(model.wv.vectors, whole.wv.vectors)
            assert (
                main(["train", "-o", str(path), "--resume", "--epochs", "2", "-q"]) == 0
            )  # it knows its files
            assert len(BayesianSkipGram.load(path).loss_history) == 2

    def test_a_pattern_that_matches_nothing_is_said(self, tmp_path, capsys):
        assert main(["train", str(tmp_path / "*.txt"), "-o", str(tmp_path / "m.dv")]) == 1
        assert "matches no file" in capsys.readouterr().err
