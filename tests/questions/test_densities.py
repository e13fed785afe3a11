import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from densvec import Gaussian, KeyedDensities


@pytest.fixture(params=["spherical", "diagonal"])
def wv(request):
    rng = np.random.default_rng(1)
    wv = KeyedDensities(4, covariance=request.param)
    width = 1 if request.param == "spherical" else 4
    words = [f"w{i}" for i in range(20)]
    wv.add_vectors(words, rng.normal(size=(20, 4)), log_variances=rng.normal(size=(20, width)))
    return wv


def test_densities_are_rows_of_the_tables(wv):
    assert wv.means is wv.vectors
    assert_array_equal(wv.variances, np.exp(wv.log_variances))
    assert_array_equal(wv.get_variance("w3"), wv.variances[3])
    assert_array_equal(wv.get_variance(["w3", 5]), wv.variances[[3, 5]])
    assert wv.density("w3") == Gaussian(wv.vectors[3], wv.variances[3])
    assert wv.density(["w3", "w5"])[1] == wv.density("w5")
    with pytest.raises(KeyError):
        wv.density("nope")


def test_kl_entailment_and_direction(wv):
    assert wv.kl_divergence("w1", "w2") == float(wv.density("w1").kl(wv.density("w2")))
    assert wv.kl_divergence(wv.density("w1"), "w2") == wv.kl_divergence("w1", "w2")
    assert wv.entailment("w1", "w2") == -wv.kl_divergence("w1", "w2")
    assert wv.direction("w1", "w2") == wv.kl_divergence("w2", "w1") - wv.kl_divergence("w1", "w2")
    assert wv.direction("w1", "w2") == -wv.direction("w2", "w1")
    many = wv.kl_divergence(wv.density(["w1", "w2"]), "w1")
    assert many.tolist() == [wv.kl_divergence("w1", "w1"), wv.kl_divergence("w2", "w1")]


def test_generality_is_the_log_determinant(wv):
    expected = np.linalg.slogdet(np.broadcast_to(wv.variances[3], 4) * np.eye(4))[1]
    assert_allclose(wv.generality("w3"), expected, rtol=1e-6)
    assert isinstance(wv.generality("w3"), float)
    assert wv.generality(["w3", "w4"]).shape == (2,)


def test_a_wider_word_is_more_general_and_entailed():
    wv = KeyedDensities(2, covariance="spherical")
    wv.add_vectors(["dog", "animal"], [[1, 0], [1, 0.5]], log_variances=[[-1], [1]])
    assert wv.generality("animal") > wv.generality("dog")
    assert wv.direction("dog", "animal") > 0
    assert wv.entailment("dog", "animal") > wv.entailment("animal", "dog")


def test_means_alone_answer_cosine_and_refuse_densities():
    wv = KeyedDensities(2)
    wv.add_vectors(["a", "b"], [[1, 0], [1, 1]])
    assert wv.log_variances is None
    assert wv.most_similar("a", topn=1)[0][0] == "b"
    questions = [
        lambda: wv.variances,
        lambda: wv.get_variance("a"),
        lambda: wv.density("a"),
        lambda: wv.kl_divergence("a", "b"),
        lambda: wv.generality("a"),
        lambda: wv.direction("a", "b"),
        lambda: wv.most_similar("a", metric="kl"),
        lambda: wv.most_similar_batch(["a"], metric="kl"),
        lambda: wv.distance("a", "b", metric="wasserstein"),
        lambda: wv.distances("a", metric="wasserstein"),
        lambda: wv.rank("a", "b", metric="jeffreys"),
    ]
    for question in questions:
        with pytest.raises(ValueError, match="only means here, no variances"):
            question()
    with pytest.raises(ValueError, match="no encoder"):
        wv.infer("a", word="b")
