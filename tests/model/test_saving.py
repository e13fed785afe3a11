"""Saved models: everything comes back, training goes on bit for bit, and files of others are refused."""

import io
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from densvec import BayesianSkipGram, KeyedDensities, SkipGram, Word2Gauss
from densvec.callbacks import Checkpoint
from densvec.datasets import toy_language
from densvec.files import persistence
from densvec.files.persistence import DensvecFileError

SENTENCES = list(toy_language(600, seed=3))
FEW = SENTENCES[:100]
SETTINGS = {
    "vector_size": 6,
    "min_count": 2,
    "epochs": 5,
    "workers": 1,
    "sample": 1e-2,
    "batch_words": 500,
    "seed": 11,
}


class Interrupt:
    """Interrupts training as Ctrl-C would: after an epoch, or after so many chunks."""

    def __init__(self, epoch=None, chunk=None):
        self.epoch, self.chunk, self.chunks = epoch, chunk, 0

    def on_epoch_end(self, model):
        if model.epochs_trained == self.epoch:
            raise KeyboardInterrupt

    def on_batch_end(self, model):
        self.chunks += 1
        if self.chunks == self.chunk:
            raise KeyboardInterrupt


def interrupted(sentences=SENTENCES, **when):
    """Return a model that was stopped on its way through 5 epochs."""
    settings = {**SETTINGS, **when.pop("settings", {})}
    model = BayesianSkipGram(**settings)
    model.build_vocab(sentences)
    with pytest.raises(KeyboardInterrupt):
        model.train(callbacks=[Interrupt(**when)])
    return model


def assert_same_tables(a, b):
    first, second = a._tensors(), b._tensors()
    assert set(first) == set(second)
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)
        assert array.dtype == second[name].dtype


def losses(model):
    return [(entry.epoch, entry.loss, entry.hinge, entry.kl, entry.words) for entry in model.loss_history]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.dv"


@pytest.fixture(scope="module")
def trained():
    return BayesianSkipGram(SENTENCES, **SETTINGS)


class TestRoundTrips:
    @pytest.mark.parametrize("mmap", [None, "r", "c"])
    @pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
    def test_everything_comes_back_and_saves_to_the_same_bytes(self, path, covariance, mmap):
        parameters = {
            **SETTINGS,
            "window": 3,
            "negative": 4,
            "ns_exponent": 0.5,
            "hidden_size": 9,
            "margin": 2.5,
            "pairing": "paired",
            "covariance": covariance,
            "residual": covariance == "diagonal",
            "kl_weight": 0.5,
            "nearness": 1.0,
            "rates": {
                "mean": 3.0,
                "log_variance": 1.0,
                "contrast": 0.5,
                "coverage": 0.2,
                "embedding": 1.5,
                "encoder": 0.01,
            },
            "comment": "é\0 \U0001f600",
            "max_final_vocab": 500,
            "shrink_windows": True,
            "min_alpha": 0.001,
            "epochs": 2,
        }
        model = BayesianSkipGram(SENTENCES, **parameters)
        model.add_lifecycle_event("checked", by="me")
        model.save(path)
        again = BayesianSkipGram.load(path, mmap=mmap)
        assert_same_tables(model, again)
        for name, value in parameters.items():
            assert getattr(again, name) == value, name
        for name in (
            "corpus_count",
            "corpus_total_words",
            "train_count",
            "epochs_trained",
            "total_train_time",
        ):
            assert getattr(again, name) == getattr(model, name), name
        assert again.loss_history == model.loss_history
        assert again.lifecycle_events == model.lifecycle_events
        assert again.wv.index_to_key == model.wv.index_to_key
        assert again.wv.window == 3
        assert again.wv.encoder.residual == parameters["residual"]
        assert KeyedDensities.load(path).encoder.residual == parameters["residual"]
        content = path.read_bytes()
        again.save(path)
        assert path.read_bytes() == content
        model.save(path)
        assert path.read_bytes() == content

    def test_models_in_every_stage(self, path):
        fresh = BayesianSkipGram(**SETTINGS)
        fresh.save(path)
        assert len(BayesianSkipGram.load(path).wv) == 0
        fresh.build_vocab(SENTENCES)
        fresh.save(path)
        loaded = BayesianSkipGram.load(path)
        assert_same_tables(fresh, loaded)
        assert loaded.train_count == 0

    def test_words_and_attributes_of_any_kind(self, path):
        words = ["New York", "\U0001f600", "line\nbreak", "nul\0inside", "\ud800", "日本語"]
        model = BayesianSkipGram([words] * 9, vector_size=3, min_count=1, workers=1, epochs=1)
        model.wv.set_vecattr("nul\0inside", "score", 2.5)
        model.wv.expandos["name"] = np.array(["x", None, 3, "é", "", "\0"], dtype=object)
        model.save(path)
        again = BayesianSkipGram.load(path)
        assert again.wv.index_to_key == model.wv.index_to_key
        assert again.wv.get_vecattr("nul\0inside", "score") == 2.5
        assert list(again.wv.expandos["name"]) == list(model.wv.expandos["name"])

    def test_losses_that_are_no_numbers(self, path):
        model = BayesianSkipGram([["a"]] * 9, vector_size=3, min_count=1, workers=1, epochs=1)
        assert math.isnan(model.loss_history[0].loss)  # no context, no loss
        model.save(path)
        assert math.isnan(BayesianSkipGram.load(path).loss_history[0].loss)

    def test_the_model_answers_as_before(self, path, trained):
        trained.save(path)
        again = BayesianSkipGram.load(path, mmap="r")
        word, context = SENTENCES[0][1], SENTENCES[0]
        assert again.infer_posterior(word, context) == trained.infer_posterior(word, context)
        assert again.substitutes(word, context) == trained.substitutes(word, context)

    def test_open_files_and_compressed_ones(self, tmp_path, trained):
        buffer = io.BytesIO()
        trained.save(buffer)
        buffer.seek(0)
        assert_same_tables(trained, BayesianSkipGram.load(buffer))
        trained.save(tmp_path / "model.dv.gz")
        assert_same_tables(trained, BayesianSkipGram.load(tmp_path / "model.dv.gz"))

    def test_the_header_is_readable(self, path, trained):
        trained.save(path)
        _, header = persistence.read(path)
        assert header["class"] == "BayesianSkipGram"
        assert header["format_version"] == 1
        assert header["parameters"]["vector_size"] == 6
        assert header["counters"]["corpus_total_words"] == trained.corpus_total_words
        assert {event["event"] for event in header["lifecycle_events"]} >= {"created", "train"}
        assert set(header["provenance"]) == {"created", "created_by", "saved_by"}


