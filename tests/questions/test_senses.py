"""Senses of the toy language's ambiguous words, and what becomes of words that have one."""

from itertools import pairwise

import numpy as np
import pytest

from densvec import BayesianSkipGram
from densvec.corpora import LineSentence
from densvec.datasets import toy_language
from densvec.statistics.clusters import adjusted_rand_index
from densvec.text.concordance import occurrences, sample_occurrences


@pytest.fixture(scope="module")
def language():
    return toy_language(20_000)


@pytest.fixture(scope="module")
def wv(language):
    return BayesianSkipGram(
        language, vector_size=20, sample=0.01, alpha=0.05, epochs=10, workers=1, seed=1
    ).wv


def test_ambiguous_words_fall_apart_as_their_senses_do(language, wv):
    agreement, right = [], []
    for word in language.senses:
        senses = wv.senses(word, language, max_occurrences=300)
        truth = {
            (tuple(each.tokens), each.position): each.sense
            for each in language.annotated()
            if each.tokens[each.position] == word
        }
        labels = [truth[tuple(each.tokens), each.position] for each in senses.occurrences]
        agreement.append(adjusted_rand_index(labels, senses.labels))
        right.append(len(senses) == 2)
    assert np.mean(agreement) > 0.8
    assert np.mean(right) >= 0.8


def test_most_words_have_one_sense(language, wv):
    ambiguous = set(language.senses)
    plain = [
        word for word in ("owl", "dog", "trout", "apple", "salmon", "penguin", "horse", "plum") if word in wv
    ]
    assert not ambiguous & set(plain)
    counts = [len(wv.senses(word, language, max_occurrences=300)) for word in plain]
    assert np.mean(np.array(counts) == 1) >= 0.7


def test_a_sense_says_what_it_is(language, wv):
    word = next(iter(language.senses))
    senses = wv.senses(word, language, max_occurrences=300, topn=5, examples=2)
    assert sum(sense.share for sense in senses) == pytest.approx(1.0)
    assert [sense.number for sense in senses] == list(range(len(senses)))
    assert all(first.share >= second.share for first, second in pairwise(senses))
    for sense in senses:
        assert word not in [other for other, _ in sense.nearest]
        assert len(sense.nearest) == 5
        for example in sense.examples:
            assert example.word == word
            assert senses.assign(example.tokens, example.position) is sense
    assert word in str(senses)
    assert np.array_equal(senses.labels, wv.senses(word, language, max_occurrences=300).labels)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_the_number_of_senses_can_be_given(language, wv, number):
    word = next(iter(language.senses))
    senses = wv.senses(word, language, max_occurrences=300, number=number)
    assert len(senses) == number == len(np.unique(senses.labels))
    assert (
        len(wv.senses(word, language, max_occurrences=15, number=2)) == 1
    )  # neither would have ten occurrences


def test_occurrences_can_be_given_and_several_words_at_once(language, wv):
    words = list(language.senses)[:2]
    found = sample_occurrences(language, words, 300)
    together = wv.senses(words, iter(language), max_occurrences=300)  # an iterator can be read only once
    mixed = wv.senses(words, [each for items in found.values() for each in items])
    for word in words:
        alone = wv.senses(word, [(each.tokens, each.position) for each in found[word]])
        for same in (together[word], mixed[word]):
            assert same.occurrences == alone.occurrences
            assert np.array_equal(same.labels, alone.labels)
    forms = [([*each.tokens[: each.position], "xyzzy"], each.position) for each in found[words[0]]]
    assert len(wv.senses(words[0], forms).occurrences) == len(forms)  # in whatever form they stand there


def test_too_few_occurrences_say_so(language, wv):
    word = next(iter(language.senses))
    few, many = (wv.senses(word, language, max_occurrences=count) for count in (19, 20))
    assert len(few) == 1
    assert few.note in str(few)
    assert "19 occurrences" in few.note
    assert many.note is None
    missing = wv.senses([word, "owl"], [["the", "owl", "hoots"]])[word]
    assert (len(missing), str(missing)) == (0, f"{word!r} does not occur")


def test_rare_words_do_not_tell_what_a_sense_is(language, wv):
    word = next(iter(language.senses))
    first = wv.senses(word, language, max_occurrences=300)[0].nearest[0][0]
    rare = wv.vectors_for_all(wv.index_to_key)
    rare.encoder = wv.encoder
    rare.set_vecattr(first, "count", 0)
    assert first not in [near for near, _ in rare.senses(word, language, max_occurrences=300)[0].nearest]


def test_errors_say_what_to_do(language, wv):
    with pytest.raises(ValueError, match="number=0: a word has at least one sense"):
        wv.senses("owl", language, number=0)
    with pytest.raises(ValueError, match="max_senses=0: a word has at least one sense"):
        wv.senses("owl", language, max_senses=0)
    with pytest.raises(IndexError, match="position=3 is outside its sentence, which has 1 tokens"):
        wv.senses("owl", [(["owl"], 3)])
    with pytest.raises(KeyError, match="unicorn"):
        wv.senses("unicorn", language)
    with pytest.raises(ValueError, match="does not occur in the corpus"):
        wv.senses("owl", [["no", "such", "bird"]])
    with pytest.raises(ValueError, match="does not occur in the corpus"):
        wv.senses("owl", [])
    assert len(wv.senses("owl", [["the", "owl", "hoots"]])) == 1
    with pytest.raises(ValueError, match="give its position"):
        wv.senses("owl", [["the", "owl", "hoots"]]).assign("no bird here")


class TestConcordance:
    def test_files_and_lists_are_read_alike(self, tmp_path, language):
        sentences = [sentence for sentence, _ in zip(language, range(500), strict=False)]
        whole, half = tmp_path / "all.txt", tmp_path / "half.txt"
        whole.write_text("\n".join(" ".join(sentence) for sentence in sentences))
        half.write_text("\n".join(" ".join(sentence) for sentence in sentences[:250]))
        by_list = occurrences(sentences, "owl")
        assert occurrences(whole, "owl") == by_list == occurrences(LineSentence(whole), "owl")
        assert len(occurrences([half, half], "owl")) == 2 * len(occurrences(half, "owl"))
        assert all(each.word == "owl" for each in by_list)

    def test_a_sample_is_uniform(self):
        corpus = [[str(i), "w"] for i in range(100)]
        hits = np.zeros(100)
        for seed in range(400):
            for each in occurrences(corpus, "w", 10, seed=seed):
                hits[int(each.tokens[0])] += 1
        assert hits.sum() == 4000
        assert np.abs(hits - 40).max() < 5 * np.sqrt(40)

    def test_a_sample_does_not_depend_on_the_other_words(self):
        corpus = [[str(i), "v", "w"] for i in range(100)]
        both = sample_occurrences(corpus, ["v", "w"], 7)
        assert both["w"] == occurrences(corpus, "w", 7)

    def test_forms_of_a_word_are_sampled_together(self):
        corpus = [[str(i), "v" if i % 4 else "w"] for i in range(100)]
        both = sample_occurrences(corpus, {"v": "w", "w": "w"})
        assert [each.position for each in both["w"]] == [1] * 100
        some = sample_occurrences(corpus, {"v": "w", "w": "w"}, 40)["w"]
        assert len(some) == 40
        assert {each.word for each in some} == {"v", "w"}

    def test_text_that_is_not_split_is_an_error(self):
        with pytest.raises(TypeError, match="split it into words"):
            occurrences(iter(["the owl hoots"]), "owl")
        with pytest.raises(ValueError, match="max_occurrences=0"):
            occurrences([["owl"]], "owl", 0)
