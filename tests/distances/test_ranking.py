import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from densvec.distances.ranking import BestOfBlocks, best

scores = st.integers(1, 5).flatmap(
    lambda rows: st.integers(1, 40).flatmap(
        lambda columns: arrays(np.float32, (rows, columns), elements=st.integers(-5, 5).map(float))
    )
)


@given(scores, st.integers(1, 50))
def test_best_scores_come_first(scores, count):
    found = best(scores[0], count)
    assert len(found) == min(count, scores.shape[1])
    assert_array_equal(scores[0][found], np.sort(scores[0])[::-1][:count])
    assert len(set(found.tolist())) == len(found)


@given(scores, st.integers(1, 10), st.integers(1, 12))
def test_blocks_give_the_best_of_all(scores, count, width):
    collected = BestOfBlocks(len(scores), count)
    for start in range(0, scores.shape[1], width):
        collected.add(start, scores[:, start : start + width])
    for row, (columns, values) in zip(scores, collected.result(), strict=True):
        # Lower columns first among equals: a stable sort says which.
        expected = np.argsort(-row, kind="stable")[:count]
        assert_array_equal(columns, expected)
        assert_array_equal(values, row[expected])


def test_nan_comes_last():
    assert best(np.array([np.nan, 1.0, 2.0]), 2).tolist() == [2, 1]


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(65, 700))
def test_wide_blocks_give_the_best_of_all(seed, count, width):
    scores = np.random.default_rng(seed).integers(-200, 200, (3, 1500)).astype(np.float32)
    collected = BestOfBlocks(len(scores), count)
    for start in range(0, scores.shape[1], width):
        collected.add(start, scores[:, start : start + width])
    for row, (columns, values) in zip(scores, collected.result(), strict=True):
        expected = np.argsort(-row, kind="stable")[:count]
        assert_array_equal(columns, expected)
        assert_array_equal(values, row[expected])
