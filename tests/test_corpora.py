"""The corpora on disk behave as gensim's do."""

import bz2
import gzip
import io
import logging
import lzma
import os

import pytest
from gensim.models import word2vec as gensim

from densvec.corpora import LineSentence, PathLineSentences, Text8Corpus, check_corpus
from densvec.text.source import text_reader

TEXT = (
    "the kiwi is a bird\n\nthe\tkiwi\u00a0is ripe \r\n\n"
    + "one two three four five six seven " * 3
    + "\nlast line"
)

COMPRESSORS = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "corpus.txt"
    path.write_bytes(TEXT.encode())
    return path


@pytest.mark.parametrize(
    "options",
    [{}, {"max_sentence_length": 2}, {"limit": 3}, {"limit": 0}, {"limit": 5, "max_sentence_length": 4}],
)
def test_line_sentence_is_gensims(path, options):
    ours, theirs = LineSentence(path, **options), gensim.LineSentence(str(path), **options)
    assert list(ours) == list(theirs)
    assert list(ours) == list(theirs), "it can be iterated again"


def test_two_iterations_at_once_do_not_disturb_each_other(path):
    corpus = LineSentence(path)
    assert [a == b for a, b in zip(corpus, corpus, strict=True)] == [True] * 4


@pytest.mark.parametrize("suffix", list(COMPRESSORS))
def test_compressed_files_read_the_same(tmp_path, path, suffix):
    packed = tmp_path / f"packed.txt{suffix}"
    packed.write_bytes(COMPRESSORS[suffix](TEXT.encode()))
    assert list(LineSentence(packed)) == list(LineSentence(path))
    assert list(Text8Corpus(packed, 5)) == list(Text8Corpus(path, 5))


@pytest.mark.parametrize("mode", ["rb", "r"])
def test_open_files_are_read_from_their_start_and_left_open(path, mode):
    with open(
        path, mode, encoding=None if mode == "rb" else "utf-8", newline=None if mode == "rb" else ""
    ) as file:
        file.read(5)
        corpus = LineSentence(file)
        assert list(corpus) == list(corpus) == list(LineSentence(path))
        assert not file.closed


def test_a_string_file_works():
    assert list(LineSentence(io.StringIO("a é\nc"))) == [["a", "é"], ["c"]]


def test_a_remote_path_goes_through_smart_open(monkeypatch):
    import smart_open

    asked = []

    def fake_open(uri, mode):
        asked.append((uri, mode))
        return io.BytesIO(b"far away\n")

    monkeypatch.setattr(smart_open, "open", fake_open)
    assert list(LineSentence("s3://bucket/corpus.txt")) == [["far", "away"]]
    assert asked == [("s3://bucket/corpus.txt", "rb")]


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(LineSentence(tmp_path / "missing.txt"))
    for wrong in ([1, 2], None, 5):
        with pytest.raises(TypeError, match="seek"):
            LineSentence(wrong)


@pytest.mark.parametrize(("errors", "word"), [("replace", "caf\ufffd"), ("ignore", "caf")])
def test_invalid_bytes_are_counted_and_logged_once(tmp_path, caplog, errors, word):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"caf\xe9 au lait\nd\xe9j\xe0 vu\n")
    corpus = LineSentence(path, errors=errors)
    with caplog.at_level(logging.WARNING, "densvec"):
        assert next(iter(list(corpus)))[0] == word
        list(corpus)
    (record,) = caplog.records
    assert "3 byte sequences" in record.getMessage()
    assert "latin.txt" in record.getMessage()


def test_strict_raises(tmp_path):
    path = tmp_path / "latin.txt"
    path.write_bytes(b"caf\xe9")
    with pytest.raises(UnicodeDecodeError, match="latin"):
        list(LineSentence(path, errors="strict"))


class TestPathLineSentences:
    @pytest.fixture
    def directory(self, tmp_path):
        (tmp_path / "b.txt").write_text("second file\nof two")
        (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"first file\n\nmore of it"))
        (tmp_path / "c.txt").write_text("")
        return tmp_path

    @pytest.mark.parametrize("options", [{}, {"limit": 1}, {"max_sentence_length": 1}])
    def test_files_come_in_alphabetical_order_as_in_gensim(self, directory, options):
        theirs = list(gensim.PathLineSentences(str(directory), **options))
        assert list(PathLineSentences(directory, **options)) == theirs
        assert list(PathLineSentences(f"{directory}{os.sep}", **options)) == theirs

    def test_subdirectories_are_left_out(self, directory):
        (directory / "aa").mkdir()
        assert len(list(PathLineSentences(directory))) == 4

    def test_one_file_works_and_nothing_else(self, directory):
        assert list(PathLineSentences(directory / "b.txt")) == [["second", "file"], ["of", "two"]]
        with pytest.raises(ValueError, match="nowhere"):
            PathLineSentences(directory / "nowhere")


@pytest.mark.parametrize("length", [1, 3, 7, 10_000])
def test_text8_is_gensims(path, length):
    ours = Text8Corpus(path, length)
    assert list(ours) == list(gensim.Text8Corpus(str(path), length)) == list(ours)


class TestCheckCorpus:
    def test_exactly_one_corpus(self, path):
        check_corpus([["a"]], None)
        check_corpus(None, path)
        with pytest.raises(TypeError, match="either"):
            check_corpus(None, None)
        with pytest.raises(TypeError, match="both"):
            check_corpus([["a"]], path)
        with pytest.raises(TypeError, match="path"):
            check_corpus(None, 5)
        with pytest.raises(TypeError, match="iterable"):
            check_corpus(5, None)

    @pytest.mark.parametrize(
        "one_shot", [(s for s in [["a"]]), iter([["a"]]), map(list, ["a"]), zip("a", "b", strict=True)]
    )
    def test_what_can_be_read_once_is_refused_for_several_passes(self, one_shot):
        check_corpus(one_shot, None, passes=1)
        with pytest.raises(TypeError, match="6 passes"):
            check_corpus(one_shot, None, passes=6)

    def test_an_iterator_that_can_start_again_is_accepted(self):
        class Rewinding:
            def __iter__(self):
                self.left = 2
                return self

            def __next__(self):
                if not self.left:
                    raise StopIteration
                self.left -= 1
                return ["a"]

        check_corpus(Rewinding(), None, passes=6)
        check_corpus(LineSentence(io.StringIO("")), None, passes=6)


def test_subclasses_that_iterate_in_their_own_way_are_iterated(path):
    class Lower(LineSentence):
        def __iter__(self):
            return (["lower"] for _ in super().__iter__())

    assert text_reader(LineSentence(path)) is not None
    assert text_reader(Lower(path)) is None
    assert text_reader(LineSentence(path, max_sentence_length=20_000)) is None
    assert text_reader([["a"]]) is None
