import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from densvec.encoder import Encoder
from densvec.evaluation import evaluate_all

WORDS = ["dog", "cat", "animal", "stone", "rock", "bright", "shiny", "clever", "lamp", "pupil"]


@pytest.fixture
def data_dir(tmp_path):
    files = {
        "word-sim/EN-MC-30.txt": "dog cat 3\ndog animal 2\ndog stone 1\n",
        "word-sim/EN-RG-65.txt": "stone rock 3\nbright shiny 2\nbright clever 1\nlamp unicorn 2\n",
        "lexsub/lst_all.preprocessed": "bright.a\t1\t1\ta bright lamp\nbright.a\t2\t0\tbright pupil\n",
        "lexsub/lst_all.gold": "bright.a 1 :: shiny 2;\nbright.a 2 :: clever 2;shiny 1;\n",
        "lexsub/lst.gold.candidates": "bright.a::shiny;clever\n",
        "entailment/bbds.tsv": "dog\tanimal\tTrue\ncat\tanimal\tTrue\nanimal\tdog\tFalse\nrock\tdog\tFalse\n",
        "entailment/bbds_direction.txt": "word1 word2 word1 => word2\ndog animal True\ncat animal True\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def densities(seed=0):
    rng = np.random.default_rng(seed)
    size = len(WORDS)
    shapes = [(size, 3), (3, 4), (3, 4), (4, 3), (3,), (4, 1), (1,)]
    return SimpleNamespace(
        key_to_index={word: row for row, word in enumerate(WORDS)},
        vectors=rng.normal(size=(size, 3)).astype(np.float32),
        log_variances=rng.normal(size=(size, 1)).astype(np.float32),
        encoder=Encoder(*(rng.normal(size=shape).astype(np.float32) for shape in shapes)),
        expandos={"count": rng.integers(5, 100, size=size)},
    )


def test_everything_that_a_density_model_can_do(data_dir):
    report = evaluate_all(densities(), data_dir, resamples=50)
    expected = {
        "SUM",
        *(
            f"GAP lst_all {ranker}"
            for ranker in ("encoder", "posterior", "add", "mult", "out_of_context", "prior", "random")
        ),
        *(f"{score} bbds {measure}" for score in ("F1", "AP") for measure in ("kl", "cosine", "hypernymy")),
        *(f"direction bbds {measure}" for measure in ("kl", "variance", "frequency", "adjusted")),
        "generality~frequency",
    }
    assert set(report.figures()) == expected
    assert report["SUM"] == pytest.approx(sum(float(each.spearman) for each in report.similarity.benchmarks))
    assert -2 <= report["SUM"] <= 2


def test_plain_vectors_get_what_they_can_do(data_dir):
    from gensim.models import KeyedVectors

    wv = KeyedVectors(3)
    wv.add_vectors(WORDS, densities().vectors)
    report = evaluate_all(wv, data_dir, context_vectors=np.ones((len(WORDS), 3)), resamples=0)
    assert report.generality is None
    assert report.direction["bbds"].accuracy == {}
    assert "GAP lst_all add_output" in report.figures()
    assert "GAP lst_all encoder" not in report.figures()
    assert report["SUM"] == pytest.approx(evaluate_all(densities(), data_dir, resamples=0)["SUM"])


def test_the_report_prints_and_turns_into_json_and_a_dataframe(data_dir):
    report = evaluate_all(densities(), data_dir, resamples=20)
    assert "MC-30" in str(report)
    assert "direction bbds frequency" in str(report)
    found = json.loads(report.to_json())
    assert found["figures"]["SUM"]["low"] <= found["figures"]["SUM"]["high"]
    assert {row["benchmark"] for row in found["similarity"]} == {"MC-30", "RG-65", "SUM"}
    assert found["substitution"][0]["ranker"] == "encoder"
    frame = report.to_dataframe()
    assert list(frame["figure"]) == list(report.figures())
    assert {"value", "value_low", "value_high"} <= set(frame.columns)


def test_a_report_compared_with_itself_has_no_difference(data_dir):
    report = evaluate_all(densities(), data_dir, resamples=20)
    for row in report.minus(report).rows():
        assert row["difference"].value == 0 or np.isnan(row["difference"].value)


def test_two_models_are_compared_figure_by_figure(data_dir):
    first, second = (evaluate_all(densities(seed), data_dir, resamples=20) for seed in (1, 2))
    comparison = first.minus(second)
    rows = {row["figure"]: row for row in comparison.rows()}
    assert rows["SUM"]["difference"].value == pytest.approx(first["SUM"] - second["SUM"])
    assert "difference" in str(comparison)


def test_parts_without_files_are_left_out(data_dir):
    (data_dir / "lexsub" / "lst_all.preprocessed").unlink()
    (data_dir / "entailment" / "bbds.tsv").unlink()
    report = evaluate_all(densities(), data_dir, resamples=0)
    assert (report.substitution, report.entailment) == ({}, {})
    assert report.direction


def test_a_directory_without_benchmarks_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="none of word-sim/, lexsub/, entailment/ and context/"):
        evaluate_all(densities(), tmp_path)
    with pytest.raises(FileNotFoundError, match="no such directory"):
        evaluate_all(densities(), tmp_path / "absent")


