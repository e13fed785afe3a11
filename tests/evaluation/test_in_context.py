import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from conftest import example_densities
from densvec.evaluation import BenchmarkFileError, similarity_in_context, word_in_context
from densvec.evaluation.in_context import best_threshold, read_similarity_in_context, read_word_in_context
from tests.evaluation.cases import NONE, vectors, write

SCWS = [
    ("dog", "cat", "An <b> animal dog </b> .", "an Animal , the <b> cat </b> !", 7.0),
    ("dog", "car", "a <b> dog </b> is an animal", "no animal is a <b> car </b>", 1.0),
    ("Cat", "animal", "a dog , a <b> Cat </b>", "this <b> animal </b> is a cat", 9.0),
    ("dog", "unicorn", "a <b> dog </b>", "a <b> unicorn </b>", 5.0),
]


def scws(*lines):
    return "".join(
        f"{i}\t{a}\tn\t{b}\tn\t{x}\t{y}\t{r}\t1.0\t2.0\n" for i, (a, b, x, y, r) in enumerate(lines)
    )


def wic(place, *lines):
    write(place / "train.gold.txt", "\n".join(answer for _, answer in lines) + "\n")
    return write(place / "train.data.txt", "\n".join(line for line, _ in lines) + "\n")


def test_scws_is_read_as_written(tmp_path):
    pairs = read_similarity_in_context(write(tmp_path / "scws.txt", scws(*SCWS)))
    assert list(pairs[1].first.tokens) == ["a", "dog", "is", "an", "animal"]
    assert pairs[1].first.word == "dog"
    assert list(pairs[0].second.tokens) == ["an", "animal", "the", "cat"]
    assert (pairs[2].lemmas, pairs[2].likeness) == (("Cat", "animal"), 9.0)


def test_the_packages_call_is_what_is_scored(tmp_path):
    wv = example_densities()
    path = write(tmp_path / "scws_dev.txt", scws(*SCWS))
    results = similarity_in_context(wv, path, bootstrap=NONE)
    assert {(each.known, each.items) for each in results} == {(3, 4)}
    assert [each.method for each in results] == [
        "wv.similarity_in_context",
        "word",
        "average",
        "word + average",
    ]
    pairs = read_similarity_in_context(path)[:3]
    sides = [[(use.word, use.tokens, use.position) for use in (pair.first, pair.second)] for pair in pairs]
    scores = wv.similarities_in_context(sides)
    expected = spearmanr(scores, [pair.likeness for pair in pairs])[0]
    assert float(results["scws_dev", "rho", "wv.similarity_in_context"]) == pytest.approx(expected)


def test_context_parts_what_the_word_alone_does_not(tmp_path):
    # "bank" between money and river: alone it is as like the one as the other.
    wv = vectors(
        {"bank": (1, 1), "money": (1, 0), "river": (0, 1), "loan": (1, 0.1), "water": (0.1, 1)}, [1] * 5
    )
    text = scws(
        ("bank", "loan", "money <b> bank </b> money", "money <b> loan </b>", 9),
        ("bank", "loan", "river <b> bank </b> water", "money <b> loan </b>", 2),
        ("bank", "water", "river <b> bank </b> water", "river <b> water </b>", 8),
        ("bank", "water", "money <b> bank </b> loan", "river <b> water </b>", 1),
    )
    results = similarity_in_context(wv, write(tmp_path / "scws.txt", text), bootstrap=NONE)
    assert [each.method for each in results] == ["word", "average", "word + average"]  # without an encoder
    assert float(results["scws", "rho", "average"]) > 0.8
    assert float(results["scws", "rho", "word + average"]) > 0.8
    assert not float(results["scws", "rho", "word"]) > 0.5


def test_the_threshold_comes_from_the_first_half(tmp_path):
    lines = [
        ("dog\tN\t1-0\tanimal Dog .\tdog , Animal", "T"),
        ("dog\tN\t1-0\tanimal dog\tdog car", "F"),
        ("dog\tN\t1-0\tanimal dog\tdog animal", "T"),
        ("dog\tN\t1-0\tanimal dog\tdog animal", "F"),
    ]
    path = wic(tmp_path, *lines)
    given_scores = {"given": lambda pairs: [0.9, 0.1, 0.6, 0.7][: len(pairs)]}
    results = word_in_context(None, path, methods=given_scores, bootstrap=NONE)
    # Halfway between .9 and .1 both of the second half are taken as the same, and one of them is.
    assert float(results["train", "accuracy", "given"]) == 0.5
    assert float(results["train", "AUC", "given"]) == 0.75


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=30))
def test_no_threshold_is_better_than_the_best(items):
    scores, same = np.array([score for score, _ in items], dtype=float), np.array([t for _, t in items])

    def accuracy(threshold):
        return np.mean((scores >= threshold) == same)

    best = accuracy(best_threshold(scores, same))
    assert best == max(accuracy(threshold) for threshold in [*scores, *(scores + 0.5), -1.0])


def test_nothing_known_has_no_accuracy(tmp_path):
    results = word_in_context(example_densities(), wic(tmp_path, ("unicorn\tN\t0-0\tunicorn\tunicorn", "T")))
    assert np.isnan(float(results["train", "accuracy", "wv.similarity_in_context"]))


@pytest.mark.parametrize(
    ("line", "answer", "complaint"),
    [
        ("dog\tN\t0-0\tdog", "T", "data.txt, line 1: expected lemma.*found 4 fields"),
        ("dog\tN\t0\tdog\tdog", "T", "data.txt, line 1: expected two positions such as 3-7, found '0'"),
        ("dog\tN\t0-3\tdog\tdog", "T", "data.txt, line 1: '3' is not a position in the sentence of 1 tokens"),
        ("dog\tN\t0-0\tdog\tdog", "yes", "gold.txt, line 1: expected T or F"),
        ("dog\tN\t0-0\tdog\tdog", "T\nF", "data.txt has 1 lines, and .*gold.txt 2 answers"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, line, answer, complaint):
    with pytest.raises(BenchmarkFileError, match=complaint):
        read_word_in_context(wic(tmp_path, (line, answer)))


def test_a_text_without_the_word_is_named(tmp_path):
    text = scws(("dog", "cat", "a dog", "a <b> cat </b>", 7.0))
    with pytest.raises(BenchmarkFileError, match="line 1: expected a word between <b> and </b>"):
        read_similarity_in_context(write(tmp_path / "scws.txt", text))
