"""Interrupted models: training goes on bit for bit, from files and checkpoints."""

import math
import pathlib
import re
import signal
import subprocess
import sys
import textwrap

import pytest

from densvec import BayesianSkipGram
from densvec.callbacks import Checkpoint
from tests.model.saved import (
    FEW,
    SENTENCES,
    SETTINGS,
    Interrupt,
    assert_same_tables,
    drop,
    interrupted,
    losses,
    put,
    rewrite,
)


class TestGoingOn:
    @pytest.mark.parametrize("mmap", [None, "r", "c"])
    def test_two_and_three_epochs_are_five(self, path, trained, mmap):
        interrupted(epoch=2).save(path)
        model = BayesianSkipGram.load(path, mmap=mmap)
        assert model.epochs_trained == 2
        content = path.read_bytes()
        model.train(SENTENCES)
        assert_same_tables(model, trained)
        assert losses(model) == losses(trained)
        assert path.read_bytes() == content

    @pytest.mark.parametrize("chunk", [1, 7, 23])
    def test_so_are_parts_of_epochs(self, path, trained, chunk):
        model = interrupted(chunk=chunk)
        assert model._run.tally.chunks  # in the middle of an epoch
        model.save(path)
        model = BayesianSkipGram.load(path)
        model.train(SENTENCES, resume=True)
        assert_same_tables(model, trained)
        assert losses(model) == losses(trained)

    def test_after_every_epoch(self, path, trained):
        model = interrupted(epoch=1)
        for epoch in range(2, 6):
            model.save(path)
            model = BayesianSkipGram.load(path)
            if epoch == 5:
                model.train(SENTENCES)
            else:
                with pytest.raises(KeyboardInterrupt):
                    model.train(SENTENCES, callbacks=[Interrupt(epoch=epoch)])
        assert_same_tables(model, trained)

    def test_on_torch(self, path):
        pytest.importorskip("torch", reason="torch is not installed")
        settings = {"backend": "torch", "device": "cpu", "batch_words": 200}
        whole = BayesianSkipGram(FEW, **{**SETTINGS, **settings})
        interrupted(FEW, epoch=2, settings=settings).save(path)
        model = BayesianSkipGram.load(path)
        model.train(FEW)
        assert_same_tables(model, whole)

    def test_with_a_diagonal_covariance_and_paired_negatives(self, path):
        settings = {"covariance": "diagonal", "pairing": "paired", "negative": 2}
        whole = BayesianSkipGram(SENTENCES, **SETTINGS, **settings)
        interrupted(chunk=8, settings=settings).save(path)
        model = BayesianSkipGram.load(path)
        model.train(SENTENCES)
        assert_same_tables(model, whole)

    def test_a_corpus_file_is_found_again(self, path, tmp_path, trained):
        text = tmp_path / "corpus.txt"
        text.write_text("\n".join(" ".join(sentence) for sentence in SENTENCES), encoding="utf-8")
        model = BayesianSkipGram(**SETTINGS)
        model.build_vocab(corpus_file=text)
        with pytest.raises(KeyboardInterrupt):
            model.train(callbacks=[Interrupt(chunk=9)])
        model.save(path)
        model = BayesianSkipGram.load(path).train()
        assert_same_tables(model, trained)

    @pytest.mark.parametrize("place", ["changed", "gone", "URL", "secret", "old"])
    def test_a_recorded_corpus_is_opened_only_if_it_is_the_one_recorded(
        self, path, tmp_path, place, monkeypatch
    ):
        text, secret = tmp_path / "corpus.txt", tmp_path / "secret"
        text.write_text("\n".join(" ".join(sentence) for sentence in SENTENCES), encoding="utf-8")
        secret.write_bytes(text.read_bytes()[::-1])
        model = BayesianSkipGram(**SETTINGS)
        model.build_vocab(corpus_file=text)
        model.save(path)
        expected = str(text)
        if place == "changed":
            text.write_text("something else", encoding="utf-8")
        elif place == "gone":
            text.unlink()
        elif place == "old":  # from before fingerprints were kept
            rewrite(path, drop("corpus_fingerprint"))
        else:
            expected = "https://example.org/corpus.txt" if place == "URL" else str(secret)
            rewrite(path, put("corpus_file", value=expected))
        model = BayesianSkipGram.load(path)
        monkeypatch.setattr("densvec.text.source.open_binary", lambda path: pytest.fail(f"{path} was opened"))
        with pytest.raises(RuntimeError, match=re.escape(repr(expected))):
            model.train()
        monkeypatch.undo()
        before = path.read_bytes()
        model.save(path)
        assert path.read_bytes() == before or place == "old"
        assert model.train(SENTENCES, resume=True).epochs_trained == SETTINGS["epochs"]

    def test_a_finished_model_has_nothing_to_do_and_a_loaded_one_wants_its_corpus(self, path, trained):
        trained.save(path)
        assert BayesianSkipGram.load(path).train().train_count == trained.train_count
        interrupted(epoch=2).save(path)
        with pytest.raises(RuntimeError, match="corpus is not available"):
            BayesianSkipGram.load(path).train()

    def test_the_vocabulary_can_grow_after_loading(self, path, trained):
        trained.save(path)
        grown = []
        for model in (BayesianSkipGram.load(path), BayesianSkipGram.load(path, mmap="r")):
            model.build_vocab([["xylograph", "the"]] * 9, update=True)
            model.train([["xylograph", "the"]] * 9, total_examples=9, epochs=2)
            grown.append(model)
        assert "xylograph" in grown[0].wv
        assert_same_tables(*grown)


