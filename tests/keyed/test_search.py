"""Searching by every metric, one query at a time and many at once."""

import threading
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from densvec import Gaussian, KeyedDensities
from densvec.distances.metrics import METRICS
from densvec.distances.table import FEW
from densvec.questions.lookup import density_table

V, D = 300, 6
ALL = ["cosine", *METRICS]


def make(covariance="spherical", count=V, dimension=D, seed=1):
    rng = np.random.default_rng(seed)
    wv = KeyedDensities(dimension, covariance=covariance)
    width = 1 if covariance == "spherical" else dimension
    words = [f"w{i}" for i in range(count)]
    means, log_variances = rng.normal(size=(count, dimension)), rng.normal(size=(count, width))
    wv.add_vectors(words, means, log_variances=log_variances)
    return wv


@pytest.fixture(params=["spherical", "diagonal"])
def wv(request):
    return make(request.param)


def by_definition(wv, item, metric):
    """Scores of all words, element by element."""
    if metric == "cosine":
        vector = item.mean if isinstance(item, Gaussian) else wv[item]
        return wv.cosine_similarities(vector, wv.vectors)
    q = item if isinstance(item, Gaussian) else wv.density(item)
    return -METRICS[metric].exact(q, wv.density(wv.index_to_key))


@pytest.mark.parametrize("metric", ALL)
def test_most_similar_is_by_definition(wv, metric):
    scores = by_definition(wv, "w7", metric)
    order = [i for i in np.argsort(-scores) if i != 7]
    found = wv.most_similar("w7", topn=12, metric=metric)
    assert [word for word, _ in found] == [f"w{i}" for i in order[:12]]
    assert_allclose([score for _, score in found], scores[order[:12]], rtol=1e-6)
    assert all(isinstance(score, float) for _, score in found)
    assert wv.similar_by_word("w7", 12, metric=metric) == found
    assert wv.similar_by_key("w7", 12, metric=metric) == found
    assert_allclose(wv.most_similar("w7", topn=None, metric=metric), scores, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("metric", ALL)
def test_a_density_is_a_query(wv, metric):
    q = Gaussian(np.full(D, 0.3), 0.7)
    order = np.argsort(-by_definition(wv, q, metric))[:10]
    assert [word for word, _ in wv.most_similar(q, metric=metric)] == [f"w{i}" for i in order]
    assert wv.similar_by_density(q, metric=metric) == wv.most_similar([q], metric=metric)


def test_a_words_own_density_finds_the_word(wv):
    for metric in ("kl", "reverse_kl", "jeffreys", "wasserstein"):
        word, score = wv.most_similar(wv.density("w9"), metric=metric, topn=1)[0]
        assert (word, score) == ("w9", 0.0)


@pytest.mark.parametrize("metric", METRICS)
def test_several_items_average_their_scores(wv, metric):
    q = wv.density("w1")
    scores = wv.most_similar(["w1", ("w2", 3.0)], [("w3", -0.5)], topn=None, metric=metric)
    single = [by_definition(wv, word, metric) for word in ("w1", "w2", "w3")]
    expected = (single[0] + 3.0 * single[1] - 0.5 * single[2]) / 4.5
    assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)
    found = wv.most_similar(["w1", ("w2", 3.0)], [("w3", -0.5)], topn=5, metric=metric)
    best = [f"w{i}" for i in np.argsort(-expected) if i not in (1, 2, 3)][:5]
    assert [word for word, _ in found] == best
    worst = wv.most_similar(negative=[q], topn=1, metric=metric)[0][0]
    assert worst == f"w{np.argmin(by_definition(wv, q, metric))}"


@pytest.mark.parametrize("metric", METRICS)
def test_a_vector_has_a_typical_variance(wv, metric):
    vector = np.full(D, 0.3, dtype=np.float32)
    typical = np.exp(wv.log_variances.mean(dtype=np.float64)).astype(np.float32)
    expected = wv.most_similar(Gaussian(vector, typical), metric=metric)
    assert wv.similar_by_vector(vector, metric=metric) == expected
    assert wv.similar_by_vector(list(vector), metric=metric) == expected


@pytest.mark.parametrize("metric", ALL)
def test_clipping(wv, metric):
    scores = by_definition(wv, "w7", metric)
    found = wv.most_similar("w7", clip_start=50, clip_end=120, topn=3, metric=metric)
    assert [word for word, _ in found] == [f"w{i + 50}" for i in np.argsort(-scores[50:120])[:3]]
    found = wv.most_similar("w7", restrict_vocab=40, topn=3, metric=metric)
    assert [word for word, _ in found] == [f"w{i}" for i in np.argsort(-scores[:40]) if i != 7][:3]
    assert wv.most_similar("w7", topn=0, metric=metric) == []
    assert wv.most_similar("w7", clip_start=400, metric=metric) == []


