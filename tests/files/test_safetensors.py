"""The safetensors layout against the safetensors library, and every lie a header can tell."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import SafetensorError
from safetensors import numpy as library

from densvec.files.safetensors import (
    DTYPES,
    HEADER_LIMIT,
    build_header,
    header_length,
    parse_header,
    parse_json,
)

arrays = hnp.arrays(
    st.sampled_from(sorted(DTYPES.values(), key=str)), hnp.array_shapes(min_dims=0, min_side=0)
)
names = st.text(max_size=8).filter(lambda name: name != "__metadata__")


def file_bytes(tensors, metadata, last="the last one of all"):
    start, order = build_header(tensors, metadata, last)
    return start + b"".join(tensors[name].tobytes() for name in order)


def parse_file(content):
    length = header_length(content[:8], len(content))
    return parse_header(content[8 : 8 + length], len(content) - 8 - length)


def entry(dtype="F32", shape=(2, 2), offsets=(0, 16)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def header(**entries):
    return json.dumps(entries).encode()


@given(st.dictionaries(names, arrays, max_size=5), st.dictionaries(st.text(max_size=9), st.text(max_size=9)))
def test_the_library_reads_what_we_write(tensors, metadata):
    content = file_bytes(tensors, metadata)
    read = library.load(content)
    assert set(read) == set(tensors)
    for name, tensor in tensors.items():
        assert read[name].dtype == tensor.dtype
        assert read[name].shape == tensor.shape
        assert read[name].tobytes() == tensor.tobytes()


@given(st.dictionaries(names, arrays, max_size=5), st.dictionaries(st.text(max_size=9), st.text(max_size=9)))
def test_we_read_what_the_library_writes(tensors, metadata):
    metadata = metadata if tensors else {}  # without tensors, versions below 0.5 write broken JSON for any
    content = library.save(tensors, metadata or None)  # it writes broken JSON for {} and {}
    entries, found = parse_file(content)
    start = 8 + int.from_bytes(content[:8], "little")
    assert found == metadata
    assert {entry.name for entry in entries} == set(tensors)
    for e in entries:
        assert e.dtype == tensors[e.name].dtype
        assert e.shape == tensors[e.name].shape
        assert content[start + e.start : start + e.stop] == tensors[e.name].tobytes()


@given(st.dictionaries(names, arrays, max_size=6))
def test_data_are_aligned_for_their_type_and_begin_at_a_cache_line(tensors):
    content = file_bytes(tensors, {})
    entries, _ = parse_file(content)
    start = 8 + int.from_bytes(content[:8], "little")
    assert start % 64 == 0
    assert all(entry.start % entry.dtype.itemsize == 0 for entry in entries)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_with_a_value_error_or_parsed(content):
    try:
        parse_file(content)
    except ValueError:
        return
    library.load(content)  # what we take, the library takes too


LIES = {
    "overlap": header(a=entry(), b=entry(offsets=(8, 24))),
    "gap": header(a=entry(offsets=(4, 20))),
    "gap before": header(a=entry(), b=entry(offsets=(20, 36))),
    "needs .* bytes": header(a=entry(shape=(2, 3))),
    "truncated": header(a=entry(shape=(4, 4), offsets=(0, 64))),
    "belong to no tensor": header(a=entry(shape=(1,), offsets=(0, 4))),
    "unknown dtype": header(a=entry("F8_E4M3", (16,))),
    "unknown dtype 'None'": header(a=entry(None)),
    "impossible shape": header(a=entry(shape=(-2, -2))),
    "impossible shape: .True": header(a=entry(shape=(True, 4))),
    "impossible shape: .2.0": header(a=entry(shape=(2.0, 2))),
    "impossible shape: .1, 1": header(a=entry(shape=[1] * 99)),
    "impossible shape: .0, 46": header(a=entry(shape=(0, 2**62, 2**62), offsets=(0, 0))),
    "impossible shape: .46": header(a=entry(shape=(2**62, 4))),
    "impossible data_offsets": header(a=entry(offsets=(16, 0))),
    "impossible data_offsets: .0": header(a=entry(offsets=(0,))),
    "impossible data_offsets: .'": header(a=entry(offsets=("0", "16"))),
    "impossible data_offsets: .0, 9": header(a=entry(offsets=(0, 10**30 - 1))),
    "not described": header(a={"dtype": "F32", "shape": [2, 2]}),
    "not described by": header(a=[1, 2]),
    "key 'a' twice": b'{"a":1,"a":2}',
    "key 'dtype' twice": b'{"a":{"dtype":"F32","dtype":"F64","shape":[2,2],"data_offsets":[0,16]}}',
    "not a JSON object of strings": b'{"__metadata__":{"a":1}}',
    "not a JSON object of str": b'{"__metadata__":[]}',
    "not JSON": b'{"a":',
    "not JSON: Extra": b"{} {}",
    "contains NaN": b'{"a":NaN}',
    "not UTF-8": b'{"\xff":1}',
    "nested too deeply": b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "does not start": b" {}",
    "does not start with": b"[]",
}


@pytest.mark.parametrize("fault", LIES)
def test_lies_are_found_before_anything_is_read(fault):
    with pytest.raises(ValueError, match=fault):
        parse_header(LIES[fault], 16)


@pytest.mark.parametrize(
    "fault", [lie for lie in LIES if lie not in ("unknown dtype", "impossible shape: .1, 1")]
)
def test_the_library_refuses_the_same_lies(fault):
    """So the strictness is the format's own (but for 8-bit floats and 99 dimensions, which NumPy has not)."""
    text = LIES[fault]
    with pytest.raises((SafetensorError, ValueError, OverflowError)):
        library.load(len(text).to_bytes(8, "little") + text + bytes(16))


@pytest.mark.parametrize("digits", [b"9" * 5000, b"1e9999", b"-0"])
def test_monstrous_numbers_are_value_errors(digits):
    with pytest.raises(ValueError, match=r"digits|impossible shape|needs 0 bytes"):
        parse_header(b'{"a":{"dtype":"F32","shape":[' + digits + b'],"data_offsets":[0,16]}}', 16)


def test_a_header_longer_than_the_file_or_the_limit():
    with pytest.raises(ValueError, match="only 3 bytes"):
        header_length(b"abc", 3)
    with pytest.raises(ValueError, match="claims 100 bytes, 12 follow"):
        header_length((100).to_bytes(8, "little"), 20)
    with pytest.raises(ValueError, match="more than"):
        header_length((2**60).to_bytes(8, "little"), None)
    assert header_length(HEADER_LIMIT.to_bytes(8, "little"), None) == HEADER_LIMIT


def test_what_cannot_be_written_is_refused():
    with pytest.raises(TypeError, match="complex128"):
        build_header({"a": np.zeros(2, complex)}, {}, "")
    with pytest.raises(TypeError, match="object"):
        build_header({"a": np.array([None])}, {}, "")
    with pytest.raises(ValueError, match="__metadata__"):
        build_header({"__metadata__": np.zeros(2)}, {}, "")
    with pytest.raises(ValueError, match="allowed"):
        build_header({}, {"a": "x" * HEADER_LIMIT}, "")


def test_json_is_strict():
    assert parse_json('{"a":[1,2.5,"x",null,true]}') == {"a": [1, 2.5, "x", None, True]}
    with pytest.raises(ValueError, match="Infinity"):
        parse_json("[-Infinity]")
