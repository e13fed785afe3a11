"""The noise of positions between two models: its directions and its sizes are recovered."""

import numpy as np
import pytest

from densvec.statistics.training_noise import TrainingNoise


def positions(seed=1, count=4000):
    """Return the positions of words in two models, the features of the noise, and what made them."""
    rng = np.random.default_rng(seed)
    words = rng.normal(size=(count, 4)) * [3.0, 1.0, 1.0, 0.0]  # words do not differ in the last direction
    sizes = np.exp(rng.normal(scale=0.5, size=count))
    deviations = np.array([0.3, 0.1, 0.5, 0.3])
    before, after = (
        words + rng.normal(size=words.shape) * deviations * np.sqrt(sizes)[:, None] for _ in range(2)
    )
    return before, after, [np.log(sizes)], sizes, deviations


def test_distances_are_those_of_the_true_covariances():
    before, after, features, sizes, deviations = positions()
    found = TrainingNoise(before, after, features).distances(before, after, features)
    shrunk = 0.75 * deviations**2 + 0.25 * np.mean(deviations**2)
    noise = 2 * shrunk * sizes[:, None]
    weights = 1 / noise - 1 / (noise + 2 * np.array([9.0, 1.0, 1.0, 0.0]))
    true = np.sqrt(((before - after) ** 2 * weights).sum(axis=1))
    assert np.corrcoef(found, true)[0, 1] > 0.995
    assert np.median(found / true) == pytest.approx(1, abs=0.03)


def test_a_direction_in_which_words_do_not_differ_counts_for_nothing():
    before, after, features, _, _ = positions()
    noise = TrainingNoise(before, after, features)
    moved = [after.copy(), after.copy()]
    moved[0][0, 1] += 3
    moved[1][0, 3] += 3
    useful, useless = (noise.distances(before, each, features)[0] for each in moved)
    assert useful > 8 > 3 > useless


def test_turning_the_space_changes_nothing():
    before, after, features, _, _ = positions()
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(4, 4)))[0]
    one, other = (
        TrainingNoise(a, b, features).distances(a, b, features)
        for a, b in ((before, after), (before @ turn, after @ turn))
    )
    assert one == pytest.approx(other, rel=1e-6)


def test_words_that_move_to_others_are_told_from_noise():
    rng = np.random.default_rng(4)
    before = rng.normal(size=(1000, 30))
    after = before + 0.1 * rng.normal(size=before.shape)
    after[:20] = (before[:20] + before[500:520]) / 2
    features = [np.zeros(len(before))]
    noise = TrainingNoise(before, after, features)
    gained, lost = noise.aims(before, after, features, 1000), noise.aims(after, before, features, 1000)
    assert np.median(gained[:20]) > np.quantile(gained[20:], 0.95)
    assert gained == pytest.approx(lost, abs=1e-5)
    assert np.all((gained > 0) & (gained <= 1))


def test_a_few_words_that_moved_far_do_not_make_noise():
    before, after, features, _, _ = positions()
    moved = after.copy()
    moved[:100] = np.random.default_rng(3).permutation(after[:100])
    calm, shaken = (
        TrainingNoise(before, each, features).distances(before, after, features) for each in (after, moved)
    )
    assert np.median(shaken / calm) == pytest.approx(1, abs=0.05)


def test_without_any_noise_distances_are_finite():
    before, _, features, _, _ = positions(count=50)
    assert TrainingNoise(before, before, features).distances(before, before, features).max() == 0
