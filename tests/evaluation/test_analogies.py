import numpy as np
import pytest

from densvec.evaluation import BenchmarkFileError, word_analogies
from densvec.evaluation.analogies import read_analogies
from densvec.keyed import KeyedDensities
from tests.evaluation.cases import NONE, vectors, write

WORDS = {
    "man": (1, 1, 0),
    "woman": (1, -1, 0),
    "king": (1, 1, 2),
    "queen": (1, -1, 2),
    "boy": (1, 1.2, -1),
    "fish": (-1, 0, 0.1),
}


def test_analogies_by_hand(tmp_path):
    text = ": royal\nMan Woman King Queen\nman woman king fish\n: other\nman woman king queen\nman woman boy girl\n"
    results = word_analogies(vectors(WORDS), write(tmp_path / "questions.txt", text), bootstrap=NONE)
    shares = {each.measure: float(each.value) for each in results if each.method == "3CosAdd"}
    assert shares == pytest.approx({"accuracy": 2 / 3, "royal": 1 / 2, "other": 1})
    assert {(each.known, each.items) for each in results} == {(3, 4)}


def test_the_three_words_of_the_question_are_never_the_answer(tmp_path):
    path = write(tmp_path / "q.txt", ": s\nman man king king\nman woman woman woman\n")
    assert {float(each.value) for each in word_analogies(vectors(WORDS), path, bootstrap=NONE)} == {0}


@pytest.mark.filterwarnings("ignore::DeprecationWarning:gensim")
@pytest.mark.parametrize("method", ["3CosAdd", "3CosMul"])
def test_gensim_agrees(tmp_path, method):
    gensim = pytest.importorskip("gensim.models")
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(40)]
    keyed = gensim.KeyedVectors(3)
    keyed.add_vectors(words, rng.normal(size=(40, 3)).astype(np.float32))
    answer = keyed.most_similar if method == "3CosAdd" else keyed.most_similar_cosmul
    lines = []
    for a, b, c in rng.choice(words, size=(60, 3)):
        right = answer(positive=[b, c], negative=[a], topn=1)[0][0]
        lines.append(f"{a} {b} {c} {right if rng.random() < 0.6 else rng.choice(words)}")
    expected = np.mean(
        [answer(positive=[b, c], negative=[a], topn=1)[0][0] == d for a, b, c, d in map(str.split, lines)]
    )
    path = write(tmp_path / "q.txt", "\n".join([": s", *lines]))
    results = word_analogies(KeyedDensities.from_gensim(keyed), path, bootstrap=NONE)
    assert float(results["q", "accuracy", method]) == pytest.approx(expected)
    assert 0.3 < expected < 0.9


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a b c d\n", "line 1: expected a section header"),
        (": s\na b c\n", "line 2: expected four words, found 3"),
        (": s\n", "no questions in the file"),
    ],
)
def test_a_malformed_file_is_named(tmp_path, text, complaint):
    with pytest.raises(BenchmarkFileError, match=f"q.txt.*{complaint}"):
        read_analogies(write(tmp_path / "q.txt", text))
