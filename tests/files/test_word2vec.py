"""The word2vec format: gensim reads what we write, we read what gensim writes, damage is named."""

import gzip
import pathlib
import re
import tracemalloc

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_array_equal

from densvec import KeyedDensities
from densvec.files.word2vec import Options, TruncatedFileError, read, read_counts, write

FLOATS = np.array([1.0, 2.0], dtype="<f4").tobytes()
WORDS = ["dog", "naïve", "犬", "it's", "."]


def make(cls=KeyedDensities, count=True):
    keyed = cls(3)
    keyed.add_vectors(WORDS, np.random.default_rng(2).normal(size=(5, 3)).astype(np.float32))
    if count:
        for i, word in enumerate(WORDS):
            keyed.set_vecattr(word, "count", (i * 7) % 5)
    return keyed


def contents(keyed):
    return keyed.index_to_key, keyed.vectors.tolist(), {n: v.tolist() for n, v in keyed.expandos.items()}


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("prefix", ["", "*"])
def test_files_are_gensims_files_byte_by_byte(tmp_path, binary, header, prefix):
    written = []
    for cls in (KeyedVectors, KeyedDensities):
        path, vocabulary = tmp_path / cls.__name__, tmp_path / (cls.__name__ + ".vocabulary")
        make(cls).save_word2vec_format(
            str(path), fvocab=str(vocabulary), binary=binary, write_header=header, prefix=prefix
        )
        written.append((path.read_bytes(), vocabulary.read_bytes()))
    assert written[0] == written[1]


def test_more_of_gensims_arguments(tmp_path):
    written = []
    for cls in (KeyedVectors, KeyedDensities):
        path = str(tmp_path / cls.__name__)
        make(cls).save_word2vec_format(path, total_vec=9)
        make(cls).save_word2vec_format(path, append=True, write_header=False, prefix="doc_")
        make(cls, count=False).save_word2vec_format(path, append=True)
        with pytest.raises(ValueError, match=r"frequency"):
            make(cls).save_word2vec_format(path, fvocab=path, sort_attr="frequency")
        written.append(pathlib.Path(path).read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("limit", [None, 0, 2, 99])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("vocabulary", [False, True])
def test_files_are_read_as_gensim_reads_them(tmp_path, binary, limit, dtype, vocabulary):
    path = str(tmp_path / "vectors")
    counts = path + ".vocabulary" if vocabulary else None
    make().save_word2vec_format(path, fvocab=counts, binary=binary)
    theirs, ours = (
        cls.load_word2vec_format(path, fvocab=counts, binary=binary, limit=limit, datatype=dtype)
        for cls in (KeyedVectors, KeyedDensities)
    )
    assert contents(ours) == contents(theirs)
    assert ours.vectors.dtype == theirs.vectors.dtype == dtype


@pytest.mark.parametrize("limit", [None, 2])
def test_without_header(tmp_path, limit):
    path = str(tmp_path / "vectors")
    make().save_word2vec_format(path, write_header=False)
    theirs, ours = (
        cls.load_word2vec_format(path, no_header=True, limit=limit) for cls in (KeyedVectors, KeyedDensities)
    )
    assert contents(ours) == contents(theirs)
    with pytest.raises(NotImplementedError):
        KeyedDensities.load_word2vec_format(path, no_header=True, binary=True)


# What gensim reads, we read; what it refuses, we refuse, with a ValueError (EOFErrors are both).
TEXTS = {
    "plain": b"3 2\na 1 2\nb 3 4\nc 5 6\n",
    "no last newline": b"2 2\na 1 2\nb 3 4",
    "more than promised": b"1 2\na 1 2\nb 3 4\n",
    "blanks at line ends": b"2 2\na 1 2 \nb 3 4 \n",
    "carriage returns": b"2 2\r\na 1 2\r\nb 3 4\r\n",
    "empty vocabulary": b"0 2\n",
    "too few lines": b"3 2\na 1 2\nb 3 4\n",
    "too many numbers": b"2 2\na 1 2 3\nb 3 4\n",
    "no number": b"2 2\na 1 x\nb 3 4\n",
    "blank line": b"2 2\n\na 1 2\nb 3 4\n",
    "one number in the header": b"3\na 1 2\n",
    "three numbers in the header": b"2 2 2\na 1 2\n",
    "no header": b"a 1 2\nb 3 4\n",
    "empty": b"",
    "negative": b"-3 2\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_read_or_refused_as_gensim_does(tmp_path, name):
    path = tmp_path / "vectors"
    path.write_bytes(TEXTS[name])
    theirs, ours = (_read_or_refuse(cls, str(path)) for cls in (KeyedVectors, KeyedDensities))
    if isinstance(theirs, Exception):
        assert isinstance(ours, ValueError)
        assert isinstance(ours, EOFError) == isinstance(theirs, EOFError)
        assert re.search(r"vectors: (line \d+|unexpected end)", str(ours))
    else:
        np.testing.assert_equal(ours, (*theirs[:2], theirs[2] or {"count": []}))


def _read_or_refuse(cls, path):
    try:
        return contents(cls.load_word2vec_format(path))
    except (ValueError, EOFError) as error:
        return error


@pytest.mark.parametrize("header", [b"", b"4 2\n"])
def test_words_may_have_spaces_as_those_of_glove(tmp_path, header):
    path = tmp_path / "glove.840B.txt"
    path.write_bytes(header + b". . . 1 2\nat me@home.example 3 4\n1.5 5 6\nkiwi 7 8\n")
    found = KeyedDensities.load_word2vec_format(path, no_header=not header)
    assert found.index_to_key == [". . .", "at me@home.example", "1.5", "kiwi"]
    assert found.vectors.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


def test_too_few_numbers_are_refused(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(b"2 2\na 1\nb 3 4\n")
    with pytest.raises(ValueError, match="vectors: line 2: expected a word and 2 numbers, got 2 fields"):
        read(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"3 2\na " + FLOATS + b"b " + FLOATS, "unexpected end after 2 of 3 vectors"),
        (b"2 2\na " + FLOATS + b"b " + FLOATS[:-1], "unexpected end after 1 of 2 vectors"),
        (b"2 2\nabc", "unexpected end after 0 of 2 vectors"),
        (b"2 2\n", "unexpected end after 0 of 2 vectors"),
        (b"2 2\n" + b"x" * 100_000, "no word within 65,536 bytes"),
        (b"99999999999999 2\na " + FLOATS, "unexpected end after 1 of 99,999,999,999,999 vectors"),
        (b"2 99999999999999\na " + FLOATS, "unexpected end after 0 of 2 vectors"),
    ],
)
def test_damaged_binary_files_are_named(tmp_path, data, message):
    path = tmp_path / "vectors.bin"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"vectors\.bin: .*" + message):
        read(path, Options(binary=True))


