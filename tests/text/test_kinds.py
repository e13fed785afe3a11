"""What files are: text of many kinds, and what is to be made text first."""

import io
import json
import logging
import zipfile

import pytest

from densvec import BayesianSkipGram
from densvec.corpora import LineSentence, PathLineSentences, RawText
from densvec.text.source import corpus_paths

SENTENCE = "He walked along the bank; she came, too.\n"
WORDS = ["he", "walked", "along", "the", "bank", "she", "came", "too"]


def docx():
    """A document of a word processor: a zip archive of XML."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word/document.xml", "<w:document/>")
    return file.getvalue()


FOREIGN = {
    "report.pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "a PDF.*pdftotext"),
    "letter.docx": (docx(), r"a document \(\.docx\).*plain text"),
    "old.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "plain text"),
    "books.zip": (docx(), "an archive.*unpack"),
    "scan.png": (b"\x89PNG\r\n\x1a\n" + bytes(99), "an image"),
    "noise.txt": (bytes(range(256)) * 40, "binary"),
    "table.csv": (b"id,text\n1,He left.\n", "a table.*column.*id, text"),
    "list.json": (b'[{"id": 1, "text": "He left."}]\n', "one JSON document.*lines of JSON"),
    "lines.jsonl": (b'{"id": 1, "text": "He left."}\n', "a table.*column.*id, text"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_is_no_text_is_refused_with_what_to_do(tmp_path, name):
    data, message = FOREIGN[name]
    (tmp_path / name).write_bytes(data)
    for read in (RawText, PathLineSentences, lambda path: BayesianSkipGram(corpus_file=str(path))):
        with pytest.raises(ValueError, match=f"{name} is .*{message}"):
            list(read(tmp_path / name))


def test_of_a_folder_the_text_is_read_and_the_rest_is_named(tmp_path, caplog):
    for name, (data, _) in FOREIGN.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "more").mkdir()
    (tmp_path / ".DS_Store").write_bytes(b"\0\0\0\1Bud1" + bytes(200))
    (tmp_path / "book.txt").write_text(SENTENCE)
    with caplog.at_level(logging.WARNING):
        assert list(RawText(tmp_path)) == [WORDS]
    assert all(name in caplog.text for name in FOREIGN)
    assert "more is a folder in a folder: name it, too" in caplog.text
    assert ".DS_Store" not in caplog.text
    assert list(PathLineSentences(tmp_path)) == [SENTENCE.split()]
    (tmp_path / "book.txt").unlink()
    with pytest.raises(ValueError, match="there is no text in"):
        corpus_paths(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
def test_byte_order_marks_are_heeded(tmp_path, encoding):
    mark = "\ufeff" if encoding.endswith("be") else ""
    text = "Über café\n" * 500
    (tmp_path / "text.txt").write_bytes((mark + text).encode(encoding))
    path = tmp_path / "text.txt"
    assert list(RawText(path)) == [["über", "café"]] * 500
    assert list(LineSentence(path)) == [["Über", "café"]] * 500
    for workers in (1, 2):
        model = BayesianSkipGram(vector_size=2, workers=workers)
        model.build_vocab(corpus_file=str(path))
        assert sorted(model.wv.index_to_key) == ["café", "Über"]


def test_a_wide_encoding_may_be_named(tmp_path):
    (tmp_path / "text.txt").write_bytes((SENTENCE * 50).encode("utf-16-le"))
    with pytest.raises(ValueError, match="utf-16"):
        RawText(tmp_path / "text.txt")
    assert next(iter(RawText(tmp_path / "text.txt", encoding="utf-16-le"))) == WORDS


def test_each_file_is_read_as_it_is(tmp_path):
    (tmp_path / "raw.txt").write_text(SENTENCE * 20)
    (tmp_path / "tokens.txt").write_text("it was 1999 , wasn't it ?\n" * 20)
    found = list(RawText(tmp_path, tokenize="auto"))
    assert found[0] == WORDS
    assert found[-1] == ["it", "was", "1999", ",", "wasn't", "it", "?"]


def test_the_text_of_pages(tmp_path):
    page = "<!DOCTYPE html><html><head><title>x</title><style>p {}</style></head><body><h1>One</h1>"
    (tmp_path / "page.html").write_text(
        f"{page}<p>He <b>left</b>, &amp; why?\nNobody<br>knows.<script>1</script>"
    )
    assert list(RawText(tmp_path / "page.html")) == [["one"], ["he", "left", "why"], ["nobody"], ["knows"]]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.csv.gz"])
def test_the_text_of_a_column(tmp_path, name):
    import gzip

    rows = [("1", "He left, they say."), ("2", "Who?\nNobody."), ("3", "")]
    if name.endswith("jsonl"):
        text = "".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in rows)
    else:
        mark = "\t" if "tsv" in name else ","
        text = f"id{mark}text\n" + "".join(f'{id_}{mark}"{text}"\n' for id_, text in rows)
    data = text.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert list(RawText(tmp_path / name, column="text")) == [
        ["he", "left", "they", "say"],
        ["who"],
        ["nobody"],
    ]
    with pytest.raises(ValueError, match=r"no column 'words'.*id, text"):
        list(RawText(tmp_path / name, column="words"))


def test_project_gutenbergs_head_and_foot_are_left_out(tmp_path):
    head = "The Project Gutenberg eBook of Emma\n\n*** START OF THE PROJECT GUTENBERG EBOOK EMMA ***\n"
    foot = "*** END OF THE PROJECT GUTENBERG EBOOK EMMA ***\nUpdated editions will replace it.\n"
    (tmp_path / "emma.txt").write_text(head + SENTENCE + foot)
    assert list(RawText(tmp_path / "emma.txt")) == [WORDS]
    whole = list(RawText(tmp_path / "emma.txt", gutenberg=False))
    assert whole[0][:3] == ["the", "project", "gutenberg"]
