"""Mixtures in the space of words: generated words whose directions and senses are known."""

import numpy as np
import pytest

from densvec.questions.sense_space import SenseSpace, mixture
from densvec.statistics.clusters import adjusted_rand_index


def words(rng, number=120, count=40, noise=(1.0, 1.0, 6.0)):
    """Return words that differ in the first of three dimensions and whose occurrences vary most in the last."""
    return [rng.normal(size=(count, 3)) * noise + [rng.normal(scale=3.0), 0, 0] for _ in range(number)]


def test_the_space_has_variance_one_within_words_and_puts_what_tells_them_apart_first():
    rng = np.random.default_rng(1)
    space = SenseSpace(words(rng))
    others = [space(points) for points in words(rng)]
    assert np.mean([points.var(axis=0, ddof=1) for points in others], axis=0).max() == pytest.approx(
        1, abs=0.3
    )
    first = np.array([points.mean(axis=0) for points in others]).var(axis=0)
    assert first[0] > 20 * first[1:].max()
    # The ridge widens what is narrow: a variance between words of 9 over one of 1 within is about 9 / 2.27.
    assert space.between[0] == pytest.approx(first[0], rel=0.5)


def test_a_direction_in_which_one_word_varies_is_not_taken_for_its_senses():
    rng = np.random.default_rng(2)
    space = SenseSpace(words(rng))
    two = np.concatenate([rng.normal(size=(100, 3)) * [1, 1, 6] + [side, 0, 0] for side in (-4, 4)])
    labels = mixture(space(two), 2, space.between).labels
    assert adjusted_rand_index(labels, np.repeat([0, 1], 100)) > 0.8


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_evidence_is_highest_for_the_true_number(number):
    rng = np.random.default_rng(3)
    between = np.full(5, 20.0)
    points = np.concatenate([rng.normal(size=(60, 5)) + centre for centre in 8 * np.eye(5)[:number]])
    evidence = [mixture(points, count, between).evidence for count in range(1, 6)]
    assert np.argmax(evidence) == number - 1


def test_components_keep_their_points_in_another_order_and_elsewhere():
    rng = np.random.default_rng(4)
    points = np.concatenate([rng.normal(size=(50, 2)) + centre for centre in ([0, 0], [9, 0], [0, 9])]) + 100
    found = mixture(points, 3, np.full(2, 20.0))
    assert np.array_equal(found.most_likely(points), found.labels)
    order = np.array([2, 0, 1])
    assert np.array_equal(order[found.ordered(order).labels], found.labels)
    moved = mixture(points - 1000, 3, np.full(2, 20.0))
    assert np.array_equal(moved.labels, found.labels)
    assert moved.evidence == pytest.approx(found.evidence)
