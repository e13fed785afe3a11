"""Every public method of gensim's KeyedVectors: the same vectors in both, the same answers out."""

import inspect
import os
import warnings

import numpy as np
import pytest
from gensim.models import KeyedVectors
from gensim.test.utils import datapath
from numpy.testing import assert_allclose, assert_array_equal

from densvec.keyed import KeyedDensities
from densvec.keyed.retired import REMOVED

os.environ.setdefault("POT_BACKEND_DISABLE_PYTORCH", "1")  # wmdistance needs none, and torch loads slowly

V, D = 60, 8
WORDS = [f"w{i}" for i in range(V)]


@pytest.fixture
def pair():
    rng = np.random.default_rng(7)
    vectors = rng.normal(size=(V, D)).astype(np.float32)
    counts = rng.permutation(1000)[:V].astype(np.int64)
    both = []
    for cls in (KeyedVectors, KeyedDensities):
        keyed = cls(D)
        keyed.add_vectors(WORDS, vectors)
        for word, count in zip(WORDS, counts.tolist(), strict=True):
            keyed.set_vecattr(word, "count", count)
        both.append(keyed)
    return both


def answers(pair, call):
    """What a call gives on each: its value, or the class of what it raises."""
    found = []
    for keyed in pair:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found.append(call(keyed))
            except Exception as error:
                found.append(type(error))
    return found


def assert_same(theirs, ours, exact_types=True):
    if isinstance(theirs, type):
        assert isinstance(ours, type), ours
        assert issubclass(ours, theirs)
    elif isinstance(theirs, (list, tuple)):
        assert type(ours) is type(theirs) or not exact_types
        assert len(ours) == len(theirs)
        for one, other in zip(theirs, ours, strict=True):
            assert_same(one, other, exact_types)
    elif isinstance(theirs, dict):
        assert theirs.keys() == ours.keys()
        for key in theirs:
            assert_same(theirs[key], ours[key], exact_types)
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype
        assert_allclose(ours, theirs, atol=1e-6)
    elif isinstance(theirs, (float, np.floating)):
        assert_allclose(ours, theirs, atol=1e-6)
        assert np.asarray(ours).dtype == np.asarray(theirs).dtype
    else:
        assert ours == theirs


