"""fastText's models in Python: words that they do not know have vectors of their n-grams, as gensim gives them."""

import struct
from pathlib import Path

import gensim
import numpy as np
import pytest
from gensim.models import FastText
from gensim.models.fasttext import load_facebook_vectors, save_facebook_model

from densvec import KeyedDensities

TEXT = [["the", "café", "日本", "dogs"], ["dog", "and", "dogs", "walk"]] * 10
UNKNOWN = ["doggy", "日本語", "x", "a very long one indeed", "cafés"]


@pytest.fixture(scope="module")
def model():
    return FastText(TEXT, vector_size=6, min_count=1, epochs=1, bucket=100, workers=1, min_n=1, max_n=5)


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("fasttext") / "model.bin"
    save_facebook_model(model, str(path))
    return path


@pytest.fixture(params=[None, "r", "float32", "int8"])
def wv(request, path, tmp_path):
    """The words of the file, or of one of densvec's made of it."""
    if request.param in (None, "r"):
        return KeyedDensities.load(path, mmap=request.param)
    KeyedDensities.load(path).save(tmp_path / "model.dv", dtype=request.param)
    return KeyedDensities.load(tmp_path / "model.dv", mmap="r")


def near(vector, other):
    return np.allclose(vector, other, atol=2e-3)


def test_unknown_words_have_vectors(wv, model):
    assert wv.index_to_key == model.wv.index_to_key
    for word in [*model.wv.index_to_key, *UNKNOWN]:
        assert near(wv[word], model.wv[word]), word
        assert near(np.linalg.norm(wv.get_vector(word, norm=True)), 1)
    assert near(wv[["dog", "doggy"]], model.wv[["dog", "doggy"]])
    assert "doggy" not in wv
    assert wv["\ud800"].shape == (6,)


def test_what_can_be_asked_of_them(wv, model):
    assert wv.similarity("doggy", "dogs") == pytest.approx(model.wv.similarity("doggy", "dogs"), abs=0.02)
    asked = ["doggy", "dogs"]
    theirs = [word for word, _ in model.wv.most_similar(asked, topn=2)]
    assert [word for word, _ in wv.most_similar(asked, topn=2)] == theirs
    assert [word for word, _ in wv.most_similar_cosmul(asked, topn=1)] == theirs[:1]
    assert [len(found) for found in wv.most_similar_batch(asked, topn=3)] == [3, 3]
    assert near(wv.get_mean_vector(["doggy", "dog"]), model.wv.get_mean_vector(["doggy", "dog"]))


def test_words_are_added_by_their_ngrams(wv, model):
    chosen = wv.vectors_for_all(["walking", "dog", "walking"])
    assert chosen.index_to_key == ["dog", "walking"]
    assert near(chosen["walking"], model.wv["walking"])
    assert near(chosen["doggy"], model.wv["doggy"])
    assert wv.vectors_for_all(["walking", "dog"], allow_inference=False).index_to_key == ["dog"]
    assert near(wv.restrict(2)["doggy"], model.wv["doggy"])


def test_ngrams_can_be_left_out(path, tmp_path):
    KeyedDensities.load(path).save(tmp_path / "model.dv", ignore="ngrams")
    with pytest.raises(KeyError):
        KeyedDensities.load(tmp_path / "model.dv")["doggy"]


def test_a_model_of_fasttext_before_0_1():
    path = Path(gensim.__file__).parent / "test" / "test_data" / "lee_fasttext_new.bin"
    if not path.exists():
        pytest.skip("this gensim has no test data")
    wv, keyed = KeyedDensities.load(path, mmap="r"), load_facebook_vectors(str(path))
    assert wv.index_to_key == keyed.index_to_key
    # fastText takes the mark of a sentence's end for one n-gram, gensim for several.
    for word in {*wv.index_to_key, "unheard", "of"} - {"</s>"}:
        assert np.allclose(wv[word], keyed[word], atol=1e-5), word


def test_labels_have_no_ngrams(path, model, tmp_path):
    """Of a classifier: labels stand after the words, but the rows of n-grams follow those of the words."""
    whole = path.read_bytes()
    start = struct.Struct("<2i12idiiiqq")
    *head, size, words, _, tokens, pruned = start.unpack_from(whole)
    place = start.size
    for _ in range(size):
        place = whole.index(b"\0", place) + 10
    label = b"__label__x\0" + struct.pack("<qb", 5, 1)
    header = start.pack(*head, size + 1, words, 1, tokens, pruned)
    (tmp_path / "labels.bin").write_bytes(header + whole[start.size : place] + label + whole[place:])
    wv = KeyedDensities.load(tmp_path / "labels.bin")
    for word in [*model.wv.index_to_key, "doggy"]:
        assert near(wv[word], model.wv[word]), word
