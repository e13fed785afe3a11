"""Norms, paths, and words between two groups."""

import numpy as np
import pytest

from densvec import plot
from densvec.questions.paths import Path
from densvec.questions.regression import Coefficient


def test_norms_stand_with_their_intervals_and_certain_ones_are_filled():
    found = [
        Coefficient("owl", "party[T.right]", 0.5, 0.4, 0.6, 0.001, 0.002, 90),
        Coefficient("owl", "year", 0.1, 0.0, 0.3, 0.6, 0.6, 90),
    ]
    ax = plot.plot_norms(found)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["party[T.right]", "year"]
    intervals, points = ax.lines[::2], ax.lines[1::2]
    assert [list(line.get_xdata()) for line in intervals] == [[0.4, 0.6], [0.0, 0.3]]
    assert [point.get_markerfacecolor() == "white" for point in points] == [False, True]
    both = plot.plot_norms([*found, Coefficient("kiwi", "year", 0.1, 0.0, 0.3, 0.6, 0.6, 90)])
    assert both.get_yticklabels()[0].get_text() == "owl: party[T.right]"


@pytest.mark.parametrize("axis", [None, ("bird", "fruit")])
def test_paths_of_words_have_bands(axis):
    line = np.array([0.0, 0.2, 0.3])
    paths = [
        Path(
            word,
            "year",
            [1990.0, 1995.0, 2000.0],
            [9, 9, 9],
            line,
            line - 0.1,
            line + 0.1,
            0.1,
            0.1,
            1995.0,
            axis,
        )
        for word in ("owl", "kiwi")
    ]
    ax = plot.plot_path(paths)
    assert len(ax.collections) == len(ax.lines) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["owl", "kiwi"]
    assert ax.get_xlabel() == "year"
    assert ("fruit" in ax.get_ylabel()) == (axis is not None)
