"""Robust regression: what is usual, and what is not."""

import numpy as np
import pytest

from densvec.statistics.robust import unusual


@pytest.fixture
def sample():
    """Values whose level and spread depend on two features."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 4000))
    noise = rng.normal(size=4000) * np.exp(0.5 * a)
    return a, b, 1.0 + 2.0 * a - b + 0.5 * a * b + noise, noise


def test_scores_are_standard_deviations_whatever_the_features(sample):
    a, b, values, noise = sample
    scores = unusual([a, b], values)
    assert np.corrcoef(scores, noise / np.exp(0.5 * a))[0, 1] > 0.99
    for part in (a < -1, np.abs(a) < 1, a > 1):
        assert abs(scores[part].mean()) < 0.15
        assert 0.85 < scores[part].std() < 1.15
    assert 0.03 < np.mean(scores > 1.645) < 0.07


def test_a_few_unusual_values_change_little(sample):
    a, b, values, _ = sample
    spoilt = values.copy()
    spoilt[::40] += 100.0
    clean, robust = (unusual([a, b], each)[1::40] for each in (values, spoilt))
    assert np.abs(clean - robust).mean() < 0.15
    found = unusual([a, b], spoilt)
    assert set(np.argsort(-found)[:100]) == set(range(0, 4000, 40))


def test_features_may_have_any_scale(sample):
    a, b, values, _ = sample
    plain = unusual([a, b], values)
    moved = unusual([1e3 * a + 1e4, 1e-3 * b], values)
    np.testing.assert_allclose(plain, moved, atol=1e-6)


@pytest.mark.parametrize("count", [1, 2, 10, 50, 100])
def test_few_values_are_enough_for_scores(count):
    rng = np.random.default_rng(count)
    values = rng.normal(size=count)
    feature = rng.normal(size=count)
    scores = unusual([feature], values)
    assert scores.shape == (count,)
    assert np.isfinite(scores).all()


def test_without_any_spread_nothing_is_unusual():
    feature = np.linspace(0.0, 1.0, 100)
    assert not unusual([feature], np.ones(100)).any()
