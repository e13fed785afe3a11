"""Words and settings survive the way into a file and back; damaged ones are refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from densvec.files.packing import dump_json, load_json, pack_words, unpack_vocabulary, unpack_words

characters = st.characters(codec=None)  # every code point, lone surrogates too
words = st.lists(st.text(characters, max_size=12), unique=True, max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(characters, max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


def packed(data, offsets):
    return {
        "vocabulary.bytes": np.frombuffer(data, np.uint8),
        "vocabulary.offsets": np.array(offsets, np.int64),
    }


@given(words)
def test_words_round_trip(words):
    unpacked, index = unpack_vocabulary(pack_words(words))
    assert unpacked == words
    assert index == {word: row for row, word in enumerate(words)}


@pytest.mark.parametrize(
    "words",
    [
        [],
        [""],
        ["", "\0"],
        ["New York", "\U0001f600", "line\nbreak", "nul\0inside", "\0", "\ud800", "é", "日本語"],
    ],
)
def test_awkward_words_round_trip(words):
    assert unpack_words(pack_words(words)) == words


def test_each_word_is_where_the_documentation_says():
    words = ["a", "nul\0inside", "é"]
    tensors = pack_words(words)
    data, offsets = tensors["vocabulary.bytes"].tobytes(), tensors["vocabulary.offsets"]
    assert [data[offsets[i] : offsets[i + 1] - 1].decode() for i in range(3)] == words


@pytest.mark.parametrize(
    ("data", "offsets", "fault"),
    [
        (b"a\0b\0", [0, 2, 3], "do not rise"),
        (b"a\0b\0", [1, 2, 4], "do not rise"),
        (b"a\0b\0", [0, 3, 2, 4], "do not rise"),
        (b"a\0b\0", [0, 2, 2, 4], "do not rise"),
        (b"a\0b\0", [0, 2**62, 4], "do not rise"),
        (b"a\0b\0", [0, -1, 4], "do not rise"),
        (b"a\0b\0", [0, 1, 4], "end in NUL"),
        (b"ab", [0, 2], "end in NUL"),
        (b"a\0a\0", [0, 2, 4], "'a' twice"),
        (b"\xff\0b\0", [0, 2, 4], "not UTF-8"),
        (b"\xc3\0\xa9\0", [0, 2, 4], "not UTF-8"),
        (b"\xff\0\0b\0", [0, 3, 5], "not UTF-8"),
        (b"a\0", [], "not a row"),
    ],
)
def test_damaged_vocabularies_are_refused(data, offsets, fault):
    with pytest.raises(ValueError, match=fault):
        unpack_vocabulary(packed(data, offsets))


def test_vocabularies_of_other_types_are_refused():
    tensors = pack_words(["a", "b"])
    with pytest.raises(ValueError, match="float64"):
        unpack_words({**tensors, "vocabulary.offsets": tensors["vocabulary.offsets"].astype(float)})
    with pytest.raises(ValueError, match=r"uint8\[2, 2\]"):
        unpack_words({**tensors, "vocabulary.bytes": tensors["vocabulary.bytes"].reshape(2, 2)})
    with pytest.raises(KeyError):
        unpack_words({})


@given(values)
def test_documents_round_trip(value):
    again = load_json(dump_json(value))
    assert repr(again) == repr(
        value
    )  # repr tells nan from nan and -0.0 from 0.0, and ignores which nan it is
    assert dump_json(again) == dump_json(value)


def test_documents_are_ascii_json():
    assert dump_json({"a": "é\ud800", "b": math.inf}) == r'{"a":"\u00e9\ud800","b":{"$float":"inf"}}'


def test_numpy_scalars_and_tuples_become_plain():
    document = {"a": np.float32(0.5), "b": np.int64(3), "c": np.True_, "d": (1, 2), "e": np.float64("nan")}
    again = load_json(dump_json(document))
    assert math.isnan(again.pop("e"))
    assert again == {"a": 0.5, "b": 3, "c": True, "d": [1, 2]}


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"a": [0, {"b": object()}]}, r"header\['a'\]\[1\]\['b'\] has type object"),
        ({"a": {1: 2}}, r"header\['a'\] has the key 1"),
        ({"a": np.zeros(2)}, "ndarray"),
        ({"$float": 1}, r"\$float"),
    ],
)
def test_what_is_not_json_is_named(document, place):
    with pytest.raises(TypeError, match=place):
        dump_json(document)


@pytest.mark.parametrize("text", ['{"$float":"1.5"}', '{"$float":[]}', '{"$float":null}'])
def test_false_floats_are_refused(text):
    with pytest.raises((ValueError, KeyError, TypeError)):
        load_json(text)
