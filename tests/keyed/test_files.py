"""Saving and loading: everything comes back, and damage is named."""

import pathlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from densvec import DensvecFileError, KeyedDensities
from densvec.encoder import Encoder
from densvec.files import persistence
from densvec.keyed.saving import header_of, tensors_of


def make(covariance="spherical", encoder=True):
    rng = np.random.default_rng(4)
    width = {None: None, "spherical": 1, "diagonal": 3}[covariance]
    wv = KeyedDensities(3, covariance=covariance, window=7)
    words = ["dog", "naïve", "犬", "a b", "\U0001f415"]
    log_variances = None if width is None else rng.normal(size=(5, width))
    wv.add_vectors(words, rng.normal(size=(5, 3)), {"count": np.arange(5)}, log_variances=log_variances)
    if encoder and width:
        shapes = [(5, 2), (2, 4), (2, 4), (4, 3), (3,), (4, width), (width,)]
        wv.encoder = Encoder(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))
    wv.set_vecattr("dog", "weight", 2.5)
    wv.set_vecattr("dog", "kind", "noun")
    wv.set_vecattr("dog", "flag", True)
    return wv


def assert_equal(one, other):
    assert one.index_to_key == other.index_to_key
    assert one.key_to_index == other.key_to_index
    assert_array_equal(one.vectors, other.vectors)
    assert one.vectors.dtype == other.vectors.dtype
    assert one.covariance == other.covariance
    if one.log_variances is not None:
        assert_array_equal(one.log_variances, other.log_variances)
    assert (one.encoder is None) == (other.encoder is None)
    if one.encoder is not None:
        for name, array in one.encoder.arrays().items():
            assert_array_equal(array, other.encoder.arrays()[name])
    assert one.expandos.keys() == other.expandos.keys()
    for name, values in one.expandos.items():
        assert_array_equal(values, other.expandos[name])
        assert values.dtype == other.expandos[name].dtype
    assert one.window == other.window
    assert one.vector_size == other.vector_size


@pytest.mark.parametrize("covariance", [None, "spherical", "diagonal"])
@pytest.mark.parametrize("mmap", [None, "r", "c"])
@pytest.mark.parametrize("kind", [str, pathlib.Path])
def test_round_trip(tmp_path, covariance, mmap, kind):
    wv = make(covariance)
    path = kind(tmp_path / "words.dv")
    wv.save(path)
    loaded = KeyedDensities.load(path, mmap=mmap)
    assert_equal(wv, loaded)
    assert repr(loaded) == repr(wv)
    assert loaded.most_similar("dog") == wv.most_similar("dog")
    if covariance:
        assert loaded.most_similar("dog", metric="kl") == wv.most_similar("dog", metric="kl")
        assert loaded.infer("naïve", word="dog") == wv.infer("naïve", word="dog")


@pytest.mark.parametrize("residual", [False, True])
def test_the_kind_of_encoder_comes_back(tmp_path, residual):
    wv = make()
    wv.encoder.residual = residual
    wv.save(tmp_path / "words.dv")
    assert KeyedDensities.load(tmp_path / "words.dv").encoder.residual == residual


def test_context_vectors_come_back_and_grow(tmp_path):
    wv = make(None)
    wv.context_vectors = np.arange(15, dtype=np.float32).reshape(5, 3)
    wv.save(tmp_path / "words.dv")
    loaded = KeyedDensities.load(tmp_path / "words.dv")
    assert_array_equal(loaded.context_vectors, wv.context_vectors)
    loaded["new"] = [1, 2, 3]
    assert_array_equal(loaded.context_vectors[-1], [0, 0, 0])
    assert_array_equal(wv.vectors_for_all(["a b"]).context_vectors, [[9, 10, 11]])


def test_empty_round_trip(tmp_path):
    KeyedDensities(4, covariance="diagonal").save(tmp_path / "empty.dv")
    loaded = KeyedDensities.load(tmp_path / "empty.dv")
    assert (len(loaded), loaded.vector_size, loaded.covariance) == (0, 4, "diagonal")


def test_a_loaded_object_can_grow(tmp_path):
    make().save(tmp_path / "words.dv")
    loaded = KeyedDensities.load(tmp_path / "words.dv", mmap="r")
    loaded.add_vectors(["new"], np.ones((1, 3)))
    assert loaded["new"].tolist() == [1, 1, 1]
    assert len(loaded.encoder.embeddings) == 6


def test_gensims_arguments_are_accepted(tmp_path):
    make().save(str(tmp_path / "words.dv"), separately=[], sep_limit=1, ignore=frozenset(), pickle_protocol=4)
    with pytest.raises(TypeError, match="nonsense"):
        make().save(tmp_path / "words.dv", nonsense=1)


def test_only_words_can_be_saved(tmp_path):
    wv = KeyedDensities(2)
    wv.add_vectors([1, 2], np.ones((2, 2)))
    with pytest.raises(ValueError, match="only words can be saved as keys: got 1 of type int"):
        wv.save(tmp_path / "words.dv")
    with pytest.raises(ValueError, match="only words"):
        KeyedDensities(2, count=3).save(tmp_path / "words.dv")


def damaged(change):
    """A file whose tensors or header were changed."""
    wv = make()
    tensors, header = tensors_of(wv), header_of(wv)
    change(tensors, header)
    return tensors, header


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors, header: tensors.pop("means"),
        lambda tensors, header: tensors.pop("vocabulary.bytes"),
        lambda tensors, header: tensors.update(means=np.ones((4, 3), np.float32)),
        lambda tensors, header: tensors.update(means=np.ones(5, np.float32)),
        lambda tensors, header: tensors.update(means=np.ones((5, 3), np.int64)),
        lambda tensors, header: tensors.update(log_variances=np.ones((5, 2), np.float32)),
        lambda tensors, header: tensors.update({"vocabulary.counts": np.ones(4, np.int64)}),
        lambda tensors, header: tensors.update({"attributes.weight": np.ones((5, 1))}),
        lambda tensors, header: tensors.pop("encoder.mean_bias"),
        lambda tensors, header: tensors.update({"encoder.mean_bias": np.ones((3, 1), np.float32)}),
        lambda tensors, header: tensors.update({"encoder.mean_bias": np.ones(4, np.float32)}),
        lambda tensors, header: tensors.update({"encoder.embeddings": np.ones((4, 2), np.float32)}),
        lambda tensors, header: header.pop("window"),
        lambda tensors, header: header.update(window="wide"),
        lambda tensors, header: header.update(window=0),
        lambda tensors, header: header["attributes"].update(kind=["noun"]),
        lambda tensors, header: header["attributes"].update(kind="noun"),
    ],
)
def test_what_does_not_fit_together_is_refused(tmp_path, change):
    path = tmp_path / "words.dv"
    persistence.write(path, *damaged(change))
    with pytest.raises(DensvecFileError, match=r"words\.dv"):
        KeyedDensities.load(path)


def test_foreign_files_are_named(tmp_path):
    path = tmp_path / "vectors.txt"
    make().vectors_for_all(["dog"]).save_word2vec_format(path)
    with pytest.raises(DensvecFileError, match=r"vectors\.txt"):
        KeyedDensities.load(path)
    with pytest.raises(FileNotFoundError):
        KeyedDensities.load(tmp_path / "nothing")
