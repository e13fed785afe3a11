"""Hypernymy: laws of the score, its scale against pairs counted one by one, and the toy language's true hypernyms."""

import numpy as np
import pytest
from scipy.stats import norm

from densvec import BayesianSkipGram, KeyedDensities
from densvec.datasets import toy_language
from densvec.questions.hypernymy import HypernymyScale


@pytest.fixture(scope="module")
def toy():
    language = toy_language()
    model = BayesianSkipGram(language, vector_size=20, sample=0.01, alpha=0.05, epochs=10, workers=1, seed=1)
    return language, model.wv


def random_densities(rng, count=30, size=5, counts=True):
    wv = KeyedDensities(size, covariance="spherical")
    keys = [f"w{i}" for i in range(count)]
    wv.add_vectors(keys, rng.normal(size=(count, size)), log_variances=rng.normal(size=(count, 1)))
    if counts:
        wv.expandos["count"] = rng.integers(1, 100, count)
        wv.fill_norms(force=True)
    return wv


@pytest.mark.parametrize("counts", [True, False])
def test_scale_is_that_of_pairs_counted_one_by_one(counts):
    wv = random_densities(np.random.default_rng(1), counts=counts)
    share = wv.expandos["count"] / wv.expandos["count"].sum() if counts else np.full(30, 1 / 30)
    units = wv.get_normed_vectors().astype(float)
    generality = wv.log_variances[:, 0].astype(float)
    pairs = [(i, j) for i in range(30) for j in range(30) if i != j]
    weights = np.array([share[i] * share[j] for i, j in pairs])
    weights /= weights.sum()
    cosines = np.array([units[i] @ units[j] for i, j in pairs])
    differences = np.array([generality[j] - generality[i] for i, j in pairs])
    scale = wv.hypernymy_scale
    assert scale.cosine == pytest.approx(weights @ cosines, abs=1e-6)
    assert scale.cosine_spread == pytest.approx(
        np.sqrt(weights @ (cosines - weights @ cosines) ** 2), rel=1e-5
    )
    assert scale.generality_spread == pytest.approx(np.sqrt(weights @ differences**2), rel=1e-5)


def test_score_is_the_product_of_nearness_and_two_shares():
    wv = random_densities(np.random.default_rng(2))
    scale, cosine = wv.hypernymy_scale, float(wv.similarity("w1", "w2"))
    difference = (wv.generality("w2") - wv.generality("w1")) / 5
    near = norm.cdf(cosine, scale.cosine, scale.cosine_spread)
    above = norm.cdf(difference, 0, scale.generality_spread)
    assert wv.hypernymy("w1", "w2") == pytest.approx((1 + cosine) / 2 * near * above, rel=1e-5)


def test_score_grows_with_nearness_and_with_generality():
    scale = HypernymyScale(0.0, 0.15, 0.1)
    grid = scale.score(np.linspace(-1, 1, 21)[:, None], np.linspace(-0.5, 0.5, 21))
    assert np.all((grid >= 0) & (grid <= 1))
    assert np.all(np.diff(grid, axis=0) > 0)
    assert np.all(np.diff(grid[1:], axis=1) > 0)


def test_direction_of_the_score_is_that_of_kl():
    wv = random_densities(np.random.default_rng(3))
    first, second = [f"w{i}" for i in range(15)], [f"w{i}" for i in range(15, 30)]
    forward, backward = wv.hypernymy(first, second), wv.hypernymy(second, first)
    assert np.array_equal(forward > backward, wv.direction(first, second) > 0)


def test_scale_does_not_depend_on_units():
    wv = random_densities(np.random.default_rng(4))
    before = wv.hypernymy("w3", "w4")
    wv.vectors = wv.vectors * 7
    wv.log_variances = wv.log_variances + 2
    assert wv.hypernymy("w3", "w4") == pytest.approx(before, rel=1e-5)


def test_equal_variances_leave_nearness():
    wv = KeyedDensities(2, covariance="spherical")
    wv.add_vectors(["a", "b", "c"], [[1, 0], [1, 0.1], [-1, 0]], log_variances=np.zeros((3, 1)))
    assert wv.hypernymy("a", "b") > wv.hypernymy("a", "c")
    assert wv.hypernymy("a", "b") == pytest.approx(wv.hypernymy("b", "a"))