class TestGensimsArguments:
    def test_they_are_accepted(self, path, trained):
        trained.save(str(path), separately=["wv"], sep_limit=1, ignore=["cum_table"], pickle_protocol=2)
        assert os.listdir(path.parent) == [path.name]
        assert_same_tables(trained, BayesianSkipGram.load(str(path)))

    def test_training_state_can_be_left_out(self, path, trained):
        trained.save(path)
        whole = path.stat().st_size
        trained.save(path, ignore=["training"])
        assert path.stat().st_size < whole
        again = BayesianSkipGram.load(path)
        assert_same_tables(trained.wv, again.wv)
        again.train(SENTENCES, total_examples=again.corpus_count, epochs=1)

    @pytest.mark.parametrize(
        "name", ["wv", "encoder", "encoder.mean_bias", "means", "count", "vocabulary.bytes"]
    )
    def test_what_cannot_be_left_out(self, path, trained, name):
        with pytest.raises(ValueError, match="could not be loaded"):
            trained.save(path, ignore=[name])
        assert not path.exists()


class TestOtherClasses:
    def test_keyed_densities_take_what_they_need_from_a_model(self, path, trained):
        trained.save(path)
        for mmap in (None, "r"):
            wv = KeyedDensities.load(path, mmap=mmap)
            assert_same_tables(trained.wv, wv)
            assert wv.window == trained.window
        tensors, _ = persistence.read(path)
        for name in list(tensors):  # so much so that damage to the rest does not matter
            if name.startswith("training."):
                tensors[name] = np.zeros(3)
        persistence.write(path, tensors, persistence.read(path)[1])
        assert_same_tables(trained.wv, KeyedDensities.load(path))

    def test_a_model_from_a_wv_file_says_what_is_missing(self, path, trained):
        trained.wv.save(path)
        with pytest.raises(
            DensvecFileError, match=r"model\.dv: .*KeyedDensities, not a BayesianSkipGram"
        ) as caught:
            BayesianSkipGram.load(path)
        assert "without the parameters and the training state" in str(caught.value)
        assert "KeyedDensities.load" in str(caught.value)

    def test_both_classes_are_named(self, path, trained):
        trained.save(path)
        tensors, header = persistence.read(path)
        persistence.write(path, tensors, {**header, "class": "Word2Gauss"})
        with pytest.raises(DensvecFileError, match="holds a Word2Gauss, not a BayesianSkipGram"):
            BayesianSkipGram.load(path)

    def test_subclasses_load_their_own(self, path):
        class Mine(BayesianSkipGram):
            pass

        Mine(SENTENCES[:50], **{**SETTINGS, "epochs": 1}).save(path)
        assert type(Mine.load(path)) is Mine
        with pytest.raises(DensvecFileError, match="holds a Mine, not a BayesianSkipGram"):
            BayesianSkipGram.load(path)


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
        monkeypatch.setattr("densvec.corpora.open_binary", lambda path: pytest.fail(f"{path} was opened"))
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


