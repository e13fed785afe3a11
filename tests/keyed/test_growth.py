"""Adding, sorting and choosing keys: means, variances, encoder and attributes stay together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from densvec import KeyedDensities
from densvec.encoder import Encoder

D = 3


def make(count=5, covariance="spherical", seed=0):
    rng = np.random.default_rng(seed)
    width = 1 if covariance == "spherical" else D
    wv = KeyedDensities(D, covariance=covariance)
    means, log_variances = rng.normal(size=(count, D)), rng.normal(size=(count, width))
    counts = rng.permutation(100)[:count]
    wv.add_vectors([f"w{i}" for i in range(count)], means, {"count": counts}, log_variances=log_variances)
    shapes = [(count, 2), (2, 4), (2, 4), (4, D), (D,), (4, width), (width,)]
    wv.encoder = Encoder(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))
    return wv


def rows_of(wv):
    """All that belongs to each key."""
    return {
        key: (
            wv.vectors[i].tolist(),
            wv.log_variances[i].tolist(),
            wv.encoder.embeddings[i].tolist(),
            {name: values[i] for name, values in wv.expandos.items()},
        )
        for key, i in wv.key_to_index.items()
    }


def assert_whole(wv):
    assert [wv.key_to_index[key] for key in wv.index_to_key] == list(range(len(wv)))
    tables = [wv.vectors, wv.log_variances, wv.encoder.embeddings, *wv.expandos.values()]
    assert {len(table) for table in tables} == {len(wv)}


@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
def test_sorting_keeps_rows_together(covariance):
    wv = make(covariance=covariance)
    before = rows_of(wv)
    wv.sort_by_descending_frequency()
    assert_whole(wv)
    assert rows_of(wv) == before
    assert list(wv.expandos["count"]) == sorted(wv.expandos["count"], reverse=True)


@pytest.mark.parametrize("covariance", ["spherical", "diagonal"])
def test_choosing_keeps_rows_together(covariance):
    wv = make(covariance=covariance)
    chosen = wv.vectors_for_all(["w4", "nope", "w1", "w4"], copy_vecattrs=True)
    assert_whole(chosen)
    assert rows_of(chosen) == {key: rows_of(wv)[key] for key in ("w4", "w1")}
    assert chosen.covariance == covariance
    chosen["w1"] = [9, 9, 9]
    assert wv["w1"].tolist() != [9, 9, 9]
    assert chosen.infer("w4", word="w1") == wv.infer("w4", word="w1")


keys = st.lists(st.sampled_from("abcdefgh"), max_size=6)


@given(st.lists(st.tuples(keys, st.booleans()), max_size=5))
def test_adding_is_like_a_dict(additions):
    wv = make(count=0)
    expected = {}
    for number, (names, replace) in enumerate(additions):
        means = np.arange(len(names) * D, dtype=float).reshape(len(names), D) + 100 * number
        spreads = means[:, :1] / 7
        wv.add_vectors(names, means, {"count": np.arange(len(names))}, replace=replace, log_variances=spreads)
        for i, name in enumerate(names):
            if replace or name not in expected:
                expected[name] = (means[i].tolist(), np.float32(spreads[i, 0]), i)
        assert_whole(wv)
    assert wv.index_to_key == list(expected)
    for name, (mean, spread, count) in expected.items():
        i = wv.get_index(name)
        assert wv.vectors[i].tolist() == mean
        assert wv.log_variances[i, 0] == spread
        assert wv.get_vecattr(name, "count") == count


def test_new_keys_have_neutral_rows():
    wv = make()
    wv["new"] = [1, 2, 3]
    assert_whole(wv)
    assert wv.get_variance("new").tolist() == [1]
    assert not wv.encoder.embeddings[-1].any()
    wv.infer("w1 new", word="w2")
    wv.infer("w1", word="new")


def test_a_failed_addition_changes_nothing():
    wv = make()
    before, counts = rows_of(wv), wv.expandos["count"].copy()
    bad = [
        lambda: wv.add_vectors(["a", "b"], np.ones((1, D))),
        lambda: wv.add_vectors(["a"], np.ones((1, D + 1))),
        lambda: wv.add_vectors(["a"], np.ones((1, D)), log_variances=np.ones((1, 2))),
        lambda: wv.add_vectors(["a"], np.ones((1, D)), {"count": [1, 2]}),
    ]
    for call in bad:
        with pytest.raises(ValueError, match="need"):
            call()
        assert_whole(wv)
        assert rows_of(wv) == before
        assert_array_equal(wv.expandos["count"], counts)
    with pytest.raises(ValueError, match="covariance="):
        KeyedDensities(D).add_vectors(["a"], np.ones((1, D)), log_variances=[[0.0]])


def test_resizing():
    wv = make()
    wv.index_to_key += ["new", "newer"]
    wv.key_to_index |= {"new": 5, "newer": 6}
    wv.resize_vectors(seed=1)
    assert_whole(wv)
    assert np.abs(wv.vectors[5:]).max() <= 1 / D
    assert wv.vectors[5].any()
    del wv.index_to_key[3:]
    wv.key_to_index = {key: i for i, key in enumerate(wv.index_to_key)}
    wv.resize_vectors()
    assert_whole(wv)


def test_preallocated_densities():
    wv = KeyedDensities(D, count=2, covariance="diagonal", dtype=np.float64)
    assert wv.add_vector("a", [1, 2, 3]) == 0
    assert wv.add_vector("a", [9, 9, 9]) == 0
    assert wv["a"].tolist() == [1, 2, 3]
    assert wv.log_variances.shape == (2, D)
    assert wv.vectors.dtype == np.float64


def test_unit_normalising_scales_densities():
    wv = make()
    kl = wv.density("w1").kl(wv.density("w1"))
    norm = np.linalg.norm(wv["w1"])
    variance = wv.get_variance("w1")
    wv.unit_normalize_all()
    np.testing.assert_allclose(np.linalg.norm(wv.vectors, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(wv.get_variance("w1"), variance / norm**2, rtol=1e-5)
    assert kl == 0


def test_covariance_must_be_known():
    with pytest.raises(ValueError, match="covariance='full' is unknown"):
        KeyedDensities(3, covariance="full")


def test_repr():
    assert repr(make()) == "KeyedDensities<vector_size=3, 5 keys, spherical, encoder>"
    assert str(KeyedDensities(7)) == "KeyedDensities<vector_size=7, 0 keys, means only>"


@pytest.mark.parametrize(
    "extras", [{"count": ["x"]}, {"count": [1], "new": [1, 2]}, {"new": [1], "count": ["x"]}]
)
def test_keys_are_added_with_all_of_their_attributes_or_not_at_all(extras):
    wv = KeyedDensities(2)
    wv.add_vectors(["a"], [[1.0, 2.0]], extras={"count": [3]})
    with pytest.raises((TypeError, ValueError), match=r"count|new"):
        wv.add_vectors(["b"], [[3.0, 4.0]], extras=extras)
    assert (wv.index_to_key, wv.key_to_index, wv.vectors.tolist()) == (["a"], {"a": 0}, [[1.0, 2.0]])
    assert {name: values.tolist() for name, values in wv.expandos.items()} == {"count": [3]}
