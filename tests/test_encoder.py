from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from densvec.encoder import LOG_VARIANCE_BOUNDS, Encoder, _distinct

V, E, H, D = 30, 4, 6, 5


def make(seed=0, variances=1, dtype=np.float64, vocabulary=V):
    rng = np.random.default_rng(seed)
    shapes = [(vocabulary, E), (E, H), (E, H), (H, D), (D,), (H, variances), (variances,)]
    return Encoder(*(rng.normal(size=shape).astype(dtype) for shape in shapes))


def naive(encoder, centre, context):
    """The definition in torch, for one window: concatenate, multiply by the whole layer, relu, sum."""
    w = {name: torch.tensor(array) for name, array in encoder.arrays().items()}
    layer = torch.cat([w["context_layer"], w["centre_layer"]])
    hidden = torch.zeros(H, dtype=w["embeddings"].dtype)
    for word in context:
        hidden += torch.relu(torch.cat([w["embeddings"][word], w["embeddings"][centre]]) @ layer)
    log_variance = hidden @ w["variance_head"] + w["variance_bias"]
    return hidden @ w["mean_head"] + w["mean_bias"], log_variance.clamp(*LOG_VARIANCE_BOUNDS)


windows = st.lists(
    st.tuples(st.integers(0, V - 1), st.lists(st.integers(0, V - 1), max_size=12)), min_size=1, max_size=20
)


@given(windows, st.sampled_from([1, D]))
def test_posteriors_are_the_definition(windows, variances):
    encoder = make(variances=variances)
    centres = [centre for centre, _ in windows]
    contexts = [word for _, context in windows for word in context]
    offsets = np.cumsum([0, *(len(context) for _, context in windows)])
    means, log_variances = encoder.posteriors(centres, contexts, offsets)
    assert means.shape == (len(windows), D)
    assert log_variances.shape == (len(windows), variances)
    for i, (centre, context) in enumerate(windows):
        mean, log_variance = naive(encoder, centre, context)
        assert_allclose(means[i], mean, rtol=1e-9, atol=1e-9)
        assert_allclose(log_variances[i], log_variance, rtol=1e-9, atol=1e-9)


def test_many_windows_do_not_depend_on_their_company():
    encoder = make(dtype=np.float32, vocabulary=5000)
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 12, size=3000)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    centres, contexts = rng.integers(5000, size=3000), rng.integers(5000, size=offsets[-1])
    means, log_variances = encoder.posteriors(centres, contexts, offsets)
    assert means.dtype == log_variances.dtype == np.float32
    for i in rng.integers(3000, size=50):
        context = contexts[offsets[i] : offsets[i + 1]]
        mean, log_variance = encoder.posteriors(centres[i : i + 1], context, [0, len(context)])
        assert_allclose(means[i], mean[0], rtol=1e-4, atol=1e-4)
        assert_allclose(log_variances[i], log_variance[0], rtol=1e-4, atol=1e-4)


def test_a_residual_encoder_shifts_the_priors():
    plain, residual = make(), replace(make(), residual=True)
    rng = np.random.default_rng(2)
    priors = rng.normal(size=(2, D)), rng.normal(size=(2, 1))
    window = [3, 4], [5, 6, 7], [0, 2, 3]
    means, log_variances = plain.posteriors(*window)
    shifted_means, shifted_log_variances = residual.posteriors(*window, priors)
    assert_allclose(shifted_means, priors[0] + means)
    assert_allclose(shifted_log_variances, priors[1] + log_variances)
    assert_array_equal(plain.posteriors(*window, priors)[0], means)
    assert residual.with_rows(np.arange(3)).residual
    assert "residual" not in residual.arrays()
    with pytest.raises(ValueError, match="give priors"):
        residual.posteriors(*window)


def test_log_variance_is_bounded():
    encoder = make()
    encoder.variance_head *= 1e6
    _, log_variances = encoder.posteriors(np.arange(V), np.arange(V)[::-1], np.arange(V + 1))
    assert log_variances.min() == LOG_VARIANCE_BOUNDS[0]
    assert log_variances.max() == LOG_VARIANCE_BOUNDS[1]


def test_no_windows():
    means, log_variances = make().posteriors([], [], [0])
    assert means.shape == (0, D)
    assert log_variances.shape == (0, 1)


@given(st.lists(st.integers(0, 9)), st.sampled_from([10, 1000]))
def test_distinct_words(words, vocabulary):
    words = np.array(words, dtype=np.int64)
    distinct, row_of = _distinct(words, vocabulary)
    assert_array_equal(distinct, np.unique(words))
    assert_array_equal(distinct[row_of], words)


def test_rows():
    encoder = make()
    chosen = encoder.with_rows(np.array([3, 1]))
    assert_array_equal(chosen.embeddings, encoder.embeddings[[3, 1]])
    grown = encoder.with_rows_appended(2)
    assert grown.embeddings.shape == (V + 2, E)
    assert not grown.embeddings[V:].any()
    assert len(encoder.embeddings) == V
    assert list(encoder.arrays()) == list(Encoder.names())


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("embeddings", (V, E + 1)),
        ("centre_layer", (E, H + 1)),
        ("mean_head", (H + 1, D)),
        ("mean_bias", (D + 1,)),
        ("variance_head", (H, 2)),
        ("variance_bias", (3,)),
    ],
)
def test_wrong_shapes_are_named(name, shape):
    arrays = make().arrays()
    arrays[name] = np.zeros(shape)
    with pytest.raises(ValueError, match=name.replace("head", "").replace("bias", "")):
        Encoder(**arrays)