def test_evaluation_does_not_load_heavy_packages():
    code = (
        "import sys, densvec.evaluation\n"
        "heavy = ('torch', 'matplotlib', 'scipy.stats', 'pandas', 'gensim')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_words_in_context_are_part_of_the_suite(tmp_path):
    from conftest import example_densities

    place = tmp_path / "context"
    place.mkdir()
    line = "dog\tn\tcat\tn\tan animal , a <b> dog </b>\tan animal , a <b> cat </b>"
    (place / "scws_dev.txt").write_text(f"1\t{line}\t7.0\n2\t{line.replace('animal', 'car')}\t3.0\n")
    (place / "wic_dev.data.txt").write_text(
        "dog\tN\t0-0\tdog animal\tdog animal\ndog\tN\t0-0\tdog cat\tdog car\n"
    )
    (place / "wic_dev.gold.txt").write_text("T\nF\n")
    text = tmp_path / "text.txt"
    text.write_text("dog cat animal car\nanimal car dog cat\n" * 30)
    wv = example_densities()
    wv.window = 1
    wv.expandos["count"] *= 100  # enough to be drawn
    report = evaluate_all(wv, tmp_path, corpus=text, metrics=["cosine", "kl"], sample=0, resamples=20)
    figures = report.figures()
    assert {
        f"rho in context scws_dev {way}" for way in ("encoder cosine", "encoder kl", "average cosine")
    } <= set(figures)
    assert report["word in context wic encoder cosine"] == 1
    assert report["dispersion left by 1"] > 0
    assert -1 <= report["ARI of merged words encoder"] <= 1
    assert report["less entropy in context"] == float(report.entropy.narrowed)
    found = json.loads(report.to_json())
    assert {row["reading"] for row in found["contextual_similarity"]} == {
        "encoder",
        "average",
        "out_of_context",
    }
    assert [row["words"] for row in found["sense_induction"]][-1] == "MEAN"
    for row in report.minus(report).rows():
        assert row["difference"].value == 0 or np.isnan(row["difference"].value)


def test_text_alone_is_enough(tmp_path):
    from conftest import example_densities

    wv = example_densities()
    wv.window = 1
    report = evaluate_all(wv, corpus=[["dog", "cat", "animal"]] * 9, sample=0, resamples=0)
    assert (report.similarity, report.contextual_similarity) == (None, {})
    assert report.dispersion.windows == 9
    with pytest.raises(TypeError, match="give data_dir"):
        evaluate_all(wv)
    with pytest.raises(TypeError, match="read several times"):
        evaluate_all(wv, corpus=iter([["dog"]]))


def test_every_set_of_lexical_substitution_is_run_with_its_own_candidates(data_dir):
    lexsub = data_dir / "lexsub"
    (lexsub / "coinco_dev.preprocessed").write_text("bright.J\t1\t1\ta bright lamp\n")
    (lexsub / "coinco_dev.gold").write_text("bright.J 1 :: clever 2;\n")
    (lexsub / "coinco.gold.candidates").write_text("bright.J::clever;shiny;dog\n")
    for name in ("lst_test.preprocessed", "lst_test.gold"):  # part of lst_all: not run again
        (lexsub / name).write_bytes((lexsub / name.replace("test", "all")).read_bytes())
    (lexsub / "alone.preprocessed").write_text("without gold")
    report = evaluate_all(densities(), data_dir, resamples=0)
    assert list(report.substitution) == ["coinco_dev", "lst_all"]
    assert list(evaluate_all(densities(), data_dir, resamples=0, substitution=["lst_test"]).substitution) == [
        "lst_test"
    ]