class TestCheckpoints:
    def test_a_killed_training_goes_on_from_its_checkpoint(self, path):
        """The process is gone: only the checkpoint of epoch 2 is left, in the middle of epoch 3."""
        whole = BayesianSkipGram(SENTENCES, **SETTINGS)
        chunks = math.ceil(whole.corpus_total_words / 500)
        model = BayesianSkipGram(**SETTINGS)
        model.build_vocab(SENTENCES)
        with pytest.raises(KeyboardInterrupt):
            model.train(callbacks=[Checkpoint(path), Interrupt(chunk=2 * chunks + 3)])
        del model
        model = BayesianSkipGram.load(path)
        assert model.epochs_trained == 2
        model.train(SENTENCES)
        assert_same_tables(model, whole)

    @pytest.mark.parametrize("backend", ["native", "torch"])
    def test_a_checkpoint_within_an_epoch_is_exact(self, path, backend):
        settings = {**SETTINGS, "backend": backend, "device": "cpu", "batch_words": 100}
        whole = BayesianSkipGram(FEW, **settings)
        model = BayesianSkipGram(**settings)
        model.build_vocab(FEW)
        checkpoint = Checkpoint(path, every_epochs=None, every_minutes=0)
        with pytest.raises(KeyboardInterrupt):
            model.train(callbacks=[checkpoint, Interrupt(chunk=13)])
        del model
        model = BayesianSkipGram.load(path)
        assert model._run.tally.chunks
        model.train(FEW)
        assert_same_tables(model, whole)

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
    def test_a_training_process_that_was_killed(self, path, trained):
        """The same, in earnest: SIGKILL while it trains and saves after every chunk."""
        script = """
            import sys
            sys.path.insert(0, ".")
            from densvec.callbacks import Checkpoint
            from densvec import BayesianSkipGram
            from tests.model.saved import SENTENCES, SETTINGS
            model = BayesianSkipGram(**SETTINGS)
            model.build_vocab(SENTENCES)
            class Report:
                def on_batch_end(self, model):
                    print(model._run.number, flush=True)
            model.train(callbacks=[Checkpoint(sys.argv[1], every_minutes=0), Report()])
        """
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script), str(path)],
            stdout=subprocess.PIPE,
            cwd=pathlib.Path(__file__).parents[2],
        )
        with process:
            for line in process.stdout:
                if line.strip() == b"2":  # the third epoch
                    process.kill()
                    break
        model = BayesianSkipGram.load(path)
        assert not model._run.finished
        model.train(SENTENCES)
        assert_same_tables(model, trained)
        assert losses(model) == losses(trained)

    def test_checkpoints_do_not_disturb_training(self, path):
        plain = BayesianSkipGram(SENTENCES, **SETTINGS)
        watched = BayesianSkipGram(SENTENCES, **SETTINGS, callbacks=[Checkpoint(path, every_minutes=0)])
        assert_same_tables(plain, watched)
        assert_same_tables(plain, BayesianSkipGram.load(path))
        assert BayesianSkipGram.load(path).epochs_trained == 5

    def test_with_several_workers_every_checkpoint_is_whole(self, path):
        class Reload:
            loaded = 0

            def on_batch_end(self, model):
                BayesianSkipGram.load(path)
                self.loaded += 1

        settings = {**SETTINGS, "workers": 4, "epochs": 2}
        reload = Reload()
        BayesianSkipGram(SENTENCES, **settings, callbacks=[Checkpoint(path, every_minutes=0), reload])
        assert reload.loaded > 10