BASELINES = [
    (SkipGram, {}),
    (Word2Gauss, {"covariance": "spherical"}),
    (Word2Gauss, {"covariance": "diagonal"}),
]


@pytest.mark.parametrize(("cls", "own"), BASELINES)
class TestBaselines:
    """The paper's other models are saved by the same rules."""

    def test_everything_comes_back_and_saves_to_the_same_bytes(self, path, cls, own):
        model = cls(SENTENCES, **SETTINGS, **own)
        model.save(path)
        content = path.read_bytes()
        for mmap in (None, "r"):
            again = cls.load(path, mmap=mmap)
            assert_same_tables(model, again)
            assert again.loss_history == model.loss_history
            for name in cls.parameter_names():
                assert getattr(again, name) == getattr(model, name), name
            again.save(path)
            assert path.read_bytes() == content
        assert_same_tables(model.wv, KeyedDensities.load(path))

    @pytest.mark.parametrize("when", [{"epoch": 2}, {"chunk": 9}])
    def test_two_and_three_epochs_are_five(self, path, cls, own, when):
        whole = cls(SENTENCES, **SETTINGS, **own)
        model = cls(**SETTINGS, **own)
        model.build_vocab(SENTENCES)
        with pytest.raises(KeyboardInterrupt):
            model.train(callbacks=[Interrupt(**when)])
        model.save(path)
        model = cls.load(path)
        model.train(SENTENCES)
        assert_same_tables(model, whole)
        assert losses(model) == losses(whole)

    def test_files_of_other_classes_are_refused_by_name(self, path, cls, own, trained):
        trained.save(path)
        with pytest.raises(DensvecFileError, match=f"holds a BayesianSkipGram, not a {cls.__name__}"):
            cls.load(path)
        cls(SENTENCES, **{**SETTINGS, "epochs": 1}, **own).save(path)
        with pytest.raises(DensvecFileError, match=f"holds a {cls.__name__}, not a BayesianSkipGram"):
            BayesianSkipGram.load(path)

    def test_arrays_of_the_wrong_shape_or_type_are_refused(self, path, cls, own):
        model = cls(SENTENCES, **{**SETTINGS, "epochs": 1}, **own)
        model.save(path)
        for name, array in persistence.read(path)[0].items():
            if name.startswith(("means", "log_variances", "training.")) and array.size > 1:
                for wrong in (array[:-1], array.astype(np.float16)):
                    model.save(path)
                    rewrite(path, lambda tensors, header, n=name, w=wrong: tensors.update({n: w}))
                    with pytest.raises(DensvecFileError, match=r"model\.dv: ."):
                        cls.load(path)


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
            from tests.model.test_saving import SENTENCES, SETTINGS, BayesianSkipGram
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


def rewrite(path, edit):
    tensors, header = persistence.read(path)
    edit(tensors, header)
    persistence.write(path, tensors, header)


def put(*keys, value):
    """Return an edit of the header: ``header[keys...] = value``."""

    def edit(tensors, header):
        *way, last = keys
        for key in way:
            header = header[key]
        header[last] = value

    return edit


def drop(*keys):
    def edit(tensors, header):
        *way, last = keys
        for key in way:
            header = header[key]
        del header[last]

    return edit


def replace(name, change):
    def edit(tensors, header):
        tensors[name] = change(tensors[name])

    return edit


def count_raw_words(count):
    def edit(tensors, header):
        tensors |= {f"raw_{name}": array for name, array in persistence.pack_words(["rare"]).items()}
        tensors["raw_vocabulary.counts"] = np.array([count])

    return edit


