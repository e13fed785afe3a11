"""Log-variances beyond what exp can take: training neither spoils the tables nor leaves the rules of C."""

import numpy as np
import pytest

from densvec.native import _bsg, _skipgram, _word2gauss
from densvec.training.tables import bayesian_state
from tests.training.cases import arrays_of, make_chunk, make_wv

CHUNK = make_chunk([[0, 1, 2, 3, 4, 5]], words=6)
RATES = {
    "mean": 0.075,
    "log_variance": 0.075,
    "contrast": 0.04,
    "coverage": 0.02,
    "embedding": 0.05,
    "encoder": 3e-4,
}


@pytest.mark.parametrize("extreme", [90.0, -90.0, 1e6, -1e6, 3e38, -3e38])
@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
def test_extreme_log_variances_leave_the_means_finite(extreme, covariance):
    wv = make_wv(6, 5, covariance=covariance, dtype=np.float32)
    wv.log_variances[::2] = extreme
    tables = arrays_of(wv)
    _bsg.Kernel(tables, bayesian_state(tables), margin=5.0, kl_weight=1.0).step(CHUNK, **RATES)
    assert np.isfinite(wv.vectors).all()

    tables = {"means": wv.vectors, "log_variances": wv.log_variances}
    kernel = _word2gauss.Kernel(tables, margin=5.0, energy="kl", low=-3.0, high=3.0, longest=100.0)
    kernel.step(CHUNK, mean=0.1, log_variance=0.05)
    assert np.isfinite(wv.vectors).all()


@pytest.mark.parametrize("score", [100.0, -100.0, 1e6])
def test_extreme_scores_leave_the_vectors_of_skipgram_finite(score):
    vectors = np.full((6, 4), 1.0, np.float32)
    contexts = np.full((6, 4), score / 4, np.float32)
    tables = {"means": vectors, "context_vectors": contexts}
    loss, centres = _skipgram.Kernel(tables).step(CHUNK, 0.05)
    assert centres == 6
    assert np.isfinite(loss)
    assert np.isfinite(vectors).all()
    assert np.isfinite(contexts).all()
