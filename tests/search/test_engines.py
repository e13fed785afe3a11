"""Every adapter against the real engine: the same tests for all, with the exact scan as oracle."""

import numpy as np
import pytest

from densvec import Gaussian, KeyedDensities, search
from tests.cli.test_files import full_disk
from tests.search.engines import ENGINES

METRICS = ["kl", "reverse_kl", "jeffreys", "wasserstein", "cosine"]
WORDS, SIZE = 400, 8


def make_densities(covariance, seed=1):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(20, SIZE))
    wv = KeyedDensities(SIZE, covariance=covariance)
    means = centres[rng.integers(0, 20, WORDS)] + 0.4 * rng.normal(size=(WORDS, SIZE))
    log_variances = 0.5 * rng.normal(size=(WORDS, 1 if covariance == "spherical" else SIZE)) - 0.5
    wv.add_vectors([f"word'{i}" for i in range(WORDS)], means, log_variances=log_variances)
    return wv


@pytest.fixture(scope="module")
def wv():
    return make_densities("spherical")


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    return ENGINES[request.param]()


@pytest.fixture(scope="module")
def kl_index(engine, wv):
    return engine(wv, metric="kl")


@pytest.mark.parametrize("metric", METRICS)
def test_it_finds_what_the_scan_finds(engine, metric, wv):
    index = engine(wv, metric=metric)
    queries = wv.density([f"word'{i}" for i in range(0, WORDS, 40)])
    queries = Gaussian(queries.mean + np.float32(0.05), queries.variance)
    found = index.most_similar_batch(queries, topn=5)
    recalled = 0
    for i in range(len(queries)):
        scan = wv.most_similar(queries[i], metric=metric, topn=5)
        recalled += len({key for key, _ in scan} & {key for key, _ in found[i]})
        scores = dict(wv.most_similar(queries[i], metric=metric, topn=WORDS))
        for key, score in found[i]:
            assert score == pytest.approx(scores[key], abs=1e-4)
        assert [score for _, score in found[i]] == sorted((score for _, score in found[i]), reverse=True)
    assert recalled >= 0.96 * 5 * len(queries)  # exact engines find all; a graph may miss one of fifty


def test_diagonal_densities(engine):
    wv = make_densities("diagonal")
    index = engine(wv, metric="kl")
    query = Gaussian(wv.vectors[3] + np.float32(0.1), np.full(SIZE, 0.5, dtype=np.float32))
    scan = wv.most_similar(query, metric="kl", topn=5)
    assert [key for key, _ in index.most_similar(query, topn=5)] == [key for key, _ in scan]


def test_it_is_an_indexer_of_most_similar(engine, wv):
    index = engine(wv, metric="kl")
    exact = wv.most_similar("word'5", metric="kl", topn=5)
    found = wv.most_similar("word'5", metric="kl", topn=5, indexer=index)
    assert [key for key, _ in found] == [key for key, _ in exact]
    np.testing.assert_allclose([score for _, score in found], [score for _, score in exact], rtol=1e-9)


def test_it_is_an_indexer_of_weighted_queries(engine, wv):
    index = engine(wv, metric="kl")
    asked = {"positive": ["word'5", ("word'77", 2.0)], "negative": ["word'9"], "metric": "kl", "topn": 5}
    exact, found = wv.most_similar(**asked), wv.most_similar(**asked, indexer=index)
    assert len({key for key, _ in exact} & {key for key, _ in found}) >= 4
    np.testing.assert_allclose(found[0][1], exact[0][1], rtol=1e-5)


def test_it_can_be_saved_and_opened_again(engine, wv, tmp_path):
    index = engine(wv, metric="kl")
    index.save(tmp_path / "index")
    query = wv.density("word'5")
    whole = engine.load(tmp_path / "index", wv)
    assert whole.most_similar(query) == index.most_similar(query)
    alone = engine.load(tmp_path / "index")  # without the densities: scores are the engine's
    assert [key for key, _ in alone.most_similar(query)] == [key for key, _ in index.most_similar(query)]
    np.testing.assert_allclose(
        [score for _, score in alone.most_similar(query)],
        [score for _, score in index.most_similar(query)],
        atol=1e-3,
    )
    weights = [1.0, -0.5]
    pair = wv.density(["word'5", "word'9"])
    np.testing.assert_allclose(
        [score for _, score in alone.most_similar(pair, 3, weights=weights)],
        [score for _, score in index.most_similar(pair, 3, weights=weights)],
        atol=1e-3,
    )


