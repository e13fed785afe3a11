import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import example_densities
from densvec.evaluation import BenchmarkFileError, gap, lexical_substitution, ranking_of_candidates
from densvec.evaluation.substitutes import read_candidates, read_substitution
from tests.evaluation.cases import NONE, vectors, write

golds = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 5), min_size=1)


def gap_by_definition(ranking, gold):
    x = [gold.get(word, 0) for word in ranking]
    y = sorted(gold.values(), reverse=True)
    numerator = sum(np.mean(x[: i + 1]) for i in range(len(x)) if x[i] > 0)
    return numerator / sum(np.mean(y[: i + 1]) for i in range(len(y)))


@given(golds, st.permutations("abcdefghijk"))
def test_gap_is_its_definition(gold, ranking):
    assert gap(ranking, gold) == pytest.approx(gap_by_definition(ranking, gold))


@given(golds, st.lists(st.sampled_from("ijk"), unique=True), st.permutations("abcdefghijk"))
def test_the_perfect_ranking_has_gap_1_and_none_is_better(gold, others, ranking):
    perfect = [*sorted(gold, key=gold.__getitem__, reverse=True), *others]
    assert gap(perfect, gold) == pytest.approx(1)
    assert 0 < gap(ranking, gold) <= 1 + 1e-12


@given(golds, st.permutations("abcdefghijk"), st.integers(0, 9))
def test_moving_a_substitute_up_past_a_worse_one_never_hurts(gold, ranking, place):
    swapped = list(ranking)
    swapped[place : place + 2] = swapped[place : place + 2][::-1]
    before, after = (gold.get(ranking[i], 0) for i in (place, place + 1))
    if after > before:
        assert gap(swapped, gold) >= gap(ranking, gold) - 1e-12


def test_gold_that_no_ranking_can_reach_stays_in_the_denominator():
    assert gap(["clever"], {"clever": 2, "unknown": 1}) == pytest.approx(2 / 3.5)
    assert gap([], {"clever": 2}) == 0


# A target "bright" between light words (first axis) and mind words (second axis).
WORDS = {
    "bright": (1.0, 1.0),
    "lamp": (1.0, 0.0),
    "pupil": (0.0, 1.0),
    "shiny": (1.0, 0.2),
    "clever": (0.3, 1.0),
    "dull": (-1.0, -1.0),
    "bse": (0.3, -1.0),
}


@pytest.fixture
def lst(tmp_path):
    sentences = [
        "bright.a\t1\t2\ta very brighter lamp .",  # surface form unknown: the lemma stands in
        "bright.a\t2\t0\tbright pupil",
        "bright.a.n\t3\t0\tbright",
        "bright.a\t4\t0\tbright lamp",  # no gold at all
        "bright.a\t5\t0\tbright lamp",  # only gold of several words
        "zorch.n\t6\t0\tzorch lamp",  # unknown target
    ]
    gold = [
        "bright.a 1 :: shiny 3;well-lit 2;very light 1;",
        "bright.a 2 :: clever 2;SHINY 1;",
        "bright.a.n 3 :: clever 1;unheard 1;",
        "bright.a 5 :: full of light 1;",
        "zorch.n 6 :: lamp 1;",
    ]
    candidates = ["bright.a::well-lit;clever;shiny;clever ;dull;BSE;unheard;bright", "zorch.n::lamp;pupil"]
    write(tmp_path / "lst_all.gold", "\n".join(gold))
    write(tmp_path / "lst.gold.candidates", "\n".join(candidates))
    return write(tmp_path / "lst_all.preprocessed", "\n".join(sentences))


def test_candidates_by_hand(lst):
    results = ranking_of_candidates(vectors(WORDS), lst, bootstrap=NONE)
    # With its context: 1: shiny first, the only gold of one word: 1. 2: clever before shiny: 1. 3: no context, so
    # clever is first; "unheard" is unknown: 1 / 2. 6 cannot be ranked: 0.
    assert float(results["lst_all", "GAP", "word + average"]) == pytest.approx((1 + 1 + 1 / 2 + 0) / 4)
    out_of_context = [gap(["clever", "shiny"], gold) for gold in ({"shiny": 3}, {"clever": 2, "shiny": 1})]
    assert float(results["lst_all", "GAP", "cosine"]) == pytest.approx((sum(out_of_context) + 1 / 2) / 4)
    assert {(each.known, each.items) for each in results} == {(4, 4)}


