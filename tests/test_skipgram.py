"""SkipGram: its kernel against torch, its front against gensim, its files against themselves."""

import inspect

import numpy as np
import pytest
import torch
from gensim.models import Word2Vec
from hypothesis import given, settings
from hypothesis import strategies as st

from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.keyed import KeyedDensities
from densvec.native._skipgram import Kernel
from densvec.skipgram import SkipGram
from densvec.training.backend import UnstableTrainingError
from densvec.training.native import skip_gram_backend
from tests.training.cases import SENTENCES, draw_chunk, make_chunk

TOY = list(toy_language(1500))
SMALL = {"vector_size": 12, "sample": 1e-2, "min_count": 2, "workers": 1}


def make_wv(words=10, dimensions=4, *, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    wv = KeyedDensities(dimensions, dtype=dtype)
    wv.vectors = rng.normal(size=(words, dimensions)).astype(dtype)
    wv.context_vectors = rng.normal(size=(words, dimensions)).astype(dtype)
    return wv


def likelihood(chunk, wv):
    """Loss and gradients as the definition has them, by torch."""
    x = torch.tensor(wv.vectors, dtype=torch.float64, requires_grad=True)
    y = torch.tensor(wv.context_vectors, dtype=torch.float64, requires_grad=True)
    centres, contexts = (torch.tensor(positions).long() for positions in chunk.centres_and_contexts())
    tokens, drawn = torch.tensor(chunk.tokens).long(), torch.tensor(chunk.negatives).long()
    negatives = drawn[centres] if chunk.pairing == "shared" else drawn
    vectors = x[tokens[centres]]
    log_sigmoid = torch.nn.functional.logsigmoid
    positive = log_sigmoid((vectors * y[tokens[contexts]]).sum(1)).sum()
    negative = log_sigmoid(-(vectors[:, None] * y[negatives]).sum(2)).sum()
    loss = -(positive + negative)
    loss.backward()
    return loss.item(), {"means": x.grad.numpy(), "context_vectors": y.grad.numpy()}


def check_gradients(chunk, wv, tolerance=1e-10):
    backend = skip_gram_backend(wv)
    result, gradients = backend.gradients(chunk)
    before = {name: array.copy() for name, array in backend.arrays().items()}
    assert backend.measure(chunk) == result
    for name, array in backend.arrays().items():
        np.testing.assert_array_equal(array, before[name], err_msg=name)
    loss, expected = likelihood(chunk, wv)
    assert result.loss == pytest.approx(loss, rel=tolerance)
    assert result.hinge == result.loss
    assert result.kl == 0
    for name, gradient in gradients.items():
        assert gradient.dtype == wv.vectors.dtype
        np.testing.assert_allclose(
            gradient, expected[name], rtol=tolerance, atol=tolerance * 10, err_msg=name
        )


@pytest.mark.parametrize("pairing", ["paired", "shared"])
@pytest.mark.parametrize("negative", [1, 5])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 2e-5)])
def test_loss_and_gradients_are_those_of_the_definition(pairing, negative, dtype, tolerance):
    chunk = make_chunk(SENTENCES, window=3, negative=negative, pairing=pairing)
    check_gradients(chunk, make_wv(dtype=dtype), tolerance)


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_loss_and_gradients_on_any_chunk(data):
    words = data.draw(st.integers(2, 12))
    chunk = draw_chunk(data, words)
    check_gradients(chunk, make_wv(words, data.draw(st.integers(1, 40)), seed=data.draw(st.integers(0, 99))))


@pytest.mark.parametrize("pairing", ["paired", "shared"])
def test_small_step_goes_down_the_gradient(pairing):
    wv = make_wv()
    chunk = make_chunk([[0, 1, 2, 3]], radii=np.array([3, 1, 1, 1]), pairing=pairing)
    before = wv.vectors.copy(), wv.context_vectors.copy()
    _, gradients = skip_gram_backend(wv).gradients(chunk)
    skip_gram_backend(wv).step(chunk, 1e-7)
    for now, old, name in zip((wv.vectors, wv.context_vectors), before, gradients, strict=True):
        np.testing.assert_allclose((old - now) / 1e-7, gradients[name], rtol=1e-4, atol=1e-5)


