"""Words as ellipses."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
import matplotlib.pyplot as plt

from densvec import KeyedDensities, plot
from tests.plot.cases import labels_of, overlapping


@pytest.mark.parametrize("dimension", [1, 2])
def test_words_in_few_dimensions_can_be_drawn(dimension):
    wv = KeyedDensities(dimension, covariance="spherical")
    wv.add_vectors(["a", "b"], np.eye(2, dimension), log_variances=np.zeros((2, 1)))
    assert len(plot.plot_words(wv, ["a", "b"]).patches) == 2
    assert len(plot.plot_words(wv, ["a"]).patches) == 1


def test_ellipses_are_one_standard_deviation_wide(wv):
    ax = plot.plot_words(wv, ["animal", "dog"])
    assert sorted(patch.width / 2 for patch in ax.patches) == pytest.approx([1, 2])  # variances 1 and 4


def test_words_are_drawn_into_the_axes_given(diagonal):
    _, (left, right) = plt.subplots(1, 2)
    words = diagonal.index_to_key[:12]
    assert plot.plot_words(diagonal, words, right) is right
    assert not left.patches
    assert {text.get_text() for text in labels_of(right)} == set(words)
    assert right.get_aspect() == 1


def test_the_order_of_words_does_not_change_their_places(diagonal):
    words = diagonal.index_to_key[:8]
    places = []
    for order in (words, [words[0], *reversed(words[1:])]):
        ax = plot.plot_words(diagonal, order)
        places.append({text.get_text(): text.xy for text in labels_of(ax)})
    for word in words:
        assert places[0][word] == pytest.approx(places[1][word], abs=1e-6)


def test_labels_of_words_do_not_overlap(diagonal):
    ax = plot.plot_words(diagonal, diagonal.index_to_key[:15])
    ax.figure.draw_without_rendering()
    assert not overlapping(labels_of(ax))


@pytest.mark.parametrize(
    "call", [lambda wv: plot.plot_words(wv, []), lambda wv: plot.plot_contexts(wv, "dog", [])]
)
def test_nothing_to_draw_is_an_error(wv, call):
    with pytest.raises(ValueError, match="give at least one"):
        call(wv)
