from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec.evaluation import BenchmarkFileError, Bootstrap, gap, lexical_substitution
from densvec.evaluation.substitution import read_candidates, read_gold, read_instances

NONE = Bootstrap(0)

golds = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 5), min_size=1)


def gap_by_definition(ranking, gold):
    x = [gold.get(word, 0) for word in ranking]
    y = sorted(gold.values(), reverse=True)
    numerator = sum(np.mean(x[: i + 1]) for i in range(len(x)) if x[i] > 0)
    return numerator / sum(np.mean(y[: i + 1]) for i in range(len(y)))


@given(golds, st.permutations("abcdefghijk"))
def test_gap_is_its_definition(gold, ranking):
    assert gap(ranking, gold) == pytest.approx(gap_by_definition(ranking, gold))


@given(golds, st.lists(st.sampled_from("ijk"), unique=True))
def test_a_perfect_ranking_has_gap_1(gold, others):
    ranking = [*sorted(gold, key=gold.__getitem__, reverse=True), *others]
    assert gap(ranking, gold) == pytest.approx(1)


@given(golds, st.permutations("abcdefghijk"))
def test_no_ranking_beats_the_perfect_one(gold, ranking):
    assert 0 < gap(ranking, gold) <= 1 + 1e-12


@given(golds, st.permutations("abcdefgh"))
def test_candidates_without_weight_do_no_harm_at_the_end(gold, ranking):
    assert gap([*ranking, "i", "j"], gold) == pytest.approx(gap(ranking, gold))


@given(golds, st.permutations("abcdefghijk"), st.integers(0, 9))
def test_moving_a_substitute_up_past_a_worse_one_never_hurts(gold, ranking, place):
    swapped = list(ranking)
    swapped[place : place + 2] = swapped[place : place + 2][::-1]
    before, after = (gold.get(ranking[i], 0) for i in (place, place + 1))
    if after > before:
        assert gap(swapped, gold) >= gap(ranking, gold) - 1e-12


def test_gold_that_no_ranking_can_reach_stays_in_the_denominator():
    assert gap(["clever"], {"clever": 2, "unknown": 1}) == pytest.approx(2 / 3.5)


def test_gap_without_gold_is_refused():
    with pytest.raises(ValueError, match="gold weights above 0"):
        gap(["a"], {})


# A target "bright" between light words (first axis) and mind words (second axis).
WORDS = {
    "bright": (1.0, 1.0),
    "lamp": (1.0, 0.0),
    "pupil": (0.0, 1.0),
    "shiny": (1.0, 0.2),
    "clever": (0.2, 1.0),
    "dull": (-1.0, -1.0),
    "bse": (0.3, -1.0),
}
SENTENCES = (
    "bright.a\t1\t2\ta very brighter lamp .\n"  # surface form unknown: the lemma stands in
    "bright.a\t2\t0\tbright pupil\n"
    "bright.a.n\t3\t0\tbright\n"
    "bright.a\t4\t0\tbright lamp\n"  # no gold at all
    "bright.a\t5\t0\tbright lamp\n"  # only gold of several words
    "zorch.n\t6\t0\tzorch lamp\n"  # unknown target
)
GOLD = (
    "bright.a 1 :: shiny 3;well-lit 2;very light 1;\n"
    "bright.a 2 :: clever 2;SHINY 1;\n"
    "bright.a.n 3 :: clever 1;unheard 1;\n"
    "bright.a 5 :: full of light 1;\n"
    "zorch.n 6 :: lamp 1;\n"
)
CANDIDATES = "bright.a::well-lit;clever;shiny;clever ;dull;BSE;unheard\nzorch.n::lamp;pupil\n"


class EncoderTowardsContext:
    """Posterior mean: halfway between the centre's and the mean of the context's."""

    def __init__(self, means):
        self.means = means

    def posteriors(self, centres, contexts, offsets, priors):
        sums = np.add.reduceat(self.means[contexts], offsets[:-1], axis=0)
        context = sums / np.diff(offsets)[:, None]
        return (self.means[centres] + context) / 2, np.zeros((len(centres), 1))


