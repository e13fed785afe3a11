"""The script that makes the paper's tables, on a small generated corpus."""

import gzip
import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from densvec.evaluation.substitutes import Instance
from densvec.keyed import KeyedDensities
from densvec.text.concordance import Occurrence

SCRIPT = Path(__file__).parents[2] / "examples" / "paper_tables.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("paper_tables_script", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def place(tmp_path):
    """A corpus of two topics and benchmarks about it."""
    rng = np.random.default_rng(0)
    topics = [["dog", "cat", "pet", "animal", "hound"], ["bright", "lamp", "shiny", "light", "pupil"]]
    lines = [" ".join(rng.choice(topics[i % 2], size=8)) for i in range(400)]
    (tmp_path / "corpus.txt").write_text("\n".join(lines) + "\n")
    files = {
        "word-sim/EN-MC-30.txt": "dog cat 3\ndog animal 2.5\ndog lamp 1\nbright cat 0.5\n",
        "lexsub/lst_all.preprocessed": "bright.a\t1\t1\tshiny bright lamp\nbright.a\t2\t0\tbright pupil\n",
        "lexsub/lst_all.gold": "bright.a 1 :: shiny 2;\nbright.a 2 :: light 2;shiny 1;\n",
        "lexsub/lst.gold.candidates": "bright.a::shiny;light;dog\n",
        "entailment/bbds.tsv": "dog\tanimal\tTrue\ncat\tanimal\tTrue\nanimal\tdog\tFalse\nlamp\tdog\tFalse\n",
        "entailment/bbds_direction.txt": "dog animal True\ncat animal True\n",
    }
    for name, text in files.items():
        path = tmp_path / "eval" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    return tmp_path


def call(script, place, models, *more, corpus="corpus.txt"):
    out = place / "out"
    script.main(
        [
            "--corpus",
            str(place / corpus),
            "--data",
            str(place / "eval"),
            "--out",
            str(out),
            "--models",
            models,
            "--epochs",
            "1",
            "--vector-size",
            "8",
            "--workers",
            "1",
            "--resamples",
            "20",
            *more,
        ]
    )
    return out


def test_every_model_by_default(script, place):
    out = call(script, place, ",".join(script.KINDS))
    for name in script.KINDS:
        assert len(list((out / "models").glob(f"{name}-seed1-*.json"))) == 1


def test_gensim_alone(script, place, capsys):
    out = call(script, place, "gensim", "--seeds", "2")
    assert "SG (gensim), seed 2: training" in capsys.readouterr().out
    markdown = (out / "tables.md").read_text()
    assert "## Table 1. Word similarity" in markdown
    assert "corpus.txt" in markdown
    found = json.loads((out / "tables.json").read_text())
    assert len(found["results"]["SG (gensim)"]) == 2
    assert found["settings"]["epochs"] == 1
    assert "add, context from output vectors" in markdown


def test_trained_models_are_used_again_until_the_settings_change(script, place, capsys):
    call(script, place, "gensim")
    first = json.loads((place / "out" / "tables.json").read_text())["tables"]
    capsys.readouterr()
    call(script, place, "gensim")
    assert "training\n" not in capsys.readouterr().out
    assert json.loads((place / "out" / "tables.json").read_text())["tables"] == first
    call(script, place, "gensim", "--windows", "full")
    assert "training\n" in capsys.readouterr().out
    call(script, place, "gensim", "--retrain")
    assert "training\n" in capsys.readouterr().out


def test_another_corpus_is_trained_anew(script, place, capsys):
    call(script, place, "gensim")
    with open(place / "corpus.txt", "a") as file:
        file.write("dog cat dog cat dog\n")
    capsys.readouterr()
    call(script, place, "gensim")
    assert "training\n" in capsys.readouterr().out


def test_a_compressed_corpus_is_unpacked(script, place):
    (place / "packed.txt.gz").write_bytes(gzip.compress((place / "corpus.txt").read_bytes()))
    out = call(script, place, "gensim", corpus="packed.txt.gz")
    assert (out / "models" / "packed.txt").read_bytes() == (place / "corpus.txt").read_bytes()


