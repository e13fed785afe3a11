"""``densvec regress``."""

import csv
import random

import pytest

from densvec.cli import main
from densvec.datasets import toy_language
from tests.cli.cases import answer


@pytest.fixture(scope="module")
def speeches(tmp_path_factory):
    """A table in which owls are apples when the right speaks of them."""
    path, dice = tmp_path_factory.mktemp("table") / "speeches.csv", random.Random(1)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["speech", "party", "year"])
        for sentence in toy_language(3000):
            party = dice.choice(["left", "right"])
            if party == "right":
                sentence = [{"apple": "owl", "owl": "apple"}.get(token, token) for token in sentence]
            writer.writerow([" ".join(sentence), party, dice.randrange(1990, 2000)])
    return path


def regress(speeches, model, *more):
    return ["regress", model, speeches, "owl", "plum", "unicorn", "--text", "speech", *more]


def test_coefficients_words_and_lines_are_printed(model, speeches, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "norms.png"
    asked = regress(speeches, model, "--on", "party + year", "--examples", 1, "--plot", picture)
    first, *others = answer(capsys, *asked)
    assert (first["word"], first["name"]) == ("owl", "party[T.right]")
    assert first["q_value"] < 0.01 < others[-2]["p_value"]
    assert len(first["more"]) == len(first["less"]) == 8
    assert all("owl" in side[0]["tokens"] for side in first["examples"])
    assert others[-1]["word"] == "unicorn"
    assert "does not occur" in others[-1]["error"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main([str(each) for each in regress(speeches, model, "--on", "party")]) == 0
    printed = capsys.readouterr().out
    assert "owl   party[T.right]" in printed
    assert "unicorn\n  unknown: 'unicorn' does not occur" in printed


def test_paths_and_tables_are_written(model, speeches, tmp_path, capsys):
    place = tmp_path / "path.csv"
    assert (
        main(
            [
                str(each)
                for each in regress(
                    speeches, model, "--on", "year", "--path", "year", "--bins", 3, "-o", place
                )
            ]
        )
        == 0
    )
    rows = list(csv.DictReader(place.open()))
    assert [row["word"] for row in rows] == sorted(row["word"] for row in rows)
    assert {row["word"] for row in rows} == {"owl", "plum"}
    assert all(float(row["low"]) <= float(row["position"]) <= float(row["high"]) for row in rows)
    place = tmp_path / "norms.tex"
    assert main([str(each) for each in regress(speeches, model, "--on", "party", "-o", place)]) == 0
    assert place.read_text().startswith("\\begin{tabular}{llllllllll}\n\\toprule\nword & name")


def test_a_wrong_column_is_named(model, speeches, capsys):
    assert main([str(each) for each in regress(speeches, model, "--on", "gender")]) == 1
    assert "has no column of the table, which has speech, party, year" in capsys.readouterr().err
