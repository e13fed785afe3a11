from types import SimpleNamespace

import numpy as np
import pytest

from densvec.evaluation import Bootstrap, generality_frequency


def make(log_variances, counts):
    size = len(log_variances)
    return SimpleNamespace(
        key_to_index={f"w{i}": i for i in range(size)},
        vectors=np.zeros((size, 3)),
        log_variances=np.asarray(log_variances, dtype=np.float32),
        expandos={"count": np.asarray(counts)},
    )


@pytest.mark.parametrize("columns", [1, 3])
def test_the_correlation_is_numpys(columns):
    rng = np.random.default_rng(0)
    log_variances, counts = rng.normal(size=(40, columns)), rng.integers(1, 1000, size=40)
    result = generality_frequency(make(log_variances, counts))
    expected = np.corrcoef(log_variances.sum(axis=1), np.log(counts))[0, 1]
    assert float(result.pearson) == pytest.approx(expected, abs=1e-6)
    assert result.words == 40


def test_generality_that_follows_frequency_correlates_fully():
    counts = np.array([1, 10, 100, 1000])
    assert float(generality_frequency(make(np.log(counts)[:, None], counts)).pearson) == pytest.approx(1)


def test_words_that_do_not_occur_are_left_out_and_topn_takes_the_most_frequent():
    wv = make([[9.0], [1.0], [2.0], [-5.0]], [0, 10, 100, 1])
    assert generality_frequency(wv).words == 3
    top = generality_frequency(wv, topn=2)
    assert (top.words, float(top.pearson)) == (2, pytest.approx(1))


def test_an_interval_on_request():
    rng = np.random.default_rng(1)
    estimate = generality_frequency(
        make(rng.normal(size=(200, 1)), rng.integers(1, 99, 200)), bootstrap=Bootstrap(200)
    ).pearson
    assert estimate.low < estimate.value < estimate.high


def test_vectors_without_variances_are_refused():
    wv = make([[1.0]], [1])
    wv.log_variances = None
    with pytest.raises(ValueError, match="no log_variances"):
        generality_frequency(wv)
    wv = make([[1.0]], [1])
    del wv.expandos
    with pytest.raises(ValueError, match="no counts"):
        generality_frequency(wv)