def test_newlines_between_binary_vectors(tmp_path):
    path = tmp_path / "vectors.bin"
    path.write_bytes(b"2 2\na " + FLOATS + b"\nb " + FLOATS + b"\n")
    assert read(path, Options(binary=True))[0] == ["a", "b"]


def test_nothing_is_allocated_on_a_headers_word(tmp_path):
    path = tmp_path / "vectors"
    tracemalloc.start()
    for header in (b"99999999999 300\n", b"3 99999999999\n"):
        for binary in (False, True):
            path.write_bytes(header + b"a 1 2\n")
            with pytest.raises(ValueError, match="vectors"):
                read(path, Options(binary=binary))
    assert tracemalloc.get_traced_memory()[1] < 1 << 25
    tracemalloc.stop()


def test_a_line_without_end_is_refused(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(b"2 2\n" + b"1" * 1_000_000)
    with pytest.raises(ValueError, match="line 2: no end of line"):
        read(path)


def test_repeated_words_keep_their_first_vector(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(b"3 2\na 1 2\na 3 4\nc 5 6\n")
    words, vectors = read(path)
    assert words == ["a", "c"]
    assert vectors.tolist() == [[1, 2], [5, 6]]


def test_many_rows_cross_blocks(tmp_path):
    rng = np.random.default_rng(3)
    words = [f"word{i}" for i in range(9000)]
    vectors = rng.normal(size=(9000, 4)).astype(np.float32)
    for binary in (False, True):
        write(tmp_path / "vectors", words, vectors, binary=binary)
        read_words, read_vectors = read(tmp_path / "vectors", Options(binary=binary))
        assert read_words == words
        assert_array_equal(read_vectors, vectors)


words = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
).filter(lambda word: not any(c.isspace() for c in word))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(st.lists(words, unique=True, max_size=6), st.data(), st.booleans())
def test_round_trip(tmp_path, words, data, binary):
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    vectors = data.draw(arrays(np.float32, (len(words), 3), elements=finite))
    write(tmp_path / "vectors", words, vectors, binary=binary)
    read_words, read_vectors = read(tmp_path / "vectors", Options(binary=binary))
    assert read_words == words
    assert_array_equal(read_vectors, vectors)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(st.data(), st.booleans(), st.booleans())
def test_damage_is_a_value_error_or_nothing(tmp_path, data, binary, no_header):
    path = tmp_path / "vectors"
    write(path, ["dog", "cat", "naïve"], np.eye(3, 4, dtype=np.float32), binary=binary)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
        content = content or bytearray(b" ")
    path.write_bytes(content)
    try:
        read(path, Options(binary=binary, no_header=no_header and not binary))
    except UnicodeDecodeError:
        pass
    except ValueError as error:
        if "vectors" not in str(error):
            raise


@pytest.mark.parametrize("word", ["two words", "", "new\nline", "non\u00a0breaking", 3])
def test_words_that_the_format_cannot_hold(tmp_path, word):
    with pytest.raises(ValueError, match="word2vec format"):
        write(tmp_path / "vectors", [word], np.ones((1, 2)))
    assert not (tmp_path / "vectors").exists()


def test_compressed_files(tmp_path):
    path = tmp_path / "vectors.gz"
    make().save_word2vec_format(path)
    assert gzip.decompress(path.read_bytes()).startswith(b"5 3\n")
    assert set(KeyedDensities.load_word2vec_format(path).index_to_key) == set(WORDS)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"vectors\.gz"):
        KeyedDensities.load_word2vec_format(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"dog\n", "line 1: expected a word and its count, got 1"),
        (b"dog 3\ncat x\n", "line 2: the count 'x'"),
    ],
)
def test_damaged_counts_are_named(tmp_path, data, message):
    (tmp_path / "counts").write_bytes(data)
    with pytest.raises(ValueError, match="counts: " + message):
        read_counts(tmp_path / "counts")


