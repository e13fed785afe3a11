import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from densvec.statistics.bootstrap import Bootstrap, Estimate
from densvec.statistics.weighted import mean


def mean_of(values, bootstrap):
    values = np.asarray(values, dtype=float)
    return bootstrap.estimate([mean(values)], np.arange(len(values)))[0]


def test_the_value_is_the_statistic_of_the_items_themselves():
    assert mean_of([1, 2, 6], Bootstrap(50)).value == pytest.approx(3)


def test_every_resample_has_as_many_items_as_the_benchmark():
    blocks = list(Bootstrap(100).weights(30))
    assert sum(len(block) for block in blocks) == 100
    assert all((block.sum(axis=1) == 30).all() for block in blocks)


def test_the_interval_of_a_mean_is_that_of_the_normal_approximation():
    values = np.random.default_rng(0).normal(size=400)
    estimate = mean_of(values, Bootstrap(4000))
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert estimate.high - estimate.low == pytest.approx(2 * half, rel=0.1)
    assert estimate.low < values.mean() < estimate.high


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(200):
        estimate = mean_of(rng.random(60), Bootstrap(300, level=0.9))
        hits += estimate.low < 0.5 < estimate.high
    assert 165 <= hits <= 195  # 180 expected


def test_a_higher_level_is_a_wider_interval():
    values = np.random.default_rng(2).random(50)
    narrow, wide = (mean_of(values, Bootstrap(500, level=level)) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_same_seed_gives_the_same_interval_and_another_another():
    values = np.random.default_rng(3).random(40)
    assert mean_of(values, Bootstrap(100, seed=4)) == mean_of(values, Bootstrap(100, seed=4))
    assert mean_of(values, Bootstrap(100, seed=4)) != mean_of(values, Bootstrap(100, seed=5))


def test_no_resamples_no_interval():
    estimate = mean_of([1, 2], Bootstrap(0))
    assert estimate.low is None
    assert str(estimate) == "1.500"


@given(arrays(float, st.integers(2, 30), elements=st.floats(-5, 5)), st.floats(-2, 2))
def test_a_paired_difference_by_a_constant_has_no_spread(values, shift):
    bootstrap = Bootstrap(20)
    difference = mean_of(values + shift, bootstrap).minus(mean_of(values, bootstrap))
    assert difference.value == pytest.approx(shift, abs=1e-5)
    assert (difference.low, difference.high) == pytest.approx((shift, shift), abs=1e-5)


def test_estimates_over_different_items_are_not_paired():
    values = np.random.default_rng(5).random(10)
    bootstrap = Bootstrap(20)
    one = bootstrap.estimate([mean(values)], np.arange(10))[0]
    other = bootstrap.estimate([mean(values)], np.arange(1, 11))[0]
    with pytest.raises(ValueError, match="cannot pair"):
        one.minus(other)


def test_a_total_adds_values_and_widens_the_interval():
    parts = [mean_of(np.random.default_rng(i).random(30 + i), Bootstrap(500)) for i in range(4)]
    total = Estimate.total(parts)
    assert total.value == pytest.approx(sum(part.value for part in parts))
    widths = [part.high - part.low for part in parts]
    assert max(widths) < total.high - total.low < sum(widths)


def test_a_total_with_a_part_without_interval_has_none():
    assert Estimate.total([Estimate(1.0), mean_of([1, 2], Bootstrap(10))]) == Estimate(2.5)


def test_impossible_settings_are_refused():
    with pytest.raises(ValueError, match="resamples=-1"):
        Bootstrap(-1)
    with pytest.raises(ValueError, match="level=95"):
        Bootstrap(level=95)
