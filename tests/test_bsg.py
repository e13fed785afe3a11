"""BayesianSkipGram itself: its tables, its objective's options, words in context, odd corpora."""

import builtins
import logging

import numpy as np
import pytest

from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.training.settings import Rates


def arrays_of(model):
    return {"means": model.wv.vectors, "log_variances": model.wv.log_variances, **model.wv.encoder.arrays()}


def assert_sound(model):
    """Everything is finite, the variances are within bounds and a posterior can be inferred."""
    for name, array in arrays_of(model).items():
        assert np.isfinite(array).all(), name
    assert np.abs(model.wv.log_variances).max() <= 10
    word = model.wv.index_to_key[0]
    posterior = model.infer_posterior(word, [model.wv.index_to_key[-1]])
    assert np.isfinite(posterior.mean).all()
    assert np.isfinite(posterior.variance).all()


# Tables


@pytest.mark.parametrize(("covariance", "width"), [("spherical", 1), ("diagonal", 6)])
def test_tables_have_the_shapes_of_the_design(covariance, width):
    model = BayesianSkipGram(vector_size=6, hidden_size=9, covariance=covariance, min_count=1, seed=3)
    model.build_vocab([["a", "b", "c"]])
    assert {name: array.shape for name, array in arrays_of(model).items()} == {
        "means": (3, 6),
        "log_variances": (3, width),
        "embeddings": (3, 6),
        "context_layer": (6, 9),
        "centre_layer": (6, 9),
        "mean_head": (9, 6),
        "mean_bias": (6,),
        "variance_head": (9, width),
        "variance_bias": (width,),
    }
    assert {array.dtype for array in arrays_of(model).values()} == {np.dtype(np.float32)}
    assert not model.wv.log_variances.any(), "a constant start, the same for every word"
    assert len(np.unique(model.wv.vectors)) == model.wv.vectors.size


def test_posterior_of_no_context_is_the_prior():
    model = BayesianSkipGram(toy_language(200), vector_size=8, min_count=1, workers=1, epochs=1)
    assert model.infer_posterior("kiwi", []) == model.wv.density("kiwi")


# Options of the objective


@pytest.mark.parametrize("backend", ["native", "torch"])
@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
@pytest.mark.parametrize(
    ("pairing", "negative"), [("paired", 1), ("paired", 4), ("shared", 1), ("shared", 8)]
)
def test_every_form_of_the_objective_is_learnt(backend, covariance, pairing, negative):
    model = BayesianSkipGram(
        toy_language(300),
        vector_size=8,
        sample=0.01,
        workers=1,
        epochs=3,
        backend=backend,
        covariance=covariance,
        pairing=pairing,
        negative=negative,
    )
    losses = [entry.loss for entry in model.loss_history]
    assert losses[-1] < losses[0]
    assert_sound(model)
    for entry in model.loss_history:
        assert entry.loss == pytest.approx(entry.hinge + model.kl_weight * entry.kl)


@pytest.mark.parametrize(
    "changes",
    [
        {"shrink_windows": True},
        {"window": 1},
        {"window": 40},
        {"margin": 0.0},
        {"margin": 1000.0},
        {"kl_weight": 0.0},
        {"kl_weight": 0.3},
        {"ns_exponent": 0.75},
        {"ns_exponent": "subsampled"},
        {"ns_exponent": -0.5},
        {"sample": 0},
        {"sample": 1e-7},
        {"residual": False},
        {"nearness": 0.0},
        {"rates": Rates(mean=0.0)},
        {"rates": {"encoder": 0.0}},
        {"alpha": 0.0, "min_alpha": 0.0},
        {"hidden_size": 1},
        {"vector_size": 1},
        {"vector_size": 1, "covariance": "diagonal"},
        {"vector_size": 301},
        {"negative": 100},
    ],
)
def test_unusual_parameters_train_or_stop_with_a_clear_sentence(changes):
    given = {"vector_size": 8, "min_count": 1, "sample": 0.01, "workers": 1, "epochs": 2, **changes}
    assert_sound(BayesianSkipGram(toy_language(150), **given))


def test_rate_of_zero_leaves_that_table_as_it_was():
    model = BayesianSkipGram(vector_size=8, min_count=1, workers=1, rates={"mean": 0.0})
    model.build_vocab(toy_language(100))
    before = {name: array.copy() for name, array in arrays_of(model).items()}
    model.train()
    np.testing.assert_array_equal(model.wv.vectors, before["means"])
    assert not np.array_equal(model.wv.log_variances, before["log_variances"])


# Odd corpora


CORPORA = {
    "twelve words": [["the", "cat", "sat", "on", "the", "mat", "and", "the", "dog", "sat", "there", "too"]],
    "one-word sentences": [["a"], ["b"], ["c"], ["a"]],
    "empty sentences": [[], ["a", "b"], [], ["b", "a"], []],
    "two words": [["a", "b"]] * 5,
    "one word": [["a", "a", "a"]] * 5,
    "one long sentence": [["a", "b", "c", "d"] * 3000],
    "one token": [["a"]],
    "numbers as tokens": [["1", "2", "3"]] * 3,
    "odd Unicode": [["naïve", "\u4e2d\u6587", "\U0001f600", "a\u0301"]] * 3,
}


