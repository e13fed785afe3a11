"""Words in context: what the encoder says, window by window."""

import threading
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from densvec import Gaussian, KeyedDensities
from densvec.encoder import Encoder

WORDS = [f"w{i}" for i in range(12)]
D = 3


def make(covariance="spherical", window=2):
    rng = np.random.default_rng(3)
    width = 1 if covariance == "spherical" else D
    wv = KeyedDensities(D, covariance=covariance, window=window)
    wv.add_vectors(WORDS, rng.normal(size=(12, D)), log_variances=rng.normal(size=(12, width)))
    shapes = [(12, 4), (4, 5), (4, 5), (5, D), (D,), (5, width), (width,)]
    wv.encoder = Encoder(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))
    return wv


WV = make()


def of_rows(wv, centre, context):
    """The posterior that the encoder itself gives, the prior without context."""
    if not context:
        return wv.density(centre)
    rows = [wv.get_index(word) for word in context]
    means, log_variances = wv.encoder.posteriors([wv.get_index(centre)], rows, [0, len(rows)])
    return Gaussian(means[0], np.exp(log_variances[0]))


def assert_same(one, other):
    assert_allclose(one.mean, other.mean, rtol=1e-4, atol=1e-5)
    assert_allclose(one.variance, other.variance, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
def test_posterior_of_a_word(covariance):
    wv = make(covariance)
    posterior = wv.infer(["w1", "w2", "w3", "w4", "w5", "w6"], word="w0")
    assert posterior.shape == ()
    assert posterior.variance.shape == ((1,) if covariance == "spherical" else (D,))
    assert_same(posterior, of_rows(wv, "w0", ["w1", "w2", "w3", "w4", "w5", "w6"]))
    assert wv.infer("w1 w2  w3\tw4 w5 w6", word="w0") == posterior
    assert wv.infer(("w1", "w2", "w3", "w4", "w5", "w6"), word=0) == posterior


def test_residual_posteriors_are_shifts_of_their_priors():
    wv = make()
    plain = wv.infer("w1 w2", word="w0")
    wv.encoder.residual = True
    shifted = wv.infer("w1 w2", word="w0")
    assert_allclose(shifted.mean, plain.mean + wv["w0"], rtol=1e-5)
    assert_allclose(shifted.variance, plain.variance * wv.get_variance("w0"), rtol=1e-5)
    assert wv.infer("", word="w0") == wv.density("w0")


def test_unknown_context_words_are_skipped():
    assert WV.infer("the w1 and w2", word="w0") == WV.infer("w1 w2", word="w0")


@pytest.mark.parametrize("context", ["", [], "only unknown words"])
def test_without_known_context_the_posterior_is_the_prior(context):
    assert WV.infer(context, word="w0") == WV.density("w0")


def test_the_word_in_its_own_context_counts_unless_its_place_is_given():
    assert_same(WV.infer("w0 w1", word="w0"), of_rows(WV, "w0", ["w0", "w1"]))
    assert_same(WV.infer("w0 w1", word="w0", position=0), of_rows(WV, "w0", ["w1"]))


def test_position_takes_the_window_around_it():
    sentence = "w1 w2 the w3 w0 of w4 w5 w6"
    expected = of_rows(WV, "w0", ["w2", "w3", "w4", "w5"])  # two known words on each side
    assert_same(WV.infer(sentence, word="w0", position=4), expected)
    assert_same(WV.infer(sentence, position=4), expected)
    # The sentence may have another form of the word, even an unknown one.
    assert_same(WV.infer(sentence.replace("w0", "w0s"), word="w0", position=4), expected)


@pytest.mark.parametrize("sentence", ["w1 [[w2]] w3 w2 w4", ["w1", "[[w2]]", "w3", "w2", "w4"]])
def test_a_word_in_double_brackets_is_the_one_asked_about(sentence):
    expected = WV.infer("w1 w2 w3 w2 w4", position=1)
    assert WV.infer(sentence) == WV.infer(sentence, word="w2") == expected
    assert WV.infer_posteriors([("w2", sentence)])[0] == expected
    assert_same(WV.infer(sentence, word="w5"), WV.infer("w1 w2 w3 w2 w4", word="w5", position=1))
    with pytest.raises(ValueError, match="2 words are in double brackets"):
        WV.infer("[[w1]] w2 [[w3]]")


def test_several_sentences_are_a_batch_or_an_error():
    sentences = ["w1 w0 w2", "w3 w4 [[w0]] w0"]
    batch = WV.infer(sentences, word="w0")
    assert_same(batch, WV.infer_posteriors([("w0", each) for each in sentences]))
    assert_same(WV.infer([each.split() for each in sentences], word="w0"), batch)
    for ask in (
        lambda: WV.infer(sentences),
        lambda: WV.infer_posteriors([("w0", sentences)]),
        lambda: WV.infer_sentences([sentences]),
        lambda: WV.read_around(sentences, 0),
    ):
        with pytest.raises(TypeError, match=r"several sentences .* infer_posteriors"):
            ask()
    with pytest.raises(ValueError, match=r"mark the word in each, \[\[word\]\]"):
        WV.infer(sentences, word="w0", position=1)


def test_wrong_questions_are_named():
    with pytest.raises(KeyError, match="nope"):
        WV.infer("w1 w2", word="nope")
    with pytest.raises(KeyError, match="nope"):
        WV.infer("w1 nope", position=1)
    with pytest.raises(IndexError, match="position=2 is outside the sentence, which has 2 tokens"):
        WV.infer("w1 w2", position=2)
    with pytest.raises(IndexError, match="position=-1"):
        WV.infer("w1 w2", word="w1", position=-1)
    with pytest.raises(KeyError, match=r"unknown words in the sentence: nope.*skip_unknown=True"):
        WV.infer("w1 nope w2")


sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=9), min_size=1, max_size=6)


