import gzip

import pytest

from densvec.evaluation.reading import BenchmarkFileError, benchmark_name, read_lines


def test_lines_keep_their_numbers_when_blank_ones_are_dropped(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_bytes(b"\xef\xbb\xbffirst\r\n\r\n  \nfourth\n")
    assert [(line.number, line.text) for line in read_lines(path)] == [(1, "first"), (4, "fourth")]


def test_only_line_feeds_end_a_line_of_latin_1(tmp_path):
    path = tmp_path / "sentences"
    path.write_bytes(b"one \x85 line\nanother\n")
    assert len(list(read_lines(path, encoding="latin-1"))) == 2


def test_compressed_files_are_read(tmp_path):
    path = tmp_path / "pairs.txt.gz"
    path.write_bytes(gzip.compress(b"a b 1\n"))
    assert [line.text for line in read_lines(path)] == ["a b 1"]


def test_a_wrong_encoding_names_file_and_line(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_bytes(b"fine\ncaf\xe9\n")
    with pytest.raises(BenchmarkFileError, match=r"pairs\.txt, line 2: not valid utf-8"):
        list(read_lines(path))


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(read_lines(tmp_path / "absent.txt"))


def test_an_error_shows_the_line_shortened(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("x" * 500)
    (line,) = read_lines(path)
    with pytest.raises(BenchmarkFileError) as caught:
        line.fail("too long")
    assert len(str(caught.value)) < 200 + len(str(path))


@pytest.mark.parametrize(
    ("path", "name"),
    [("word-sim/EN-MC-30.txt", "MC-30"), ("bless.tsv", "bless"), ("a/lst_all.preprocessed", "lst_all")],
)
def test_a_benchmark_is_named_after_its_file(path, name):
    assert benchmark_name(path) == name