class TestDamage:
    @pytest.mark.parametrize(
        ("edit", "fault"),
        [
            (drop("parameters"), "parameters"),
            (put("parameters", value=[]), "parameters"),
            (drop("parameters", "margin"), "lack 'margin'"),
            (put("parameters", "vector_size", value=7), "size 6, the parameters say"),
            (put("parameters", "vector_size", value="6"), "vector_size"),
            (put("parameters", "vector_size", value=2**40), "size 6, the parameters say"),
            (put("parameters", "covariance", value="diagonal"), "spherical of size 6, the parameters say"),
            (put("parameters", "covariance", value="round"), "round"),
            (put("parameters", "hidden_size", value=5), "encoder.context_layer"),
            (put("parameters", "window", value=0), "window"),
            (put("parameters", "rates", value={"mean": "fast"}), "real number|not supported|must be"),
            (put("parameters", "epochs", value=-1), "epochs"),
            (drop("counters"), "counters"),
            (put("counters", "train_count", value="many"), "train_count"),
            (put("counters", "epochs_trained", value=2**60), "epochs_trained .* too great"),
            (put("loss_history", value={}), "loss_history"),
            (put("loss_history", value=[5]), "loss_history"),
            (put("loss_history", value=[{"epoch": 1}]), "loss"),
            (put("lifecycle_events", value="none"), "lifecycle_events"),
            (put("corpus_file", value=5), "corpus_file"),
            (put("run", value=3), "run"),
            (put("run", "epochs", value=0), "epochs"),
            (put("run", "epoch", value=-1), "epoch"),
            (put("run", "tally", "chunks", value=-7), "chunks"),
            (put("run", "tally", "result", value=None), "result"),
            (put("run", "start_alpha", value={"$": 1}), "start_alpha"),
            (replace("means", lambda a: a[:, :5]), "size 5|dimensions"),
            (replace("means", lambda a: a.astype(np.float16)), "means is float16"),
            (replace("encoder.embeddings", lambda a: a[:-1]), "words"),
            (replace("encoder.mean_head", lambda a: a.astype(np.float64)), "float64"),
            (replace("training.embedding_squares", lambda a: a[:-1]), "training.embedding_squares"),
            (replace("training.adam_first.mean_head", lambda a: a.T.copy()[:-1]), "adam_first.mean_head"),
            (replace("training.adam_steps", lambda a: a.astype(np.float64)), "adam_steps is float64"),
            (lambda tensors, header: tensors.pop("training.adam_steps"), "training.adam_steps"),
            (lambda tensors, header: tensors.pop("log_variances"), "parameters say"),
            (lambda tensors, header: tensors.pop("vocabulary.counts"), "vocabulary.counts"),
            (replace("vocabulary.counts", lambda a: -a), "counts holds negative numbers"),
            (count_raw_words(-1), "raw_vocabulary.counts holds negative numbers"),
            (replace("training.embedding_squares", lambda a: -a - 1), "squares holds negative numbers"),
            (
                replace("training.adam_second.mean_bias", lambda a: -a - 1),
                "adam_second.mean_bias holds negative",
            ),
            (replace("training.adam_steps", lambda a: -a - 1), "adam_steps holds negative numbers"),
            (
                lambda tensors, header: tensors.update({"attributes.count": tensors["vocabulary.counts"]}),
                "counts",
            ),
            (put("attributes", "count", value=["many"]), "counts"),
            (put("parameters", "window", value=300_000_000), "window=300000000 is too large"),
            (put("parameters", "batch_words", value=2**40), "batch_words=1099511627776 is too large"),
            (put("reading", "window", value=300_000_000), "window=300000000 is too large"),
            (put("counters", "train_count", value=-1), "train_count"),
            (put("counters", "total_train_time", value=-1.0), "total_train_time"),
            (put("loss_history", 0, "words", value=-1), "words"),
            (put("loss_history", 0, "seconds", value=-1.0), "seconds"),
            (put("run", "epoch", value=2**50), "epochs"),
            (put("run", "own", value="yes"), "own"),
            (put("run", "tally", "seconds", value="long"), "seconds"),
            (put("run", "tally", "result", "centres", value=-1), "centres"),
            (put("corpus_fingerprint", value="none"), "corpus_fingerprint"),
        ],
    )
    def test_what_does_not_belong_together_is_refused(self, path, trained, edit, fault):
        trained.save(path)
        rewrite(path, edit)
        for mmap in (None, "r"):
            with pytest.raises(DensvecFileError, match=rf"model\.dv: .*({fault})"):
                BayesianSkipGram.load(path, mmap=mmap)

    def test_a_model_without_its_encoder_is_refused(self, path, trained):
        trained.save(path)
        tensors, header = persistence.read(path, only=lambda name: not name.startswith("encoder."))
        persistence.write(path, tensors, header)
        with pytest.raises(DensvecFileError, match=r"encoder\.embeddings"):
            BayesianSkipGram.load(path)

    def test_a_failed_save_leaves_model_and_file_as_they_were(self, path, trained):
        trained.save(path)
        content = path.read_bytes()
        trained.add_lifecycle_event("odd", thing=object())
        with pytest.raises(TypeError, match=r"lifecycle_events.*thing"):
            trained.save(path)
        trained.lifecycle_events.pop()
        assert path.read_bytes() == content
        trained.save(path)
        assert path.read_bytes() == content


def test_no_json_in_the_file_depends_on_the_machine_but_what_says_so(path, trained):
    """Names of users and directories are nobody's business: only lifecycle events tell the platform."""
    trained.save(path)
    _, header = persistence.read(path)
    del header["lifecycle_events"]
    assert str(pathlib.Path.cwd()) not in json.dumps(header)
    assert str(path.parent) not in json.dumps(header)
