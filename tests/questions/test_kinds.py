"""What a text says is a kind of what: what it adds to hypernymy, rows that follow their words, files, a second text."""

import io
import itertools

import numpy as np
import pytest

from densvec import BayesianSkipGram, KeyedDensities
from densvec.questions.kinds import Kinds

ANIMALS, TOOLS = ["dog", "cat", "cow", "wolf"], ["saw", "hammer", "axe", "spade"]


def language(count, seed=1, silent=("wolf", "spade")):
    """Return sentences about animals and tools, of which some say what is a kind of what, but not of two words."""
    rng = np.random.default_rng(seed)
    text = []
    for _ in range(count):
        word, other = rng.choice(ANIMALS, 2, replace=False)
        text.append(["the", word, "eats", "grass", "with", "the", other, "animal", "animals", "species"])
        word, other = rng.choice(TOOLS, 2, replace=False)
        text.append(
            ["he", "cuts", "wood", "by", "the", word, "and", "the", other, "tool", "tools", "species"]
        )
        for words, kind in ((ANIMALS, "animals"), (TOOLS, "tools")):
            told = [word for word in words if word not in silent]
            text.append(["he", "likes", kind, "such", "as", rng.choice(told), "and", rng.choice(told)])
    return text


def train(text):
    return BayesianSkipGram(text, vector_size=8, min_count=1, workers=1, epochs=3, sample=0, seed=1)


@pytest.fixture(scope="module")
def wv():
    return train(language(400)).wv


def said(wv):
    """Return what the table says, by words."""
    kinds, words = wv.kinds, wv.index_to_key
    pairs = zip(kinds.specific.tolist(), kinds.general.tolist(), kinds.counts.tolist(), strict=True)
    return {(words[a], words[b]): count for a, b, count in pairs}


def test_models_count_what_their_text_says_of_singulars(wv):
    found = said(wv)
    assert set(found) == {(word, "animal") for word in ANIMALS[:3]} | {(word, "tool") for word in TOOLS[:3]}
    assert sum(found.values()) == 2 * 800


def test_hypernyms_are_what_is_said_also_of_words_like_it(wv):
    without = wv.vectors_for_all(wv.index_to_key, copy_vecattrs=True)
    without.kinds = None
    for words, kind in ((ANIMALS, "animal"), (TOOLS, "tool")):
        for word in words:
            assert wv.hypernyms(word, topn=1)[0][0] == kind
            assert wv.hypernymy(word, kind) / without.hypernymy(word, kind) > 0.8
            assert wv.hypernymy(kind, word) / without.hypernymy(kind, word) < 0.4
    nouns = [*ANIMALS, *TOOLS]
    assert {word for word, _ in wv.hyponyms("animal", topn=4, candidates=nouns)} == set(ANIMALS)


def test_the_table_can_be_left_out(wv):
    without = wv.vectors_for_all(wv.index_to_key, copy_vecattrs=True)
    before = without.hypernymy("dog", "tool"), without.hypernymy_scale.chance
    without.kinds = None
    assert without.hypernymy("dog", "tool") > before[0]
    assert without.hypernymy_scale.chance > before[1]


def test_pairs_and_searches_give_the_same_scores(wv):
    for word, score in wv.hypernyms("dog", topn=5, candidates=["animal", "animals", "grass", "tool"]):
        assert score == pytest.approx(wv.hypernymy("dog", word), rel=1e-5)
    for word, score in wv.hyponyms("animal", topn=5):
        assert score == pytest.approx(wv.hypernymy(word, "animal"), rel=1e-5)
    words = [*ANIMALS, *TOOLS] * 10  # more than are looked up in one pass
    together = wv.hypernymy(words, "animal")
    assert together == pytest.approx([wv.hypernymy(word, "animal") for word in words], rel=1e-5)


def test_plurals_are_asked_about_as_singulars(wv):
    factor = wv.hypernymy("dog", "animals") / wv.hypernymy_scale.score(
        wv.similarity("dog", "animals"), (wv.generality("animals") - wv.generality("dog")) / 8
    )
    assert factor > 0.8


