import numpy as np
import pytest

from densvec.evaluation import (
    BenchmarkFileError,
    entailment,
    entailment_direction,
    graded_entailment,
    word_similarity,
)
from densvec.evaluation.pairs import read_entailment, read_hyperlex, read_similarity
from densvec.keyed import KeyedDensities
from tests.evaluation.cases import NONE, around_the_circle, vectors, write


def animals():
    """A dog lies inside the animals, a stone far away; animals are the widest and most frequent."""
    words = {"dog": (1.0, 0.2), "animal": (1.0, 0.0), "stone": (-3.0, 1.0), "thing": (0.5, 0.5)}
    return vectors(words, [50, 40, 5, 90], [[-2.0], [0.0], [-2.0], [1.0]])


def by_method(results, benchmark, measure):
    return {
        each.method: float(each.value)
        for each in results
        if (each.benchmark, each.measure) == (benchmark, measure)
    }


def test_gensim_agrees(tmp_path):
    gensim = pytest.importorskip("gensim.models")
    rng = np.random.default_rng(3)
    keyed = gensim.KeyedVectors(5)
    keyed.add_vectors([f"w{i}" for i in range(15)], rng.normal(size=(15, 5)).astype(np.float32))
    pairs = [(a, b) for a in range(15) for b in range(a)]  # each once: equal cosines would hang on rounding
    path = write(tmp_path / "p.tsv", "".join(f"w{a}\tw{b}\t{rng.integers(10)}\n" for a, b in pairs))
    oracle = keyed.evaluate_word_pairs(path)[1][0]
    results = word_similarity(KeyedDensities.from_gensim(keyed), path, bootstrap=NONE)
    assert float(results["p", "rho", "cosine"]) == pytest.approx(oracle, abs=1e-6)


def test_the_order_of_the_lines_does_not_matter(tmp_path):
    rng = np.random.default_rng(0)
    wv = vectors({f"w{i}": row for i, row in enumerate(rng.normal(size=(20, 3)))})
    lines = [f"w{a} w{b} {score}" for a, b, score in rng.integers(20, size=(40, 3))]
    figures = []
    for order in (lines, lines[::-1], sorted(lines)):
        results = word_similarity(wv, write(tmp_path / "pairs.txt", "\n".join(order)), bootstrap=NONE)
        figures.append(float(results["pairs", "rho", "cosine"]))
    assert figures == pytest.approx([figures[0]] * 3)


def test_nothing_known_and_nothing_to_tell_are_no_errors(tmp_path):
    constant = word_similarity(around_the_circle(a=0, b=9, c=20), write(tmp_path / "p.txt", "a b 1\na c 1\n"))
    unknown = word_similarity(around_the_circle(a=0), write(tmp_path / "p.txt", "x y 1\nx z 2\n"))
    for results in (constant, unknown):
        assert np.isnan(float(results["p", "rho", "cosine"]))
        assert "–" in str(results)
        assert '"value": null' in results.to_json()


def test_entailment_by_hand(tmp_path):
    path = tmp_path / "bbds.tsv"
    write(path, "dog\tanimal\tTrue\nanimal\tdog\tFalse\nDog\tstone\tFalse\ndog\tunicorn\tTrue\n")
    results = entailment(animals(), path, bootstrap=NONE)
    assert {(each.known, each.items) for each in results} == {(3, 4)}
    # By KL only dog => animal is near; the cosine is the same both ways, so a false pair ties with it.
    f1 = by_method(results, "bbds", "F1")
    assert f1["wv.entailment"] == pytest.approx(1)
    assert f1["cosine"] == pytest.approx(2 / 3)
    assert by_method(results, "bbds", "AP")["cosine"] == pytest.approx(1 / 2)


