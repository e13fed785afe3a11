"""wv.save and KeyedDensities.load: everything comes back, mapped or not, and damage is refused."""

import io
import pathlib

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from densvec.encoder import Encoder
from densvec.files import persistence
from densvec.files.persistence import DensvecFileError
from densvec.keyed import KeyedDensities

WORDS = ["the", "New York", "\U0001f600", "line\nbreak", "nul\0inside", "\ud800", "", "日本語", "\0"]


def make(words=WORDS, size=4, covariance="spherical", encoder=True, residual=False, hidden=3, seed=0):
    rng = np.random.default_rng(seed)

    def table(*shape):
        return rng.standard_normal(shape, dtype=np.float32)

    width = size if covariance == "diagonal" else 1
    network = Encoder(
        embeddings=table(len(words), 5),
        context_layer=table(5, hidden),
        centre_layer=table(5, hidden),
        mean_head=table(hidden, size),
        mean_bias=table(size),
        variance_head=table(hidden, width),
        variance_bias=table(width),
        residual=residual,
    )
    return KeyedDensities.from_arrays(
        list(words),
        table(len(words), size),
        log_variances=table(len(words), width) if covariance else None,
        encoder=network if encoder else None,
        attributes={"count": rng.integers(1, 99, len(words)), "score": table(len(words))},
        window=7,
    )


def assert_same(a, b):
    assert a.index_to_key == b.index_to_key
    assert a.key_to_index == b.key_to_index
    assert (a.vector_size, a.window, a.covariance, len(a)) == (b.vector_size, b.window, b.covariance, len(b))
    np.testing.assert_array_equal(a.vectors, b.vectors)
    assert a.vectors.dtype == b.vectors.dtype
    if a.log_variances is not None:
        np.testing.assert_array_equal(a.log_variances, b.log_variances)
    assert (a.encoder is None) == (b.encoder is None)
    if a.encoder is not None:
        assert a.encoder.residual == b.encoder.residual
        for name, weights in a.encoder.arrays().items():
            np.testing.assert_array_equal(weights, getattr(b.encoder, name))
    assert set(a.expandos) == set(b.expandos)
    for name, values in a.expandos.items():
        np.testing.assert_array_equal(values, b.expandos[name])
        assert values.dtype == b.expandos[name].dtype


@pytest.fixture
def path(tmp_path):
    return tmp_path / "words.dv"


class TestRoundTrips:
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
    @given(
        words=st.lists(st.text(st.characters(codec=None), max_size=8), unique=True, max_size=12),
        size=st.integers(1, 5),
        covariance=st.sampled_from(["spherical", "diagonal", None]),
        encoder=st.booleans(),
        residual=st.booleans(),
        mmap=st.sampled_from([None, "r", "c"]),
    )
    def test_everything_comes_back_and_saves_to_the_same_bytes(
        self, path, words, size, covariance, encoder, residual, mmap
    ):
        wv = make(words, size, covariance, encoder, residual)
        wv.save(path)
        again = KeyedDensities.load(path, mmap=mmap)
        assert_same(wv, again)
        content = path.read_bytes()
        again.save(path)
        assert path.read_bytes() == content
        wv.save(path)
        assert path.read_bytes() == content

    def test_answers_are_the_same(self, path):
        wv = make()
        wv.save(str(path))
        for mmap in (None, "r"):
            again = KeyedDensities.load(str(path), mmap=mmap)
            assert again.most_similar("the", topn=3) == wv.most_similar("the", topn=3)
            assert again.most_similar("the", topn=3, metric="kl") == wv.most_similar(
                "the", topn=3, metric="kl"
            )
            assert again.infer(["the", "New York"], word="\0") == wv.infer(["the", "New York"], word="\0")
            assert again.get_vecattr("the", "count") == wv.get_vecattr("the", "count")

    @pytest.mark.parametrize("dtype", [np.float16, np.float64])
    def test_other_precisions(self, path, dtype):
        wv = make(encoder=False)
        wv.vectors = wv.vectors.astype(dtype)
        wv.save(path)
        assert_same(wv, KeyedDensities.load(path))

    def test_attributes_of_any_kind(self, path):
        wv = make(["a", "b", "c"])
        wv.set_vecattr("a", "flag", True)
        wv.expandos["name"] = np.array(["x", None, "z"], dtype=object)
        wv.expandos["gap"] = np.array([1.0, np.nan, np.inf])
        wv.save(path)
        assert_same(wv, KeyedDensities.load(path))

    def test_an_empty_vocabulary(self, path):
        wv = KeyedDensities(5, covariance="diagonal")
        wv.save(path)
        assert_same(wv, KeyedDensities.load(path))

    def test_open_files(self):
        wv = make()
        buffer = io.BytesIO()
        wv.save(buffer)
        buffer.seek(0)
        assert_same(wv, KeyedDensities.load(buffer))

    def test_a_loaded_model_can_be_changed_and_a_mapped_one_says_why_not(self, path):
        make().save(path)
        wv = KeyedDensities.load(path)
        wv.vectors[0] = 1
        mapped = KeyedDensities.load(path, mmap="r")
        with pytest.raises(ValueError, match="read-only"):
            mapped.vectors[0] = 1
        mapped.add_vectors(["new"], np.ones((1, 4)))
        assert "new" in mapped