CALLS = {
    "getitem": lambda k: k["w3"],
    "getitem int": lambda k: k[3],
    "getitem numpy int": lambda k: k[np.int64(3)],
    "getitem list": lambda k: k[["w3", 5]],
    "getitem tuple": lambda k: k[("w3", "w4")],
    "getitem array": lambda k: k[np.array([1, 2])],
    "getitem empty": lambda k: k[[]],
    "getitem unknown": lambda k: k["nope"],
    "getitem unknown int": lambda k: k[V],
    "getitem negative": lambda k: k[-1],
    "getitem unknown in list": lambda k: k[["w1", "nope"]],
    "len": len,
    "contains": lambda k: ["w1" in k, "nope" in k, 3 in k, V in k, -1 in k],
    "has_index_for": lambda k: [k.has_index_for(x) for x in ("w1", "nope", 3, V, -1)],
    "get_index": lambda k: k.get_index("w9"),
    "get_index int": lambda k: k.get_index(9),
    "get_index default": lambda k: k.get_index("nope", default=-5),
    "get_index unknown": lambda k: k.get_index("nope"),
    "get_vector": lambda k: k.get_vector("w2"),
    "get_vector norm": lambda k: k.get_vector("w2", norm=True),
    "get_vector read-only": lambda k: k.get_vector("w2").flags.writeable,
    "get_vector unknown": lambda k: k.get_vector("nope"),
    "word_vec": lambda k: k.word_vec("w2"),
    "get_mean_vector": lambda k: k.get_mean_vector(["w1", "w2", "nope"]),
    "get_mean_vector weights": lambda k: k.get_mean_vector(["w1", 5, "w2"], weights=[1, -2, 0.5]),
    "get_mean_vector raw": lambda k: k.get_mean_vector(["w1", "w2"], pre_normalize=False),
    "get_mean_vector post": lambda k: k.get_mean_vector(["w1", "w2"], post_normalize=True),
    "get_mean_vector vector": lambda k: k.get_mean_vector(["w1", k["w2"] * 3]),
    "get_mean_vector empty": lambda k: k.get_mean_vector([]),
    "get_mean_vector unknown": lambda k: k.get_mean_vector(["nope"]),
    "get_mean_vector strict": lambda k: k.get_mean_vector(["w1", "nope"], ignore_missing=False),
    "get_mean_vector bad weights": lambda k: k.get_mean_vector(["w1"], weights=[1, 2]),
    "get_normed_vectors": lambda k: k.get_normed_vectors(),
    "fill_norms": lambda k: [k.norms, k.fill_norms(), k.norms],
    "get_vecattr": lambda k: k.get_vecattr("w1", "count"),
    "get_vecattr unknown": lambda k: k.get_vecattr("w1", "nope"),
    "get_vecattr unknown key": lambda k: k.get_vecattr("nope", "count"),
    "set_vecattr conflict": lambda k: k.set_vecattr("w1", "count", "many"),
    "set_vecattr float into int": lambda k: k.set_vecattr("w1", "count", 2.5),
    "set_vecattr unknown": lambda k: k.set_vecattr("nope", "count", 3),
    "set_vecattr kinds": lambda k: [
        k.set_vecattr("w1", "text", "x"),
        k.set_vecattr("w1", "number", 1.5),
        k.set_vecattr("w1", "flag", True),
        k.set_vecattr("w1", "single", np.float32(2)),
        [k.expandos[name].dtype for name in ("text", "number", "flag", "single")],
        k.get_vecattr("w1", "text"),
        k.get_vecattr("w2", "text"),
    ],
    "allocate_vecattrs": lambda k: [k.allocate_vecattrs(["x"], [np.int32]), k.expandos["x"]],
    "most_similar": lambda k: k.most_similar("w1"),
    "most_similar topn": lambda k: k.most_similar("w1", topn=3),
    "most_similar topn all": lambda k: k.most_similar("w1", topn=V + 5),
    "most_similar topn None": lambda k: k.most_similar("w1", topn=None),
    "most_similar topn 0": lambda k: k.most_similar("w1", topn=0),
    "most_similar topn -1": lambda k: k.most_similar("w1", topn=-1),
    "most_similar topn numpy": lambda k: k.most_similar("w1", topn=np.int64(2)),
    "most_similar topn float": lambda k: k.most_similar("w1", topn=2.0),
    "most_similar int": lambda k: k.most_similar(7),
    "most_similar lists": lambda k: k.most_similar(["w1", "w2"], ["w3"]),
    "most_similar weights": lambda k: k.most_similar([("w1", 2.0), "w2"], [("w3", -0.5)]),
    "most_similar weighted vector": lambda k: k.most_similar([(k["w1"] * 2, 2.0), "w2"]),
    "most_similar negative only": lambda k: k.most_similar(negative="w3"),
    "most_similar vector": lambda k: k.most_similar(k["w1"]),
    "most_similar vectors": lambda k: k.most_similar(k.vectors[:3]),
    "most_similar mixed": lambda k: k.most_similar([k["w1"] * 3, "w5"], topn=4),
    "most_similar clip": lambda k: k.most_similar("w1", clip_start=10, clip_end=30),
    "most_similar clip beyond": lambda k: k.most_similar("w1", clip_start=50, clip_end=500, topn=None),
    "most_similar restrict": lambda k: k.most_similar("w1", restrict_vocab=12),
    "most_similar restrict None": lambda k: k.most_similar("w1", restrict_vocab=12, topn=None),
    "most_similar ties": lambda k: k.most_similar(["w1"], ["w1"], topn=3),
    "most_similar nothing": lambda k: k.most_similar(),
    "most_similar empty": lambda k: k.most_similar([]),
    "most_similar unknown": lambda k: k.most_similar("nope"),
    "most_similar unknown int": lambda k: k.most_similar(V),
    "most_similar tuple": lambda k: k.most_similar(("w1", "w2")),
    "most_similar dict": lambda k: k.most_similar({"w1": 1}),
    "most_similar None item": lambda k: k.most_similar([None]),
    "most_similar float": lambda k: k.most_similar(1.5),
    "most_similar bad weight": lambda k: k.most_similar([("w1", "w2")]),
    "most_similar bad size": lambda k: k.most_similar(np.ones(D - 1)),
    "most_similar bad indexer": lambda k: k.most_similar("w1", indexer=object()),
    "most_similar_cosmul": lambda k: k.most_similar_cosmul("w1"),
    "most_similar_cosmul analogy": lambda k: k.most_similar_cosmul(["w1", "w2"], ["w3"]),
    "most_similar_cosmul strings": lambda k: k.most_similar_cosmul("w1", "w2", topn=3),
    "most_similar_cosmul None": lambda k: k.most_similar_cosmul("w1", topn=None),
    "most_similar_cosmul 0": lambda k: k.most_similar_cosmul("w1", topn=0),
    "most_similar_cosmul unknown": lambda k: k.most_similar_cosmul("nope"),
    "most_similar_cosmul nothing": lambda k: k.most_similar_cosmul(),
    "most_similar_cosmul negative only": lambda k: k.most_similar_cosmul(negative=["w1"]),
    "similar_by_word": lambda k: k.similar_by_word("w1", 4, 30),
    "similar_by_key": lambda k: k.similar_by_key("w1", topn=4),
    "similar_by_vector": lambda k: k.similar_by_vector(k["w1"], topn=4),
    "similar_by_vector None": lambda k: k.similar_by_vector(k["w1"] * 2, topn=None),
    "most_similar_to_given": lambda k: k.most_similar_to_given("w1", ["w2", "w3", "w4"]),
    "most_similar_to_given empty": lambda k: k.most_similar_to_given("w1", []),
    "most_similar_to_given unknown": lambda k: k.most_similar_to_given("w1", ["nope"]),
    "closer_than": lambda k: k.closer_than("w1", "w9"),
    "closer_than self": lambda k: k.closer_than("w1", "w1"),
    "closer_than unknown": lambda k: k.closer_than("w1", "nope"),
    "words_closer_than": lambda k: k.words_closer_than("w1", "w9"),
    "rank": lambda k: [k.rank("w1", word) for word in WORDS[2:]],
    "rank self": lambda k: k.rank("w1", "w1"),
    "rank unknown": lambda k: k.rank("nope", "w1"),
    "similarity": lambda k: k.similarity("w1", "w2"),
    "similarity ints": lambda k: k.similarity(1, 2),
    "similarity unknown": lambda k: k.similarity("w1", "nope"),
    "distance": lambda k: k.distance("w1", "w2"),
    "distance unknown": lambda k: k.distance("w1", "nope"),
    "distances": lambda k: k.distances("w1"),
    "distances to some": lambda k: k.distances("w1", ["w2", "w3"]),
    "distances to None": lambda k: k.distances("w1", None),
    "distances of vector": lambda k: k.distances(k["w1"] * 2, ["w2"]),
    "distances of int": lambda k: k.distances(1),
    "distances unknown": lambda k: k.distances("nope"),
    "distances to unknown": lambda k: k.distances("w1", ["nope"]),
    "n_similarity": lambda k: k.n_similarity(["w1", "w2"], ["w3"]),
    "n_similarity unknown": lambda k: k.n_similarity(["nope"], ["w3"]),
    "n_similarity empty": lambda k: k.n_similarity([], ["w3"]),
    "relative_cosine_similarity": lambda k: k.relative_cosine_similarity("w1", "w2", 5),
    "relative_cosine_similarity unknown": lambda k: k.relative_cosine_similarity("w1", "nope"),
    "doesnt_match": lambda k: k.doesnt_match(["w1", "w2", "w3", "nope"]),
    "doesnt_match unknown": lambda k: k.doesnt_match(["nope"]),
    "doesnt_match empty": lambda k: k.doesnt_match([]),
    "rank_by_centrality": lambda k: k.rank_by_centrality(["w1", "w2", "w3", "nope"]),
    "rank_by_centrality raw": lambda k: k.rank_by_centrality(["w1", "w2", "w3"], use_norm=False),
    "rank_by_centrality empty": lambda k: k.rank_by_centrality([]),
    "wmdistance": lambda k: k.wmdistance(["w1", "w2", "w2", "nope"], ["w3", "w2"]),
    "wmdistance raw": lambda k: k.wmdistance(["w1", "w2"], ["w3", "w4", "w5"], norm=False),
    "wmdistance one word": lambda k: k.wmdistance(["w1"], ["w1"]),
    "wmdistance unknown": lambda k: k.wmdistance(["nope"], ["w1"]),
    "cosine_similarities": lambda k: k.cosine_similarities(k["w1"], k.vectors[:4]),
    "sort_by_descending_frequency": lambda k: [
        k.sort_by_descending_frequency(),
        k.index_to_key,
        k.key_to_index,
        k.vectors,
        k.expandos,
        k.most_similar("w1"),
    ],
    "unit_normalize_all": lambda k: [k.unit_normalize_all(), k.vectors, k.most_similar("w1")],
    "init_sims": lambda k: [k.init_sims(), k.norms],
    "init_sims replace": lambda k: [k.init_sims(replace=True), k.vectors],
    "vectors_for_all": lambda k: _contents(k.vectors_for_all(["w5", "nope", "w2", "w5"])),
    "vectors_for_all attributes": lambda k: _contents(k.vectors_for_all(["w5", "w2"], copy_vecattrs=True)),
    "vectors_for_all known only": lambda k: _contents(k.vectors_for_all(["w5"], allow_inference=False)),
    "add_vector": lambda k: [k.add_vector("new", np.ones(D)), k["new"], len(k)],
    "add_vector bad size": lambda k: k.add_vector("new", np.ones(D - 1)),
    "add_vectors": lambda k: [k.add_vectors(["a", "w1"], np.ones((2, D))), k["a"], k["w1"], len(k)],
    "add_vectors replace": lambda k: [
        k.add_vectors(["a", "w1"], np.ones((2, D)), replace=True),
        k["w1"],
        len(k),
    ],
    "add_vectors one": lambda k: [k.add_vectors("a", np.ones(D)), k["a"]],
    "add_vectors bad size": lambda k: k.add_vectors(["a"], np.ones((1, D - 1))),
    "setitem": lambda k: [k.__setitem__("w1", np.ones(D)), k["w1"]],
    "setitem list": lambda k: [k.__setitem__(["w1", "a"], np.ones((2, D))), k[["a", "w1"]], len(k)],
    "resize_vectors": lambda k: [k.index_to_key.append("a"), k.resize_vectors(seed=1), k.vectors.shape],
    "evaluate_word_analogies": lambda k: _named(k, "evaluate_word_analogies", "questions-words.txt"),
    "evaluate_word_pairs": lambda k: _named(k, "evaluate_word_pairs", "wordsim353.tsv"),
    "log_evaluate_word_pairs": lambda k: k.log_evaluate_word_pairs((0.5, 0.1), (0.5, 0.1), 3.0, "pairs"),
    "lifecycle": lambda k: [
        setattr(k, "lifecycle_events", []),
        k.add_lifecycle_event("x", y=1),
        k.lifecycle_events[0]["y"],
    ],
    "vocab": lambda k: k.vocab,
    "index2word": lambda k: k.index2word,
    "index2entity": lambda k: k.index2entity,
    "vectors_norm": lambda k: k.vectors_norm,
    "no such attribute": lambda k: k.no_such_attribute,
}


