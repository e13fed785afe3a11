import numpy as np
import pytest
from scipy.stats import kstest

from densvec.statistics.vectors import Influence, dependent_columns, fit_vectors, p_value


def with_intercept(*columns):
    return np.column_stack([np.ones(len(columns[0])), *columns])


def test_coefficients_are_those_of_least_squares():
    rng = np.random.default_rng(1)
    design, points = with_intercept(*rng.normal(size=(3, 90))), rng.normal(size=(90, 7))
    oracle = np.linalg.lstsq(design, points, rcond=None)[0]
    for clusters in (None, rng.integers(0, 12, 90)):
        fit = fit_vectors(points, design, clusters, draws=9)
        np.testing.assert_allclose(fit.coefficients, oracle, atol=1e-6)


def test_variance_of_a_difference_is_that_of_two_samples():
    rng = np.random.default_rng(2)
    few, many = rng.normal(size=(7, 4)), rng.normal(0, 3, (50, 4))
    group = np.repeat([0.0, 1.0], [7, 50])
    bias, *_ = Influence(np.concatenate([few, many]), with_intercept(group), None).spread()
    expected = sum(side.var(axis=0, ddof=1).sum() / len(side) for side in (few, many))
    assert bias[1] == pytest.approx(expected, rel=1e-5)


def test_copied_rows_in_clusters_add_no_certainty():
    rng = np.random.default_rng(3)
    points, design = rng.normal(size=(40, 5)), with_intercept(rng.normal(size=40))
    once = fit_vectors(points, design)
    copied = fit_vectors(
        np.repeat(points, 6, axis=0), np.repeat(design, 6, axis=0), np.repeat(np.arange(40), 6)
    )
    np.testing.assert_allclose(copied.squares, once.squares, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(copied.errors, once.errors, rtol=1e-3)
    assert copied.p_values == pytest.approx(once.p_values, abs=0.05)


def test_squared_lengths_have_no_bias_and_intervals_cover_them():
    rng = np.random.default_rng(4)
    for effect in (0.0, 0.4, 2.0):
        errors, inside = [], []
        for _ in range(200):
            group = rng.permutation(np.repeat([0.0, 1.0], [60, 20]))
            points = rng.normal(size=(80, 20))
            points[:, 0] += effect * group
            fit = fit_vectors(points, with_intercept(group), draws=0)
            errors.append(fit.squares[1] - effect**2)
            inside.append(abs(errors[-1]) < 1.96 * fit.errors[1])
        assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(200)
        assert np.mean(inside) > 0.9


def correlated(rng):
    """A covariate without an effect, beside one that has an effect and goes with it."""
    other = rng.normal(size=80)
    points = rng.normal(size=(80, 10))
    points[:, 0] += other
    return points, with_intercept(other + rng.normal(size=80), other), None


def unequal(rng):
    """Few occurrences of wide spread beside many of little."""
    group = np.repeat([1.0, 0.0], [15, 150])
    return rng.normal(size=(165, 10)) * np.where(group, 3, 1)[:, None], with_intercept(group), None


def clustered(rng):
    """Speakers who say the same again and again."""
    sizes = rng.integers(1, 12, 40)
    speakers = np.repeat(np.arange(40), sizes)
    points = rng.normal(size=(40, 10))[speakers] + rng.normal(size=(len(speakers), 10))
    return points, with_intercept((np.arange(40) < 20)[speakers].astype(float)), speakers


@pytest.mark.parametrize("make", [correlated, unequal, clustered])
def test_p_values_are_uniform_without_an_effect(make):
    rng = np.random.default_rng(5)
    found = []
    for seed in range(200):
        points, design, clusters = make(rng)
        found.append(fit_vectors(points, design, clusters, draws=199, seed=seed).p_values[1])
    assert kstest(found, "uniform").pvalue > 0.01
    assert np.mean(np.array(found) < 0.05) < 0.11


def test_tails_are_those_of_the_distribution():
    rng = np.random.default_rng(6)
    draws = rng.chisquare(20, 999)
    assert p_value(20.0, draws) == pytest.approx(0.46, abs=0.06)
    assert 1e-6 < p_value(62.0, draws) < 2e-5  # 3.4e-6
    assert p_value(1e9, draws) == 1e-10
    assert p_value(62.0, draws[:50]) == 1 / 51


def test_few_occurrences_prove_little():
    group = np.repeat([0.0, 1.0], 6)
    points = np.random.default_rng(9).normal(size=(12, 30)) + 100 * group[:, None]
    assert fit_vectors(points, with_intercept(group)).p_values[1] >= 2**-11


@pytest.mark.parametrize("clusters", [None, np.arange(30) // 3])
def test_one_cluster_proves_nothing(clusters):
    points = np.random.default_rng(10).normal(size=(30, 4))
    of_one = np.arange(30) < (1 if clusters is None else 3)
    with pytest.raises(ValueError, match="rests on one cluster alone"):
        fit_vectors(points, with_intercept(of_one), clusters)


def test_columns_that_add_up_to_another_are_named():
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(2, 30))
    assert dependent_columns(with_intercept(a, b)) is None
    assert dependent_columns(with_intercept(a, 1e3 * b, 2 * a - 3 * b)) == (3, [1, 2])


def test_an_interruption_keeps_the_draws_that_are_made(monkeypatch):
    whole, points = Influence.by_chance, np.random.default_rng(8).normal(size=(30, 3))

    def interrupted(self, draws, seed):
        yield next(whole(self, draws, seed))
        raise KeyboardInterrupt

    monkeypatch.setattr(Influence, "by_chance", interrupted)
    fit = fit_vectors(points, with_intercept(points[:, 0] > 0), draws=1000)
    assert fit.draws == 250
    assert fit.p_values[1] < 0.01
