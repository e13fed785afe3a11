"""The ONNX graph against the library, by onnxruntime."""

import numpy as np
import pytest

pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

from conftest import example_densities
from densvec import BayesianSkipGram, KeyedDensities
from densvec.datasets import toy_language
from densvec.questions.inference import keep_of

SENTENCES = list(toy_language(400, seed=1))


def trained(**options):
    return BayesianSkipGram(SENTENCES, vector_size=12, min_count=1, epochs=2, workers=1, seed=2, **options).wv


@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
@pytest.mark.parametrize("residual", [True, False])
def test_it_computes_what_infer_does(covariance, residual, tmp_path):
    wv = trained(covariance=covariance, residual=residual)
    wv.export_onnx(tmp_path / "posterior.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "posterior.onnx")
    rng = np.random.default_rng(1)
    words = wv.index_to_key
    centres = rng.integers(0, len(words), 200)
    contexts = rng.integers(0, len(words), (200, 10))
    contexts[rng.random(contexts.shape) < 0.4] = -1
    contexts[contexts == centres[:, None]] = -1  # a word in its own context would be where it stands
    contexts[0] = -1  # no context at all: the prior
    mean, log_variance = session.run(
        None, {"centre": centres, "context": contexts, "weight": np.ones(contexts.shape, np.float32)}
    )
    pairs = [
        (words[centre], [words[row] for row in rows if row >= 0])
        for centre, rows in zip(centres, contexts, strict=True)
    ]
    posteriors = wv.infer_posteriors(pairs)
    np.testing.assert_allclose(mean, posteriors.mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(log_variance, np.log(posteriors.variance), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(mean[0], wv.vectors[centres[0]])


def test_near_words_count_more_by_their_weights(tmp_path):
    wv = trained(sample=0)  # all words are kept, so that distances are those in the text
    wv.export_onnx(tmp_path / "posterior.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "posterior.onnx")
    sentence = SENTENCES[0][:5]  # within one window
    rows, places = np.array([wv.get_index(word) for word in sentence]), np.arange(len(sentence))
    others = np.array([np.delete(places, place) for place in places])
    weight = wv.encoder.reading.weights(np.abs(others - places[:, None])).astype(np.float32)
    assert np.ptp(weight) > 0.1
    mean, log_variance = session.run(None, {"centre": rows, "context": rows[others], "weight": weight})
    posteriors = wv.infer_sentences([sentence])[0]
    np.testing.assert_allclose(mean, posteriors.mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(log_variance, np.log(posteriors.variance), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
def test_any_weights(covariance, tmp_path):
    wv = trained(covariance=covariance)
    wv.export_onnx(tmp_path / "posterior.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "posterior.onnx")
    rng = np.random.default_rng(3)
    centres, contexts = rng.integers(0, len(wv), 100), rng.integers(0, len(wv), (100, 6))
    weight = rng.uniform(0, 3, contexts.shape).astype(np.float32)
    mean, log_variance = session.run(None, {"centre": centres, "context": contexts, "weight": weight})
    flat, offsets = contexts.ravel(), np.arange(0, contexts.size + 1, 6)
    priors = wv.vectors[centres], wv.log_variances[centres]
    expected = wv.encoder.posteriors(centres, flat, offsets, priors, weight.ravel() * keep_of(wv, flat))
    np.testing.assert_allclose(mean, expected[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(log_variance, expected[1], rtol=1e-5, atol=1e-5)


def test_words_are_written_in_the_order_of_their_rows(tmp_path):
    wv = example_densities()
    wv.export_onnx(tmp_path / "posterior.onnx", words=tmp_path / "words.txt")
    assert (tmp_path / "words.txt").read_text().splitlines() == wv.index_to_key


def test_large_weights_get_a_file_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr("densvec.integrations.onnx._LARGEST_MESSAGE", 1000)
    wv = trained()
    wv.export_onnx(tmp_path / "posterior.onnx")
    assert (tmp_path / "posterior.onnx.data").stat().st_size > (tmp_path / "posterior.onnx").stat().st_size
    session = onnxruntime.InferenceSession(tmp_path / "posterior.onnx")
    inputs = {
        "centre": np.array([3]),
        "context": np.array([[4, 5, 6]]),
        "weight": np.ones((1, 3), np.float32),
    }
    mean, _ = session.run(None, inputs)
    words = wv.index_to_key
    np.testing.assert_allclose(
        mean[0], wv.infer([words[4], words[5], words[6]], word=words[3]).mean, atol=1e-5
    )


def test_without_an_encoder_there_is_nothing_to_export(tmp_path):
    wv = KeyedDensities(2, covariance="spherical")
    with pytest.raises(ValueError, match="no encoder"):
        wv.export_onnx(tmp_path / "posterior.onnx")
