import numpy as np
import pytest

from conftest import example_densities
from densvec import BayesianSkipGram
from densvec.datasets import toy_language
from densvec.evaluation import Bootstrap, MergedText, draw_pairs, merged_pairs, sense_induction
from densvec.evaluation.merged import JOIN

SETTINGS = {"vector_size": 20, "sample": 1e-2, "alpha": 0.05, "epochs": 10, "workers": 1, "seed": 1}
PAIRS = [("owl", "truck"), ("piano", "carrot"), ("hospital", "trout"), ("dog", "onion")]


@pytest.fixture(scope="module")
def language():
    return toy_language(6000)


@pytest.fixture(scope="module")
def apart(language):
    """A model of the text as it is."""
    return BayesianSkipGram(language, **SETTINGS)


@pytest.fixture(scope="module")
def together(language):
    """A model of the text in which each pair is one word."""
    return BayesianSkipGram(MergedText(language, PAIRS), **SETTINGS)


def test_words_of_a_language_with_known_senses_are_told_apart(together, language):
    result = sense_induction(together, language, occurrences=60)
    assert sorted(pair.words for pair in result.pairs) == sorted(PAIRS)
    assert all(pair.trained for pair in result.pairs)
    assert float(result.ari["average"]) > 0.5
    assert float(result.ari["encoder"]) > 0.5
    assert result.gain.value == pytest.approx(float(result.ari["encoder"]) - float(result.ari["average"]))
    assert "MEAN" in str(result)


def test_a_model_of_the_text_as_it_is_merges_at_inference(apart, language):
    result = sense_induction(apart, language, PAIRS, occurrences=40)
    assert not any(pair.trained for pair in result.pairs)
    assert all(pair.occurrences == (40, 40) for pair in result.pairs)
    assert float(result.ari["average"]) > 0.5
    assert float(result.ari["encoder"]) > 0.3


def test_the_order_of_a_pair_tells_nothing(apart, language):
    there = sense_induction(apart, language, PAIRS[:1], occurrences=40)
    back = sense_induction(apart, language, [PAIRS[0][::-1]], occurrences=10**6)
    every = sense_induction(apart, language, PAIRS[:1], occurrences=10**6)
    assert back.pairs[0].occurrences == every.pairs[0].occurrences[::-1]
    assert there.pairs[0].occurrences == (40, 40)
    for method in ("encoder", "average"):
        assert back.pairs[0].ari[method] == pytest.approx(every.pairs[0].ari[method], abs=0.1)


def test_words_in_the_same_contexts_cannot_be_told_apart():
    # If anything leaked which word stood there, these two would be told apart.
    rng = np.random.default_rng(0)
    text = []
    for _ in range(600):
        word = str(rng.choice(["one", "other"]))
        text.append([*rng.choice(list("abcdefgh"), 3), word, *rng.choice(list("abcdefgh"), 3), word])
    model = BayesianSkipGram(text, vector_size=8, sample=0, min_count=1, epochs=5, workers=1, seed=1)
    merged = BayesianSkipGram(
        MergedText(text, [("one", "other")]),
        vector_size=8,
        sample=0,
        min_count=1,
        epochs=5,
        workers=1,
        seed=1,
    )
    for wv in (model, merged):
        result = sense_induction(wv, text, [("one", "other")], bootstrap=Bootstrap(0))
        for method in ("encoder", "average"):
            assert abs(float(result.ari[method])) < 0.06


def test_pairs_are_of_like_frequency_and_hang_on_the_seed(apart):
    counts = apart.wv.expandos["count"]
    index = apart.wv.key_to_index
    pairs = draw_pairs(apart, 20, min_count=50)
    words = [word for pair in pairs for word in pair]
    assert len(pairs) == 20
    assert len(set(words)) == 40
    assert min(counts[index[word]] for word in words) >= 50
    ranks = np.argsort(np.argsort(-counts))
    assert np.median([abs(ranks[index[a]] - ranks[index[b]]) for a, b in pairs]) < 25
    assert pairs == draw_pairs(apart, 20, min_count=50)
    assert pairs != draw_pairs(apart, 20, min_count=50, seed=1)
    assert "the" not in words  # it is thinned


def test_few_words_make_few_pairs():
    assert len(draw_pairs(example_densities(), 30, min_count=1, sample=0)) == 2
    assert draw_pairs(example_densities(), 30, min_count=350, sample=0) == []
    wv = example_densities()
    del wv.expandos["count"]
    with pytest.raises(ValueError, match="need counts"):
        draw_pairs(wv)


def test_merged_text_is_written_and_read_again(tmp_path):
    text = MergedText([["a", "dog", "and", "a", "tax"], ["no", "cat"]], [("dog", "tax")])
    text.write(tmp_path / "merged.txt")
    merged = f"dog{JOIN}tax"
    assert (tmp_path / "merged.txt").read_text(encoding="utf-8") == f"a {merged} and a {merged}\nno cat\n"
    assert list(text) == list(text)
    wv = example_densities()
    wv.add_vectors([merged, f"a{JOIN}b{JOIN}c"], np.ones((2, 2)))
    assert merged_pairs(wv) == [("dog", "tax")]


def test_a_pair_that_does_not_occur_has_no_figure():
    text = [["dog", "animal"], ["cat", "animal"], ["car"]] * 5
    result = sense_induction(
        example_densities(), text, [("dog", "cat"), ("car", "unicorn")], sample=0, bootstrap=Bootstrap(0)
    )
    assert result.pairs[1].occurrences == (5, 0)
    assert np.isnan(result.pairs[1].ari["average"])
    assert np.isfinite(float(result.ari["average"]))  # over the pairs that have one


def test_a_word_cannot_be_merged_twice():
    for pairs in ([("dog", "cat"), ("cat", "car")], [("dog", "dog")]):
        with pytest.raises(ValueError, match="is in the pairs more than once"):
            MergedText([["dog"]], pairs)
        with pytest.raises(ValueError, match="is in the pairs more than once"):
            sense_induction(example_densities(), [["dog"]], pairs)


def test_plain_vectors_have_the_baseline(language, apart):
    wv = apart.wv.to_gensim()
    result = sense_induction(wv, language, PAIRS, sample=1e-2, occurrences=60)
    assert list(result.ari) == ["average"]
    assert result.gain is None
    oracle = sense_induction(apart, language, PAIRS, occurrences=60)
    assert float(result.ari["average"]) == pytest.approx(float(oracle.ari["average"]), abs=0.02)
