from types import SimpleNamespace

import numpy as np
import pytest

from densvec.evaluation import Lexicon
from densvec.evaluation.lexicon import kl_divergence, unit


def make(words, vectors, **more):
    return SimpleNamespace(
        key_to_index={word: row for row, word in enumerate(words)}, vectors=np.array(vectors, float), **more
    )


def test_words_are_looked_up_lower_cased_then_as_they_stand():
    lexicon = Lexicon(make(["paris", "Paris", "BSE"], np.eye(3)))
    assert [lexicon.index(word) for word in ("Paris", "paris", "BSE", "bse", "PARIS")] == [0, 0, 2, -1, 0]


def test_a_gensim_model_brings_its_output_vectors_and_counts():
    from gensim.models import Word2Vec

    model = Word2Vec([["a", "b", "a", "c"]] * 5, vector_size=4, min_count=1, sg=1, negative=2, epochs=1)
    lexicon = Lexicon(model)
    assert lexicon.context_vectors is model.syn1neg
    assert [lexicon.counts()[lexicon.index(word)] for word in "abc"] == [10, 5, 5]
    assert Lexicon(model.wv).context_vectors is None
    assert lexicon.cosine(np.array([0]), np.array([1])) == pytest.approx(
        model.wv.similarity(*model.wv.index_to_key[:2]), abs=1e-6
    )


def test_counts_come_from_get_vecattr_when_there_are_no_expandos():
    counts = {"a": 3, "b": 2}
    wv = make("ab", np.eye(2), get_vecattr=lambda word, name: counts[word])
    assert Lexicon(wv).counts().tolist() == [3, 2]


def test_a_model_without_counts_has_none():
    from gensim.models import KeyedVectors

    wv = KeyedVectors(2)
    wv.add_vectors(["a", "b"], np.eye(2, dtype=np.float32))
    assert Lexicon(wv).counts() is None
    assert Lexicon(make("ab", np.eye(2))).counts() is None


def test_what_has_no_vectors_is_refused_by_name():
    with pytest.raises(TypeError, match=r"cannot evaluate a dict.*'key_to_index'"):
        Lexicon({})


def test_output_vectors_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"\(3, 2\).*\(2, 2\)"):
        Lexicon(make("ab", np.eye(2)), context_vectors=np.ones((3, 2)))


def test_kl_without_variances_is_refused():
    with pytest.raises(ValueError, match="no log_variances"):
        Lexicon(make("ab", np.eye(2))).kl(np.array([0]), np.array([1]))


@pytest.mark.parametrize("columns", [1, 4])
def test_kl_and_generality_agree_with_torch(columns):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from torch.distributions import Independent, Normal
    from torch.distributions import kl_divergence as torch_kl

    rng = np.random.default_rng(1)
    means, log_variances = rng.normal(size=(6, 4)), rng.normal(size=(6, columns))
    lexicon = Lexicon(make("abcdef", means, log_variances=log_variances))
    first, second = np.array([0, 1, 2]), np.array([3, 4, 4])
    scale = torch.tensor(np.broadcast_to(np.exp(log_variances / 2), means.shape).copy())
    q, p = (Independent(Normal(torch.tensor(means)[i], scale[i]), 1) for i in (first, second))
    assert lexicon.kl(first, second) == pytest.approx(torch_kl(q, p).numpy())
    covariance = torch.diag_embed(scale**2)
    assert lexicon.generality() == pytest.approx(torch.logdet(covariance).numpy())


def test_kl_of_a_density_with_itself_is_zero():
    mean, log_variance = np.array([[1.0, 2.0]]), np.array([[-3.0]])
    assert kl_divergence(mean, log_variance, mean, log_variance) == pytest.approx(0)


def test_a_zero_vector_has_no_direction():
    assert unit(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist() == [[0.0, 0.0], [0.6, 0.8]]


def test_keyed_densities_are_understood():
    from densvec.keyed import KeyedDensities

    rng = np.random.default_rng(2)
    wv = KeyedDensities(3, covariance="spherical")
    wv.add_vectors(["dog", "animal"], rng.normal(size=(2, 3)).astype(np.float32))
    wv.log_variances = np.array([[-1.0], [0.5]], dtype=np.float32)
    wv.set_vecattr("dog", "count", 7)
    lexicon = Lexicon(wv)
    rows = lexicon.indices(["dog", "animal"])
    assert lexicon.kl(rows[:1], rows[1:])[0] == pytest.approx(wv.kl_divergence("dog", "animal"), rel=1e-5)
    assert lexicon.cosine(rows[:1], rows[1:])[0] == pytest.approx(wv.similarity("dog", "animal"), abs=1e-6)
    assert lexicon.generality() == pytest.approx(wv.generality(["dog", "animal"]), rel=1e-5)
    assert lexicon.counts()[0] == 7
    assert lexicon.encoder is None
