"""One file, whole or refused: round trips, what the safetensors library sees, and every kind of damage."""

import ast
import json
import os
import pathlib
import subprocess
import sys
import textwrap
import tracemalloc
import zlib

import numpy as np
import pytest
import safetensors
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from safetensors import numpy as library

import densvec
from densvec.files import packing, persistence
from densvec.files.packing import dump_json
from densvec.files.persistence import CHECKSUMS, DensvecFileError, read, verify, write
from densvec.files.safetensors import DTYPES, build_header

DTYPE = st.sampled_from(sorted(DTYPES.values(), key=str))
FINITE = {"allow_nan": False, "allow_infinity": False}
ARRAYS = DTYPE.flatmap(
    lambda dtype: hnp.arrays(
        dtype, hnp.array_shapes(min_dims=0, min_side=0), elements=FINITE if dtype.kind == "f" else None
    )
)
TENSORS = st.dictionaries(
    st.text(max_size=9).filter(lambda n: n not in ("__metadata__", CHECKSUMS)), ARRAYS, max_size=5
)
MODEL = {
    **packing.pack_words(["the", "cat", "New York"]),
    "means": np.arange(12, dtype=np.float32).reshape(3, 4),
    "log_variances": np.zeros((3, 1), np.float32),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.dv"


def raw_file(path, tensors, document, checksums=True):
    """Write a file as an enemy would: with whatever content, but a right layout and right checksums."""
    names = dict(tensors)
    if checksums:
        names[CHECKSUMS] = np.zeros((len(tensors) + 1, 4), np.uint8)
    start, order = build_header(names, {"densvec": document} if document is not None else {}, CHECKSUMS)
    parts = [names[name].tobytes() for name in order if not checksums or name != CHECKSUMS]
    if checksums:
        parts.append(np.array([zlib.crc32(part) for part in [*parts, start]], "<u4").tobytes())
    path.write_bytes(start + b"".join(parts))


DOCUMENT = dump_json({"format": "densvec", "format_version": 1, "class": "X"})


class TestRoundTrips:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(tensors=TENSORS, mmap=st.sampled_from([None, "r", "c"]))
    def test_every_array_comes_back_and_the_bytes_are_the_same_again(self, path, tensors, mmap):
        header = {"class": "X", "loss": float("nan"), "words": ["\0", "é"]}
        write(path, tensors, header)
        again, found = read(path, mmap=mmap)
        assert set(again) == set(tensors)
        for name, tensor in tensors.items():
            assert again[name].dtype == tensor.dtype
            assert again[name].shape == tensor.shape
            assert again[name].tobytes() == tensor.tobytes()
            assert again[name].flags.aligned
        content = path.read_bytes()
        write(path, again, found)
        assert path.read_bytes() == content

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(tensors=TENSORS)
    def test_the_safetensors_library_opens_our_files(self, path, tensors):
        write(path, tensors, {"class": "X"})
        with safetensors.safe_open(path, "numpy") as file:
            document = json.loads(file.metadata()["densvec"])
            assert document["class"] == "X"
            assert set(file.keys()) == {*tensors, CHECKSUMS}
            for name, tensor in tensors.items():
                assert file.get_tensor(name).tobytes() == tensor.tobytes()

    def test_we_open_files_of_the_safetensors_library(self, path):
        """Without checksums: others need not write them."""
        library.save_file(MODEL, path, {"densvec": DOCUMENT})
        tensors, header = read(path)
        assert header["class"] == "X"
        np.testing.assert_array_equal(tensors["means"], MODEL["means"])

    @pytest.mark.parametrize(
        "array",
        [
            np.arange(12.0).reshape(3, 4).T,
            np.arange(24.0).reshape(4, 6)[::2, ::-3],
            np.arange(5, dtype=">i4"),
            np.arange(300_000, dtype=">f8")[::-1],
            np.broadcast_to(np.float32(3), (200, 5000)),
        ],
    )
    def test_arrays_in_any_memory_order(self, path, array):
        write(path, {"a": array}, {})
        np.testing.assert_array_equal(read(path)[0]["a"], array)

    def test_large_tensors_of_odd_sizes(self, path):
        tensors = {"a": np.random.default_rng(0).random(700_001), "b": np.arange(2_000_003, dtype=np.uint8)}
        write(path, tensors, {})
        for mmap in (None, "r"):
            again, _ = read(path, mmap=mmap)
            for name in tensors:
                np.testing.assert_array_equal(again[name], tensors[name])

    def test_numbers_of_the_users_own_may_be_nan(self, path):
        write(path, {"attributes.score": np.array([np.nan, np.inf])}, {})
        np.testing.assert_array_equal(read(path)[0]["attributes.score"], [np.nan, np.inf])

    def test_great_but_finite_numbers(self, path):
        write(path, {"a": np.full(10, 3e38, np.float32), "b": np.full(10, -6e4, np.float16)}, {})
        assert read(path)[0]["a"][0] == np.float32(3e38)

    def test_str_and_path(self, path):
        write(str(path), MODEL, {})
        assert set(read(str(path))[0]) == set(read(path)[0]) == set(MODEL)

    def test_only_some_tensors(self, path):
        write(path, MODEL, {})
        assert set(read(path, only=["means", "other"])[0]) == {"means"}
        assert set(read(path, only=lambda name: name.startswith("voc"), mmap="r")[0]) == {
            "vocabulary.bytes",
            "vocabulary.offsets",
        }

    def test_provenance_is_kept_from_the_first_save(self, path):
        write(path, MODEL, {})
        first = read(path)[1]["provenance"]
        assert first["created_by"] == first["saved_by"] == f"densvec {densvec.__version__}"
        write(path, MODEL, {"provenance": {**first, "created": "2020-01-01", "saved_by": "densvec 0"}})
        assert read(path)[1]["provenance"] == {**first, "created": "2020-01-01"}


class TestMapping:
    def test_r_is_read_only_and_c_private(self, path):
        write(path, MODEL, {})
        content = path.read_bytes()
        shared = read(path, mmap="r")[0]["means"]
        with pytest.raises(ValueError, match="read-only"):
            shared[0] = 1
        private = read(path, mmap="c")[0]["means"]
        private[0] = 99
        assert path.read_bytes() == content
        assert shared[0, 0] == 0

    def test_other_modes_are_refused(self, path):
        write(path, MODEL, {})
        with pytest.raises(ValueError, match=r"mmap='r\+'"):
            read(path, mmap="r+")

    def test_a_mapped_model_survives_the_file_being_saved_over_or_removed(self, path):
        write(path, MODEL, {})
        mapped, header = read(path, mmap="r")
        write(path, {**mapped, "means": mapped["means"] + 1}, header)
        np.testing.assert_array_equal(mapped["means"], MODEL["means"])
        path.unlink()
        np.testing.assert_array_equal(mapped["means"], MODEL["means"])

    @pytest.mark.skipif(not os.path.exists("/proc/self/smaps"), reason="needs /proc")
    def test_a_mapped_table_is_not_read_and_its_pages_are_the_files(self, path):
        write(path, {"means": np.ones((1 << 16, 100), np.float32)}, {})
        script = """
            import re, sys
            import densvec.files.persistence as p
            means = p.read(sys.argv[1], mmap="r")[0]["means"]
            def pages(field):
                return sum(
                    int(re.search(field + r": +(\\d+)", part).group(1))
                    for part in re.split(r"\\n(?=[0-9a-f]+-)", open("/proc/self/smaps").read())
                    if "model.dv" in part.splitlines()[0]
                )
            before = pages("Rss")
            total = float(means.sum())
            print(before, pages("Rss"), pages("Private_Dirty"), pages("Anonymous"))
        """
        result = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script), str(path)],
            capture_output=True,
            text=True,
            check=True,
            cwd=pathlib.Path(__file__).parents[2],
        )
        before, after, dirty, anonymous = map(int, result.stdout.split())
        assert before < 4096  # kB, of 25,600: the header's page and what the kernel reads around it
        assert after >= 25_600
        assert dirty == anonymous == 0