def make(**more):
    vectors = np.array(list(WORDS.values()))
    return SimpleNamespace(
        key_to_index={word: row for row, word in enumerate(WORDS)}, vectors=vectors, **more
    )


def with_densities():
    wv = make()
    wv.log_variances = np.zeros((len(WORDS), 1))
    wv.encoder = EncoderTowardsContext(wv.vectors)
    return wv


@pytest.fixture
def lst(tmp_path):
    (tmp_path / "lst_all.preprocessed").write_text(SENTENCES)
    (tmp_path / "lst_all.gold").write_text(GOLD)
    (tmp_path / "lst.gold.candidates").write_text(CANDIDATES)
    return tmp_path / "lst_all.preprocessed"


@pytest.mark.parametrize("ranker", ["encoder", "add", "mult"])
def test_rankers_by_hand(lst, ranker):
    result = lexical_substitution(with_densities(), lst, rankers=[ranker], bootstrap=NONE)
    # 1: light context, shiny first, the only gold of one word: 1. 2: mind context, clever before shiny: 1.
    # 3: no context, clever and shiny tie, clever is the first candidate; "unheard" is unknown: 1 / 2.
    # 6 cannot be ranked: 0.
    assert float(result.gap[ranker]) == pytest.approx((1 + 1 + 1 / 2 + 0) / 4)
    assert (result.instances, result.ranked, result.skipped) == (4, 3, 2)
    assert result.coverage == 0.75


def test_out_of_context_every_sentence_has_the_same_ranking(lst):
    result = lexical_substitution(make(), lst, rankers=["out_of_context"], bootstrap=NONE)
    # clever, shiny, then the rest, whatever the sentence.
    expected = [gap(["clever", "shiny"], gold) for gold in ({"shiny": 3}, {"clever": 2, "shiny": 1})]
    assert float(result.gap["out_of_context"]) == pytest.approx((sum(expected) + 1 / 2) / 4)


def test_context_words_come_from_the_output_vectors_where_asked(lst):
    # Output vectors that swap the two senses: every context now speaks for the other one.
    swapped = np.array(list(WORDS.values()))[:, ::-1]
    result = lexical_substitution(make(), lst, context_vectors=swapped, bootstrap=NONE)
    worse = [
        gap(["clever", "shiny"], {"shiny": 3}),
        gap(["shiny", "clever"], {"clever": 2, "shiny": 1}),
        1 / 2,
    ]
    for name in ("add_output", "mult_output"):
        assert float(result.gap[name]) == pytest.approx(sum(worse) / 4)
    assert float(result.gap["add"]) == pytest.approx(2.5 / 4)


def test_what_a_model_can_rank_with(lst):
    plain = ["add", "mult", "out_of_context", "random"]
    assert list(lexical_substitution(make(), lst).gap) == plain
    assert list(lexical_substitution(make(context_vectors=np.ones((7, 2))), lst).gap) == [
        *plain[:2],
        "add_output",
        "mult_output",
        *plain[2:],
    ]
    assert list(lexical_substitution(with_densities(), lst).gap) == [
        "encoder",
        "posterior",
        *plain[:3],
        "prior",
        "random",
    ]


def test_a_ranker_that_is_not_possible_is_refused(lst):
    with pytest.raises(ValueError, match="cannot use the ranker 'encoder'; it can do add"):
        lexical_substitution(make(), lst, rankers=["encoder"])
    with pytest.raises(ValueError, match=r"'guess'.*there are encoder"):
        lexical_substitution(make(), lst, rankers=["guess"])


