"""What lies outside of tables and of 32 bits: kernels refuse it, or count it right."""

import numpy as np
import pytest

from densvec import BayesianSkipGram, SkipGram, Word2Gauss
from densvec._corpus import MAX_NEGATIVE, MAX_WINDOW, Chunk
from densvec.native import _bsg, _skipgram, _word2gauss
from densvec.text._text import MAX_BLOCK_WORDS
from densvec.training.tables import bayesian_state

MODELS = ("bsg", "skipgram", "word2gauss")


def kernel_of(model, tables):
    """Return a kernel of random rows where `tables` does not give others, and what takes a step with it."""
    if model == "skipgram":
        kernel = _skipgram.Kernel({name: tables[name] for name in ("means", "context_vectors")})
        return kernel, lambda chunk: kernel.step(chunk, 0.1)
    if model == "word2gauss":
        kernel = _word2gauss.Kernel(
            {name: tables[name] for name in ("means", "log_variances")},
            margin=5.0,
            energy="kl",
            low=-3.0,
            high=3.0,
            longest=100.0,
        )
        return kernel, lambda chunk: kernel.step(chunk, mean=0.1, log_variance=0.05)
    tables = {name: array for name, array in tables.items() if name != "context_vectors"}
    kernel = _bsg.Kernel(tables, bayesian_state(tables), margin=5.0, kl_weight=1.0)
    rates = {"mean": 0.1, "log_variance": 0.05, "contrast": 0.05, "coverage": 0.02}
    return kernel, lambda chunk: kernel.step(chunk, **rates, embedding=0.05, encoder=3e-4)


def tables_of(words, size, hidden=4, seed=1):
    rng = np.random.default_rng(seed)
    shapes = {
        "means": (words, size),
        "context_vectors": (words, size),
        "log_variances": (words, 1),
        "embeddings": (words, size),
        "context_layer": (size, hidden),
        "centre_layer": (size, hidden),
        "mean_head": (hidden, size),
        "mean_bias": (size,),
        "variance_head": (hidden, 1),
        "variance_bias": (1,),
    }
    return {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes.items()}


def chunk_of(tokens, radii=2, negatives=None, pairing="shared"):
    n = len(tokens)
    negatives = [tokens[:2]] * n if negatives is None else negatives
    return Chunk(tokens, [0, n], np.broadcast_to(radii, n), negatives, pairing)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("tokens", "negatives"), [([0, 1, 6], [[0], [1], [2]]), ([0, 1, 5], [[0], [2**31 - 1], [2]])]
)
def test_words_that_the_tables_do_not_have_are_refused(model, tokens, negatives):
    _, step = kernel_of(model, tables_of(6, 5))
    with pytest.raises(ValueError, match="the tables have 6 words"):
        step(chunk_of(tokens, negatives=negatives))


@pytest.mark.parametrize("model", MODELS)
def test_a_window_of_any_width_ends_with_its_sentence(model):
    results = []
    for radii in (5, 2**31 - 1):
        tables = tables_of(6, 5)
        _, step = kernel_of(model, tables)
        step(chunk_of([0, 1, 2, 3, 4, 5], radii))
        results.append(tables)
    for name, array in results[0].items():
        np.testing.assert_array_equal(array, results[1][name], err_msg=name)


@pytest.mark.parametrize("model", MODELS)
def test_a_chunk_without_negatives_changes_nothing(model):
    tables = tables_of(6, 5)
    before = {name: array.copy() for name, array in tables.items()}
    _, step = kernel_of(model, tables)
    assert step(chunk_of([0, 1, 2], negatives=np.empty((3, 0), np.int32)))[-1] == 0
    for name, array in before.items():
        np.testing.assert_array_equal(array, tables[name], err_msg=name)


def test_a_worker_that_there_is_not_is_refused():
    kernel, _ = kernel_of("bsg", tables_of(6, 5))
    with pytest.raises(IndexError, match="worker 1 of 1"):
        kernel.measure(chunk_of([0, 1, 2]), worker=1)


@pytest.mark.parametrize("model", MODELS)
def test_rows_beyond_two_to_the_31_numbers_are_trained_like_others(model, tmp_path):
    size, rows = 512, 6
    words = 2**31 // size + rows
    expected = tables_of(rows, size)
    large = {name: array.copy() for name, array in expected.items()}
    for name in ("means", "context_vectors", "log_variances", "embeddings"):
        shape = (words, expected[name].shape[1])
        large[name] = np.memmap(tmp_path / name, np.float32, "w+", shape=shape).view(np.ndarray)  # sparse
        large[name][-rows:] = expected[name]
    tokens = np.array([0, 3, 1, 5, 2, 4])
    _, step = kernel_of(model, expected)
    loss = step(chunk_of(tokens.tolist()))
    _, step = kernel_of(model, large)
    assert step(chunk_of((tokens + words - rows).tolist())) == loss
    for name, array in expected.items():
        np.testing.assert_array_equal(large[name][-len(array) :], array, err_msg=name)


def test_scratch_memory_of_more_than_two_to_the_31_numbers():
    """One centre reads 2,000 words into a million hidden units: right, or a MemoryError, never an overflow."""
    tables = tables_of(3, 1, hidden=500_000)
    radii = np.ones(2200, np.int32)
    radii[1000] = 1000
    tokens = np.arange(2200) % 3
    losses = []
    kernel, _ = kernel_of("bsg", tables)
    try:
        loss, kl, centres = kernel.measure(chunk_of(tokens.tolist(), radii))
    except MemoryError:
        pytest.skip("this machine has no 20 GB of addresses to give")
    losses = [
        kernel.measure(chunk_of(tokens[a:b].tolist(), radii[a:b]))[0] for a, b in ((0, 999), (2001, 2200))
    ]
    assert centres == 2200
    assert np.isfinite([loss, kl]).all()
    assert loss > sum(losses)


@pytest.mark.parametrize("model", [BayesianSkipGram, SkipGram, Word2Gauss])
@pytest.mark.parametrize(
    ("name", "most"), [("window", MAX_WINDOW), ("negative", MAX_NEGATIVE), ("batch_words", MAX_BLOCK_WORDS)]
)
def test_parameters_that_would_not_fit_are_refused_before_any_text_is_read(model, name, most):
    def never():
        raise AssertionError("the corpus was read")
        yield

    with pytest.raises(ValueError, match=f"{name}={most + 1} is too large"):
        model(never(), **{name: most + 1})
    assert getattr(model(**{name: most}), name) == most


@pytest.mark.parametrize("model", [BayesianSkipGram, SkipGram, Word2Gauss])
def test_counts_of_other_words_are_refused(model):
    trained = model([["a", "b", "c", "d"]] * 9, vector_size=3, min_count=1, workers=1, epochs=1)
    trained.wv.expandos["count"] = np.full(10_000, 9)
    with pytest.raises(ValueError, match="10000 counts for 4 words"):
        trained.train([["a", "b"]] * 9, total_examples=9, epochs=1)
