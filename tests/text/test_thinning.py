"""What follows from counts: gensim as the oracle."""

import numpy as np
import pytest
from gensim.models import Word2Vec

from densvec.text.thinning import keep_probabilities, noise_weights


@pytest.mark.parametrize("sample", [1e-5, 1e-3, 0.05, 1, 2.5, 100, 0])
def test_keep_probabilities_are_gensims(sample):
    model = Word2Vec(min_count=1, sample=sample, vector_size=1)
    model.build_vocab_from_freq({f"w{i}": 2**i for i in range(20)})
    theirs = model.wv.expandos["sample_int"] / 2**32
    counts = model.wv.expandos["count"]
    np.testing.assert_allclose(keep_probabilities(counts, sample), theirs, rtol=1e-6, atol=1e-9)


def test_keep_probabilities_of_odd_arguments():
    with pytest.raises(ValueError, match="negative"):
        keep_probabilities([1], -0.5)
    assert keep_probabilities([0, 10], 1e-3)[0] == 1
    np.testing.assert_allclose(keep_probabilities([10], 0.01, total=100), [np.sqrt(0.1) + 0.1])


def test_noise_weights():
    counts = np.array([100, 10, 1])
    np.testing.assert_allclose(noise_weights(counts, 0), [1, 1, 1])
    np.testing.assert_allclose(noise_weights(counts, -1), [0.01, 0.1, 1])
    np.testing.assert_allclose(noise_weights(counts, "subsampled", [0.1, 1, 1]), [10, 10, 1])
    np.testing.assert_allclose(noise_weights(counts, "auto", [0.1, 1, 1]), [10**0.75, 10**0.75, 1])
    assert np.isfinite(noise_weights([0, 1], -1)).all()
    with pytest.raises(ValueError, match="squared"):
        noise_weights(counts, "squared")
    for without_keep in ("auto", "subsampled"):
        with pytest.raises(ValueError, match="keep"):
            noise_weights(counts, without_keep)
