"""The transformers, by scikit-learn's own checks and in its pipelines."""

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from densvec import BayesianSkipGram, KeyedDensities
from densvec.datasets import toy_language
from densvec.sklearn import FEATURES, BayesianSkipGramTransformer, DensityVectorizer

SENTENCES = list(toy_language(2000, seed=2))
TEXTS = [" ".join(sentence) for sentence in SENTENCES]
QUICK = {"vector_size": 8, "sample": 0.01, "epochs": 2}


def trained():
    return BayesianSkipGram(SENTENCES, workers=1, seed=3, alpha=0.03, **{**QUICK, "epochs": 5}).wv


WV = trained()


@pytest.fixture
def wv():
    return WV


ESTIMATORS = [
    DensityVectorizer(WV),
    DensityVectorizer(WV, features="text_density"),
    BayesianSkipGramTransformer(8, epochs=1, min_count=1, random_state=1),
]

# scikit-learn leaves all but one check out for estimators of texts; of the rest, these need no numbers as input.
FURTHER_CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_positive_only_tag_during_fit",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.filterwarnings("ignore:Can't test estimator")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("check", FURTHER_CHECKS)
def test_further_checks_of_scikit_learn(estimator, check):
    if not hasattr(estimator_checks, check):
        pytest.skip(f"this scikit-learn has no {check}")
    getattr(estimator_checks, check)(type(estimator).__name__, estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_conventions_that_its_checks_cannot_see_in_texts(estimator):
    """What the checks for arrays assert, with texts: fit returns self, nothing works unfitted, nothing is changed."""
    fresh = clone(estimator)
    with pytest.raises(NotFittedError):
        fresh.transform(TEXTS[:3])
    with pytest.raises(NotFittedError):
        fresh.get_feature_names_out()
    before, texts = fresh.get_params(), TEXTS[:200]
    assert fresh.fit(texts) is fresh
    assert fresh.get_params() == before
    assert texts == TEXTS[:200]
    rows = fresh.transform(texts)
    np.testing.assert_array_equal(rows, fresh.transform(texts))  # asking changes nothing
    np.testing.assert_array_equal(rows[7:8], fresh.transform(texts[7:8]))  # rows do not depend on each other
    np.testing.assert_array_equal(rows, clone(estimator).fit_transform(texts))


@pytest.mark.parametrize("features", FEATURES)
def test_rows_and_names_of_features(wv, features):
    vectorizer = DensityVectorizer(wv, features=features)
    rows = vectorizer.fit_transform(TEXTS[:5])
    assert rows.shape == (5, len(vectorizer.get_feature_names_out()))
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()


def test_means_are_averages_of_words(wv):
    row = DensityVectorizer(wv).fit_transform([TEXTS[0]])[0]
    np.testing.assert_allclose(row, wv[SENTENCES[0]].mean(axis=0), rtol=1e-4, atol=1e-6)


def test_the_density_of_a_text_is_that_of_the_words(wv):
    texts = [SENTENCES[0], ["xyzzy"], SENTENCES[1]]
    rows = DensityVectorizer(wv, features="text_density").fit_transform(texts)
    for row, text in zip(rows[[0, 2]], SENTENCES[:2], strict=True):
        density = wv.text_density(text)
        np.testing.assert_allclose(row, [*density.mean, *np.log(density.variance)], rtol=1e-4, atol=1e-5)


def test_words_without_counts_count_alike():
    words = KeyedDensities(2, covariance="spherical")
    words.add_vectors(["wide", "narrow"], [[0, 0], [1, 1]], log_variances=np.log([[1], [0.25]]))
    row = DensityVectorizer(words, features="text_density").fit_transform(["wide narrow"])[0]
    np.testing.assert_allclose(row, [0.5, 0.5, np.log(0.625)], rtol=1e-6)


def test_texts_may_be_tokens_or_need_a_tokenizer(wv):
    split = DensityVectorizer(wv).fit_transform(TEXTS[:3])
    np.testing.assert_array_equal(DensityVectorizer(wv).fit_transform(SENTENCES[:3]), split)
    shouted = [text.upper().replace(" ", "_") for text in TEXTS[:3]]
    vectorizer = DensityVectorizer(wv, lowercase=True, tokenizer=lambda text: text.split("_"))
    np.testing.assert_array_equal(vectorizer.fit_transform(shouted), split)


def test_a_text_without_known_words_has_a_row(wv):
    rows = DensityVectorizer(wv, features="text_density").fit_transform(["xyzzy plugh", ""])
    assert np.isfinite(rows).all()
    assert (rows[:, : wv.vector_size] == 0).all()


def test_a_path_will_do(wv, tmp_path):
    wv.save(tmp_path / "words.dv")
    rows = DensityVectorizer(tmp_path / "words.dv").fit_transform(TEXTS[:3])
    np.testing.assert_array_equal(rows, DensityVectorizer(wv).fit_transform(TEXTS[:3]))


def test_a_clone_shares_the_words(wv):
    assert clone(DensityVectorizer(wv)).densities is wv


def test_pandas_output(wv):
    pd = pytest.importorskip("pandas")
    frame = DensityVectorizer(wv, features="moments").set_output(transform="pandas").fit_transform(TEXTS[:3])
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns[:2]) == ["mean_0", "mean_1"]
    assert frame.columns[-1] == "log_variance"


def test_a_pipeline_and_a_grid_search_learn_something(wv):
    """Tell sentences with an animal from those with a fruit, by features that leave the word itself to be found."""
    labelled = [(text, 0) for text in TEXTS if "dog" in text.split()][:60]
    labelled += [(text, 1) for text in TEXTS if "apple" in text.split()][:60]
    texts, labels = zip(*labelled, strict=True)
    assert len(set(labels)) == 2
    pipeline = make_pipeline(DensityVectorizer(wv), LogisticRegression(max_iter=1000))
    search = GridSearchCV(pipeline, {"densityvectorizer__features": list(FEATURES)}, cv=3)
    search.fit(list(texts), list(labels))
    assert search.best_score_ > 0.9


def test_training_inside_a_grid_search():
    texts, labels = TEXTS[:300], ["kiwi" in text for text in TEXTS[:300]]
    transformer = BayesianSkipGramTransformer(min_count=1, random_state=1, **QUICK)
    pipeline = make_pipeline(transformer, LogisticRegression(max_iter=1000))
    search = GridSearchCV(pipeline, {"bayesianskipgramtransformer__vector_size": [4, 8]}, cv=2)
    search.fit(texts, labels)
    assert (
        search.best_estimator_[0].model_.vector_size
        == search.best_params_["bayesianskipgramtransformer__vector_size"]
    )


def test_the_same_random_state_gives_the_same_features():
    one, other = (
        BayesianSkipGramTransformer(min_count=1, random_state=5, **QUICK).fit_transform(TEXTS[:300])
        for _ in range(2)
    )
    np.testing.assert_array_equal(one, other)


def test_wrong_parameters_are_named(wv):
    with pytest.raises(ValueError, match="features='sums'"):
        DensityVectorizer(wv, features="sums").fit(TEXTS)
    with pytest.raises(ValueError, match="got one string"):
        DensityVectorizer(wv).fit("a text")
    with pytest.raises(ValueError, match="got 3"):
        DensityVectorizer(wv).fit([3])
    means = KeyedDensities(2)
    means.add_vectors(["a"], [[1, 2]])
    for features in ("moments", "text_density"):
        with pytest.raises(ValueError, match="only means"):
            DensityVectorizer(means, features=features).fit(["a"])
