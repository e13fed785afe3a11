import builtins
import json
from dataclasses import dataclass

import pytest

from densvec.evaluation import Estimate
from densvec.evaluation.results import Result, format_table


@dataclass(frozen=True)
class Sample(Result):
    def rows(self):
        return [
            {"set": "MEN", "rho": Estimate(0.7, 0.65, 0.75), "pairs": 3000},
            {"set": "RW", "rho": Estimate(float("nan")), "pairs": None},
        ]


def test_a_result_prints_as_a_table():
    assert str(Sample()).split("\n") == [
        "set                   rho  pairs",
        "MEN  0.700 [0.650, 0.750]   3000",
        "RW                      –      –",
    ]


def test_a_result_prints_as_markdown():
    head, rule, *body = Sample().to_markdown().split("\n")
    assert head.startswith("| set |")
    assert set(rule) == set("|-: ")
    assert len(body) == 2


def test_json_has_null_for_what_could_not_be_computed():
    rows = json.loads(Sample().to_json())["rows"]
    assert rows[0]["rho"] == {"value": 0.7, "low": 0.65, "high": 0.75, "level": 0.95}
    assert rows[1] == {"set": "RW", "rho": {"value": None}, "pairs": None}


def test_a_dataframe_has_columns_for_the_interval():
    frame = Sample().to_dataframe()
    assert list(frame.columns) == ["set", "rho", "rho_low", "rho_high", "pairs"]
    assert frame["rho_high"][0] == 0.75


def test_a_dataframe_without_pandas_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match="pip install pandas"):
        Sample().to_dataframe()


def test_an_empty_table_is_empty():
    assert format_table([]) == ""