@pytest.mark.parametrize("backend", ["native", "torch"])
@pytest.mark.parametrize("pairing", ["shared", "paired"])
@pytest.mark.parametrize("name", CORPORA)
def test_odd_corpora_train(name, pairing, backend):
    model = BayesianSkipGram(
        vector_size=4,
        min_count=1,
        sample=0,
        workers=2 if backend == "native" else 1,
        pairing=pairing,
        backend=backend,
        epochs=2,
    )
    model.build_vocab(CORPORA[name])
    if name == "one word" and pairing == "paired":
        with pytest.raises(ValueError, match="paired negatives must differ"):
            model.train()
        return
    model.train()
    assert_sound(model)
    trained = any(len(sentence) > 1 for sentence in CORPORA[name])
    assert all(np.isfinite(entry.loss) == trained for entry in model.loss_history)


def test_strings_in_place_of_token_lists_are_warned_of(caplog):
    with caplog.at_level(logging.WARNING):
        BayesianSkipGram(["ab", "ba"] * 5, vector_size=4, min_count=1, workers=1)
    assert "list" in caplog.text


# Backends


def test_both_backends_come_to_about_the_same():
    pytest.importorskip("torch", reason="torch is not installed")
    losses = {}
    for backend in ("native", "torch"):
        model = BayesianSkipGram(
            toy_language(1500), vector_size=12, sample=0.01, workers=1, epochs=8, backend=backend
        )
        losses[backend] = model.loss_history[-1].loss
    assert losses["native"] == pytest.approx(losses["torch"], rel=0.35)


def test_a_model_can_change_its_backend_between_two_runs():
    pytest.importorskip("torch", reason="torch is not installed")
    sentences = list(toy_language(200))
    model = BayesianSkipGram(sentences, vector_size=8, sample=0.01, workers=1, backend="native")
    for backend in ("torch", "native"):
        model.backend = backend
        model.train(sentences, total_examples=200, epochs=2)
    losses = [entry.loss for entry in model.loss_history]
    assert len(losses) == 9
    assert losses[-1] < losses[0]


def test_asking_for_torch_without_torch_names_the_command(monkeypatch):
    def no_torch(name, *rest, _import=builtins.__import__, **named):
        if name.split(".")[0] == "torch":
            raise ImportError("no torch here")
        return _import(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", no_torch)
    with pytest.raises(ImportError, match=r"pip install densvec\[torch\]"):
        BayesianSkipGram([["a", "b"]] * 5, vector_size=4, backend="torch")


# Words in context


@pytest.fixture(scope="module")
def trained():
    return BayesianSkipGram(toy_language(3000), vector_size=16, sample=0.01, epochs=10, workers=1)


def test_posteriors_of_many_are_those_of_each(trained):
    pairs = [("kiwi", ["ripe", "fuzzy"]), ("owl", ["barn"]), ("kiwi", [])]
    many = trained.infer_posteriors(pairs)
    for i, (word, context) in enumerate(pairs):
        one = trained.infer_posterior(word, context)
        np.testing.assert_allclose(many[i].mean, one.mean, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(many[i].variance, one.variance, rtol=1e-4)


def test_unknown_words(trained):
    assert trained.infer_posterior("kiwi", ["unheard"]) == trained.wv.density("kiwi")
    with pytest.raises(KeyError, match="unheard"):
        trained.infer_posterior("unheard", ["kiwi"])


def test_candidates_are_ranked_by_frequency_and_the_divergence_from_the_posterior(trained):
    context = ["ripe", "fuzzy", "softens", "smoothie"]
    posterior = trained.infer_posterior("kiwi", context)
    found = trained.substitutes("kiwi", context, ["owl", "apple", "lemon"])
    counts = trained.wv.expandos["count"]
    share = dict(zip(trained.wv.index_to_key, np.log(counts / counts.sum()), strict=True))
    expected = {
        word: share[word] - float(posterior.kl(trained.wv.density(word)))
        for word in ("owl", "apple", "lemon")
    }
    assert dict(found) == pytest.approx(expected, rel=1e-4)
    assert [score for _, score in found] == sorted(dict(found).values(), reverse=True)
    assert len(trained.substitutes("kiwi", context, topn=3)) == 3


def test_predicted_words_are_those_of_the_context(trained):
    found = trained.predict_output_word(["silent", "wise", "hoots", "barn", "midnight"], topn=10)
    assert {word for word, _ in found} & {"owl", "swoops", "bird", "feathered", "wings"}
    probabilities = [
        probability for _, probability in trained.predict_output_word(["barn"], topn=len(trained.wv))
    ]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) == pytest.approx(1.0)
    row = trained.wv.get_index("barn")
    assert trained.predict_output_word([row], topn=3) == trained.predict_output_word(["barn"], topn=3)


def test_predicting_from_unknown_words_warns_and_returns_none_as_gensim_does(trained, caplog):
    assert trained.predict_output_word(["unheard"]) is None
    assert "unknown" in caplog.text
    with pytest.raises(RuntimeError, match="vocabulary"):
        BayesianSkipGram().predict_output_word(["a"])


@pytest.mark.parametrize(("size", "hidden"), [(1, 1), (20, 20), (64, 64), (100, 64), (200, 96), (300, 128)])
def test_the_hidden_layer_grows_more_slowly_than_the_dimensions(size, hidden):
    assert BayesianSkipGram(vector_size=size).hidden_size == hidden
