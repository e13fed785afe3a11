"""Statistics of weighted items: an item of weight 3 is three items."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from densvec.statistics import weighted

ONES = np.ones((1, 1), dtype=np.float32)
values = st.integers(0, 6).map(float)
triples = st.lists(st.tuples(values, values, st.integers(0, 3)), min_size=3, max_size=20)
scored = st.lists(st.tuples(values, st.booleans(), st.integers(0, 3)), min_size=1, max_size=25)


def columns(items):
    x, y, weights = (np.array(column) for column in zip(*items, strict=True))
    return x, y, weights


def of(statistic, weights):
    return statistic(np.asarray(weights, dtype=np.float32)[None])[0]


@given(triples)
def test_correlations_are_those_of_the_repeated_items(items):
    x, y, weights = columns(items)
    many_x, many_y = np.repeat(x, weights), np.repeat(y, weights)
    if len(set(many_x)) < 2 or len(set(many_y)) < 2:
        return
    assert of(weighted.spearman(x, y), weights) == pytest.approx(spearmanr(many_x, many_y)[0], abs=1e-6)
    assert of(weighted.pearson(x, y), weights) == pytest.approx(pearsonr(many_x, many_y)[0], abs=1e-6)


def test_a_constant_has_no_correlation():
    assert np.isnan(of(weighted.spearman([1, 1, 1], [1, 2, 3]), [1, 1, 1]))
    assert np.isnan(of(weighted.pearson([1, 2, 3], [5, 5, 5]), [1, 1, 1]))
    assert np.isnan(weighted.spearman([], [])(np.ones((1, 0)))[0])


@given(triples)
def test_means_and_medians_are_those_of_the_repeated_items(items):
    x, _, weights = columns(items)
    many = np.sort(np.repeat(x, weights))
    if len(many):
        assert of(weighted.mean(x), weights) == pytest.approx(many.mean())
        assert of(weighted.median(x), weights) == many[(len(many) - 1) // 2]


def best_f1(scores, truth):
    found = [0.0]
    for threshold in scores:
        chosen = scores >= threshold
        found.append(2 * (chosen & truth).sum() / (chosen.sum() + truth.sum()))
    return max(found)


def average_precision(scores, truth):
    average, before = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        chosen = scores >= threshold
        recall = (chosen & truth).sum() / truth.sum()
        average += (recall - before) * (chosen & truth).sum() / chosen.sum()
        before = recall
    return average


def roc_area(scores, truth):
    wins = [(a > b) + (a == b) / 2 for a in scores[truth] for b in scores[~truth]]
    return np.mean(wins)


@given(scored)
def test_curves_are_those_of_the_repeated_items(items):
    scores, truth, weights = columns(items)
    many_scores, many_truth = np.repeat(scores, weights), np.repeat(truth, weights)
    for statistic, oracle in ((weighted.best_f1, best_f1), (weighted.average_precision, average_precision)):
        found = of(statistic(scores, truth), weights)
        if many_truth.any():
            assert found == pytest.approx(oracle(many_scores, many_truth), abs=1e-6)
        else:
            assert np.isnan(found)
    area = of(weighted.roc_area(scores, truth), weights)
    if many_truth.any() and not many_truth.all():
        assert area == pytest.approx(roc_area(many_scores, many_truth), abs=1e-6)
    else:
        assert np.isnan(area)