def test_missing_counts_are_zero(tmp_path):
    path, counts = tmp_path / "vectors", tmp_path / "counts"
    make().save_word2vec_format(path)
    counts.write_text("dog 12\nunused 3\n")
    loaded = KeyedDensities.load_word2vec_format(path, fvocab=counts)
    assert loaded.get_vecattr("dog", "count") == 12
    assert loaded.get_vecattr("犬", "count") == 0


def test_decoding_errors(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(b"2 2\nd\xffog 1 2\nb 3 4\n")
    with pytest.raises(UnicodeDecodeError, match=r"line 2 of .*vectors; give its encoding"):
        KeyedDensities.load_word2vec_format(path)
    assert KeyedDensities.load_word2vec_format(path, unicode_errors="ignore").index_to_key == ["dog", "b"]
    assert KeyedDensities.load_word2vec_format(path, encoding="latin1").index_to_key == ["dÿog", "b"]


def test_intersection(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(b"3 3\ndog 1 2 3\nunicorn 4 5 6\n. 7 8 9\n")
    wv = make()
    untouched = wv["naïve"].copy()
    wv.fill_norms()
    wv.intersect_word2vec_format(path)
    assert wv["dog"].tolist() == [1, 2, 3]
    assert wv["."].tolist() == [7, 8, 9]
    assert "unicorn" not in wv
    assert_array_equal(wv["naïve"], untouched)
    np.testing.assert_allclose(np.linalg.norm(wv.get_vector("dog", norm=True)), 1, rtol=1e-6)
    path.write_bytes(b"1 2\ndog 1 2\n")
    with pytest.raises(ValueError, match="size 2, not 3"):
        wv.intersect_word2vec_format(path)


def test_truncation_is_both_kinds_of_error():
    assert issubclass(TruncatedFileError, ValueError)
    assert issubclass(TruncatedFileError, EOFError)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_no_model_can_use_are_refused_with_their_word(tmp_path, binary, value):
    path = tmp_path / "vectors"
    write(path, ["good", "bad"], np.array([[1.0, 2.0], [3.0, 4.0]]), binary=binary)
    content = path.read_bytes()
    three = np.float32(3).tobytes() if binary else b"3.0"
    path.write_bytes(content.replace(three, np.float32(value).tobytes() if binary else str(value).encode()))
    with pytest.raises(ValueError, match="vectors: NaN or infinity among the numbers of 'bad'"):
        KeyedDensities.load_word2vec_format(path, binary=binary)
    with pytest.raises(ValueError, match="the numbers of 'bad'"):
        write(path, ["good", "bad"], np.array([[1.0], [value]]), binary=binary)


def test_numbers_that_overflow_their_type_are_refused(tmp_path):
    (tmp_path / "vectors").write_text("1 2\nbig 1e39 0\n")
    with pytest.raises(ValueError, match="infinity among the numbers of 'big'"):
        KeyedDensities.load_word2vec_format(tmp_path / "vectors")
    assert KeyedDensities.load_word2vec_format(tmp_path / "vectors", datatype=np.float64)["big"][0] == 1e39


def test_a_limit_below_zero_is_an_error(tmp_path):
    write(tmp_path / "vectors", ["a"], np.ones((1, 2)))
    with pytest.raises(ValueError, match="limit=-5 is below 0"):
        KeyedDensities.load_word2vec_format(tmp_path / "vectors", limit=-5)


@pytest.mark.parametrize("count", [10**30, -1, 2**63])
def test_counts_that_no_file_can_hold_are_refused(tmp_path, count):
    (tmp_path / "counts").write_text(f"fine 3\nodd {count}\n")
    with pytest.raises(
        ValueError, match=rf"counts: line 2: the count '{count}' is not between 0 and 2\*\*53"
    ):
        read_counts(tmp_path / "counts")
