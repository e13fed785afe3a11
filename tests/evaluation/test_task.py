import numpy as np
import pytest

from conftest import example_densities
from densvec import BayesianSkipGram
from densvec.evaluation import Bootstrap, evaluate_all, similarity_in_context, word_similarity
from tests.evaluation.cases import NONE, around_the_circle, write


@pytest.fixture
def pairs(tmp_path):
    return write(tmp_path / "EN-HAND-4.txt", "a b 9\nb c 5\na c 7\nb d 1\na unicorn 3\n")


def test_every_method_is_scored_by_the_same_code(pairs):
    wv = around_the_circle(a=0, b=10, c=30, d=90)
    own = {"by hand": lambda items: wv and [rating for *_, rating in items]}
    results = word_similarity(wv, pairs, methods=own, bootstrap=NONE)
    # Falling cosine: a-b (10), b-c (20), a-c (30), b-d (80). Ranks of the scores: 4, 2, 3, 1; ρ = 1 − 6·2/(4·15).
    assert float(results["HAND-4", "rho", "cosine"]) == pytest.approx(0.8)
    assert float(results["HAND-4", "rho", "by hand"]) == 1
    assert [(each.known, each.items) for each in results] == [(4, 5), (5, 5)]
    assert "0.800  1.000 (5/5)" in str(results)


def test_other_vectors_stand_beside(pairs):
    wv, other = around_the_circle(a=0, b=10, c=30, d=90), around_the_circle(a=0, b=10, c=30)
    results = word_similarity(wv, pairs, beside={"gensim": other}, bootstrap=NONE)
    alone = word_similarity(other, pairs, bootstrap=NONE)
    assert [each.method for each in results] == ["cosine", "gensim: cosine"]
    assert results["HAND-4", "rho", "gensim: cosine"] == alone["HAND-4", "rho", "cosine"]


def test_a_models_methods_are_scored_on_the_items_that_all_of_them_know(tmp_path):
    line = "{}\tdog\tn\t{}\tn\tan animal , a <b> dog </b>\ta <b> {} </b> , {}\t{}\n"
    cases = [
        ("cat", "animal", 7),
        ("car", "dog", 1),
        ("unicorn", "animal", 4),
    ]  # the context of an unknown word is known
    text = "".join(line.format(i, word, word, other, rating) for i, (word, other, rating) in enumerate(cases))
    results = similarity_in_context(example_densities(), write(tmp_path / "scws.txt", text), bootstrap=NONE)
    assert {figure.method for figure in results} >= {"wv.similarity_in_context", "word", "average"}
    assert {figure.known for figure in results} == {2}


def test_a_model_stands_for_its_words(pairs):
    model = BayesianSkipGram([["a", "b", "c", "d"]] * 5, vector_size=4, min_count=1, epochs=1, workers=1)
    assert list(word_similarity(model, pairs, bootstrap=NONE)) == list(
        word_similarity(model.wv, pairs, bootstrap=NONE)
    )


def test_vectors_of_gensim_must_be_turned_first(pairs):
    gensim = pytest.importorskip("gensim.models")
    keyed = gensim.KeyedVectors(2)
    keyed.add_vectors(["a", "b", "c"], np.eye(3, 2, dtype=np.float32))
    with pytest.raises(TypeError, match=r"KeyedDensities\.from_gensim"):
        word_similarity(keyed, pairs)
    with pytest.raises(TypeError, match=r"KeyedDensities\.from_gensim"):
        word_similarity(None, pairs, beside={"gensim": keyed})


def test_intervals_hold_the_figure_and_pair_two_models(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(30)]
    lines = [f"{a} {b} {rng.integers(10)}" for a in words for b in words[:4] if a != b]
    path = write(tmp_path / "pairs.txt", "\n".join(lines))
    first, second = (
        around_the_circle(**dict(zip(words, rng.random(30) * 360, strict=True))) for _ in range(2)
    )
    a, b = (word_similarity(wv, path, bootstrap=Bootstrap(200)) for wv in (first, second))
    estimate = a["pairs", "rho", "cosine"]
    assert estimate.low < float(estimate) < estimate.high
    gained = a.minus(b)["pairs", "rho", "cosine"]
    assert float(gained) == pytest.approx(float(estimate) - float(b["pairs", "rho", "cosine"]))
    assert gained.low < float(gained) < gained.high
    nothing = a.minus(a)["pairs", "rho", "cosine"]
    assert (float(nothing), nothing.low, nothing.high) == (0, 0, 0)


def test_a_directory_gives_the_sum_and_the_five_large_sets(tmp_path):
    for name in ("MEN-TR-3k", "MTurk-771", "RW-STANFORD", "SIMLEX-999", "WS-353-ALL"):
        write(tmp_path / "word-sim" / f"EN-{name}.txt", "a b 3\na c 2\na d 1\n")
    write(tmp_path / "word-sim" / "EN-MC-30.txt", "a b 1\na c 2\na d 3\n")
    (tmp_path / "word-sim" / "LICENSE").write_text("not a benchmark")
    results = evaluate_all(around_the_circle(a=0, b=10, c=30, d=90), tmp_path, bootstrap=NONE)
    assert float(results["SUM", "", "cosine"]) == pytest.approx(4)
    assert float(results["BIG5", "", "cosine"]) == pytest.approx(5)
    (tmp_path / "word-sim" / "EN-RW-STANFORD.txt").unlink()
    fewer = evaluate_all(
        around_the_circle(a=0, b=10, c=30, d=90), tmp_path, tasks=["word similarity"], bootstrap=NONE
    )
    assert {each.benchmark for each in fewer} >= {"SUM", "MC-30"}
    assert "BIG5" not in {each.benchmark for each in fewer}


def test_what_is_asked_for_must_be_there(tmp_path):
    wv = around_the_circle(a=0)
    with pytest.raises(FileNotFoundError, match="no such directory"):
        evaluate_all(wv, tmp_path / "absent")
    with pytest.raises(FileNotFoundError, match="no benchmark in word-sim/"):
        evaluate_all(wv, tmp_path)
    with pytest.raises(ValueError, match="there is no task 'similarity'; there are candidates"):
        evaluate_all(wv, tmp_path, tasks=["similarity"])