def _contents(keyed):
    return [keyed.index_to_key, keyed.key_to_index, keyed.vectors, keyed.expandos, keyed.vector_size]


def _named(keyed, method, file):
    """Give the first keys words that gensim's test files use, then evaluate."""
    named = "athens greece baghdad iraq bangkok thailand beijing china berlin germany tiger cat love sex"
    renamed = type(keyed)(D)
    renamed.add_vectors(named.split(), keyed.vectors[: len(named.split())])
    return getattr(renamed, method)(datapath(file))


@pytest.mark.parametrize("name", CALLS)
def test_same_answer(pair, name):
    if name.startswith("wmdistance"):
        pytest.importorskip("ot", reason="POT is not installed")
    theirs, ours = answers(pair, CALLS[name])
    if name == "most_similar_cosmul None":
        theirs = theirs.astype(np.float64)  # what gensim divides by decides, and NumPy 1 does not let it
    if name.startswith("evaluate_word_pairs"):
        theirs, ours = ([tuple(a) if isinstance(a, tuple) else a for a in x] for x in (theirs, ours))
    assert_same(theirs, ours)


def test_every_public_method_is_here():
    missing = [name for name in dir(KeyedVectors) if not name.startswith("_") and not _has(name)]
    assert missing == []


def test_every_signature_begins_like_gensims():
    for name, theirs in inspect.getmembers(KeyedVectors, inspect.isroutine):
        if name.startswith("_") or name in (*REMOVED, "save", "add_lifecycle_event"):
            continue
        ours = list(inspect.signature(getattr(KeyedDensities, name)).parameters.values())
        for parameter in inspect.signature(theirs).parameters.values():
            if parameter.name == "self":
                continue
            mine = next((p for p in ours if p.name == parameter.name), None)
            assert mine is not None, (name, parameter)
            assert mine.default == parameter.default, (name, parameter)
    theirs, ours = (list(inspect.signature(cls).parameters) for cls in (KeyedVectors, KeyedDensities))
    assert ours[: len(theirs)] == theirs


