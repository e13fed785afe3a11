from types import SimpleNamespace

import numpy as np
import pytest

from densvec.evaluation import BenchmarkFileError, word_analogies
from densvec.evaluation.analogies import read_analogies

WORDS = ["man", "woman", "king", "queen", "boy", "fish"]


def family():
    vectors = np.array([[1, 1, 0], [1, -1, 0], [1, 1, 2], [1, -1, 2], [1, 1.2, -1], [-1, 0, 0.1]])
    return SimpleNamespace(key_to_index={word: row for row, word in enumerate(WORDS)}, vectors=vectors)


def test_analogies_by_hand(tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(
        ": royal\nMan Woman King Queen\nman woman king fish\n: other\nman woman boy girl\n: empty\n"
    )
    result = word_analogies(family(), path)
    assert [(s.name, s.correct, s.known, s.questions) for s in result.sections] == [
        ("royal", 1, 2, 2),
        ("other", 0, 0, 1),
        ("empty", 0, 0, 0),
    ]
    assert float(result.accuracy) == 0.5
    assert result.coverage == pytest.approx(2 / 3)
    assert [row["section"] for row in result.rows()] == ["royal", "other", "empty", "all"]


def test_the_three_words_of_the_question_are_never_the_answer(tmp_path):
    (tmp_path / "q.txt").write_text(": s\nman man king king\nman woman woman woman\n")
    assert float(word_analogies(family(), tmp_path / "q.txt").accuracy) == 0


def test_a_restricted_vocabulary_neither_asks_nor_answers_beyond(tmp_path):
    (tmp_path / "q.txt").write_text(": s\nman woman king queen\nman woman boy fish\n")
    result = word_analogies(family(), tmp_path / "q.txt", restrict_vocab=4)
    assert (result.sections[0].known, result.sections[0].correct) == (1, 1)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:gensim")
@pytest.mark.parametrize("method", ["add", "mul"])
def test_gensim_agrees(tmp_path, method):
    from gensim.models import KeyedVectors

    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(40)]
    wv = KeyedVectors(3)
    wv.add_vectors(words, rng.normal(size=(40, 3)).astype(np.float32))
    answer = wv.most_similar if method == "add" else wv.most_similar_cosmul
    lines = []
    for a, b, c in rng.choice(words, size=(60, 3)):
        right = answer(positive=[b, c], negative=[a], topn=1)[0][0]
        lines.append(f"{a} {b} {c} {right if rng.random() < 0.6 else rng.choice(words)}")
    path = tmp_path / "q.txt"
    path.write_text("\n".join([": s", *lines]))
    expected = np.mean(
        [answer(positive=[b, c], negative=[a], topn=1)[0][0] == d for a, b, c, d in map(str.split, lines)]
    )
    assert float(word_analogies(wv, path, method=method).accuracy) == pytest.approx(expected)
    assert 0.3 < expected < 0.9


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a b c d\n", "line 1: expected a section header"),
        (": s\na b c\n", "line 2: expected four words, found 3"),
        (": s\n", "no questions"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, text, complaint):
    path = tmp_path / "questions.txt"
    path.write_text(text)
    with pytest.raises(BenchmarkFileError, match=f"questions.txt.*{complaint}"):
        read_analogies(path)


def test_an_unknown_method_is_refused(tmp_path):
    with pytest.raises(ValueError, match="method='sub'"):
        word_analogies(family(), tmp_path / "q.txt", method="sub")
