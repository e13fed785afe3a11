import json

import pytest

from densvec.text.tables import read_texts
from densvec.text.text_reading import TextReading

ROWS = [
    {"by": "ann", "text": "Freedom!\nFree the press. No more of it.", "year": 1990},
    {"by": "bob", "text": "He said: nothing, of liberty.", "year": 1991},
    {"by": "", "text": "", "year": 1992},
    {"by": "dan", "text": 'Freedoms, "as they say"; freedom.', "year": 1993},
]


def as_csv(folder):
    import csv

    path = folder / "table.csv"
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(ROWS[0]))
        writer.writeheader()
        writer.writerows(ROWS)
    return path


def as_lines(folder):
    path = folder / "table.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    return str(path)


def as_columns(folder):
    return {name: [row[name] for row in ROWS] for name in ROWS[0]}


def as_frame(folder):
    return pytest.importorskip("pandas").DataFrame(ROWS)


def as_arrow(folder):
    return pytest.importorskip("pyarrow").Table.from_pylist(ROWS)


def read(table, *targets, text="text", others=("by",)):
    return read_texts(table, text, lambda names: list(others), targets, TextReading("simple", lower=True))


@pytest.mark.parametrize("make", [as_csv, as_lines, as_columns, as_frame, as_arrow])
def test_every_kind_of_table_has_the_same_occurrences(tmp_path, make):
    texts = read(make(tmp_path), "freedom*|liberty", "press", "owl")
    found = [texts.occurrence(place).text for place in texts.places(0)]
    assert found == [
        "[[freedom]]",
        "he said nothing of [[liberty]]",
        "[[freedoms]] as they say freedom",
        "freedoms as they say [[freedom]]",
    ]
    assert texts.rows[texts.sentences(texts.places(0))].tolist() == [0, 1, 3, 3]
    assert [texts.occurrence(place).text for place in texts.places(1)] == ["free the [[press]]"]
    assert len(texts.places(2)) == 0
    assert texts.columns == {"by": ["ann", "bob", "", "dan"]}


def test_many_words_and_few_are_found_alike(tmp_path):
    words = ["freedom", "freedoms", "press", "said"]
    few, many = read(as_csv(tmp_path), *words), read(as_csv(tmp_path), *words, *map(str, range(200)))
    assert [few.places(i).tolist() for i in range(4)] == [many.places(i).tolist() for i in range(4)]


def test_unknown_columns_are_named(tmp_path):
    for table in (as_csv(tmp_path), as_columns(tmp_path)):
        with pytest.raises(ValueError, match="no column 'speech': there are by, text, year"):
            read(table, "freedom", text="speech")
