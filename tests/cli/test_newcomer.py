"""A newcomer with two folders of books, untidy as folders are: from training to the table."""

import csv
import io
import json
import zipfile

import pytest

from densvec import KeyedDensities
from densvec.cli import main
from densvec.datasets import toy_books
from tests.cli.cases import answer

TRAINING = ["--epochs", "20", "--vector-size", "20", "--workers", "1", "-q"]


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """Two folders of books; in the second, owls are called violins, and violins owls."""
    place = tmp_path_factory.mktemp("books")
    toy_books(place / "early", seed=5)
    toy_books(place / "late", seed=4, changed={"owl": "violin", "violin": "owl"})
    for folder in (place / "early", place / "late"):
        (folder / ".DS_Store").write_bytes(b"\0\0\0\1Bud1" + bytes(6000))
        (folder / "scan.pdf").write_bytes(b"%PDF-1.4\n" + bytes(range(256)))
        letter = io.BytesIO()
        with zipfile.ZipFile(letter, "w") as archive:
            archive.writestr("word/document.xml", "<w:document/>")
        (folder / "letter.docx").write_bytes(letter.getvalue())
    first, second, third = (place / "early" / f"book {i}.txt" for i in (1, 2, 3))
    first.write_bytes(first.read_text().encode("utf-16"))
    head, foot = (f"*** {what} OF THE PROJECT GUTENBERG EBOOK ***" for what in ("START", "END"))
    second.write_text(f"Zyzzyva\n\n{head}\n\n{second.read_text()}\n{foot}\n" + "The zyzzyva licence. " * 99)
    (place / "early" / "empty.txt").touch()
    third.with_suffix(".html").write_text(
        f"<html><head><title>Zyzzyva</title></head><p>{third.read_text()}</p></html>"
    )
    third.unlink()
    return place


@pytest.fixture(scope="module")
def models(books):
    for name in ("early", "late"):
        assert main(["train", str(books / name), "-o", str(books / f"{name}.dv"), *TRAINING]) == 0
    return [str(books / f"{name}.dv") for name in ("early", "late")]


def test_nothing_but_the_books_is_learnt(models):
    words = set(KeyedDensities.load(models[0]).index_to_key)
    assert {"owl", "bank", "feathered"} <= words
    assert "zyzzyva" not in words
    assert all(word.isalpha() and word == word.lower() for word in words)
    assert 480 < len(words) < 520


def test_training_says_what_it_leaves_out_and_how_it_reads(books, tmp_path, capsys):
    options = ["--epochs", "1", "--vector-size", "4", "--workers", "1"]
    assert main(["train", str(books / "early"), "-o", str(tmp_path / "model.dv"), *options]) == 0
    said = capsys.readouterr().err
    for part in (
        "left out: ",
        "scan.pdf is a PDF: save its text first",
        "letter.docx is a document",
        f"not tokenised: {books / 'early'}; words are taken in lower case, without numbers",
        "Project Gutenberg's head and foot are left out of 1 of 5 files in",
        "empty.txt is empty",
        "HTML or XML, whose text is read: 1 of 5 files in",
    ):
        assert part in said
    assert ".DS_Store" not in said


def test_a_file_that_is_no_text_is_refused_with_what_to_do(books, tmp_path, capsys):
    assert main(["train", str(books / "early" / "scan.pdf"), "-o", str(tmp_path / "model.dv")]) == 1
    assert "scan.pdf is a PDF: save its text first" in capsys.readouterr().err


@pytest.mark.parametrize("corpus", [["early"], ["early/*.txt"], ["early/book 4.txt", "early/book 5.txt"]])
def test_senses_and_lines_are_those_of_the_text(books, models, corpus, capsys):
    [found] = answer(capsys, "senses", models[0], *(books / each for each in corpus), "Bank")
    assert len(found["senses"]) == 2
    tokens = {
        token for sense in found["senses"] for example in sense["examples"] for token in example["tokens"]
    }
    assert "bank" in tokens
    assert all(token.isalpha() and token == token.lower() for token in tokens)


def test_senses_say_how_often_the_word_occurs(books, models, tmp_path, capsys):
    [found] = answer(capsys, "senses", models[0], books / "early", "bank")
    assert main(["senses", models[0], str(books / "early"), "bank"]) == 0
    assert f" % of {found['occurrences']}  " in capsys.readouterr().out
    path = tmp_path / "bank.md"
    assert main(["senses", models[0], str(books / "early"), "bank", "-o", str(path)]) == 0
    cells = path.read_text().splitlines()[2].split(" | ")
    assert cells[3] == str(found["occurrences"])
    assert len(cells[2]) <= 6  # a table for people has no seventeen digits


