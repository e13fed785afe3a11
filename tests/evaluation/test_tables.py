import json
from types import SimpleNamespace

import numpy as np
import pytest

from densvec.encoder import Encoder
from densvec.evaluation import Lexicon, evaluate_all, paper, tables

WORDS = ["dog", "cat", "pet", "animal", "bright", "shiny", "clever", "lamp", "pupil"]


@pytest.fixture
def data_dir(tmp_path):
    files = {
        "word-sim/EN-MC-30.txt": "dog cat 3\ndog animal 2\ndog lamp 1\n",
        "word-sim/EN-OWN-3.txt": "cat pet 3\nbright shiny 2\nbright cat 1\n",
        "lexsub/lst_all.preprocessed": "bright.a\t1\t1\ta bright lamp\nbright.a\t2\t0\tbright pupil\n",
        "lexsub/lst_all.gold": "bright.a 1 :: shiny 2;\nbright.a 2 :: clever 2;shiny 1;\n",
        "lexsub/lst.gold.candidates": "bright.a::shiny;clever\n",
        "entailment/bbds.tsv": "dog\tanimal\tTrue\ncat\tanimal\tTrue\nanimal\tdog\tFalse\n",
        "entailment/bbds_direction.txt": "dog animal True\ncat animal True\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def vectors(seed):
    rng = np.random.default_rng(seed)
    return SimpleNamespace(
        key_to_index={word: row for row, word in enumerate(WORDS)},
        vectors=rng.normal(size=(len(WORDS), 3)),
        expandos={"count": np.arange(10, 10 + len(WORDS))},
    )


def densities(seed):
    wv, rng = vectors(seed), np.random.default_rng(seed + 100)
    wv.log_variances = rng.normal(size=(len(WORDS), 1))
    shapes = [(len(WORDS), 3), (3, 4), (3, 4), (4, 3), (3,), (4, 1), (1,)]
    wv.encoder = Encoder(*(rng.normal(size=shape) for shape in shapes))
    return wv


@pytest.fixture
def reports(data_dir):
    return {
        "BSG": [evaluate_all(densities(seed), data_dir, resamples=20) for seed in (1, 2)],
        "SG (gensim)": [evaluate_all(vectors(seed), data_dir, resamples=20) for seed in (1, 2)],
    }


def row_of(table, name):
    return next(row for row in table.rows() if row[""] == name)


def test_the_paper_agrees_with_itself():
    bsg = paper.FIGURES["BSG"]
    singles = [value for name, value in bsg.items() if name.startswith("rho ")]
    assert len(singles) == 12
    assert sum(singles) == pytest.approx(bsg["SUM"], abs=0.005)
    big5 = sum(
        bsg[f"rho {name}"] for name in ("MEN-TR-3k", "MTurk-771", "RW-STANFORD", "SIMLEX-999", "WS-353-ALL")
    )
    assert big5 == pytest.approx(bsg["BIG5"])


def test_our_figures_stand_beside_the_papers(reports):
    table = tables.similarity_table(reports)
    row = row_of(table, "MC-30")
    expected = [float(report.similarity["MC-30"].spearman) for report in reports["BSG"]]
    assert row["BSG"].values == pytest.approx(expected)
    assert row["BSG"].mean == pytest.approx(np.mean(expected))
    assert row["BSG, paper"] == 0.71
    assert "SG (gensim), paper" not in row
    assert [each[""] for each in table.rows()] == ["MC-30", "OWN-3", "sum of all"]


def test_rows_that_nobody_measured_and_columns_of_nothing_are_left_out(reports):
    table = tables.direction_table(reports)
    assert [row[""] for row in table.rows()] == ["BBDS, by KL", "BBDS, by variance", "BBDS, by frequency"]
    only_gensim = tables.direction_table({"SG": reports["SG (gensim)"]})
    assert [list(row) for row in only_gensim.rows()] == [["", "SG", "SG, paper"]]


def test_substitution_names_rankers_and_context(reports):
    names = [row[""] for row in tables.substitution_table(reports).rows()]
    assert names[0] == "encoder"
    assert "add, context from input vectors" in names
    assert "add, context from output vectors" not in names


def test_entailment_has_f1_and_average_precision(reports):
    row = row_of(tables.entailment_table(reports), "BBDS, best F1 by KL")
    assert (row["BSG, paper"], row["SG (gensim)"]) == (0.762, None)


def test_pairs_are_measured_from_the_first_word():
    lexicon = Lexicon(densities(1))
    rows = {
        row["pair"]: row for row in tables.pairs_table({"BSG": lexicon, "SG": Lexicon(vectors(1))}).rows()
    }
    a, b = lexicon.indices(["dog"]), lexicon.indices(["animal"])
    assert rows["dog–animal"]["BSG KL"] == pytest.approx(lexicon.kl(a, b)[0])
    assert rows["dog–animal"]["BSG KL, paper"] == 27.69
    assert rows["dog–hound"]["BSG KL"] is None  # unknown word
    assert "SG KL" not in rows["dog–cat"]


class ContextIsTheMeaning:
    """Posterior: the mean of the context words, and narrow."""

    def __init__(self, means):
        self.means = means

    def posteriors(self, centres, contexts, offsets, priors):
        return self.means[contexts].mean(axis=0, keepdims=True), np.full((1, 1), -2.0)


def test_posteriors_follow_the_context_and_the_word_itself_is_no_neighbour():
    wv = vectors(0)
    wv.log_variances = np.zeros((len(WORDS), 1))
    wv.vectors = np.array(
        [[0, 5], [1, 5], [0, 6], [1, 6], [5, 5], [10, 0], [0, 10], [10, 1], [1, 10]], dtype=float
    )
    wv.encoder = ContextIsTheMeaning(wv.vectors)
    examples = [("bright", "a bright lamp"), ("bright", "bright pupil"), ("unheard", "an unheard word")]
    rows = tables.posteriors_table(Lexicon(wv), examples, topn=2).rows()
    assert [row["nearest to the posterior"] for row in rows] == ["lamp, shiny", "pupil, clever"]
    assert all("bright" not in row["nearest to the prior"].split(", ") for row in rows)
    assert "**bright**" in rows[0]["word in context"]


def test_a_model_without_encoder_has_no_posteriors():
    assert tables.posteriors_table(Lexicon(vectors(0))).rows() == []


def test_the_examples_hold_their_words():
    assert all(word in sentence.split() for word, sentence in tables.EXAMPLES)


def test_differences_take_the_rivals_best(reports):
    rows = tables.differences_table(reports, "BSG").rows()
    gap = next(row for row in rows if row["figure"] == "GAP")
    best = max(
        np.mean([float(report.substitution["lst_all"].gap[ranker]) for report in reports["SG (gensim)"]])
        for ranker in ("add", "mult", "out_of_context")
    )
    assert gap["rival"] == pytest.approx(best)
    assert gap["difference"].value == pytest.approx(gap["BSG"] - best)
    assert gap["difference"].low <= gap["difference"].value <= gap["difference"].high
    told = next(row for row in rows if row["figure"] == "direction BBDS")
    assert told["against"] == "SG (gensim) (frequency)"


def test_models_that_know_different_words_are_compared_without_interval(data_dir):
    fewer = vectors(1)
    del fewer.key_to_index["lamp"]
    reports = {
        "BSG": [evaluate_all(vectors(1), data_dir, resamples=20)],
        "SG": [evaluate_all(fewer, data_dir, resamples=20)],
    }
    row = next(row for row in tables.differences_table(reports, "BSG").rows() if row["figure"] == "SUM")
    assert row["difference"].low is None


def test_every_table_prints_and_turns_into_json(reports):
    made = [
        tables.similarity_table(reports),
        tables.substitution_table(reports),
        tables.entailment_table(reports),
        tables.direction_table(reports),
        tables.generality_table(reports),
        tables.pairs_table({"BSG": Lexicon(densities(1))}),
        tables.differences_table(reports, "BSG"),
    ]
    for table in made:
        assert table.to_markdown().startswith(f"## {table.title}")
        assert json.loads(table.to_json())["rows"]
        assert table.title in str(table)


def test_seeds_show_their_spread():
    assert str(tables.Seeds((0.5, 0.7))) == "0.600 ± 0.141"
    assert tables.Seeds((0.5,)).deviation is None
    assert str(tables.Seeds((float("nan"),))) == "–"