def test_the_window_bounds_the_context(tmp_path, lst):
    lst.write_text("bright.a\t2\t0\tbright . . . . . pupil\n")
    out_of_reach = lexical_substitution(make(), lst, rankers=["add", "out_of_context"], bootstrap=NONE)
    assert out_of_reach.gap["add"] == out_of_reach.gap["out_of_context"]
    lst.write_text("bright.a\t1\t6\tlamp . . . . . bright\n")
    near = lexical_substitution(make(), lst, rankers=["add"], window=6, bootstrap=NONE)
    far = lexical_substitution(make(), lst, rankers=["add"], window=5, bootstrap=NONE)
    assert float(near.gap["add"]) > float(far.gap["add"])
    with pytest.raises(ValueError, match="window=-1"):
        lexical_substitution(make(), lst, window=-1)


def test_the_order_of_the_instances_does_not_matter(lst):
    before = lexical_substitution(with_densities(), lst, bootstrap=NONE)
    lst.write_text("".join(sorted(SENTENCES.splitlines(keepends=True), reverse=True)))
    after = lexical_substitution(with_densities(), lst, bootstrap=NONE)
    for name in ("encoder", "add", "mult", "out_of_context", "prior"):
        assert float(after.gap[name]) == pytest.approx(float(before.gap[name]))


def test_nothing_known_at_all_is_zero(lst):
    wv = SimpleNamespace(key_to_index={"q": 0}, vectors=np.ones((1, 2)))
    result = lexical_substitution(wv, lst)
    assert result.ranked == 0
    assert all(float(each) == 0 for each in result.gap.values())


def test_readers_understand_semevals_quirks(tmp_path):
    (tmp_path / "gold").write_bytes(b"come.v 8 :: arrive 4;take place 1;Arrive  1;\nbar.n 9 ::\n")
    assert read_gold(tmp_path / "gold") == {
        ("come.v", "8"): {"arrive": 5.0, "take place": 1.0},
        ("bar.n", "9"): {},
    }
    (tmp_path / "candidates").write_text("letter.n::note;note ;The Eucharist;;\n")
    assert read_candidates(tmp_path / "candidates") == {"letter.n": ["note", "the eucharist"]}
    (tmp_path / "text").write_bytes(b"film.n\t1\t2\this \x85 film st\xf8rste\n")
    (instance,) = read_instances(tmp_path / "text", {})
    assert (instance.tokens[instance.position], instance.lemma, len(instance.tokens)) == ("film", "film", 4)


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("lst_all.preprocessed", "bright.a\t1\t0\n", "line 1: expected 4 fields"),
        ("lst_all.preprocessed", "bright.a\t1\tone\tbright\n", "line 1: the index of the target 'one'"),
        (
            "lst_all.preprocessed",
            "bright.a\t1\t7\tbright lamp\n",
            "line 1: the index of the target 7 is outside",
        ),
        ("lst_all.preprocessed", "\n", "no instances"),
        ("lst_all.gold", "bright.a 1 : shiny 3;\n", "line 1: expected 'lemma.pos id :: substitute weight"),
        ("lst_all.gold", "bright.a 1 :: shiny;\n", "line 1: expected 'substitute weight'"),
        ("lst_all.gold", "\nbright.a 1 :: shiny -2;\n", "line 2: .* above 0, found 'shiny -2'"),
        ("lst.gold.candidates", "bright.a shiny\n", "line 1: expected 'lemma.pos::substitute"),
        ("lst.gold.candidates", "zorch.n::lamp\n", "no candidates for 'bright.a', which instance 1 needs"),
        ("lst.gold.candidates", "", "no candidates in the file"),
    ],
)
def test_a_malformed_file_is_named(lst, file, text, complaint):
    (lst.parent / file).write_text(text)
    with pytest.raises(BenchmarkFileError, match=f"{file}.*{complaint}"):
        lexical_substitution(make(), lst)


def test_a_lemma_may_be_two_words(tmp_path):
    path = tmp_path / "coinco_dev.gold"
    path.write_text("fourth quarter.J 233 :: last term 1;final 1;\n")
    assert read_gold(path) == {("fourth quarter.J", "233"): {"last term": 1.0, "final": 1.0}}
