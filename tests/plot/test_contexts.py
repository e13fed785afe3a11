"""One word in several contexts."""

import matplotlib as mpl
import pytest

mpl.use("agg")
from densvec import plot
from tests.plot.cases import labels_of


def test_contexts_are_shaded_and_joined_to_the_prior_by_arrows(diagonal):
    contexts = {"one": ["word3", "word4"], "two": "word5 word6", "three": (["word9", "word1", "word7"], 1)}
    ax = plot.plot_contexts(diagonal, "word1", contexts)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["word1 out of context", *contexts]
    assert len(ax.patches) == 4
    arrows = [text for text in ax.texts if not text.get_text() and text.anncoords == "data"]  # no leaders
    assert len(arrows) == 3
    plane_of_prior = ax.patches[0].center
    for arrow, ellipse in zip(arrows, ax.patches[1:], strict=True):
        assert arrow.xyann == pytest.approx(plane_of_prior)
        assert arrow.xy == pytest.approx(ellipse.center)


def test_contexts_without_names_go_by_their_words(wv):
    ax = plot.plot_contexts(wv, "animal", [["dog", "cat"], "car"], neighbours=0)
    assert [text.get_text() for text in ax.get_legend().get_texts()][1:] == ["dog cat", "car"]
    with pytest.raises(TypeError, match="give a list"):
        plot.plot_contexts(wv, "animal", "dog cat")


def test_landmarks_are_the_nearest_words_that_may_be_named(diagonal):
    context = ["word3", "word4"]
    expected = [key for key, _ in diagonal.substitutes("word1", context, topn=4)]
    ax = plot.plot_contexts(diagonal, "word1", [context])
    assert {text.get_text() for text in labels_of(ax)} == {"word1", *expected}
    allowed = diagonal.index_to_key[30:]
    ax = plot.plot_contexts(diagonal, "word1", [context], landmarks=allowed, neighbours=3)
    assert {text.get_text() for text in labels_of(ax)} - {"word1"} <= set(allowed)
