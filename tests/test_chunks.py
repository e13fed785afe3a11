"""Chunks: the same from any source and for any number of workers, complete, and drawn by the laws they promise."""

import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from densvec._corpus import Block, Sampler
from densvec.text.feed import Feed
from densvec.text.thinning import keep_probabilities, noise_weights

WORDS = [f"w{i}" for i in range(30)]
INDEX = {word: i for i, word in enumerate(WORDS)}


def text(lines, seed=0, unknown=0.1):
    """Token lists of Zipfian words, some of them unknown."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, len(WORDS) + 1)
    return [
        [
            "???" if rng.random() < unknown else WORDS[rng.choice(len(WORDS), p=weights / weights.sum())]
            for _ in range(rng.integers(1, 25))
        ]
        for _ in range(lines)
    ]


def sampler(**options):
    size = len(WORDS)
    return Sampler(
        **{
            "keep": np.linspace(0.3, 1, size),
            "noise": np.arange(1.0, size + 1),
            "window": 4,
            "seed": 7,
            **options,
        }
    )


def pulled(feed, workers):
    """The chunks that so many threads take from one feed, by their numbers."""
    chunks = []

    def work():
        for chunk in feed:
            chunks.append(chunk)

    threads = [threading.Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(chunks, key=lambda chunk: chunk.number)


def assert_same(left, right):
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        for name in ("tokens", "sentences", "radii", "negatives"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        for name in ("number", "epoch", "words", "words_before", "examples", "pairs"):
            assert getattr(a, name) == getattr(b, name)


@pytest.fixture
def corpus(tmp_path):
    sentences = text(400)
    path = tmp_path / "corpus.txt"
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences))
    return sentences, path


@pytest.mark.parametrize("pairing", ["shared", "paired"])
def test_chunks_are_the_same_for_one_and_four_workers_and_from_file_and_lists(corpus, pairing):
    sentences, path = corpus
    options = {
        "index": INDEX,
        "sampler": sampler(pairing=pairing, negative=3),
        "epoch": 2,
        "chunk_words": 200,
    }
    one = pulled(Feed(corpus_file=path, **options), 1)
    assert len(one) > 10
    assert_same(one, pulled(Feed(corpus_file=path, **options), 4))
    assert_same(one, pulled(Feed(sentences, **options), 1))
    assert_same(one, pulled(Feed(sentences, **options), 4))


def test_epochs_seeds_and_chunks_draw_differently(corpus):
    sentences, _ = corpus
    drawn = [
        pulled(Feed(sentences, index=INDEX, sampler=sampler(seed=seed), epoch=epoch, chunk_words=200), 1)
        for seed, epoch in ((7, 0), (7, 1), (8, 0))
    ]
    negatives = [chunks[0].negatives.ravel()[:50].tolist() for chunks in drawn]
    negatives.append(drawn[0][1].negatives.ravel()[:50].tolist())
    assert len({tuple(numbers) for numbers in negatives}) == 4


def test_start_leaves_out_the_first_chunks(corpus):
    _, path = corpus
    options = {"index": INDEX, "sampler": sampler(), "chunk_words": 200}
    assert_same(
        pulled(Feed(corpus_file=path, start=3, **options), 1),
        pulled(Feed(corpus_file=path, **options), 1)[3:],
    )


def test_without_sampling_every_known_token_arrives_exactly_once(corpus):
    sentences, path = corpus
    everything = sampler(keep=np.ones(len(WORDS)))
    for source in ({"corpus_file": path}, {"sentences": sentences}):
        chunks = pulled(Feed(**source, index=INDEX, sampler=everything, chunk_words=150), 2)
        arrived = [
            chunk.tokens[a:b].tolist() for chunk in chunks for a, b in pairwise(chunk.sentences) if b > a
        ]
        known = [[INDEX[w] for w in sentence if w in INDEX] for sentence in sentences]
        assert arrived == [sentence for sentence in known if sentence]
        assert sum(chunk.words for chunk in chunks) == sum(map(len, sentences))
        assert [chunk.words_before for chunk in chunks] == list(
            np.cumsum([0, *(chunk.words for chunk in chunks[:-1])])
        )


@settings(max_examples=60, deadline=None)
@given(
    sentences=st.lists(st.lists(st.integers(0, 29), max_size=9), max_size=12),
    window=st.integers(1, 6),
    shrink=st.booleans(),
    pairing=st.sampled_from(["shared", "paired"]),
)
def test_windows_are_those_of_the_reference(sentences, window, shrink, pairing):
    ids = [word for sentence in sentences for word in sentence]
    bounds = np.cumsum([0, *map(len, sentences)])
    chunk = sampler(
        keep=np.ones(30), window=window, shrink_windows=shrink, pairing=pairing, negative=2
    ).sample(Block(ids, bounds), 0)
    assert chunk.tokens.tolist() == ids
    expected = []
    for a, b in pairwise(chunk.sentences.tolist()):
        for i in range(a, b):
            radius = int(chunk.radii[i])
            assert 1 <= radius <= window
            assert shrink or radius == window
            expected += [(i, j) for j in range(max(a, i - radius), min(b, i + radius + 1)) if j != i]
    centres, contexts = chunk.centres_and_contexts()
    assert list(zip(centres.tolist(), contexts.tolist(), strict=True)) == expected
    assert chunk.pairs == len(expected)
    assert chunk.negatives.shape == (len(ids) if pairing == "shared" else len(expected), 2)
    if pairing == "paired":
        assert (chunk.negatives != chunk.tokens[contexts][:, None]).all()


def one_long_sentence(n=60_000, seed=1):
    ids = np.random.default_rng(seed).integers(0, len(WORDS), n)
    return Block(ids, np.arange(0, n + 1, 100)), ids


def test_subsampling_keeps_words_by_their_probabilities():
    block, ids = one_long_sentence()
    keep = np.linspace(0.1, 0.95, len(WORDS))
    chunk = sampler(keep=keep).sample(block, 0)
    seen, kept = np.bincount(ids, minlength=30), np.bincount(chunk.tokens, minlength=30)
    expected = np.concatenate([seen * keep, seen * (1 - keep)])
    _, p = chisquare(np.concatenate([kept, seen - kept]), expected, ddof=29)
    assert p > 1e-4


def test_shrunk_radii_are_uniform():
    block, _ = one_long_sentence()
    chunk = sampler(window=7, shrink_windows=True).sample(block, 0)
    _, p = chisquare(np.bincount(chunk.radii, minlength=8)[1:])
    assert p > 1e-4


def test_negatives_follow_their_weights():
    block, _ = one_long_sentence()
    noise = np.arange(30.0) ** 2  # the first word is never drawn
    chunk = sampler(noise=noise, negative=5).sample(block, 0)
    counts = np.bincount(chunk.negatives.ravel(), minlength=30)
    assert counts[0] == 0
    _, p = chisquare(counts[1:], noise[1:] / noise.sum() * counts.sum())
    assert p > 1e-4


def test_paired_negatives_follow_their_weights_without_the_positive():
    n = 40_000
    block = Block(np.tile([0, 1], n // 2), np.arange(0, n + 1, 2))
    noise = np.array([6.0, 3.0, 2.0, 1.0])
    chunk = Sampler(
        np.ones(4), noise, window=1, shrink_windows=False, negative=2, pairing="paired", seed=3
    ).sample(block, 0)
    _, contexts = chunk.centres_and_contexts()
    for positive in (0, 1):
        drawn = chunk.negatives[chunk.tokens[contexts] == positive].ravel()
        rest = np.delete(np.arange(4), positive)
        counts = np.bincount(drawn, minlength=4)
        assert counts[positive] == 0
        _, p = chisquare(counts[rest], noise[rest] / noise[rest].sum() * len(drawn))
        assert p > 1e-4


def test_keep_probabilities_are_word2vecs():
    counts = np.array([1000, 100, 10])
    ratio = 1e-2 * counts.sum() / counts
    np.testing.assert_allclose(keep_probabilities(counts, 1e-2), np.minimum(1, np.sqrt(ratio) + ratio))
    assert (keep_probabilities(counts, 0) == 1).all()
    np.testing.assert_allclose(noise_weights(counts, 0.75), counts**0.75)


def test_an_error_of_the_corpus_reaches_the_caller():
    class Broken:
        def __iter__(self):
            yield ["w1", "w2"]
            raise OSError("the disk is gone")

    with (
        Feed(Broken(), index=INDEX, sampler=sampler(), chunk_words=1) as feed,
        pytest.raises(OSError, match="the disk is gone"),
    ):
        list(feed)