def test_substitutes_among_all_words_by_hand(lst):
    given_answers = {
        "given": lambda instances: [["lamp", "shinier"], ["brighter", "clever"], ["bright", "clever"], []]
    }
    results = lexical_substitution(None, lst, methods=given_answers, bootstrap=NONE)
    # Forms of the target do not count, and a form of a gold answer counts for it.
    assert float(results["lst_all", "P@1", "given"]) == pytest.approx((0 + 1 + 1 + 0) / 4)
    assert float(results["lst_all", "P@3", "given"]) == pytest.approx((1 + 1 + 1 + 0) / 3 / 4)
    assert float(results["lst_all", "oot", "given"]) == pytest.approx((1 + 2 / 3 + 1 / 2 + 0) / 4)


def test_the_packages_calls_are_what_is_scored(tmp_path):
    wv = example_densities()
    write(tmp_path / "lst_all.gold", "dog.n 1 :: cat 2;\ndog.n 2 :: animal 1;")
    write(tmp_path / "lst.gold.candidates", "dog.n::cat;animal;car")
    path = write(
        tmp_path / "lst_all.preprocessed", "dog.n\t1\t1\tcat dog cat\ndog.n\t2\t0\tdog animal animal"
    )
    contexts = [("cat dog cat", 1), ("dog animal animal", 0)]
    golds = [{"cat": 2}, {"animal": 1}]
    ranked = ranking_of_candidates(wv, path, bootstrap=NONE)
    own = [wv.substitutes("dog", text, ["cat", "animal", "car"], position=place) for text, place in contexts]
    expected = np.mean([gap([w for w, _ in found], gold) for found, gold in zip(own, golds, strict=True)])
    assert float(ranked["lst_all", "GAP", "wv.substitutes"]) == pytest.approx(expected)
    among_all = lexical_substitution(wv, path, bootstrap=NONE)
    firsts = [wv.substitutes("dog", context, position=place)[0][0] for context, place in contexts]
    expected = np.mean([first in gold for first, gold in zip(firsts, golds, strict=True)])
    assert float(among_all["lst_all", "P@1", "wv.substitutes"]) == pytest.approx(expected)


def test_readers_understand_semevals_quirks(tmp_path):
    (tmp_path / "lst_all.gold").write_bytes(
        b"come.v 8 :: arrive 4;take place 1;Arrive  1;\nfourth quarter.J 9 :: end 1;\n"
    )
    write(tmp_path / "lst.gold.candidates", "come.v::reach;reach ;The Eucharist;;\n")
    (tmp_path / "lst_all.preprocessed").write_bytes(
        b"come.v\t8\t2\this \x85 come st\xf8rste\nfourth quarter.J\t9\t0\tfourth\n"
    )
    come, quarter = read_substitution(tmp_path / "lst_all.preprocessed")
    assert (come.gold, come.occurrence.word, len(come.occurrence.tokens)) == ({"arrive": 5.0}, "come", 4)
    assert (quarter.lemma, quarter.gold) == ("fourth quarter", {"end": 1.0})
    come, quarter = read_candidates(tmp_path / "lst_all.preprocessed")
    assert (come.candidates, quarter.candidates) == (["reach"], [])


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("lst_all.preprocessed", "bright.a\t1\t0\n", "line 1: expected lemma.pos.*found 3 fields"),
        ("lst_all.preprocessed", "bright.a\t1\tone\tbright\n", "line 1: 'one' is not a finite number"),
        (
            "lst_all.preprocessed",
            "bright.a\t1\t7\tbright lamp\n",
            "line 1: the index of the target 7 is outside",
        ),
        ("lst_all.preprocessed", "\n", "nothing in the file"),
        ("lst_all.gold", "bright.a 1 : shiny 3;\n", "line 1: expected 'lemma.pos id :: substitute weight"),
        (
            "lst_all.gold",
            "bright.a 1 :: shiny;\n",
            "line 1: 'shiny' is not|line 1: expected 'substitute weight'",
        ),
        ("lst_all.gold", "\nbright.a 1 :: shiny -2;\n", "line 2: .* above 0, found 'shiny -2'"),
        ("lst.gold.candidates", "", "nothing in the file"),
    ],
)
def test_a_malformed_file_is_named(lst, file, text, complaint):
    (lst.parent / file).write_text(text)
    with pytest.raises(BenchmarkFileError, match=f"{file}.*({complaint})"):
        ranking_of_candidates(vectors(WORDS), lst)