def test_lists_are_pairs(toy):
    _, wv = toy
    for ask in (wv.hypernymy, wv.direction, wv.entailment, wv.kl_divergence):
        one_by_one = [ask("owl", "bird"), ask("apple", "fruit")]
        assert ask(["owl", "apple"], ["bird", "fruit"]) == pytest.approx(one_by_one, rel=1e-6)
        assert ask("owl", ["bird", "fruit"])[0] == pytest.approx(one_by_one[0], rel=1e-6)
        assert ask(["owl"], "bird").shape == (1,)
        assert isinstance(ask("owl", "bird"), float)
        with pytest.raises(ValueError, match=r"the same length: got [23] and [23]"):
            ask(["owl", "apple"], ["bird", "fruit", "animal"])
        with pytest.raises(KeyError, match="unicorn"):
            ask(["owl", "unicorn"], "bird")


def test_toy_hypernyms_are_found(toy):
    language, wv = toy
    nouns = sorted({word for pair in language.hypernyms for word in pair})
    above = {}
    for specific, general in language.hypernyms:
        above.setdefault(specific, set()).add(general)
    first = [wv.hypernyms(word, topn=1, candidates=nouns)[0][0] in truth for word, truth in above.items()]
    assert np.mean(first) > 0.6  # of about 30 nouns
    true = set(language.hypernyms)
    others = [(a, b) for a in nouns for b in nouns if a != b and (a, b) not in true]
    positive = wv.hypernymy([a for a, _ in language.hypernyms], [b for _, b in language.hypernyms])
    negative = wv.hypernymy([a for a, _ in others], [b for _, b in others])
    assert np.mean(positive[:, None] > negative[None]) > 0.95


def test_hyponyms_are_hypernyms_turned_round(toy):
    _, wv = toy
    for word, score in wv.hyponyms("bird", topn=5):
        assert score == pytest.approx(wv.hypernymy(word, "bird"), rel=1e-5)
    for word, score in wv.hypernyms("owl", topn=5):
        assert score == pytest.approx(wv.hypernymy("owl", word), rel=1e-5)


def test_of_words_as_near_and_as_general_the_usual_one_is_found_first():
    rng = np.random.default_rng(6)
    wv = random_densities(rng, count=50)
    mean, wide = rng.normal(size=5), wv.log_variances.max() + 1
    wv.add_vectors(
        ["oak", "sapwood", "tree"], [mean, mean + 0.1, mean + 0.1], log_variances=[[0], [wide], [wide]]
    )
    wv.expandos["count"] = np.array([*[10_000] * 50, 30, 5, 3000])
    wv.fill_norms(force=True)
    both = ["sapwood", "tree"]
    assert [word for word, _ in wv.hypernyms("oak", candidates=both)] == ["tree", "sapwood"]
    wv.expandos["count"][-2:] = 3000, 5
    assert [word for word, _ in wv.hypernyms("oak", candidates=both)] == both


def test_shorter_lists_begin_longer_ones(toy):
    _, wv = toy
    for search in (wv.hypernyms, wv.hyponyms):
        assert search("bird", topn=3) == search("bird", topn=8)[:3]


def test_searches_take_what_they_are_given(toy):
    _, wv = toy
    assert wv.hypernyms("owl", candidates=["unicorn"]) == []
    assert len(wv.hypernyms("owl", topn=None, exclude_inflections=False)) == len(wv) - 1
    top = set(wv.index_to_key[:20])
    assert {word for word, _ in wv.hypernyms("owl", restrict_vocab=20)} <= top
    with pytest.raises(KeyError, match="unicorn"):
        wv.hypernyms("unicorn")


def test_inflections_are_no_hypernyms():
    wv = KeyedDensities(2, covariance="spherical")
    wv.add_vectors(["dog", "dogs", "animal"], [[1, 0], [1, 0.1], [1, 0.3]], log_variances=[[0], [1], [0.5]])
    assert [word for word, _ in wv.hypernyms("dog")] == ["animal"]
    assert wv.hypernyms("dog", exclude_inflections=False)[0][0] == "dogs"


def test_generality_without_the_trend_of_frequency():
    rng = np.random.default_rng(5)
    wv = random_densities(rng, count=400, size=4)
    counts = np.exp(rng.uniform(2, 10, 400)).astype(int)
    own = rng.normal(size=400) * 0.01
    wv.expandos["count"] = counts
    wv.log_variances = (0.3 * np.log(counts) + own)[:, None]
    adjusted = wv.generality(wv.index_to_key, adjust="frequency")
    assert np.corrcoef(adjusted, own)[0, 1] > 0.95
    assert abs(np.corrcoef(adjusted, np.log(counts))[0, 1]) < 0.05
    assert wv.generality("w7", adjust="frequency") == pytest.approx(adjusted[7])
    with pytest.raises(ValueError, match="adjust='size' is unknown"):
        wv.generality("w7", adjust="size")
    del wv.expandos["count"]
    wv.fill_norms(force=True)
    with pytest.raises(ValueError, match="needs the words' counts"):
        wv.generality("w7", adjust="frequency")
