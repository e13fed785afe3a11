"""Word2Gauss: its kernel against torch, its bounds, its front, its files and what it learns."""

import inspect

import numpy as np
import pytest
import torch
from gensim.models import Word2Vec
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Independent, Normal, kl_divergence

from densvec.datasets import toy_language
from densvec.keyed import KeyedDensities
from densvec.native._word2gauss import ENERGIES, Kernel
from densvec.training.native import word2gauss_backend
from densvec.training.settings import Bounds, GaussRates
from densvec.word2gauss import Word2Gauss
from tests.training.cases import SENTENCES, draw_chunk, make_chunk

TOY = list(toy_language(1500))
SMALL = {"vector_size": 12, "sample": 1e-2, "min_count": 2, "workers": 1}
COVARIANCES = ("spherical", "diagonal")


def make_wv(words=10, dimensions=4, *, covariance="spherical", dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    wv = KeyedDensities(dimensions, dtype=dtype)
    width = 1 if covariance == "spherical" else dimensions
    wv.vectors = rng.normal(size=(words, dimensions)).astype(dtype)
    wv.log_variances = (0.4 * rng.normal(size=(words, width))).astype(dtype)
    return wv


def max_margin(chunk, wv, margin, energy):
    """Loss and gradients as the definition has them, by torch."""
    means = torch.tensor(wv.vectors, dtype=torch.float64, requires_grad=True)
    log_variances = torch.tensor(wv.log_variances, dtype=torch.float64, requires_grad=True)
    dimensions = means.shape[1]

    def gaussian(mean, variance):
        return Independent(Normal(mean, variance.sqrt().expand(mean.shape)), 1)

    def density(words):
        return gaussian(means[words], log_variances[words].exp())

    def energy_of(w, c):
        if energy == "kl":
            return -kl_divergence(density(c), density(w))
        if energy == "reverse_kl":
            return -kl_divergence(density(w), density(c))
        between = gaussian(means[w] - means[c], log_variances[w].exp() + log_variances[c].exp())
        return between.log_prob(torch.zeros(dimensions, dtype=torch.float64))

    centres, contexts = (torch.tensor(positions).long() for positions in chunk.centres_and_contexts())
    tokens, drawn = torch.tensor(chunk.tokens).long(), torch.tensor(chunk.negatives).long()
    negatives = drawn[centres] if chunk.pairing == "shared" else drawn
    words = tokens[centres]
    if not len(words):
        return 0.0, {"means": np.zeros(means.shape), "log_variances": np.zeros(log_variances.shape)}
    fits = energy_of(words, tokens[contexts])[:, None]
    hinge = torch.relu(margin - fits + energy_of(words[:, None].expand(negatives.shape), negatives))
    loss = hinge.mean(1).sum()
    loss.backward()
    return loss.item(), {"means": means.grad.numpy(), "log_variances": log_variances.grad.numpy()}


def check_gradients(chunk, wv, margin, energy, tolerance=1e-10):
    backend = word2gauss_backend(wv, margin, energy)
    result, gradients = backend.gradients(chunk)
    before = {name: array.copy() for name, array in backend.arrays().items()}
    assert backend.measure(chunk) == result
    for name, array in backend.arrays().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)
    loss, expected = max_margin(chunk, wv, margin, energy)
    assert result.loss == pytest.approx(loss, rel=tolerance, abs=tolerance)
    assert (result.hinge, result.kl) == (result.loss, 0)
    for name, gradient in gradients.items():
        assert gradient.dtype == wv.vectors.dtype
        np.testing.assert_allclose(
            gradient, expected[name], rtol=tolerance, atol=tolerance * 10, err_msg=name
        )


@pytest.mark.parametrize("energy", ENERGIES)
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("pairing", ["paired", "shared"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 2e-5)])
def test_loss_and_gradients_are_those_of_the_definition(energy, covariance, pairing, dtype, tolerance):
    chunk = make_chunk(SENTENCES, window=3, negative=3, pairing=pairing)
    check_gradients(chunk, make_wv(covariance=covariance, dtype=dtype), 1.0, energy, tolerance)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_loss_and_gradients_on_any_chunk(data):
    words = data.draw(st.integers(2, 12))
    chunk = draw_chunk(data, words)
    wv = make_wv(
        words,
        data.draw(st.integers(1, 20)),
        covariance=data.draw(st.sampled_from(COVARIANCES)),
        seed=data.draw(st.integers(0, 99)),
    )
    check_gradients(
        chunk, wv, data.draw(st.sampled_from([0.0, 1.0, 20.0])), data.draw(st.sampled_from(ENERGIES))
    )


