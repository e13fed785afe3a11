"""The generated language keeps the promises that make it a ground truth."""

from collections import Counter, defaultdict
from itertools import islice

import pytest

from densvec.corpora import LineSentence
from densvec.datasets import toy_language

FUNCTION_WORDS = {"the", "a", "an", "and"}


@pytest.fixture(scope="module")
def language():
    return toy_language(20_000)


@pytest.fixture(scope="module")
def contexts(language):
    """For every word, the words it shares sentences with."""
    found = defaultdict(Counter)
    for sentence in language:
        words = [word for word in sentence if word not in FUNCTION_WORDS]
        for word in words:
            found[word].update(other for other in words if other != word)
    return found


def test_is_the_same_every_time_and_differs_between_seeds(language):
    first = list(islice(language, 50))
    assert first == list(islice(language, 50))
    assert first == list(toy_language(50))
    assert first != list(toy_language(50, seed=2))
    assert len(language) == 20_000 == sum(1 for _ in language)


def test_is_lazy():
    assert len(list(islice(toy_language(10**12), 3))) == 3


def test_a_negative_size_is_refused():
    with pytest.raises(ValueError, match="-1"):
        toy_language(-1)


def test_has_several_words_of_two_senses(language):
    assert len(language.senses) >= 6
    for senses in language.senses.values():
        assert len(senses) == 2
        first, second = senses.values()
        assert not set(first) & set(second)


def test_senses_show_in_the_sentences(language):
    """An ambiguous subject is surrounded by words of the sense it is said to have and by none of the other."""
    seen = Counter()
    for each in language.annotated():
        sentence, position, sense = each.tokens, each.position, each.sense
        word = sentence[position]
        if word in language.senses:
            seen[word, sense] += 1
            others = {w for s, words in language.senses[word].items() if s != sense for w in words}
            assert set(language.senses[word][sense]) & set(sentence)
            assert not others & set(sentence)
    assert set(seen) == {(word, sense) for word, senses in language.senses.items() for sense in senses}
    assert min(seen.values()) >= 100


def test_general_words_occur_in_the_contexts_of_all_their_hyponyms(language, contexts):
    names = {word for pair in language.hypernyms for word in pair} | set(language.senses)
    for hyponym, hypernym in language.hypernyms:
        typical = {word for word, count in contexts[hyponym].items() if count >= 20} - names
        assert typical <= set(contexts[hypernym]), (hyponym, hypernym)
        assert len(contexts[hypernym]) > len(contexts[hyponym])


def test_the_tree_has_three_levels(language):
    parents = defaultdict(set)
    for hyponym, hypernym in language.hypernyms:
        parents[hyponym].add(hypernym)
    assert parents["kakapo"] == {"bird", "animal"}
    assert parents["bird"] == {"animal"}
    assert not parents["animal"]
    assert not set(parents) & set(language.senses)


def test_frequency_alone_does_not_order_the_hypernyms(language):
    counts = Counter(word for sentence in language for word in sentence)
    share = sum(counts[b] > counts[a] for a, b in language.hypernyms) / len(language.hypernyms)
    assert share < 0.9
    for word in {word for pair in language.hypernyms for word in pair}:
        assert counts[word] >= 50


def test_held_out_occurrences(language):
    corpus = {tuple(sentence) for sentence in islice(language, 100)}
    held_out = language.occurrences("kiwi", 200)
    assert held_out == language.occurrences("kiwi", 200)
    assert held_out != language.occurrences("kiwi", 200, seed=1)
    assert {occurrence.sense for occurrence in held_out} == {"bird", "fruit"}
    assert {occurrence.word for occurrence in held_out} == {"kiwi"}
    assert not all(tuple(occurrence.tokens) in corpus for occurrence in held_out)
    with pytest.raises(KeyError, match="kakapo"):
        language.occurrences("kakapo", 1)


@pytest.mark.parametrize("name", ["toy.txt", "toy.txt.gz"])
def test_written_corpus_reads_back(tmp_path, name):
    language = toy_language(300)
    language.write(tmp_path / name)
    assert list(LineSentence(tmp_path / name)) == list(language)