@pytest.mark.parametrize("as_mask", [False, True])
@pytest.mark.parametrize("metric", ALL)
def test_a_search_among_words_is_a_search_that_leaves_out_the_others(wv, metric, as_mask):
    rows = np.arange(3, V, 7)
    among = np.isin(np.arange(V), rows) if as_mask else ["nowhere", *(f"w{i}" for i in rows), "w3"]
    expected = [
        (word, score)
        for word, score in wv.most_similar("w10", topn=V, metric=metric)
        if int(word[1:]) in rows
    ]
    found = wv.most_similar("w10", topn=8, metric=metric, among=among)
    assert [word for word, _ in found] == [word for word, _ in expected[:8]]
    assert_allclose([score for _, score in found], [score for _, score in expected[:8]], rtol=1e-6)
    assert wv.similar_by_word("w10", 8, metric=metric, among=among) == found
    assert wv.similar_by_vector(wv["w10"], 1, among=["w10"]) == [("w10", pytest.approx(1))]
    both, one = wv.most_similar_batch(["w3", "w10"], 8, metric=metric, among=among)
    assert [word for word, _ in one] == [word for word, _ in found]
    assert "w3" not in dict(both)
    scores = wv.most_similar("w10", topn=None, metric=metric)
    assert_allclose(
        wv.most_similar("w10", topn=None, metric=metric, among=among), scores[rows], rtol=1e-5, atol=1e-6
    )
    whole = wv.most_similar_batch(["w10"], None, metric=metric, among=among)
    assert_allclose(whole, scores[None, rows], rtol=1e-5, atol=1e-5)


def test_a_search_among_words_may_be_limited_further_or_find_nothing(wv):
    assert {word for word, _ in wv.most_similar("w9", restrict_vocab=2, among=["w0", "w1", "w2"])} == {
        "w0",
        "w1",
    }
    for metric in ("cosine", "kl"):
        assert wv.most_similar("w9", among=["w9", "nowhere"], metric=metric) == []
        assert wv.most_similar_batch(["w9"], among=[], metric=metric) == [[]]


@pytest.mark.parametrize(
    ("among", "error", "complaint"),
    [
        (np.ones(V - 1, bool), ValueError, f"a value for each of the {V} rows: got shape"),
        ("w1", TypeError, "a list of words, or a mask over the rows"),
        ([True, False], TypeError, "neither a word nor the number of a row"),
    ],
)
def test_what_is_no_filter_is_refused(wv, among, error, complaint):
    with pytest.raises(error, match=complaint):
        wv.most_similar("w9", among=among)
    with pytest.raises(error, match=complaint):
        wv.hypernyms("w9", candidates=among)


def test_an_index_is_searched_as_a_whole(wv):
    with pytest.raises(ValueError, match="either indexer or among"):
        wv.most_similar("w9", indexer=object(), among=["w1"])


@pytest.mark.parametrize("metric", ALL)
def test_similarity_distance_and_rank(wv, metric):
    scores = by_definition(wv, "w7", metric)
    assert_allclose(wv.similarity("w7", "w8", metric=metric), scores[8], rtol=1e-6)
    offset = 1.0 if metric == "cosine" else 0.0
    assert_allclose(wv.distance("w7", "w8", metric=metric), offset - scores[8], rtol=1e-5)
    assert_allclose(wv.distances("w7", metric=metric), offset - scores, rtol=1e-5, atol=1e-6)
    assert_allclose(wv.distances("w7", ["w8", "w9"], metric=metric), offset - scores[[8, 9]], rtol=1e-5)
    closer = [f"w{i}" for i in np.flatnonzero(scores > scores[8]) if i != 7]
    assert wv.closer_than("w7", "w8", metric=metric) == closer
    assert wv.rank("w7", "w8", metric=metric) == len(closer) + 1