def test_gradients_train_nothing():
    wv = make_wv()
    means, log_variances = wv.vectors.copy(), wv.log_variances.copy()
    backend = word2gauss_backend(wv)
    backend.gradients(make_chunk(SENTENCES))
    backend.step(make_chunk(SENTENCES), 0.0)
    for sentences in ([], [[3]], [[1], [], [2]]):
        assert backend.step(make_chunk(sentences, words=10), 0.1).centres == 0
    np.testing.assert_array_equal(wv.vectors, means)
    np.testing.assert_array_equal(wv.log_variances, log_variances)


@pytest.mark.parametrize("energy", ENERGIES)
@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("pairing", ["paired", "shared"])
def test_steps_lower_the_loss_and_repeat_bit_for_bit(energy, covariance, pairing):
    tables = []
    chunk = make_chunk(SENTENCES, pairing=pairing)
    for _ in range(2):
        wv = make_wv(covariance=covariance, dtype=np.float32)
        backend = word2gauss_backend(wv, energy=energy)
        losses = [backend.step(chunk, 0.025).loss for _ in range(100)]
        assert losses[-1] < 0.8 * losses[0]
        tables.append((wv.vectors, wv.log_variances))
    for first, second in zip(*tables, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("energy", ENERGIES)
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_instruction_sets_agree(energy, covariance):
    chunk = make_chunk(SENTENCES, negative=5)
    found = []
    for instruction_set in ("plain", None):
        wv = make_wv(dimensions=37, covariance=covariance, dtype=np.float32)
        arrays = {"means": wv.vectors, "log_variances": wv.log_variances}
        kernel = Kernel(
            arrays, margin=5, energy=energy, low=-3, high=3, longest=50, instruction_set=instruction_set
        )
        loss, _ = kernel.step(chunk, mean=0.1, log_variance=0.05)
        found.append((loss, wv.vectors, wv.log_variances))
    for plain, best in zip(*found, strict=True):
        np.testing.assert_allclose(plain, best, rtol=1e-4, atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(
    alpha=st.sampled_from([0.025, 1.0, 1e3, 1e10, 1e300]),
    margin=st.sampled_from([0.0, 5.0, 1e6]),
    energy=st.sampled_from(ENERGIES),
    covariance=st.sampled_from(COVARIANCES),
    pairing=st.sampled_from(["paired", "shared"]),
    dimensions=st.sampled_from([1, 8]),
    variances=st.sampled_from([(1.0, 1.0), (0.5, 2.0), (1e-4, 1e4)]),
    max_norm=st.sampled_from([0.1, 3.0, 1e6]),
)
def test_densities_keep_their_bounds_and_stay_finite(
    alpha, margin, energy, covariance, pairing, dimensions, variances, max_norm
):
    wv = make_wv(dimensions=dimensions, covariance=covariance, dtype=np.float32)
    wv.vectors[:] /= 100
    wv.log_variances[:] = 0
    backend = word2gauss_backend(wv, margin, energy, Bounds(*variances, max_norm), GaussRates(3.0, 2.0))
    for seed in range(10):
        assert backend.step(make_chunk(SENTENCES, seed=seed, pairing=pairing), alpha).loss >= 0
    assert np.isfinite(wv.vectors).all()
    assert (np.linalg.norm(wv.vectors.astype(float), axis=1) <= max_norm * (1 + 1e-5)).all()
    assert wv.log_variances.min() >= np.log(variances[0]) - 1e-5
    assert wv.log_variances.max() <= np.log(variances[1]) + 1e-5


def test_the_parameters_are_gensims():
    ours, theirs = (inspect.signature(model.__init__).parameters for model in (Word2Gauss, Word2Vec))
    assert list(ours)[: len(theirs)] == list(theirs)


@pytest.fixture(scope="module", params=COVARIANCES)
def trained(request):
    language = toy_language(2500)
    options = {"vector_size": 20, "sample": 1e-2, "workers": 1, "epochs": 8}
    return language, Word2Gauss(
        list(language), energy="expected_likelihood", covariance=request.param, **options
    )


def test_words_of_a_topic_are_near_each_other(trained):
    language, model = trained
    wv = model.wv
    groups = [
        [w for w in words if w in wv] for senses in language.senses.values() for words in senses.values()
    ]
    inside = [wv.n_similarity(group[::2], group[1::2]) for group in groups]
    across = [wv.n_similarity(a, b) for a, b in zip(groups, groups[1:] + groups[:1], strict=True)]
    assert np.mean(inside) > np.mean(across) + 0.3


def test_general_words_are_broader_and_are_entailed(trained):
    language, model = trained
    pairs = [(a, b) for a, b in language.hypernyms if a in model.wv and b in model.wv]
    assert len(pairs) > 50
    assert np.mean([model.wv.kl_divergence(a, b) < model.wv.kl_divergence(b, a) for a, b in pairs]) > 0.75


def test_loss_history_is_the_hinge(trained):
    _, model = trained
    losses = [entry.loss for entry in model.loss_history]
    assert losses[-1] < losses[0]
    assert all((entry.hinge, entry.kl) == (entry.loss, 0) for entry in model.loss_history)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_model_is_saved_whole_and_resumes_bit_for_bit(tmp_path, covariance):
    path = tmp_path / "model.dv"
    options = {
        "epochs": 3,
        "covariance": covariance,
        "margin": 3.0,
        "rates": {"mean": 2.0},
        "max_norm": 9.0,
        **SMALL,
    }
    whole = Word2Gauss(TOY, **options)
    part = Word2Gauss(**options)
    part.build_vocab(TOY)

    class Stop:
        def on_epoch_end(self, model):
            if model.epochs_trained == 2:
                model.save(path)
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        part.train(callbacks=[Stop()])
    for mmap in (None, "r"):
        loaded = Word2Gauss.load(path, mmap=mmap)
        assert (loaded.margin, loaded.max_norm, loaded.rates["mean"]) == (3.0, 9.0, 2.0)
        loaded.train(TOY, resume=True)
        np.testing.assert_array_equal(loaded.wv.vectors, whole.wv.vectors)
        np.testing.assert_array_equal(loaded.wv.log_variances, whole.wv.log_variances)
    assert KeyedDensities.load(path).covariance == covariance


def test_vocabulary_grows():
    model = Word2Gauss(TOY, epochs=1, variance=0.5, **SMALL)
    known, means = len(model.wv), model.wv.vectors.copy()
    more = [["unicorn", "dog", "barks"]] * 20
    model.build_vocab(more, update=True)
    assert len(model.wv) == known + 1 == len(model.wv.log_variances)
    np.testing.assert_array_equal(model.wv.vectors[:known], means)
    assert model.wv.get_variance("unicorn") == pytest.approx(0.5)
    model.train(more, total_examples=len(more), epochs=2)
    assert model.wv.get_variance("unicorn") != pytest.approx(0.5)


def test_threads_train_the_same_tables():
    model = Word2Gauss(TOY * 3, epochs=2, **{**SMALL, "workers": 4, "batch_words": 500})
    assert np.isfinite(model.wv.vectors).all()
    assert model.loss_history[-1].loss < model.loss_history[0].loss
    assert model.estimate_memory()["log_variances"] == model.wv.log_variances.nbytes


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"pairing": "single"}, "pairing='single'"),
        ({"backend": "torch"}, "native kernel"),
        ({"energy": "cosine"}, "energy='cosine'"),
        ({"covariance": "full"}, "covariance='full'"),
        ({"margin": -1.0}, "margin=-1.0"),
        ({"margin": float("nan")}, "margin=nan"),
        ({"variance": 100.0}, "variance=100.0"),
        ({"min_variance": 0.0}, "min_variance=0.0"),
        ({"min_variance": 3.0, "max_variance": 2.0}, "min_variance=3.0"),
        ({"max_norm": 0.0}, "max_norm=0.0"),
        ({"rates": {"mean": -1.0}}, "rate mean=-1.0"),
    ],
)
def test_what_it_cannot_do_is_an_error(options, told):
    with pytest.raises(ValueError, match=told):
        Word2Gauss(**options)
