"""What contexts say: averages of the words around, the same for one word and another."""

import numpy as np
import pytest

from densvec import KeyedDensities

WORDS = ["river", "water", "money", "loan", "bank", "banks", "shore", "the"]


@pytest.fixture
def wv():
    means = np.array([[4, 0], [5, 1], [0, 4], [1, 5], [2, 2], [2.5, 2], [3, 1], [0.5, 0.5]], dtype=np.float32)
    counts = np.array([20, 20, 20, 20, 20, 20, 20, 5000])
    return KeyedDensities.from_arrays(
        WORDS, means, log_variances=np.zeros((8, 1), np.float32), attributes={"count": counts}
    )


def test_the_word_itself_is_not_read(wv):
    sentence = "the river bank of the water"
    said = wv.context_mean(sentence, word="bank")
    wv["bank"] = [100.0, -100.0]
    assert np.array_equal(said, wv.context_mean(sentence, word="bank"))
    assert np.array_equal(said, wv.context_mean(sentence, position=2))


def test_an_unknown_word_is_read_around_where_it_stands(wv):
    near = wv.context_mean("money wug the the the the the the the water", word="wug", sample=0, reach=2)
    assert near == pytest.approx(np.average([wv["money"], wv["the"], wv["the"]], axis=0, weights=[2, 2, 1]))


def test_frequent_words_count_little_and_far_ones_less(wv):
    assert wv.context_mean("the river") == pytest.approx(wv["river"], abs=0.6)
    everything = wv.context_mean(
        "river bank the the the the the the money", word="bank", sample=0, reach=np.inf
    )
    assert everything == pytest.approx(np.mean([wv["river"], wv["money"], *[wv["the"]] * 6], axis=0))
    assert wv.context_mean("unheard of") == pytest.approx([0, 0])


def test_many_contexts_are_answered_as_one_by_one(wv):
    pairs = [("bank", "the bank of the river"), (None, ["money", "loan"]), ("wug", "a wug", 1), ("bank", "")]
    found = wv.context_means(pairs)
    assert found.shape == (4, 2)
    for (word, context, *place), row in zip(pairs, found, strict=True):
        position = place[0] if place else None
        assert wv.context_mean(context, word=word, position=position) == pytest.approx(row)


def test_of_one_word_only_the_contexts_are_compared(wv):
    questions = [
        ("bank", "bank of the river", "bank", "the water by the bank"),
        ("bank", "bank of the river", "bank", "a loan from the bank"),
    ]
    near, far = wv.similarities_in_context(questions)
    assert near > far
    before = near, far
    wv["bank"] = [-7.0, 3.0]
    assert wv.similarities_in_context(questions) == pytest.approx(before)
    forms = [("banks", "banks of the river", *question[2:]) for question in questions]
    assert wv.similarities_in_context(forms) == pytest.approx(before)


def test_of_two_words_the_words_count_too(wv):
    contexts = "the river", "the river"
    assert wv.similarity_in_context("shore", contexts[0], "bank", contexts[1]) < 1
    assert wv.similarity_in_context("shore", contexts[0], "bank", contexts[1]) > wv.similarity(
        "shore", "bank"
    )
    with pytest.raises(KeyError, match="wug"):
        wv.similarity_in_context("wug", "a wug", "bank", "a bank")
