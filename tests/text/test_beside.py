"""Counting words beside others: what a reader counts by hand, from lists and from files, with any number of threads."""

import itertools
from collections import Counter

import numpy as np
import pytest

from densvec.corpora import LineSentence
from densvec.text._words import WordIndex
from densvec.text.beside import BesideCounter, each_block

WORDS = list("abcdef")


def sentences(seed=1, count=3000):
    rng = np.random.default_rng(seed)
    return [["x", *rng.choice([*WORDS, "unknown"], rng.integers(0, 9)).tolist()] for _ in range(count)]


def by_hand(text):
    before, after = Counter(), Counter()
    for sentence in text:
        known = [word for word in sentence if word in WORDS]
        for left, right in itertools.pairwise(known):
            before[right, left] += 1
            after[left, right] += 1
    return before, after


def counted(**corpus):
    counter = BesideCounter(len(WORDS), np.array([4, 1, 0]), np.array([2, 5]))
    each_block(counter.add, WordIndex(WORDS), **corpus)
    return counter


def test_neighbours_are_those_a_reader_counts():
    text = sentences()
    counter = counted(sentences=text)
    for side, expected in enumerate(by_hand(text)):
        table = [[expected[word, other] for other in "cf"] for word in "eba"]
        assert counter.counts[side].tolist() == table
    total = Counter(word for sentence in text for word in sentence)
    assert counter.totals.tolist() == [total[word] for word in WORDS]


@pytest.mark.parametrize("workers", [1, 3])
def test_files_and_lists_give_the_same(tmp_path, workers):
    text = sentences(count=20_000)
    path = tmp_path / "text.txt"
    path.write_text("\n".join(" ".join(sentence) for sentence in text))
    expected = counted(sentences=text)
    for corpus in ({"corpus_file": path}, {"corpus_file": [path]}, {"sentences": LineSentence(path)}):
        found = counted(**corpus, workers=workers)
        assert (found.counts == expected.counts).all()
        assert (found.totals == expected.totals).all()


def test_an_error_ends_the_reading(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("a b\n" * 100_000)

    def fail(block):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        each_block(fail, WordIndex(WORDS), corpus_file=path, workers=2)
