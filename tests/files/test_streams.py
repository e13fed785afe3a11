"""Remote and compressed files hold the same model; damaged ones are refused."""

import gzip
import io
import json
import os
import types

import numpy as np
import pytest
import smart_open.transport

from densvec.files import persistence
from densvec.files.persistence import DensvecFileError

TENSORS = {"means": np.arange(300_000, dtype=np.float32).reshape(-1, 3), "small": np.arange(5)}


@pytest.fixture
def store():
    """A smart_open transport that keeps objects in a dictionary, and forgets those whose writing failed."""
    objects = {}

    class Upload(io.BytesIO):
        def __exit__(self, kind, *rest):
            if kind is None:
                objects[self.key] = self.getvalue()

    def open_object(uri, mode, transport_params):
        if "r" in mode:
            if uri not in objects:
                raise FileNotFoundError(2, "No such object", uri)
            return io.BytesIO(objects[uri])
        upload = Upload()
        upload.key = uri
        return upload

    module = types.SimpleNamespace(
        SCHEME="shelf",
        URI_EXAMPLES=(),
        parse_uri=lambda uri: {"scheme": "shelf"},
        open_uri=open_object,
        open=None,
    )
    smart_open.transport._REGISTRY["shelf"] = module
    yield objects
    del smart_open.transport._REGISTRY["shelf"]


def assert_same(read, header):
    assert set(read) == set(TENSORS)
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(read[name], tensor)
        assert read[name].dtype == tensor.dtype
    assert header["a"] == 1


def test_remote_targets(store):
    persistence.write("shelf://bucket/model.dv", TENSORS, {"a": 1})
    assert list(store) == ["shelf://bucket/model.dv"]
    assert_same(*persistence.read("shelf://bucket/model.dv"))
    only, _ = persistence.read("shelf://bucket/model.dv", only=["small"])
    assert set(only) == {"small"}
    with pytest.raises(ValueError, match="only an uncompressed local file can be mapped"):
        persistence.read("shelf://bucket/model.dv", mmap="r")
    with pytest.raises(FileNotFoundError):
        persistence.read("shelf://bucket/other.dv")


def test_a_failed_upload_leaves_the_old_object(store):
    persistence.write("shelf://bucket/model.dv", TENSORS, {"a": 1})
    with pytest.raises(ValueError, match="NaN"):
        persistence.write("shelf://bucket/model.dv", {"means": np.array([1.0, np.nan])}, {})
    assert_same(*persistence.read("shelf://bucket/model.dv"))


def test_a_remote_file_has_the_bytes_of_a_local_one(store, tmp_path):
    path = tmp_path / "model.dv"
    persistence.write(path, TENSORS, {"a": 1})
    tensors, header = persistence.read(path)
    persistence.write("shelf://bucket/model.dv", tensors, header)
    assert store["shelf://bucket/model.dv"] == path.read_bytes()


def two_terabytes(content):
    """Let the header, and nothing else, say that the means have 500 milliards of numbers."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    last = header.pop("densvec.checksums")
    header["means"] = {"dtype": "F32", "shape": [500 * 10**9], "data_offsets": [40, 40 + 2 * 10**12]}
    last["data_offsets"] = [40 + 2 * 10**12, 40 + 2 * 10**12 + 12]
    text = json.dumps({**header, "densvec.checksums": last}).encode()
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda content: content[:-500_000], "ends inside tensor 'means'"),
        (lambda content: content + b"more", "belong to no tensor"),
        (two_terabytes, "ends inside tensor 'means'"),
        (lambda content: content[:-50] + b"x" + content[-49:], "'means' is damaged"),
    ],
)
def test_damaged_remote_files(store, damage, fault):
    persistence.write("shelf://bucket/model.dv", TENSORS, {"a": 1})
    store["shelf://bucket/model.dv"] = damage(store["shelf://bucket/model.dv"])
    with pytest.raises(DensvecFileError, match=rf"shelf://bucket/model\.dv: .*{fault}"):
        persistence.read("shelf://bucket/model.dv")


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_compressed_files(tmp_path, ending):
    path = tmp_path / f"model.dv{ending}"
    persistence.write(path, TENSORS, {"a": 1})
    assert path.stat().st_size < TENSORS["means"].nbytes
    assert_same(*persistence.read(path))
    assert_same(*persistence.read(f"file://{path}"))
    with pytest.raises(ValueError, match="can be mapped"):
        persistence.read(path, mmap="r")
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_damaged_compressed_files(tmp_path, ending):
    path = tmp_path / f"model.dv{ending}"
    persistence.write(path, TENSORS, {"a": 1})
    whole = path.read_bytes()
    middle = len(whole) // 2
    for content in [
        b"",
        b"nonsense" * 10,
        whole[:middle],
        whole[:middle] + b"\0\1\2\3" * 9 + whole[middle + 36 :],
    ]:
        path.write_bytes(content)
        with pytest.raises(DensvecFileError, match=path.name):
            persistence.read(path)


def test_equal_models_give_equal_gzip_files(tmp_path):
    persistence.write(tmp_path / "a.gz", TENSORS, {"a": 1})
    tensors, header = persistence.read(tmp_path / "a.gz")
    persistence.write(tmp_path / "b.gz", tensors, header)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_names_that_promise_a_compression_we_lack(tmp_path):
    with pytest.raises(ValueError, match=r"use one of \.gz"):
        persistence.write(tmp_path / "model.zst", TENSORS, {})


def test_a_gzip_file_under_a_plain_name_is_recognised(tmp_path):
    path = tmp_path / "model.dv"
    path.write_bytes(gzip.compress(b"x" * 99))
    with pytest.raises(DensvecFileError, match="gzip-compressed"):
        persistence.read(path)


def test_file_uris_are_local_paths(tmp_path):
    path = tmp_path / "model.dv"
    persistence.write(f"file://{path}", TENSORS, {"a": 1})
    assert_same(*persistence.read(path))
    assert_same(*persistence.read(f"file://{path}", mmap="r"))
