"""Saved models: everything comes back, and files of others are refused."""

import io
import json
import math
import os
import pathlib

import numpy as np
import pytest

from densvec import BayesianSkipGram, KeyedDensities, SkipGram, Word2Gauss
from densvec.files import persistence
from densvec.files.persistence import DensvecFileError
from tests.model.saved import (
    SENTENCES,
    SETTINGS,
    Interrupt,
    assert_same_tables,
    losses,
    rewrite,
)


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


def test_no_json_in_the_file_depends_on_the_machine_but_what_says_so(path, trained):
    """Names of users and directories are nobody's business: only lifecycle events tell the platform."""
    trained.save(path)
    _, header = persistence.read(path)
    del header["lifecycle_events"]
    assert str(pathlib.Path.cwd()) not in json.dumps(header)
    assert str(path.parent) not in json.dumps(header)
