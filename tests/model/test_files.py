"""Models in files."""

import numpy as np
import pytest

from densvec import BayesianSkipGram
from densvec.files.persistence import DensvecFileError
from tests.model.cases import MORE, SENTENCES, assert_same_bits, make


def test_a_model_comes_back_from_its_file_as_it_was(tmp_path):
    model = make(
        SENTENCES, comment="a test", covariance="diagonal", hidden_size=5, margin=2.0, ns_exponent=0.5
    )
    model.wv.set_vecattr("user", "note", 7)
    model.build_vocab(MORE, update=True, keep_raw_vocab=True)
    model.add_lifecycle_event("reviewed", by="Ada")
    path = tmp_path / "model.dv"
    model.save(path)
    for mmap in (None, "r"):
        loaded = BayesianSkipGram.load(path, mmap=mmap)
        assert_same_bits(model, loaded)
        header, again = model._header(), loaded._header()
        assert again.pop("provenance") is not None
        header.pop("provenance")
        assert again == header
        assert loaded.raw_vocab == model.raw_vocab
        assert loaded.wv.index_to_key == model.wv.index_to_key
    loaded.save(tmp_path / "again.dv")
    assert (tmp_path / "again.dv").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("built", [False, True])
def test_a_model_that_was_not_trained_can_be_saved(built, tmp_path):
    model = make()
    if built:
        model.build_vocab(SENTENCES)
    model.save(tmp_path / "model.dv")
    loaded = BayesianSkipGram.load(tmp_path / "model.dv")
    assert len(loaded.wv) == (12 if built else 0)
    if not built:
        loaded.build_vocab(SENTENCES)
        loaded.train()
    else:
        loaded.train(SENTENCES, resume=True)
    assert_same_bits(loaded, make(SENTENCES))


def test_densities_can_be_loaded_from_a_models_file(tmp_path):
    from densvec.keyed import KeyedDensities

    model = make(SENTENCES, window=3)
    model.save(tmp_path / "model.dv")
    wv = KeyedDensities.load(tmp_path / "model.dv")
    np.testing.assert_array_equal(wv.vectors, model.wv.vectors)
    assert wv.window == 3
    assert wv.infer(["system"], word="user") == model.infer_posterior("user", ["system"])


def test_a_file_that_is_no_model_is_refused_by_name(tmp_path):
    model = make(SENTENCES)
    model.wv.save(tmp_path / "words.dv")
    with pytest.raises(DensvecFileError, match=r"words\.dv.*KeyedDensities"):
        BayesianSkipGram.load(tmp_path / "words.dv")
    (tmp_path / "text.dv").write_text("hello")
    with pytest.raises(DensvecFileError, match=r"text\.dv"):
        BayesianSkipGram.load(tmp_path / "text.dv")


def test_a_mapped_model_is_trained_without_touching_its_file(tmp_path):
    model = make(SENTENCES)
    path = tmp_path / "model.dv"
    model.save(path)
    before = path.read_bytes()
    mapped = BayesianSkipGram.load(path, mmap="r")
    mapped.train(SENTENCES, total_examples=9, epochs=1)
    assert path.read_bytes() == before
    model.train(SENTENCES, total_examples=9, epochs=1)
    assert_same_bits(mapped, model)
