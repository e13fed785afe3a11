"""KeyedDensities from arrays: taken over, and refused when they do not belong together."""

import numpy as np
import pytest

from densvec import KeyedDensities

WORDS = ["animal", "dog", "cat"]


def test_arrays_are_taken_over():
    means, log_variances = np.ones((3, 2)), np.zeros((3, 1))
    wv = KeyedDensities.from_arrays(WORDS, means, log_variances=log_variances, window=7)
    assert wv.vectors is means
    assert wv.log_variances is log_variances
    assert (wv.index_to_key, wv.get_index("cat"), wv.window, wv.covariance) == (WORDS, 2, 7, "spherical")
    assert wv.expandos["count"].tolist() == [3, 2, 1]
    wv.add_vectors(["car"], [[0.0, 1.0]])
    assert wv.get_index("car") == 3
    assert len(WORDS) == 3


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"keys": ["dog", "cat"]}, "means has shape .* 2 words"),
        ({"keys": ["dog", "cat", "dog"]}, "'dog' occurs more than once"),
        ({"means": np.ones(3)}, r"means have shape \(3,\)"),
        ({"log_variances": np.ones((2, 1))}, "log_variances has shape"),
        ({"log_variances": np.ones((3, 3))}, "log_variances has 3 columns, not 1 or 2"),
        ({"context_vectors": np.ones((3, 1))}, "context_vectors has 1 columns, not 2"),
        ({"attributes": {"count": np.ones(2)}}, "'count' has 2 values for 3 words"),
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(changes, fault):
    with pytest.raises(ValueError, match=fault):
        KeyedDensities.from_arrays(**{"keys": WORDS, "means": np.ones((3, 2)), **changes})


def test_what_is_derived_is_dropped_as_a_whole():
    wv = KeyedDensities.from_arrays(WORDS, np.eye(3, 2), log_variances=np.zeros((3, 1)))
    wv.most_similar("dog", metric="kl")
    wv.most_similar("dog")
    wv.vectors[0] = 5.0
    wv.norms = None
    assert wv.similarity("animal", "dog") == pytest.approx(0.5**0.5)
    assert wv.distances("dog", metric="kl")[0] == pytest.approx((25 + 16) / 2)


def test_what_follows_from_counts_follows_new_counts():
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(50)]
    wv = KeyedDensities.from_arrays(words, rng.normal(size=(50, 4)), log_variances=rng.normal(size=(50, 1)))
    before = wv.hypernymy_scale, wv.generality("w7", adjust="frequency")
    for i, word in enumerate(words):
        wv.set_vecattr(word, "count", 1 + 1000 * (i % 7))
    assert wv.hypernymy_scale != before[0]
    assert wv.generality("w7", adjust="frequency") != before[1]
