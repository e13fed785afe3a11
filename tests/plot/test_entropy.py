"""The entropy of a posterior as its context grows."""

import matplotlib as mpl
import pytest

mpl.use("agg")
from densvec import plot


def test_entropy_starts_at_the_prior_and_leaves_out_unknown_words(diagonal):
    ax = plot.plot_entropy(diagonal, "word1", ["word2", "unknown", "word3"])
    line = ax.lines[-1].get_ydata()
    assert line[0] == pytest.approx(float(diagonal.density("word1").entropy()))
    assert line[2] == pytest.approx(float(diagonal.infer(["word2", "word3"], "word1").entropy()), rel=1e-5)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["(no context)", "+ word2", "+ word3"]
