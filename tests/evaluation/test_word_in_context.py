import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import example_densities
from densvec.evaluation import BenchmarkFileError, Bootstrap, word_in_context
from densvec.evaluation.word_in_context import best_threshold, read_words_in_context

NONE = Bootstrap(0)

# "dog" beside "animal" has the mean (3, 1)/2, beside "cat" (2, 2)/2, beside "car" 0.
SAME = "dog\tN\t1-0\tanimal Dog .\tdog , Animal"
ALIKE = "dog\tN\t1-0\tanimal dog\tdog cat"  # cosine .89
DIFFERENT = "dog\tN\t1-0\tanimal dog\tdog car"  # cosine 0


def write(place, part, *lines):
    place.mkdir(exist_ok=True)
    (place / f"{part}.data.txt").write_text("\n".join(line for line, _ in lines) + "\n")
    (place / f"{part}.gold.txt").write_text("\n".join(answer for _, answer in lines) + "\n")
    return place / f"{part}.data.txt"


def test_the_threshold_comes_from_the_development_part(tmp_path):
    # In the development part ALIKE is the same meaning, in the test part it is not.
    dev = write(tmp_path, "dev", (SAME, "T"), (ALIKE, "T"), (DIFFERENT, "F"))
    test = write(
        tmp_path,
        "test",
        (SAME, "T"),
        (ALIKE, "F"),
        (DIFFERENT, "F"),
        ("unicorn\tN\t0-0\tunicorn\tunicorn", "T"),
    )
    result = word_in_context(example_densities(), dev, test, metrics=["cosine", "kl"], sample=0)
    score = result.scores["encoder", "cosine"]
    assert score.threshold == pytest.approx(8**0.5 / 10**0.5 / 2, rel=1e-6)  # halfway from 0 to cos
    assert float(score.development) == 1
    assert float(score.test) == pytest.approx(2 / 3)
    assert (result.items, result.known) == ((3, 4), (3, 3))
    assert ("encoder", "kl") in result.scores
    # Out of context every pair is alike: all are taken for the same meaning.
    assert float(result.scores["out_of_context", "cosine"].test) == pytest.approx(1 / 3)
    assert "accuracy (test)" in str(result)


def test_without_a_test_part_there_is_the_development_part_only(tmp_path):
    dev = write(tmp_path, "dev", (SAME, "T"), (DIFFERENT, "F"))
    result = word_in_context(example_densities(), dev, sample=0, bootstrap=NONE)
    assert result.scores["encoder", "cosine"].test is None
    assert "accuracy (test)" not in str(result)
    assert result.items == (2, 0)


def test_places_count_written_words(tmp_path):
    path = write(tmp_path, "dev", ("dog\tN\t3-2\tThe cat's -- dogs !\tan all-out dog\n".strip(), "T"))
    (item,) = read_words_in_context(path)
    assert item.sentences == (("the", "cat's", "dogs"), ("an", "all", "out", "dog"))
    assert [sentence[place] for sentence, place in zip(item.sentences, item.positions, strict=True)] == [
        "dogs",
        "dog",
    ]


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=30))
def test_no_threshold_is_better_than_the_best(items):
    scores, same = np.array([score for score, _ in items], dtype=float), np.array([t for _, t in items])

    def accuracy(threshold):
        return np.mean((scores >= threshold) == same)

    best = accuracy(best_threshold(scores, same))
    assert best == max(accuracy(threshold) for threshold in [*scores, *(scores + 0.5), -1.0])


def test_nothing_known_has_no_accuracy(tmp_path):
    dev = write(tmp_path, "dev", ("unicorn\tN\t0-0\tunicorn\tunicorn", "T"))
    result = word_in_context(example_densities(), dev)
    assert np.isnan(float(result.scores["encoder", "cosine"].development))


@pytest.mark.parametrize(
    ("line", "answer", "complaint"),
    [
        ("dog\tN\t0-0\tdog", "T", "data.txt, line 1: expected word.*found 4 fields"),
        ("dog\tN\t0\tdog\tdog", "T", "data.txt, line 1: the places '0' are not two whole numbers"),
        ("dog\tN\t0-3\tdog\tdog", "T", "data.txt, line 1: the place 3 is outside the sentence, which has 1"),
        ("dog\tN\t0-0\tdog\tdog", "yes", "gold.txt, line 1: expected T or F"),
        ("dog\tN\t0-0\tdog\tdog", "T\nF", "has 1 lines and .* 2; every line needs an answer"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, line, answer, complaint):
    with pytest.raises(BenchmarkFileError, match=complaint):
        read_words_in_context(write(tmp_path, "dev", (line, answer)))


def test_a_data_file_of_another_name_needs_its_gold_file(tmp_path):
    (tmp_path / "words.txt").write_text(SAME + "\n")
    (tmp_path / "answers.txt").write_text("T\n")
    with pytest.raises(ValueError, match=r"no '\.data' to replace"):
        read_words_in_context(tmp_path / "words.txt")
    assert read_words_in_context(tmp_path / "words.txt", tmp_path / "answers.txt")[0].same
