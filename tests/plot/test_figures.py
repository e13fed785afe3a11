"""Generality against frequency."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
from densvec import plot
from tests.plot.cases import labels_of


def test_generality_is_drawn_against_frequency(diagonal):
    ax = plot.plot_generality(diagonal)
    points = np.asarray(ax.collections[0].get_offsets())
    counts = np.asarray(diagonal.expandos["count"])
    np.testing.assert_allclose(points[:, 0], counts)
    np.testing.assert_allclose(points[:, 1], diagonal.generality(diagonal.index_to_key), rtol=1e-6)
    expected = np.corrcoef(np.log(counts), points[:, 1])[0, 1]
    assert ax.texts[0].get_text() == f"r = {expected:.2f}"
    assert len(labels_of(ax)) == 13  # six of each kind, and the correlation
    assert len(plot.plot_generality(diagonal, topn=7).collections[0].get_offsets()) == 7


def test_generality_needs_counts(wv):
    wv.expandos.clear()
    with pytest.raises(ValueError, match="counts"):
        plot.plot_generality(wv)