@given(sentences, st.integers(1, 4))
def test_sentences_are_inferred_window_by_window(sentences, window):
    wv = make(window=window)
    batches = wv.infer_sentences(sentences)
    assert [len(batch) for batch in batches] == [len(sentence) for sentence in sentences]
    for sentence, batch in zip(sentences, batches, strict=True):
        for i, word in enumerate(sentence):
            context = sentence[max(i - window, 0) : i] + sentence[i + 1 : i + 1 + window]
            assert_same(batch[i], of_rows(wv, word, context))


@given(sentences)
def test_many_pairs_are_like_one_by_one(sentences):
    pairs = [(WORDS[i], sentence) for i, sentence in enumerate(sentences)]
    pairs += [("w1", " ".join(sentences[0])), ("w2", (word for word in sentences[0]))]
    pairs.append(("w3", [*sentences[0], "w3", "w4"], len(sentences[0])))
    pairs.append(("w3", sentences[0], None))
    expected = [WV.infer(context, word=word) for word, context in pairs[: len(sentences)]]
    batch = WV.infer_posteriors(pairs)
    assert len(batch) == len(pairs)
    for one, other in zip(expected, batch, strict=False):
        assert_same(one, other)
    assert_same(batch[-2], WV.infer([*sentences[0], "w3", "w4"], position=len(sentences[0])))
    assert_same(batch[-1], WV.infer(sentences[0], word="w3"))


def test_a_sentence_may_skip_unknown_words():
    known = WV.infer("w1 w2 w3")
    assert_same(WV.infer("w1 the w2 of w3", skip_unknown=True), known)
    assert WV.infer("the of", skip_unknown=True).shape == (0,)
    assert WV.infer("").shape == (0,)
    assert WV.infer_sentences([]) == []
    assert WV.infer_posteriors([]).shape == (0,)


def test_long_texts_cross_blocks(monkeypatch):
    text = [WORDS[i % 12] for i in range(100)]
    whole = WV.infer_sentences([text[:70], text[70:]])
    monkeypatch.setattr("densvec.questions.inference._WORDS_AT_ONCE", 16)
    for one, other in zip(whole, WV.infer_sentences([text[:70], text[70:]]), strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("text", ["one sentence", "many sentences", "one word", "all words"])
def test_the_memory_of_wide_windows_follows_the_text(monkeypatch, text):
    """Windows as wide as can be, on 2,000 words: their windows hold four million words, none of them for long."""
    monkeypatch.setattr("densvec.questions.inference._WORDS_AT_ONCE", 1 << 15)
    wide, words = make(window=1_000_000), [WORDS[i % 12] for i in range(2000)]
    tracemalloc.start()
    if text == "one sentence":
        wide.infer(words)
    elif text == "many sentences":
        wide.infer_sentences([words[i : i + 20] for i in range(0, 2000, 20)])
    elif text == "one word":
        wide.encoder.reading = replace(wide.encoder.reading, thinned=True)
        wide.infer(words, word="w3")
    else:
        wide.infer_posteriors([(word, words[:5]) for word in words])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000


@pytest.mark.parametrize(
    "ask",
    [
        lambda wv: wv[b"w1"],
        lambda wv: wv[[b"w1"]],
        lambda wv: wv[bytearray(b"w1")],
        lambda wv: wv.density(b"w1"),
        lambda wv: wv.kl_divergence(b"w1", "w2"),
        lambda wv: wv.most_similar(b"w1"),
        lambda wv: wv.most_similar([b"w1"]),
        lambda wv: wv.similar_by_vector(b"w1"),
        lambda wv: wv.infer(b"w1 w2"),
        lambda wv: wv.infer(b"w1 w2", word="w3"),
        lambda wv: wv.infer("w1 w2", word=b"w3"),
        lambda wv: wv.infer_sentences([b"w1 w2"]),
        lambda wv: wv.infer_posteriors([("w1", b"w1 w2")]),
        lambda wv: wv.substitutes("w1", b"w1 w2"),
    ],
)
def test_bytes_are_not_words(ask):
    with pytest.raises(TypeError, match=r"is bytes, and words are text: decode it first, .*\.decode\(\)"):
        ask(WV)


@pytest.mark.parametrize("ask", [lambda wv: wv[True], lambda wv: wv.density(False), lambda wv: wv[[True]]])
def test_truth_is_no_row(ask):
    with pytest.raises(TypeError, match="neither a word nor the number of a row"):
        ask(WV)


def test_threads_may_ask_at_once():
    pairs = [(WORDS[i % 12], [WORDS[(i * j) % 12] for j in range(1, 6)]) for i in range(500)]
    expected = WV.infer_posteriors(pairs)
    failures = []

    def ask():
        for _ in range(5):
            found = WV.infer_posteriors(pairs)
            if not np.array_equal(found.mean, expected.mean):
                failures.append(found)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_posteriors_can_be_looked_up():
    posterior = WV.infer("w1 w2", word="w0")
    assert WV.similar_by_density(posterior, topn=3) == WV.most_similar(posterior, metric="kl", topn=3)
    assert_array_equal(
        [word for word, _ in WV.most_similar_batch(WV.infer("w1 w2 w3"), topn=1, metric="kl")[0]],
        [word for word, _ in WV.most_similar(WV.infer("w1 w2 w3")[0], topn=1, metric="kl")],
    )