def test_gradients_train_nothing():
    wv = make_wv()
    vectors, context_vectors = wv.vectors.copy(), wv.context_vectors.copy()
    backend = skip_gram_backend(wv)
    backend.gradients(make_chunk(SENTENCES))
    backend.step(make_chunk(SENTENCES), 0.0)
    for sentences in ([], [[3]], [[1], [], [2]]):
        assert backend.step(make_chunk(sentences, words=10), 0.1).centres == 0
    np.testing.assert_array_equal(wv.vectors, vectors)
    np.testing.assert_array_equal(wv.context_vectors, context_vectors)


@pytest.mark.parametrize("pairing", ["paired", "shared"])
def test_steps_lower_the_loss_and_repeat_bit_for_bit(pairing):
    tables = []
    for _ in range(2):
        wv = make_wv(dtype=np.float32)
        backend = skip_gram_backend(wv)
        losses = [backend.step(make_chunk(SENTENCES, pairing=pairing), 0.05).loss for _ in range(50)]
        assert losses[-1] < 0.7 * losses[0]
        tables.append((wv.vectors, wv.context_vectors))
    for first, second in zip(*tables, strict=True):
        np.testing.assert_array_equal(first, second)


def test_instruction_sets_agree():
    chunk = make_chunk(SENTENCES, negative=5, pairing="paired")
    found = []
    for instruction_set in ("plain", None):
        wv = make_wv(dimensions=37, dtype=np.float32)
        arrays = {"means": wv.vectors, "context_vectors": wv.context_vectors}
        loss, _ = Kernel(arrays, instruction_set=instruction_set).step(chunk, 0.05)
        found.append((loss, wv.vectors, wv.context_vectors))
    for plain, best in zip(*found, strict=True):
        np.testing.assert_allclose(plain, best, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("alpha", [1.0, 100.0, 1e10, 1e30])
@pytest.mark.parametrize("pairing", ["paired", "shared"])
def test_tables_stay_finite_at_any_rate_and_divergence_is_told(alpha, pairing):
    wv = make_wv(dtype=np.float32)
    backend = skip_gram_backend(wv)
    results = [backend.step(make_chunk(SENTENCES, seed=seed, pairing=pairing), alpha) for seed in range(40)]
    assert np.isfinite(wv.vectors).all()
    assert np.isfinite(wv.context_vectors).all()
    assert all(result.loss >= 0 for result in results)
    if alpha > 100:
        assert np.isinf(results[-1].loss)


def test_the_parameters_are_gensims():
    ours, theirs = (inspect.signature(model.__init__).parameters for model in (SkipGram, Word2Vec))
    assert list(ours)[: len(theirs)] == list(theirs)
    differ = {name for name in theirs if ours[name].default != theirs[name].default}
    assert differ == {"sample", "workers", "sg"}


def test_it_learns_what_gensim_learns():
    options = {"vector_size": 20, "sample": 1e-2, "epochs": 10, "workers": 1, "alpha": 0.1}
    language = toy_language(1000)
    ours = SkipGram(list(language), **options).wv
    theirs = Word2Vec(list(language), sg=1, **options).wv
    topics = [words for senses in language.senses.values() for words in senses.values()]
    groups = [[word for word in words if word in ours] for words in topics]
    assert min(map(len, groups)) > 3

    def gap(wv):
        """How much nearer words of one group are to each other than to those of the next."""
        inside = [wv.n_similarity(group[::2], group[1::2]) for group in groups]
        across = [wv.n_similarity(a, b) for a, b in zip(groups, groups[1:] + groups[:1], strict=True)]
        return np.mean(inside) - np.mean(across)

    assert gap(ours) > 0.3
    assert gap(ours) > gap(theirs) - 0.1


def test_predict_output_word_is_gensims():
    ours = SkipGram(TOY, epochs=2, alpha=0.1, **SMALL)
    theirs = Word2Vec(TOY, epochs=1, sg=1, **SMALL)
    assert set(theirs.wv.index_to_key) == set(ours.wv.index_to_key)
    for cbow_mean in (0, 1):
        ours.cbow_mean = theirs.cbow_mean = cbow_mean
        rows = [theirs.wv.key_to_index[word] for word in ours.wv.index_to_key]
        theirs.wv.vectors[rows], theirs.syn1neg[rows] = ours.wv.vectors, ours.syn1neg
        context = ["barks", "leash", "nonsense"]
        found, expected = ours.predict_output_word(context), theirs.predict_output_word(context)
        assert [word for word, _ in found] == [word for word, _ in expected]
        np.testing.assert_allclose([p for _, p in found], [p for _, p in expected], rtol=1e-4)
    assert ours.predict_output_word(["nonsense"]) is None
    with pytest.raises(RuntimeError, match="vocabulary"):
        SkipGram().predict_output_word(["dog"])


def test_model_is_saved_whole_and_resumes_bit_for_bit(tmp_path):
    path = tmp_path / "model.dv"
    whole = SkipGram(TOY, epochs=3, **SMALL)
    part = SkipGram(epochs=3, **SMALL)
    part.build_vocab(TOY)

    class Stop:
        def on_epoch_end(self, model):
            if model.epochs_trained == 2:
                model.save(path)
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        part.train(callbacks=[Stop()])
    for mmap in (None, "r"):
        loaded = SkipGram.load(path, mmap=mmap)
        assert loaded.pairing == "paired"
        np.testing.assert_array_equal(loaded.wv.context_vectors, part.wv.context_vectors)
        loaded.train(TOY, resume=True)
        np.testing.assert_array_equal(loaded.wv.vectors, whole.wv.vectors)
        np.testing.assert_array_equal(loaded.syn1neg, whole.syn1neg)
    words = KeyedDensities.load(path)
    np.testing.assert_array_equal(words.context_vectors, part.wv.context_vectors)
    with pytest.raises(ValueError, match="SkipGram"):
        BayesianSkipGram.load(path)


def test_context_vectors_follow_the_words():
    wv = SkipGram(TOY, epochs=1, **SMALL).wv
    chosen = wv.vectors_for_all(["dog", "barks"])
    row = chosen.key_to_index["dog"]
    np.testing.assert_array_equal(chosen.context_vectors[row], wv.context_vectors[wv.key_to_index["dog"]])
    chosen.add_vectors(["unicorn"], np.ones((1, 12)))
    assert chosen.context_vectors.shape == (3, 12)
    assert not chosen.context_vectors[2].any()


def test_vocabulary_grows():
    model = SkipGram(TOY, epochs=1, **SMALL)
    known, vectors = len(model.wv), model.wv.vectors.copy()
    more = [["unicorn", "dog", "barks"]] * 20
    model.build_vocab(more, update=True)
    assert len(model.wv) == known + 1 == len(model.syn1neg)
    np.testing.assert_array_equal(model.wv.vectors[:known], vectors)
    start = model.wv["unicorn"].copy()
    model.train(more, total_examples=len(more), epochs=2)
    assert (model.wv["unicorn"] != start).any()


def test_losses_are_per_centre_word_and_start_at_chance():
    model = SkipGram(TOY, epochs=1, alpha=1e-6, min_alpha=1e-6, window=1, shrink_windows=False, **SMALL)
    (entry,) = model.loss_history
    # context vectors start at 0: log 2 for each of 1 + 5 words, and at most two of a centre's context words
    assert 6 * np.log(2) < entry.loss < 2 * 6 * np.log(2) + 1e-6
    assert (entry.hinge, entry.kl) == (entry.loss, 0)


def test_divergence_is_an_error_and_leaves_finite_vectors():
    model = SkipGram(alpha=1e12, min_alpha=1e12, **SMALL)
    model.build_vocab(TOY)
    with pytest.raises(UnstableTrainingError):
        model.train()
    assert np.isfinite(model.wv.vectors).all()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"pairing": "single"}, "pairing='single'"),
        ({"backend": "torch"}, "native kernel"),
        ({"device": "cuda"}, "native kernel"),
        ({"sg": 0}, "CBOW"),
        ({"negative": 0}, "negative=0"),
    ],
)
def test_what_it_cannot_do_is_an_error(options, told):
    with pytest.raises(ValueError, match=told):
        SkipGram(**options)


def test_threads_train_the_same_tables():
    model = SkipGram(TOY * 3, epochs=2, **{**SMALL, "workers": 4, "batch_words": 500})
    assert np.isfinite(model.wv.vectors).all()
    assert model.loss_history[-1].loss < model.loss_history[0].loss
    assert model.estimate_memory()["context_vectors"] == model.syn1neg.nbytes