@pytest.mark.parametrize("metric", ALL)
@pytest.mark.parametrize("count", [4, FEW, FEW + 1, 40])
def test_batch_gives_what_single_queries_give(wv, metric, count):
    words = [f"w{i}" for i in range(0, V, V // count)]
    batch = wv.most_similar_batch(words, topn=6, metric=metric)
    for word, found in zip(words, batch, strict=True):
        expected = wv.most_similar(word, topn=6, metric=metric)
        assert [key for key, _ in found] == [key for key, _ in expected]
        assert_allclose([score for _, score in found], [score for _, score in expected], rtol=1e-5)
    everything = wv.most_similar_batch(words, topn=None, metric=metric)
    assert everything.shape == (len(words), V)
    assert_allclose(everything[3], wv.most_similar(words[3], topn=None, metric=metric), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("metric", ALL)
def test_batch_of_other_things(wv, metric):
    batch = wv.most_similar_batch(wv.density(["w1", "w2"]), topn=3, metric=metric)
    assert batch[1][0][0] == "w2" or metric == "expected_likelihood"
    assert [key for key, _ in batch[0]] == [
        key for key, _ in wv.most_similar(wv.density("w1"), topn=3, metric=metric)
    ]
    vectors = wv.most_similar_batch(wv.vectors[:2], topn=3, metric=metric)
    assert [key for key, _ in vectors[0]] == [
        key for key, _ in wv.similar_by_vector(wv.vectors[0], topn=3, metric=metric)
    ]
    mixed = wv.most_similar_batch(["w1", 2, wv.vectors[3], wv.density("w4")], topn=2, metric=metric)
    assert len(mixed) == 4
    restricted = wv.most_similar_batch(["w1"], topn=5, restrict_vocab=30, metric=metric)[0]
    assert [key for key, _ in restricted] == [
        key for key, _ in wv.most_similar("w1", topn=5, restrict_vocab=30, metric=metric)
    ]


def test_batch_of_nothing(wv):
    assert wv.most_similar_batch([]) == []
    assert wv.most_similar_batch(["w1"], topn=0) == [[]]
    assert wv.most_similar_batch([], topn=None).shape == (0, V)
    with pytest.raises(KeyError):
        wv.most_similar_batch(["nope"])
    with pytest.raises(ValueError, match="unknown: use one of"):
        wv.most_similar_batch(["w1"], metric="euclid")


def test_a_large_batch_crosses_blocks():
    wv = make(count=3000)
    words = wv.index_to_key[:1100]
    for metric in ("cosine", "kl", "expected_likelihood"):
        batch = wv.most_similar_batch(words, topn=4, metric=metric)
        for i in (0, 511, 512, 1099):
            expected = wv.most_similar(words[i], topn=4, metric=metric)
            assert [key for key, _ in batch[i]] == [key for key, _ in expected]


def test_unknown_metric_is_named(wv):
    for call in (wv.similarity, wv.distance, wv.rank, wv.closer_than):
        with pytest.raises(
            ValueError, match=r"metric='euclid' is unknown: use one of cosine, kl, reverse_kl"
        ):
            call("w1", "w2", metric="euclid")
    with pytest.raises(ValueError, match="unknown"):
        wv.most_similar("w1", metric="euclid")
    with pytest.raises(ValueError, match="nothing to be similar to"):
        wv.most_similar([], metric="kl")


@pytest.mark.parametrize("metric", METRICS)
def test_answers_follow_the_tables(wv, metric):
    wv.most_similar("w1", metric=metric)
    wv.add_vectors(["twin"], wv.vectors[1:2], log_variances=wv.log_variances[1:2])
    assert wv.most_similar("twin", metric=metric, topn=None).shape == (V + 1,)
    assert wv.distance("w1", "twin", metric=metric) == wv.distance("w1", "w1", metric=metric)
    before = wv.most_similar("w1", metric=metric, topn=None)
    wv.log_variances = wv.log_variances + np.float32(1)
    assert not np.allclose(wv.most_similar("w1", metric=metric, topn=None), before)
    before = wv.most_similar("w1", metric=metric, topn=None)
    wv.vectors *= 3
    wv.fill_norms(force=True)
    after = wv.most_similar("w1", metric=metric, topn=None)
    assert not np.allclose(after, before)
    assert_allclose(after, by_definition(wv, "w1", metric), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
def test_a_query_does_not_copy_the_tables(covariance):
    wv = make(covariance, count=40_000, dimension=64)
    table = wv.vectors.nbytes
    for metric in ALL:
        wv.most_similar("w1", metric=metric)  # fills what is kept between queries
    tracemalloc.start()
    for metric in ALL:
        tracemalloc.reset_peak()
        base = tracemalloc.get_traced_memory()[0]
        wv.most_similar("w2", metric=metric)
        peak = tracemalloc.get_traced_memory()[1] - base
        assert peak < table / 2, metric
    tracemalloc.stop()
    kept = sum(array.nbytes for array in vars(density_table(wv)).values() if isinstance(array, np.ndarray))
    assert kept < 3 * table  # the two tables themselves and a few numbers per row


def test_threads_may_ask_at_once():
    wv = make(count=2000)
    expected = {metric: wv.most_similar("w3", metric=metric) for metric in ALL}
    wv.fill_norms(force=True)
    failures = []

    def ask(metric):
        for _ in range(5):
            if wv.most_similar("w3", metric=metric) != expected[metric]:
                failures.append(metric)

    threads = [threading.Thread(target=ask, args=(metric,)) for metric in ALL * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