def test_vectors_without_variances_have_only_baselines(tmp_path):
    wv = vectors({"dog": (1.0, 0.2), "animal": (1.0, 0.0)}, [50, 90])
    path = write(tmp_path / "bbds.tsv", "dog\tanimal\tTrue\nanimal\tdog\tFalse\n")
    assert {each.method for each in entailment(wv, path)} == {"cosine"}
    assert {each.method for each in entailment_direction(wv, path)} == {"frequency"}
    del wv.expandos["count"]
    assert not entailment_direction(wv, path)


def test_direction_by_hand(tmp_path):
    path = tmp_path / "bbds_direction.txt"
    text = "word1 word2 word1 => word2\ndog animal True\nstone thing True\nanimal dog False\ndog god True\n"
    results = entailment_direction(animals(), write(path, text), bootstrap=NONE)
    shares = by_method(results, "bbds_direction", "accuracy")
    # dog (50) is more frequent than animal (40): the frequency is wrong about that pair, twice.
    del shares["wv.generality, adjusted"]  # four words are too few for a trend
    assert shares == pytest.approx({"wv.direction": 1, "wv.generality": 1, "frequency": 1 / 3})


def test_direction_with_the_trend_of_frequency_taken_away(tmp_path):
    """Every other word is wider than its frequency says; it must be the general one, though it is rarer."""
    counts = np.geomspace(10, 100_000, 40).astype(int)
    wider = np.where(np.arange(40) % 2, -0.2, 0.2)
    wv = vectors({f"w{row}": (1, 1) for row in range(40)}, counts, (np.log(counts) + wider)[:, None])
    text = "\n".join(f"w{row + 11} w{row} True" for row in range(0, 28, 2))
    results = entailment_direction(wv, write(tmp_path / "d.txt", text), bootstrap=NONE)
    expected = {"wv.direction": 0, "wv.generality": 0, "wv.generality, adjusted": 1, "frequency": 0}
    assert by_method(results, "d", "accuracy") == expected


def test_equal_words_decide_nothing(tmp_path):
    results = entailment_direction(animals(), write(tmp_path / "d.txt", "dog dog True\n"), bootstrap=NONE)
    assert set(by_method(results, "d", "accuracy").values()) == {0.0}


def test_graded_entailment_by_hand(tmp_path):
    pairs = ["dog animal N hyp-1 5.9", "animal dog N r-hyp-1 1.5", "stone animal N no-rel 0.1"]
    text = "\n".join(["WORD1 WORD2 POS TYPE AVG_SCORE", *pairs])
    results = graded_entailment(animals(), write(tmp_path / "hyperlex.txt", text), bootstrap=NONE)
    assert by_method(results, "hyperlex", "rho")["wv.hypernymy"] == pytest.approx(1)
    assert by_method(results, "hyperlex", "rho")["wv.entailment"] == pytest.approx(1)


@pytest.mark.parametrize(
    ("read", "text", "complaint"),
    [
        (read_similarity, "a b 1\na b\n", "line 2: expected word1 word2 score; found 2 fields"),
        (read_similarity, "a b\tmuch\n", "line 1: 'much' is not a finite number"),
        (read_similarity, "a b nan\n", "line 1: 'nan' is not a finite number"),
        (read_similarity, "# only a comment\n", "no pairs in the file"),
        (read_entailment, "dog\tanimal\tTrue\ndog\tanimal\n", "line 2: expected 'word1 word2 True|False'"),
        (
            read_entailment,
            "dog\tanimal\tTrue\ndog\tanimal\tmaybe\n",
            "line 2: expected 'word1 word2 True|False'",
        ),
        (read_entailment, "word1\tword2\tlabel\n", "no pairs in the file"),
        (
            read_hyperlex,
            "WORD1 WORD2 POS TYPE AVG_SCORE\ndog animal N\n",
            "line 2: expected word1 word2 part-of-speech",
        ),
    ],
)
def test_a_malformed_file_is_named(tmp_path, read, text, complaint):
    with pytest.raises(BenchmarkFileError) as caught:
        read(write(tmp_path / "pairs.txt", text))
    assert "pairs.txt" in str(caught.value)
    assert complaint in str(caught.value)
