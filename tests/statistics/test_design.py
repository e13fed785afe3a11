import numpy as np
import pytest

from densvec.statistics.design import Design, as_column

TABLE = {
    "party": as_column(["left", "right", "left", "centre", None]),
    "year": as_column(["1990", "1991", "1992", "1991", "1990"]),
    "term": as_column([1, 2, 2, 1, 1]),
    "birth year": as_column([1950, 1940, 1960, 1945, 1950]),
}


def test_sums_of_columns_are_what_formulaic_makes_of_them():
    pd, formulaic = pytest.importorskip("pandas"), pytest.importorskip("formulaic")
    formula = "party + year + C(term)"
    design = Design(formula, TABLE)
    oracle = formulaic.model_matrix(formula, pd.DataFrame(TABLE), na_action="drop")
    assert design.names == [name.replace(".0]", "]") for name in oracle.model_spec.column_names]
    np.testing.assert_array_equal(design.matrix(TABLE)[:4], oracle.to_numpy())
    assert np.isnan(design.matrix(TABLE)[4]).all()


def test_gaps_of_every_kind_are_gaps():
    pd = pytest.importorskip("pandas")
    column = as_column([1, pd.NA, None, "", float("nan"), "3"])
    np.testing.assert_array_equal(column, [1, np.nan, np.nan, np.nan, np.nan, 3])
    matrix = Design("by", {"by": as_column(["a", pd.NA, pd.NaT, None, "b"])}).matrix
    assert np.isnan(matrix({"by": as_column(["a", pd.NA, pd.NaT, None, "b"])})[:, 0]).tolist() == [
        0,
        1,
        1,
        1,
        0,
    ]


def test_names_with_spaces_need_no_formulaic():
    assert Design("birth year + party", TABLE).names[:2] == ["Intercept", "birth year"]


def test_everything_else_is_formulaics():
    pytest.importorskip("formulaic")
    gaps = TABLE | {"year": as_column([1990, 1991, None, 1993, 1994])}
    assert not np.isnan(Design("scale(year)*party", gaps).matrix(gaps)[[0, 1, 3]]).any()
    design = Design("party:term + poly(year, 2)", TABLE)
    assert sorted(design.columns) == ["party", "term", "year"]
    matrix = design.matrix(TABLE)
    assert matrix.shape == (5, len(design.names))
    assert np.isnan(matrix[4]).all()
    assert not np.isnan(matrix[:4]).any()
    other = {name: column[:2] for name, column in TABLE.items()}
    np.testing.assert_allclose(design.matrix(other), matrix[:2])  # as fitted, not anew


def test_what_is_wrong_is_said():
    with pytest.raises(ValueError, match="party is never green: it is centre, left, right"):
        Design("party", TABLE).matrix({"party": as_column(["green"])})
    with pytest.raises(ValueError, match="party has one value only"):
        Design("party", {"party": as_column(["left", "left", None])})
    pytest.importorskip("formulaic")
    with pytest.raises(ValueError, match="no intercept"):
        Design("0 + year:term", TABLE)
    with pytest.raises(ValueError, match="the formula 'party \\+ nothing\\(year\\)'"):
        Design("party + nothing(year)", TABLE)
