"""Exchange with gensim, the projector and pandas."""

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from numpy.testing import assert_allclose, assert_array_equal

from densvec import KeyedDensities

WORDS = ["dog", "naïve", "犬", "cat"]


@pytest.fixture(params=["spherical", "diagonal"])
def wv(request):
    rng = np.random.default_rng(5)
    width = 1 if request.param == "spherical" else 3
    wv = KeyedDensities(3, covariance=request.param)
    counts = {"count": np.array([5, 9, 2, 7])}
    wv.add_vectors(WORDS, rng.normal(size=(4, 3)), counts, log_variances=rng.normal(size=(4, width)))
    return wv


def test_gensim_and_back(wv):
    keyed = wv.to_gensim()
    assert isinstance(keyed, KeyedVectors)
    assert keyed.get_vecattr("naïve", "count") == 9
    theirs, ours = keyed.most_similar("dog", topn=3), wv.most_similar("dog", topn=3)
    assert [word for word, _ in theirs] == [word for word, _ in ours]
    keyed.vectors[0] = 0
    assert wv.vectors[0].any()
    back = KeyedDensities.from_gensim(wv.to_gensim())
    assert back.index_to_key == wv.index_to_key
    assert_array_equal(back.vectors, wv.vectors)
    assert back.get_vecattr("naïve", "count") == 9
    assert back.log_variances is None


def test_from_a_gensim_model():
    model = Word2Vec([["a", "b", "c"]] * 5, vector_size=4, min_count=1, workers=1, seed=1)
    wv = KeyedDensities.from_gensim(model)
    assert_array_equal(wv["a"], model.wv["a"])
    assert wv.get_vecattr("a", "count") == 5


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("header", [False, True])
def test_word2vec_format_with_variances(tmp_path, wv, binary, header):
    if binary and not header:
        pytest.skip("a binary file needs its header")
    means, variances = tmp_path / "means", tmp_path / "variances"
    wv.save_word2vec_format(means, binary=binary, write_header=header, variances=variances)
    loaded = KeyedDensities.load_word2vec_format(
        means, binary=binary, no_header=not header, variances=variances
    )
    assert loaded.index_to_key == ["naïve", "cat", "dog", "犬"]  # by descending count
    assert loaded.covariance == wv.covariance
    for word in WORDS:
        assert_array_equal(loaded[word], wv[word])
        assert_allclose(loaded.get_variance(word), wv.get_variance(word), rtol=1e-5)
    limited = KeyedDensities.load_word2vec_format(
        means, binary=binary, no_header=not header, variances=variances, limit=2
    )
    assert limited.log_variances.shape[0] == 2
    assert_array_equal(
        KeyedVectors.load_word2vec_format(str(means), binary=binary, no_header=not header)["dog"], wv["dog"]
    )


def test_companions_that_do_not_fit_are_named(tmp_path, wv):
    means, variances = tmp_path / "means", tmp_path / "variances"
    wv.save_word2vec_format(means)
    for text, message in [
        ("1 1\ndog 1\n", "variances has no variance for 3 words, such as 'naïve'"),
        ("4 2\ndog 1 1\nnaïve 1 1\n犬 1 1\ncat 1 1\n", "variances has 2 variances for each word"),
        ("4 1\ndog 1\nnaïve 0\n犬 1\ncat 1\n", "variances: the variance of 'naïve' is"),
        ("4 1\ndog 1\nnaïve nan\n犬 1\ncat 1\n", "variances: NaN or infinity among the numbers of 'naïve'"),
        ("4 1\ndog 1\nnaïve\n犬 1\ncat 1\n", "variances: line 3"),
    ]:
        variances.write_text(text, encoding="utf8")
        with pytest.raises(ValueError, match=message):
            KeyedDensities.load_word2vec_format(means, variances=variances)


def test_dataframe(wv):
    frame = wv.to_dataframe()
    assert list(frame.index) == WORDS
    assert_allclose(frame["generality"], wv.generality(WORDS))
    assert frame["count"].tolist() == [5, 9, 2, 7]
    assert_array_equal(frame[["mean_0", "mean_1", "mean_2"]], wv.vectors)
    if wv.covariance == "spherical":
        assert_array_equal(frame[["variance"]], wv.variances)
    else:
        assert_array_equal(frame[["variance_0", "variance_1", "variance_2"]], wv.variances)
    assert "generality" not in KeyedDensities.from_gensim(wv.to_gensim()).to_dataframe()


@pytest.mark.parametrize(
    ("module", "call"), [("gensim.models", "to_gensim"), ("pandas", "to_dataframe"), ("ot", "wmdistance")]
)
def test_missing_packages_are_named(wv, monkeypatch, module, call):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    arguments = (["dog"], ["cat"]) if call == "wmdistance" else ()
    with pytest.raises(ImportError, match="pip install"):
        getattr(wv, call)(*arguments)