def test_a_posterior_has_hypernyms(wv):
    posterior = wv.infer("the dog eats grass", word="dog")
    assert wv.hypernyms(posterior, topn=1)[0][0] in ("animal", "dog")
    assert 0 < wv.hypernymy(posterior, "animal") < 1
    assert 0 < wv.hypernymy("dog", wv.density("animal")) < 1
    assert len(wv.hyponyms(posterior, topn=2)) == 2


def test_taxonomies_know_what_is_said(wv):
    words = [*ANIMALS, *TOOLS, "animal", "tool"]
    alike = wv.vectors_for_all(words, copy_vecattrs=True)
    alike.vectors = np.repeat([[1.0, 0.2], [0.2, 1.0], [1.0, 0.2], [0.2, 1.0]], [4, 4, 1, 1], axis=0)
    alike.vector_size, alike.encoder = 2, None
    alike.log_variances = np.repeat([[0.0], [1.0]], [8, 2], axis=0)
    alike.expandos["count"][:] = 1
    tree = alike.taxonomy(words)
    assert sorted(tree.roots) == ["animal", "tool"]
    assert set(tree.children("animal")) == set(ANIMALS)


def test_rows_follow_their_words(wv):
    kept = wv.restrict(["tool", "animal", "cat", "saw"])
    assert said(kept) == {pair: count for pair, count in said(wv).items() if pair[0] in ("cat", "saw")}
    kept.add_vectors(["wug"], kept.vectors[:1] + 1, log_variances=kept.log_variances[:1])
    kept.set_vecattr("wug", "count", 10**6)
    kept.sort_by_descending_frequency()
    assert kept.index_to_key[0] == "wug"
    assert set(said(kept)) == {("cat", "animal"), ("saw", "tool")}
    assert kept.hypernyms("wug", topn=2)


@pytest.mark.parametrize("dtype", [None, "int8"])
def test_files_keep_it(wv, dtype, tmp_path):
    path = tmp_path / "words.dv"
    wv.save(path, dtype=dtype)
    for mmap in (None, "r"):
        again = KeyedDensities.load(path, mmap=mmap)
        assert said(again) == said(wv)
        assert again.hypernyms("wolf", topn=1)[0][0] == "animal"
    wv.save(path, ignore=["kinds"])
    assert KeyedDensities.load(path).kinds is None


def test_models_keep_it():
    model, file = train(language(50)), io.BytesIO()
    model.save(file)
    file.seek(0)
    assert said(BayesianSkipGram.load(file).wv) == said(model.wv)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("general", np.array([1, 2**20], np.uint32)),
        ("general", np.array([1], np.uint8)),
        ("specific", np.array([1.0, 2.0])),
    ],
)
def test_damaged_files_are_refused(name, array):
    tensors = {**Kinds.of([1, 2], [0, 0], [5, 1]).arrays(), f"kinds.{name}": array}
    with pytest.raises(ValueError, match=rf"kinds\.{name}"):
        Kinds.restored(tensors, 10)


def test_another_text_adds_what_it_says():
    model = train(language(50))
    before = said(model.wv)
    other = [["animals", "such", "as", "wolf"]] * 5 + [["animals", "such", "as", "dog"]] * 5
    model.build_vocab(other, update=True)
    assert said(model.wv) == {**before, ("wolf", "animal"): 5, ("dog", "animal"): before["dog", "animal"] + 5}


def test_pairs_that_two_texts_name_stand_once():
    first, second = Kinds.of([1, 2], [0, 0], [5, 1]), Kinds.of([2, 3], [0, 1], [300, 1])
    both = first.added(second)
    rows = zip(*(each.tolist() for each in (both.specific, both.general, both.counts)), strict=True)
    assert sorted(rows) == [(1, 0, 5), (2, 0, 301), (3, 1, 1)]


def test_text_that_says_nothing_leaves_densities_alone():
    text = [list(pair) for pair in itertools.permutations("abcdefg", 2)] * 20
    wv = train(text).wv
    assert not len(wv.kinds.counts)
    assert wv.hypernyms("a", topn=2)
    assert wv.hypernymy_scale.said == 1