def test_a_new_word_is_learnt_from_a_folder(books, models, tmp_path, capsys):
    text = (books / "early" / "book 4.txt").read_text()
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "owls.txt").write_text(text.replace("owl", "strix").replace("Owl", "Strix"))
    [found] = answer(capsys, "learn", models[0], "Strix", tmp_path / "more", "-n", "5")
    assert found["word"] == "strix"
    assert {each["word"] for each in found["nearest"]} & {"owl", "hoots", "swoops", "barn", "silent", "wise"}
    assert main(["learn", models[0], "zyzzyva", str(tmp_path / "more")]) == 2
    assert "'zyzzyva' does not occur in" in capsys.readouterr().err
    assert main(["learn", models[0], "Owl", "an owl"]) == 2
    assert "'owl' is known already: `densvec similar`" in capsys.readouterr().err


def test_files_and_folders_are_texts(books, models, tmp_path, capsys):
    for name, word in (("birds", "owl"), ("money", "bank")):
        sentences = [
            line for line in (books / "early" / "book 4.txt").read_text().split(". ") if word in line
        ]
        (tmp_path / f"{name}.txt").write_text(". ".join(sentences))
    (tmp_path / "empty.txt").write_text("")
    asked = [models[0], "The silent Owl hoots.", f"{tmp_path}/*.txt"]
    [found] = answer(capsys, "texts", *asked)
    assert [each["text"] for each in found["similar"]] == [
        str(tmp_path / f"{name}.txt") for name in ("birds", "money")
    ]
    assert main(["texts", *asked]) == 0
    assert "empty.txt has no word that the model knows" in capsys.readouterr().err


def test_senses_are_found_in_standard_input(books, models, monkeypatch, capsys):
    text = (books / "early" / "book 4.txt").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    [found] = answer(capsys, "senses", models[0], "-", "bank")
    assert found["occurrences"] > 20


def test_where_a_word_is_used_alike(books, models, tmp_path, capsys):
    index = str(tmp_path / "places")
    assert main(["index", models[0], str(books / "early"), "-o", index, "--words", "Bank", "-q"]) == 0
    [found] = answer(capsys, "where", models[0], index, "The rich [[Bank]] lends money.")
    money = {"lends", "money", "loans", "invests", "rich", "central"}
    assert all(money & set(each["tokens"]) for each in found["occurrences"])
    assert main(["where", models[0], index, "The feathered [[owl]] hoots."]) == 2
    assert "no occurrences of owl" in capsys.readouterr().err


def test_what_changed_is_found_with_lines_of_both_sides(books, models, capsys):
    assert main(["compare", *models, "-n", "3"]) == 0
    shown = capsys.readouterr().out
    assert "words moved more than words of like frequency" in shown.splitlines()[0]
    assert shown.splitlines()[2].startswith("violin ")
    early, late = (
        set(shown.partition(f"violin, {side}\n")[2].splitlines()[0].split()) for side in ("first", "second")
    )
    assert early & {"sings", "weeps", "solo", "wooden", "bow", "sonata"}
    assert late & {"hoots", "swoops", "wise", "silent", "barn", "midnight"}


def test_half_a_folder_against_the_other_half_has_no_answer_and_says_so(books, tmp_path, capsys):
    models = []
    for number, files in enumerate((("1", "2", "3"), ("4", "5"))):
        models.append(str(tmp_path / f"{number}.dv"))
        corpus = [str(books / "late" / f"book {file}.txt") for file in files]
        assert main(["train", *corpus, "-o", models[-1], *TRAINING]) == 0
    assert main(["compare", *models, "--examples", "0"]) == 0
    first = capsys.readouterr().out.splitlines()[2]
    assert int(first.split()[0].replace("none", "0")) <= 3


def test_answers_become_tables(books, models, tmp_path):
    path = tmp_path / "moved.csv"
    words = ["--words", "violin", "owl", "zyzzyva"]
    assert main(["compare", *models, *words, "-o", str(path)]) == 0
    rows = list(csv.DictReader(path.open(encoding="utf-8")))
    assert {row["word"] for row in rows} == {"violin", "owl"}
    assert all(0 <= float(row["p_value"]) <= float(row["q_value"]) <= 1 for row in rows)
    for name in ("bank.md", "bank.json"):
        assert main(["senses", models[0], str(books / "early"), "bank", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "bank.md").read_text().startswith("| word | sense | share |")
    assert json.loads((tmp_path / "bank.json").read_text())[0]["word"] == "bank"
