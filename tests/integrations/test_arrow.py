"""Arrow tables and Parquet files: a round trip, and what others make of them."""

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
parquet = pytest.importorskip("pyarrow.parquet")

from conftest import example_densities
from densvec import KeyedDensities


@pytest.fixture
def wv():
    return example_densities()


def make(covariance):
    rng = np.random.default_rng(1)
    wv = KeyedDensities(3, covariance=covariance, window=7)
    log_variances = {None: None, "spherical": rng.normal(size=(5, 1)), "diagonal": rng.normal(size=(5, 3))}
    extras = {"count": np.arange(5), "share": rng.random(5)}
    wv.add_vectors(
        list("abcdé"), rng.normal(size=(5, 3)), extras=extras, log_variances=log_variances[covariance]
    )
    return wv


@pytest.mark.parametrize("covariance", [None, "spherical", "diagonal"])
def test_a_round_trip(covariance, tmp_path):
    wv = make(covariance)
    parquet.write_table(wv.to_arrow(), tmp_path / "words.parquet")
    for again in (
        KeyedDensities.from_arrow(wv.to_arrow()),
        KeyedDensities.from_arrow(parquet.read_table(tmp_path / "words.parquet")),
    ):
        assert again.index_to_key == wv.index_to_key
        assert again.window == 7
        np.testing.assert_array_equal(again.vectors, wv.vectors)
        for name in ("count", "share"):
            np.testing.assert_array_equal(again.expandos[name], wv.expandos[name])
        if covariance is None:
            assert again.log_variances is None
        else:
            np.testing.assert_allclose(again.log_variances, wv.log_variances, rtol=1e-5, atol=1e-6)


def test_means_are_not_copied(wv):
    column = wv.to_arrow()["mean"].chunk(0).flatten()
    assert np.shares_memory(column.to_numpy(zero_copy_only=True), wv.vectors)


def test_duckdb_reads_the_file(wv, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "words.parquet"
    parquet.write_table(wv.to_arrow(), path)
    rows = duckdb.sql(f"SELECT word, variance FROM '{path}' WHERE count > 250 ORDER BY count").fetchall()
    assert rows == [("dog", 1.0), ("animal", pytest.approx(4.0))]


def test_foreign_tables():
    with pytest.raises(ValueError, match="no column 'mean'"):
        KeyedDensities.from_arrow(pa.table({"word": ["a"]}))
    lists = pa.table({"word": ["a", "b"], "mean": [[1.0, 2.0], [3.0, 4.0]]})  # lists of any length
    assert KeyedDensities.from_arrow(lists)["b"].tolist() == [3.0, 4.0]
    with pytest.raises(ValueError, match="positive"):
        KeyedDensities.from_arrow(lists.append_column("variance", pa.array([1.0, -1.0])))
    with pytest.raises(ValueError, match="floating-point"):
        KeyedDensities.from_arrow(pa.table({"word": ["a", "b"], "mean": [[1.0, 2.0], [3.0]]}))
    with pytest.raises(ValueError, match="empty rows"):
        KeyedDensities.from_arrow(pa.table({"word": ["a", "b"], "mean": [[1.0, 2.0], None]}))
