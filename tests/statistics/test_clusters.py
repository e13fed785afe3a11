import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec.statistics.clusters import adjusted_rand_index, kmeans

labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40)


def ari_by_counting_pairs(first, second):
    """The definition, over all pairs of items."""
    n = len(first)
    together = [(first[i] == first[j], second[i] == second[j]) for i in range(n) for j in range(i)]
    both, a, b = sum(x and y for x, y in together), sum(x for x, _ in together), sum(y for _, y in together)
    expected = a * b / len(together)
    return (both - expected) / ((a + b) / 2 - expected)


@given(labels)
def test_ari_is_its_definition(pairs):
    first, second = zip(*pairs, strict=True)
    if len(set(first)) in (1, len(first)) and len(set(second)) in (1, len(second)):
        return  # 0/0
    assert adjusted_rand_index(first, second) == pytest.approx(ari_by_counting_pairs(first, second))


@given(labels)
def test_ari_is_symmetric(pairs):
    first, second = zip(*pairs, strict=True)
    assert adjusted_rand_index(first, second) == pytest.approx(adjusted_rand_index(second, first))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40))
def test_a_partition_agrees_with_itself_whatever_the_names(first):
    assert adjusted_rand_index(first, first) == 1
    assert adjusted_rand_index(first, [f"cluster {7 - label}" for label in first]) == 1


def test_random_partitions_have_ari_0_on_average():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 50)
    found = [adjusted_rand_index(truth, rng.integers(2, size=100)) for _ in range(400)]
    assert abs(np.mean(found)) < 0.005


def test_ari_agrees_with_a_published_example():
    # Contingency table 1 1 0 / 1 2 1 / 0 0 4: Yeung and Ruzzo (2001), "Details of the adjusted Rand index".
    first = [0] * 2 + [1] * 4 + [2] * 4
    second = [0, 1, 0, 1, 1, 2, 2, 2, 2, 2]
    assert adjusted_rand_index(first, second) == pytest.approx(0.313, abs=5e-4)


def test_ari_needs_the_same_items():
    with pytest.raises(ValueError, match="of 2 and 3 items"):
        adjusted_rand_index([0, 1], [0, 1, 1])
    assert np.isnan(adjusted_rand_index([], []))


@pytest.mark.parametrize("seed", range(5))
def test_kmeans_finds_clusters_that_lie_apart(seed):
    rng = np.random.default_rng(seed)
    centres = np.array([[0, 0, 0], [9, 0, 0], [0, 9, 0], [0, 0, 9.0]]) + 1000
    truth = rng.permutation(np.repeat(range(4), 25))
    points = centres[truth] + rng.normal(size=(100, 3))
    assert adjusted_rand_index(truth, kmeans(points, 4, seed=seed)) == 1


def test_kmeans_is_no_worse_than_scipys():
    from scipy.cluster.vq import kmeans2

    def inertia(found):
        return sum(((points[found == k] - points[found == k].mean(axis=0)) ** 2).sum() for k in set(found))

    points = np.random.default_rng(1).normal(size=(200, 4))
    theirs = min(inertia(kmeans2(points, 3, minit="++", seed=seed)[1]) for seed in range(10))
    assert inertia(kmeans(points, 3)) <= theirs * 1.01


def test_kmeans_of_equal_points_and_of_too_many_clusters():
    assert set(kmeans(np.ones((5, 2)), 2)) <= {0, 1}
    assert len(set(kmeans(np.arange(3.0)[:, None], 3))) == 3
    with pytest.raises(ValueError, match="clusters=4 must be between 1 and the number of points, 3"):
        kmeans(np.ones((3, 2)), 4)


@pytest.mark.parametrize("module", ["densvec.evaluation", "densvec.keyed", "densvec.statistics.clusters"])
def test_rooms_can_be_imported_in_any_order(module):
    done = subprocess.run(
        [sys.executable, "-c", f"import {module}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
