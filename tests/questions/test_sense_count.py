"""How many senses generated words have: clouds of points, and words between others."""

import numpy as np
import pytest

from densvec.questions.sense_count import Usual, induce
from densvec.statistics.clusters import adjusted_rand_index


def usual_words(rng, number=60, count=80):
    return [rng.normal(size=(count, 5)) + rng.normal(scale=3.0, size=5) for _ in range(number)]


def clouds(rng, number, count=80, distance=6.0):
    """Return points about `number` centres that are equally far from each other."""
    centres = np.eye(5)[:number] * distance
    return np.concatenate([rng.normal(size=(count, 5)) + centre for centre in centres])


def nearness_of_words(rng, number, senses=1):
    """Return nearness to 1, 5 and 30 words, and to 5 over theirs, for words of so many senses."""
    return 0.7 / np.sqrt(senses) * np.array([1.0, 0.9, 0.8, 1.2]) + rng.normal(scale=0.05, size=(number, 4))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_clouds_are_counted_and_told_apart(number):
    rng = np.random.default_rng(1)
    usual = Usual(usual_words(rng), nearness_of_words(rng, 60))
    right = []
    for _ in range(10):
        labels, found = induce(clouds(rng, number), usual, near=nearness_of_words(rng, 1, number)[0])
        right.append(len(np.unique(labels)) == number)
        assert (found is None) == (len(np.unique(labels)) == 1)
        if right[-1]:
            assert adjusted_rand_index(labels, np.repeat(np.arange(number), 80)) > 0.9
    assert np.mean(right) >= 0.7


def test_a_smaller_significance_finds_fewer_senses_and_never_more_than_the_most():
    rng = np.random.default_rng(2)
    usual = Usual(usual_words(rng), nearness_of_words(rng, 60))
    points, near = clouds(rng, 3, distance=3.0), nearness_of_words(rng, 1, 3)[0]
    numbers = [len(np.unique(induce(points, usual, significance=s, near=near)[0])) for s in (0, 0.1, 0.5, 1)]
    assert numbers == sorted(numbers)
    assert numbers[0] == 1
    assert numbers[-1] > 1
    assert len(np.unique(induce(points, usual, 2, 1.0, near=near)[0])) == 2


def test_without_other_words_or_with_few_occurrences_nothing_is_split():
    rng = np.random.default_rng(3)
    assert len(np.unique(induce(clouds(rng, 2), Usual([]))[0])) == 1
    usual = Usual(usual_words(rng), nearness_of_words(rng, 60))
    few = clouds(rng, 2, count=5)
    assert len(np.unique(induce(few, usual, near=nearness_of_words(rng, 1, 2)[0])[0])) == 1
