"""Patterns that say what is a kind of what: sentences that a reader understands, any number of blocks and threads."""

import numpy as np
import pytest

from densvec.text import patterns
from densvec.text._words import WordIndex
from densvec.text.beside import each_block
from densvec.text.patterns import PatternCounter

LIST = {(word, "animal") for word in ("dog", "bird", "grey", "wolves")}
"""Without commas, a list of two words looks like one noun of two words, and both are taken."""


def found(*sentences, workers=1):
    text = [sentence.split() for sentence in sentences]
    words = sorted({word for sentence in text for word in sentence} | {"dog", "animal", "bird"})
    counter = PatternCounter(words, np.ones(len(words), dtype=int))
    each_block(counter.add, WordIndex(words), text, workers=workers)
    return {(words[a], words[b]): int(n) for a, b, n in zip(*counter.pairs(), strict=True)}


@pytest.mark.parametrize(
    ("sentence", "pairs"),
    [
        ("animals such as dogs are loyal", {("dog", "animal")}),
        ("animals such as the dog", set()),
        ("wild animals such as dogs and birds", {("dog", "animal"), ("bird", "animal")}),
        ("animals such as dogs birds or grey wolves of the wood", LIST),
        ("dogs and other large animals of the wood", {("dog", "animal")}),
        ("a dog or other animal", {("dog", "animal")}),
        ("animals including dogs", {("dog", "animal")}),
        ("the zoo including dogs", set()),  # one zoo has no kinds
        ("the dog is a loyal domestic animal that barks", {("dog", "animal")}),
        ("a dog was an animal", {("dog", "animal")}),
        ("the dog is a kind of animal", {("dog", "animal")}),
        ("it is an animal", set()),
        ("the dog is a very old friend", set()),  # "very" begins no noun
        ("a dog is a dog", set()),
        ("such as", set()),
        ("and other", set()),
        ("dog is a", set()),
        ("including dogs", set()),
    ],
)
def test_sentences_say(sentence, pairs):
    assert set(found(sentence)) == pairs


def test_no_pattern_crosses_sentences():
    assert found("animals such", "as dogs", "dogs and", "other animals", "the dog is", "a animal") == {}


def test_pairs_are_counted_over_blocks(monkeypatch):
    monkeypatch.setattr(patterns, "_PAIRS_AT_ONCE", 10)  # counted together many times
    text = ["animals such as dogs and birds", "birds and other animals", "of no interest"] * 20_000
    assert found(*text) == {("bird", "animal"): 40_000, ("dog", "animal"): 20_000}


def test_words_may_be_missing():
    counter = PatternCounter(["dog"], np.array([3]))
    each_block(counter.add, WordIndex(["dog"]), [["dog", "and", "dog"]])
    assert len(counter.pairs()[0]) == 0
