"""Tables stored as 8-bit rows or 16-bit floats."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from densvec import BayesianSkipGram, DensvecFileError, KeyedDensities
from densvec.datasets import toy_language
from densvec.distances.metrics import METRICS
from densvec.files import persistence
from densvec.files.compact import CompactRows, compacted
from densvec.keyed.saving import header_of, tensors_of

numbers = st.floats(-1e4, 1e4, width=32)
tables = arrays(np.float32, st.tuples(st.integers(0, 6), st.integers(1, 5)), elements=numbers)


@pytest.fixture(scope="module", params=["spherical", "diagonal"])
def words(request):
    return BayesianSkipGram(
        toy_language(2000),
        vector_size=16,
        sample=0.01,
        epochs=3,
        workers=1,
        covariance=request.param,
        show_progress=False,
    ).wv


class TestRows:
    @given(tables, st.booleans())
    def test_int8_is_within_half_a_step(self, table, centred):
        rows = CompactRows.of(table, "int8", centred=centred)
        span = np.ptp(table, axis=1, keepdims=True) / 2 if centred else abs(table).max(axis=1, keepdims=True)
        slack = 1e-5 * abs(table).max(initial=1)
        assert (abs(rows[:] - table) <= span / 127 / 2 + slack).all()

    @given(tables)
    def test_compacting_again_changes_nothing(self, table):
        once = CompactRows.of(table, "int8")
        twice = CompactRows.of(once[:], "int8")
        assert np.array_equal(once.codes, twice.codes)
        assert np.allclose(once.scales, twice.scales, rtol=1e-6)

    def test_rows_are_asked_for_as_from_an_array(self):
        rows = CompactRows.of(np.arange(12.0).reshape(4, 3), "float16")
        assert rows.shape == (4, 3)
        assert len(rows) == 4
        whole = np.asarray(rows)
        assert whole.dtype == np.float32
        for key in (2, slice(1, 3), [3, 0], np.array([True, False, False, True])):
            assert np.array_equal(rows[key], whole[key])

    def test_a_row_of_zeros_stays_one(self):
        assert not CompactRows.of(np.zeros((2, 3)), "int8")[:].any()

    def test_numbers_that_do_not_fit(self):
        with pytest.raises(ValueError, match="NaN"):
            CompactRows.of([[np.nan, 1.0]], "int8")
        with pytest.raises(ValueError, match="beyond float16"):
            CompactRows.of([[1e6, 1.0]], "float16")


class TestFiles:
    @pytest.mark.parametrize("dtype", ["int8", "float16"])
    @pytest.mark.parametrize("mmap", [None, "r"])
    def test_answers_hardly_change(self, words, tmp_path, dtype, mmap):
        words.save(tmp_path / "small.dv", dtype=dtype)
        small = KeyedDensities.load(tmp_path / "small.dv", mmap=mmap)
        assert small.index_to_key == words.index_to_key
        assert small.vectors.dtype == np.float32
        keys = words.index_to_key
        for metric in METRICS:
            ours = [words.similarity("kiwi", key, metric=metric) for key in keys]
            theirs = [small.similarity("kiwi", key, metric=metric) for key in keys]
            assert np.corrcoef(ours, theirs)[0, 1] > 0.999, metric
        sentence = ["the", "flightless", "kiwi", "digs", "in", "the", "forest"]
        known = [word for word in sentence if word in words]
        posterior, compact = (wv.infer(known, word="kiwi") for wv in (words, small))
        assert np.linalg.norm(posterior.mean - compact.mean) < 0.02 * np.linalg.norm(posterior.mean)
        assert np.allclose(posterior.variance, compact.variance, rtol=0.02)

    def test_sizes(self, words, tmp_path):
        sizes = {}
        for dtype in ("float32", "float16", "int8"):
            words.save(tmp_path / dtype, dtype=dtype)
            tensors, _ = persistence.read(tmp_path / dtype)
            sizes[dtype] = tensors["encoder.embeddings"].nbytes
        assert sizes["float16"] * 2 == sizes["int8"] * 4 == sizes["float32"]

    def test_saving_again_gives_the_same_codes(self, words, tmp_path):
        words.save(tmp_path / "one.dv", dtype="int8")
        KeyedDensities.load(tmp_path / "one.dv").save(tmp_path / "two.dv", dtype="int8")
        first, second = (persistence.read(tmp_path / name)[0] for name in ("one.dv", "two.dv"))
        for name in ("means", "encoder.embeddings"):
            assert np.array_equal(first[name], second[name])

    def test_the_format_is_the_second_one(self, words, tmp_path):
        for dtype, version in (("int8", 2), ("float32", 1), (None, 1)):
            words.save(tmp_path / "words.dv", dtype=dtype)
            assert persistence.read(tmp_path / "words.dv")[1]["format_version"] == version

    def test_compact_words_can_grow(self, words, tmp_path):
        words.save(tmp_path / "small.dv", dtype="int8")
        small = KeyedDensities.load(tmp_path / "small.dv", mmap="r")
        before = small["kiwi"].copy()
        small.add_vectors(["moa"], np.ones((1, 16)))
        assert np.array_equal(small["kiwi"], before)
        assert small.infer("kiwi", word="moa").mean.shape == (16,)
        small.save(tmp_path / "grown.dv")
        assert "moa" in KeyedDensities.load(tmp_path / "grown.dv")

    def test_unknown_types_are_refused(self, words, tmp_path):
        with pytest.raises(ValueError, match="dtype='int4': use 'float32', 'float16', 'int8'"):
            words.save(tmp_path / "words.dv", dtype="int4")

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda t, h: h.update(compact="int4"), "compact is 'int4'"),
            (lambda t, h: t.pop("means.scales"), "no tensor 'means.scales'"),
            (lambda t, h: t.update({"means.scales": t["means.scales"][1:]}), "means.scales is float32"),
        ],
    )
    def test_damage_is_named(self, words, tmp_path, change, message):
        header = {**header_of(words), "compact": "int8"}
        tensors = compacted(tensors_of(words), "int8")
        change(tensors, header)
        persistence.write(tmp_path / "bad.dv", tensors, header)
        with pytest.raises(DensvecFileError, match=message):
            KeyedDensities.load(tmp_path / "bad.dv")


def test_double_precision_becomes_single(tmp_path):
    wv = KeyedDensities.from_arrays(["a", "b"], np.eye(2), log_variances=np.zeros((2, 1)))
    wv.save(tmp_path / "words.dv", dtype="int8")
    small = KeyedDensities.load(tmp_path / "words.dv")
    assert small.vectors.dtype == small.log_variances.dtype == np.float32