def _has(name):
    try:
        getattr(KeyedDensities(2), name)
    except AttributeError as error:
        return "use " in str(error)  # a name that gensim has retired
    return True


def test_analogies_and_pairs_are_really_evaluated(pair):
    _, sections = _named(pair[1], "evaluate_word_analogies", "questions-words.txt")
    assert sum(len(section["correct"]) + len(section["incorrect"]) for section in sections) > 20
    assert _named(pair[1], "evaluate_word_pairs", "wordsim353.tsv")[2] < 100


def test_preallocated_slots(pair):
    filled = []
    for cls in (KeyedVectors, KeyedDensities):
        keyed = cls(2, count=3)
        rows = [keyed.add_vector("a", [1, 2]), keyed.add_vector("b", [3, 4])]
        filled.append([rows, len(keyed), keyed.index_to_key, keyed.vectors, keyed["b"], keyed.next_index])
    assert_same(*filled)


def test_growing_one_by_one_warns(pair):
    for keyed in pair:
        with pytest.warns(UserWarning, match="add"):
            keyed.add_vector("new", np.ones(D))


@pytest.mark.parametrize("name", ["vocab", "index2word", "index2entity", "vectors_norm", "syn0", "accuracy"])
def test_retired_names_say_the_new_one(pair, name):
    with pytest.raises(AttributeError, match=r"use (key_to_index|index_to_key|vectors|get_normed|evaluate)"):
        getattr(pair[1], name)


def test_zero_vectors_are_similar_to_nothing():
    keyed = KeyedDensities(2)
    keyed.add_vectors(["zero", "one", "two"], [[0, 0], [1, 0], [1, 1]])
    scores = dict(keyed.most_similar("one", topn=2))
    assert scores["zero"] == 0
    assert_array_equal(keyed.distances("one")[:1], [1])
    assert keyed.similarity("zero", "one") == 0


def test_norms_follow_the_vectors(pair):
    ours = pair[1]
    ours.fill_norms()
    ours["w1"] = np.full(D, 10.0)
    assert_allclose(ours.get_vector("w1", norm=True), np.full(D, D**-0.5), rtol=1e-6)
    ours.vectors[2] = 100.0
    ours.fill_norms(force=True)
    assert_allclose(ours.get_vector("w2", norm=True), np.full(D, D**-0.5), rtol=1e-6)
    ours.add_vectors(["new"], np.ones((1, D)))
    assert len(ours.most_similar("new", topn=None)) == V + 1