class TestDamage:
    def test_a_missing_file_is_a_file_not_found_error(self, path):
        with pytest.raises(FileNotFoundError):
            read(path)

    def test_directories_and_pipes(self, tmp_path):
        with pytest.raises(IsADirectoryError):
            read(tmp_path)
        if hasattr(os, "mkfifo"):
            os.mkfifo(tmp_path / "pipe")
            with pytest.raises(DensvecFileError, match="not a regular file"):
                read(tmp_path / "pipe")

    @pytest.mark.parametrize("mmap", [None, "r"])
    def test_every_single_flipped_bit_is_found(self, path, mmap):
        write(path, MODEL, {"class": "X"})
        content = path.read_bytes()
        for place in range(len(content)):
            damaged = bytearray(content)
            damaged[place] ^= 1 << (place % 8)
            path.write_bytes(damaged)
            with pytest.raises(DensvecFileError, match=r"model\.dv: ."):
                read(path, mmap=mmap)

    @pytest.mark.parametrize("mmap", [None, "r"])
    def test_every_truncation_is_found(self, path, mmap):
        write(path, MODEL, {"class": "X"})
        content = path.read_bytes()
        for size in [*range(0, len(content), 3), len(content) - 1]:
            path.write_bytes(content[:size])
            with pytest.raises(DensvecFileError, match=r"model\.dv: ."):
                read(path, mmap=mmap)

    @pytest.mark.parametrize(
        ("content", "kind"),
        [
            (b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00", "a pickle"),
            (b"PK\x03\x04" + bytes(30), "a zip archive"),
            (b"\x93NUMPY\x01\x00" + bytes(30), ".npy"),
            (b"3 4\nthe 1 2 3 4\n", "vectors in the word2vec format"),
            (b"", "truncated, or not a safetensors file"),
        ],
    )
    def test_foreign_files_are_recognised(self, path, content, kind):
        path.write_bytes(content)
        with pytest.raises(DensvecFileError, match=kind):
            read(path)

    def test_other_safetensors_files(self, path):
        library.save_file({"a": np.ones(3)}, path)
        with pytest.raises(DensvecFileError, match="not one of densvec's"):
            read(path)

    @pytest.mark.parametrize(
        ("document", "fault"),
        [
            ('{"format":"densvec","format_version":3}', "version 3 is newer .* upgrade densvec"),
            ('{"format":"densvec","format_version":0}', "format_version is '0'"),
            ('{"format":"densvec","format_version":true}', "format_version is 'True'"),
            ('{"format":"densvec"}', "format_version is 'None'"),
            ('{"format":"others"}', "not densvec's JSON document"),
            ('{"format":"densvec","format_version":1,"provenance":5}', "provenance is not"),
            ("[]", "not densvec's JSON document"),
            ("{", "not JSON"),
            ("[" * 100_000, "nested too deeply"),
            ('{"a":1,"a":2}', "twice"),
            ('{"format":"densvec","format_version":1,"x":{"$float":"0"}}', "lacks '0'"),
        ],
    )
    def test_documents(self, path, document, fault):
        raw_file(path, MODEL, document)
        with pytest.raises(DensvecFileError, match=rf"model\.dv: .*{fault}"):
            read(path)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_numbers_that_are_none(self, path, value):
        means = MODEL["means"].copy()
        means[1, 2] = value
        raw_file(path, {**MODEL, "means": means}, DOCUMENT)
        for mmap in (None, "r"):
            with pytest.raises(DensvecFileError, match="means holds NaN or infinite"):
                read(path, mmap=mmap)
        write(path, MODEL, {"save": 1})
        with pytest.raises(ValueError, match="means holds NaN or infinite numbers: nothing was saved"):
            write(path, {**MODEL, "means": means}, {"save": 2})
        assert read(path)[1]["save"] == 1

    def test_false_checksums(self, path):
        for shape in [(1, 4), (len(MODEL) + 1, 2)]:
            raw_file(path, {**MODEL, CHECKSUMS: np.zeros(shape, np.uint8)}, DOCUMENT, checksums=False)
            with pytest.raises(DensvecFileError, match="checksums is uint8"):
                read(path)

    def test_bools_are_0_or_1(self, path):
        raw_file(path, {"a": np.array([0, 1, 2], np.uint8).view(bool)}, DOCUMENT)
        with pytest.raises(DensvecFileError, match="other than 0 and 1"):
            read(path)

    def test_a_lie_about_terabytes_allocates_nothing(self, path):
        write(path, MODEL, {})
        content = path.read_bytes()
        text = content[8 : 8 + int.from_bytes(content[:8], "little")]
        header = json.loads(text)
        header["means"]["shape"] = [2**40, 4]
        lie = json.dumps(header).encode()
        path.write_bytes(len(lie).to_bytes(8, "little") + lie + content[8 + len(text) :])
        with pytest.raises(DensvecFileError, match="needs 17,592,186,044,416 bytes"):
            read(path)

    def test_verify_reads_what_mapping_leaves_unread(self, path, monkeypatch):
        write(path, {"means": np.ones((50_000, 100), np.float32)}, {})
        verify(path)
        content = bytearray(path.read_bytes())
        content[10_000_000] ^= 1
        path.write_bytes(content)
        read(path, mmap="r")
        with pytest.raises(DensvecFileError, match="'means' is damaged"):
            verify(path)
        with pytest.raises(DensvecFileError, match="'means' is damaged"):
            read(path)


class TestWhatCannotBeSaved:
    @pytest.mark.parametrize(
        ("tensors", "header", "error"),
        [
            ({"a": np.zeros(2, complex)}, {}, TypeError),
            ({"a": np.array(["x"])}, {}, TypeError),
            ({"a": np.array([None])}, {}, TypeError),
            ({CHECKSUMS: np.zeros(1)}, {}, ValueError),
            ({}, {"a": object()}, TypeError),
        ],
    )
    def test_it_is_refused_and_the_old_file_stays(self, path, tensors, header, error):
        write(path, MODEL, {})
        content = path.read_bytes()
        with pytest.raises(error):
            write(path, tensors, header)
        assert path.read_bytes() == content
        assert os.listdir(path.parent) == [path.name]


SOURCES = sorted(pathlib.Path(densvec.__file__).parent.rglob("*.py*"))
SOURCES = [source for source in SOURCES if source.suffix in (".py", ".pyx", ".pyi", ".pxd")]
SOURCES = [source for source in SOURCES if source.name != "pickles.py"]  # reads them as data: test_gensim.py
EXECUTING = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_nothing_in_the_package_can_unpickle(source):
    text = source.read_text(encoding="utf-8")
    if source.suffix in (".pyx", ".pxd"):
        lines = [line.split("#")[0].split() for line in text.splitlines()]
        assert not [
            words
            for words in lines
            if words[:1] in (["import"], ["from"], ["cimport"]) and EXECUTING & set(words)
        ]
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            assert not EXECUTING & {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in EXECUTING
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            assert name not in ("np.load", "numpy.load", "torch.load", "eval", "exec", "__import__"), name
            assert not {keyword.arg for keyword in node.keywords} & {"allow_pickle"}, name


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_a_small_file_that_unpacks_to_much_is_refused_before_it_is_unpacked(tmp_path, ending):
    path = tmp_path / f"bomb.dv{ending}"
    zeros = np.zeros(80 << 18, np.float32)  # 80 MiB
    persistence.write(path, {"means": zeros}, {})
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    with pytest.raises(
        DensvecFileError, match=r"bomb\.dv.*83,886,\d* bytes, more than 67,108,864: give max_bytes"
    ):
        persistence.read(path)
    with pytest.raises(DensvecFileError, match="more than 1,000: give max_bytes"):
        persistence.read(path, max_bytes=1000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10_000_000
    if ending == ".gz":
        assert len(persistence.read(path, max_bytes=100 << 20)[0]["means"]) == len(zeros)


def test_what_compresses_as_models_do_is_read_whatever_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(persistence, "LEAST_UNPACKED", 1000)
    numbers = np.random.default_rng(1).normal(size=10_000).astype(np.float32)
    persistence.write(tmp_path / "model.dv.gz", {"means": numbers}, {})
    np.testing.assert_array_equal(persistence.read(tmp_path / "model.dv.gz")[0]["means"], numbers)