class TestGensimsArguments:
    def test_they_are_accepted(self, path):
        wv = make()
        wv.save(path, separately=["vectors"], sep_limit=1, ignore=frozenset(["norms"]), pickle_protocol=4)
        assert [file.name for file in path.parent.iterdir()] == [path.name]
        assert_same(wv, KeyedDensities.load(path))

    def test_ignore_leaves_out(self, path):
        wv = make()
        wv.save(path)
        whole = path.stat().st_size
        wv.save(path, ignore=["encoder", "score", "count"])
        again = KeyedDensities.load(path)
        assert again.encoder is None
        assert again.expandos == {}
        assert path.stat().st_size < whole
        wv.save(path, ignore=["log_variances", "encoder"])
        assert KeyedDensities.load(path).covariance is None

    @pytest.mark.parametrize("name", ["vectors", "means", "index_to_key", "vocabulary"])
    def test_what_cannot_be_left_out(self, path, name):
        with pytest.raises(ValueError, match=f"ignore='{name}'"):
            make().save(path, ignore=[name])
        assert not path.exists()


def change(path, header=(), **tensors):
    """Rewrite a file with other content; a tensor that is None is left out."""
    arrays, document = persistence.read(path)
    for name, array in tensors.items():
        name = name.replace("__", ".")
        arrays[name] = array
        if array is None:
            del arrays[name]
    persistence.write(path, arrays, {**document, **dict(header)})


class TestDamage:
    @pytest.mark.parametrize(
        ("changes", "fault"),
        [
            ({"means": None}, "no tensor 'means'"),
            ({"means": np.zeros((3, 4), np.float32)}, r"means is float32\[3, 4\], not float\[9, any\]"),
            ({"means": np.zeros((9, 4), np.int32)}, "means is int32"),
            ({"means": np.zeros(9, np.float32)}, r"means is float32\[9\]"),
            ({"means": np.zeros((9, 5), np.float32)}, "encoder has .* 4 dimensions"),
            ({"log_variances": np.zeros((9, 2), np.float32)}, "log_variances has 2 columns"),
            ({"log_variances": np.zeros((8, 1), np.float32)}, "log_variances is"),
            ({"vocabulary__counts": np.zeros(8, np.int64)}, "counts is"),
            ({"vocabulary__bytes": None}, "vocabulary.bytes"),
            ({"vocabulary__offsets": np.arange(10)}, "vocabulary.offsets"),
            ({"encoder__mean_bias": None}, "encoder.mean_bias"),
            ({"encoder__mean_bias": np.zeros(3, np.float32)}, "mean_bias has shape"),
            ({"encoder__embeddings": np.zeros((8, 5), np.float32)}, "encoder has 8 words"),
            ({"encoder__embeddings": np.zeros((9, 5))}, "different types: float32, float64"),
            ({"encoder__context_layer": np.zeros((2, 2, 2), np.float32)}, "encoder.context_layer"),
            ({"attributes__score": np.zeros((9, 2))}, "attributes.score"),
        ],
    )
    def test_tensors_that_do_not_fit_each_other(self, path, changes, fault):
        make().save(path)
        change(path, **changes)
        for mmap in (None, "r"):
            with pytest.raises(DensvecFileError, match=rf"words\.dv: .*{fault}"):
                KeyedDensities.load(path, mmap=mmap)

    @pytest.mark.parametrize("window", [0, -1, "5", None, 2.5, True])
    def test_headers_that_make_no_sense(self, path, window):
        make().save(path)
        change(path, {"window": window})
        with pytest.raises(DensvecFileError, match="window"):
            KeyedDensities.load(path)

    def test_a_pickle_that_would_act_does_not(self, path, tmp_path):
        trace = tmp_path / "trace"
        path.write_bytes(b"cos\nsystem\n(S'touch " + str(trace).encode() + b"'\ntR.")
        with pytest.raises(DensvecFileError):
            KeyedDensities.load(path)
        assert not trace.exists()

    def test_keys_that_are_not_words_cannot_be_saved(self, path):
        wv = KeyedDensities(2)
        wv.add_vectors([7], np.ones((1, 2)))
        with pytest.raises(ValueError, match="7"):
            wv.save(path)
        assert not path.exists()

    def test_a_diverged_table_is_not_saved_over_a_good_one(self, path):
        wv = make()
        wv.save(path)
        broken = make()
        broken.vectors[3] = np.nan
        with pytest.raises(ValueError, match="means holds NaN"):
            broken.save(path)
        assert_same(wv, KeyedDensities.load(path))


def test_missing_files_and_paths_of_any_kind(tmp_path):
    for path in (str(tmp_path / "none.dv"), tmp_path / "none.dv", pathlib.PurePath(tmp_path / "none.dv")):
        with pytest.raises(FileNotFoundError):
            KeyedDensities.load(path)