@pytest.mark.parametrize(("models", "complaint"), [("bsg,gpt", "gpt"), ("", "none")])
def test_unknown_models_are_refused(script, place, models, complaint, capsys):
    with pytest.raises(SystemExit):
        call(script, place, models)
    assert complaint in capsys.readouterr().err


def test_densities_get_all_tables_and_figures(script, place):
    out = call(script, place, "bsg,w2g-s,w2g-d,sg,gensim")
    markdown = (out / "tables.md").read_text()
    for number in range(1, 6):
        assert f"## Table {number}." in markdown
    assert "## BSG against the others" in markdown
    found = json.loads((out / "tables.json").read_text())
    assert list(found["results"]) == ["BSG", "W2G(S)", "W2G(D)", "SG", "SG (gensim)"]
    for label, expected in {
        "BSG": ("lst_all", "GAP", "posterior"),
        "W2G(D)": ("bbds", "F1", "wv.entailment"),
        "SG": ("lst_all", "GAP", "add, output vectors"),
    }.items():
        keys = [
            (each["benchmark"], each["measure"], each["method"])
            for each in found["results"][label][0]["figures"]
        ]
        assert expected in keys
    for figure in ("figure5.png", "figure6.png"):
        assert (out / figure).read_bytes().startswith(b"\x89PNG")
        assert figure in markdown


def test_bsg_beside_gensim(script, place):
    out = call(script, place, "bsg,gensim")
    markdown = (out / "tables.md").read_text()
    assert "## BSG against the others" in markdown
    assert (out / "figure6.png").read_bytes().startswith(b"\x89PNG")


def test_the_paper_agrees_with_itself(script):
    lines = script.TABLES["Table 1. Word similarity (Spearman's ρ)"]
    published = {key[0]: figures["BSG"] for _, key, figures in lines}
    singles = [value for name, value in published.items() if name not in ("SUM", "BIG5")]
    assert len(singles) == 12
    assert sum(singles) == pytest.approx(published["SUM"], abs=0.005)
    five = ("MEN-TR-3k", "MTurk-771", "RW-STANFORD", "SIMLEX-999", "WS-353-ALL")
    assert sum(published[name] for name in five) == pytest.approx(published["BIG5"])


def test_our_figures_stand_beside_the_papers(script):
    seeds = [{("MC-30", "rho", "cosine"): 0.70}, {("MC-30", "rho", "cosine"): 0.72}]
    lines = script.TABLES["Table 1. Word similarity (Spearman's ρ)"]
    (row,) = script.beside_the_paper(lines, {"BSG": seeds, "SG (gensim)": seeds[:1]})
    assert row == {"": "MC-30", "BSG": "0.710 ± 0.014", "BSG, paper": 0.71, "SG (gensim)": "0.700"}


def test_addition_and_multiplication_read_the_context(script):
    """Target "bright" between light words (first axis) and mind words (second axis)."""
    words = {"bright": (1, 1), "lamp": (1, 0), "pupil": (0, 1), "shiny": (1, 0.2), "clever": (0.2, 1)}
    vectors = np.array(list(words.values()), dtype=np.float32)
    instances = [
        Instance("bright", Occurrence(["bright", other], 0), {}, ["shiny", "unheard", "clever"])
        for other in ("lamp", "pupil")
    ]
    instances.append(Instance("dim", Occurrence(["dim", "lamp"], 0), {}, ["shiny"]))
    wv = KeyedDensities.from_arrays(list(words), vectors, context_vectors=vectors[:, ::-1].copy())
    rankers = script.rankers(wv)
    for name in ("add", "mult"):
        assert rankers[name](instances) == [["shiny", "clever"], ["clever", "shiny"], []]
        # Output vectors that swap the two senses: every context now speaks for the other one.
        assert rankers[f"{name}, output vectors"](instances) == [["clever", "shiny"], ["shiny", "clever"], []]
