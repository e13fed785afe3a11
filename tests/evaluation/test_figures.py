import json
import subprocess
import sys

import pytest

from densvec.evaluation import Estimate, Figure, Results
from densvec.evaluation.figures import format_table

RESULTS = Results(
    [
        Figure("word similarity", "MEN", "rho", "cosine", Estimate(0.7, 0.65, 0.75), 2900, 3000),
        Figure("word similarity", "MEN", "rho", "gensim: cosine", Estimate(0.6), 2900, 3000),
        Figure("word similarity", "RW", "rho", "cosine", Estimate(float("nan")), 0, 2000),
        Figure("nonce words", "nonce", "median rank", "average", Estimate(546.0, 400.0, 700.0), 480, 500),
    ]
)


def test_results_print_as_a_table_for_each_task():
    assert str(RESULTS).split("\n") == [
        "word similarity      known        cosine  gensim: cosine",
        "MEN rho          2900/3000  0.700 ±0.050           0.600",
        "RW rho              0/2000             –               –",
        "",
        "nonce words          known   average",
        "nonce median rank  480/500  546 ±150",
    ]


def test_results_print_as_markdown():
    head, rule, *body = RESULTS[:3].to_markdown().split("\n")
    assert head.startswith("| word similarity |")
    assert set(rule) == set("|-: ")
    assert len(body) == 2


def test_results_are_a_sequence_and_a_mapping():
    assert len(RESULTS) == 4
    assert RESULTS[1].method == "gensim: cosine"
    assert float(RESULTS["nonce", "median rank", "average"]) == 546
    assert len(RESULTS[:1] + RESULTS[1:]) == 4
    with pytest.raises(KeyError, match="there is no figure of"):
        RESULTS["MEN", "rho", "jeffreys"]


def test_json_has_null_for_what_could_not_be_computed():
    figures = json.loads(RESULTS.to_json())["figures"]
    assert figures[0] == {
        "task": "word similarity",
        "benchmark": "MEN",
        "measure": "rho",
        "method": "cosine",
        "value": 0.7,
        "low": 0.65,
        "high": 0.75,
        "known": 2900,
        "items": 3000,
    }
    assert figures[2]["value"] is None


def test_a_dataframe_has_a_row_for_each_figure():
    pytest.importorskip("pandas")
    frame = RESULTS.to_dataframe()
    assert list(frame["benchmark"]) == ["MEN", "MEN", "RW", "nonce"]
    assert frame["high"][0] == 0.75


def test_a_dataframe_without_pandas_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        RESULTS.to_dataframe()


def test_a_difference_leaves_out_what_the_other_has_not():
    differences = RESULTS.minus(RESULTS[:1])
    assert [figure.method for figure in differences] == ["cosine"]
    assert float(differences[0].value) == 0


def test_an_empty_table_is_empty():
    assert format_table([]) == ""


def test_evaluation_does_not_load_heavy_packages():
    code = (
        "import sys, densvec.evaluation\n"
        "heavy = ('torch', 'matplotlib', 'scipy.stats', 'pandas', 'gensim')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
