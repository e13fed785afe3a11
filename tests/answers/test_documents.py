"""Documents: their fields are their JSON, and their rows make a table."""

import csv
import io
import json
from dataclasses import dataclass

import numpy as np
import pytest

from densvec.answers import words as answers
from densvec.answers.documents import Document, Scored, Table, encoded
from densvec.answers.messages import UsageError


@dataclass
class Answer(Document):
    nearest: list[Scored]
    kl: float | None
    note: str | None = None


def test_fields_are_json_and_optional_ones_may_be_missing():
    document = Answer([Scored("owl", float("nan"))], None)
    assert json.loads(encoded(document)) == {"nearest": [{"word": "owl", "score": None}], "kl": None}
    assert json.loads(encoded(Answer([], 1.0, "x"))) == {"nearest": [], "kl": 1.0, "note": "x"}


def test_numbers_that_json_has_no_word_for_are_null():
    document = {"kl": float("inf"), "counts": np.arange(2), "mean": [0.5, float("nan")], 3: np.float32(0.5)}
    assert json.loads(encoded(document)) == {"kl": None, "counts": [0, 1], "mean": [0.5, None], "3": 0.5}


def test_tables_survive_their_files():
    table = Table(("word", "text"), [("café", 'a "b", c|d'), (None, ["x", "y"])])
    for kind, delimiter in ((".csv", ","), (".tsv", "\t")):
        rows = list(csv.reader(io.StringIO(table.formatted(kind)), delimiter=delimiter))
        assert rows == [["word", "text"], ["café", 'a "b", c|d'], ["", "x y"]]
    assert table.formatted(".md").splitlines()[2:] == ['| café | a "b", c\\|d |', "|  | x y |"]


def test_the_question_stands_beside_each_row():
    table = Table(("similar", "score"), [("owl", 0.5), ("kiwi", 0.25)])
    found = table.beside({"words": ["wise", "bird"], "score": "not twice"})
    assert found.names == ["words", "similar", "score"]
    assert [row[0] for row in found.rows] == ["wise bird", "wise bird"]


@pytest.mark.parametrize("text", ["no mark", "[[two]] [[marks]]", "an empty [[ ]]"])
def test_one_word_must_be_marked(text):
    with pytest.raises(UsageError, match="double brackets"):
        answers.parse_marked(text)


@pytest.mark.parametrize("text", ["no mark", "[[]]", "[[ ]]", "[[a]] [[b]]", "[[a", "[[" * 300_000])
def test_exactly_one_word_is_marked_and_that_is_seen_in_one_pass(text):
    with pytest.raises(ValueError, match=r"(no word is|an empty word is|several words are) marked"):
        answers.parse_marked(text)


def test_a_marked_word_may_have_parts():
    assert answers.parse_marked("in [[new york]] ]] city") == (
        "new_york",
        ["in", "new_york", "]]", "city"],
        1,
    )