def test_densities_without_words_have_numbers(engine):
    rng = np.random.default_rng(4)
    batch = Gaussian(rng.normal(size=(60, 3)), np.exp(rng.normal(size=(60, 1))))
    index = engine(batch, metric="wasserstein")
    assert index.most_similar(batch[17], topn=1) == [(17, pytest.approx(0.0, abs=1e-6))]
    assert len(index.most_similar(batch[17], topn=100)) == 60  # all there are


# What needs no engine of its own


def test_a_full_disk_leaves_the_old_index(engine, wv, tmp_path):
    index = engine(wv, metric="kl")
    index.save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with full_disk(1000), pytest.raises((OSError, RuntimeError)):
        index.save(tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.fixture
def faiss_index(wv):
    pytest.importorskip("faiss")
    return search.FaissIndex(wv, metric="kl", factory="Flat")


def test_a_trained_index_of_faiss(wv):
    pytest.importorskip("faiss")
    index = search.FaissIndex(wv, metric="kl", factory="IVF4,Flat")
    index.vectors.nprobe = 4
    query = wv.density("word'5")
    assert index.most_similar(query, 1) == [("word'5", 0.0)]


def test_the_indexer_must_search_by_the_metric_asked_for(wv, faiss_index):
    with pytest.raises(ValueError, match=r"metric='wasserstein'.*'kl'"):
        wv.most_similar("word'5", metric="wasserstein", indexer=faiss_index)

    class OnlyCosine:
        def most_similar(self, vector, topn):
            return [("word'1", 1.0)]

    assert wv.most_similar("word'5", indexer=OnlyCosine()) == [("word'1", 1.0)]
    with pytest.raises(ValueError, match="metric='kl'"):
        wv.most_similar("word'5", metric="kl", indexer=OnlyCosine())


def test_gensims_annoy_indexer_by_cosine(wv):
    pytest.importorskip("annoy", reason="annoy is not installed")
    similarities = pytest.importorskip("gensim.similarities.annoy")
    indexer = similarities.AnnoyIndexer(wv.to_gensim(), num_trees=50)
    found = wv.most_similar("word'5", topn=6, indexer=indexer)
    gensims = wv.to_gensim().most_similar("word'5", topn=6, indexer=indexer)
    assert [key for key, _ in found] == [key for key, _ in gensims]


def test_wrong_questions_are_named(wv, faiss_index):
    with pytest.raises(ValueError, match="asked with densities"):
        faiss_index.most_similar(wv["word'5"])
    with pytest.raises(ValueError, match="one density is needed"):
        faiss_index.most_similar(wv.density(["word'5", "word'6"]))
    cosine = search.FaissIndex(wv, metric="cosine", factory="Flat")
    with pytest.raises(ValueError, match="ask one by one"):
        cosine.most_similar(wv.density(["word'5", "word'6"]), weights=[1, 1])
    with pytest.raises(ValueError, match="nothing to index"):
        search.FaissIndex(KeyedDensities(3, covariance="spherical"))
    means = KeyedDensities(2)
    means.add_vectors(["a"], [[1, 2]])
    with pytest.raises(ValueError, match="only means"):
        search.FaissIndex(means)


def test_an_index_of_another_kind_is_refused(faiss_index, tmp_path):
    from densvec import DensvecFileError

    faiss_index.save(tmp_path)
    with pytest.raises(DensvecFileError, match="FaissIndex, not a UsearchIndex"):
        search.UsearchIndex.load(tmp_path)


def test_a_missing_engine_says_how_to_get_it():
    from densvec.checks import needs

    with pytest.raises(ImportError, match=r"densvec\[search\]"):
        needs("no_such_engine.index", "search")
