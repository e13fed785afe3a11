"""Words and contexts as ellipses."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
import matplotlib.pyplot as plt

import densvec
from densvec import KeyedDensities, plot
from densvec.plot import COLOURS
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


def test_a_string_of_words_is_a_context_that_nobody_is_warned_of(wv, recwarn):
    plot.plot_contexts(wv, "animal", ["dog cat", "car"])
    assert not recwarn.list


def test_landmarks_are_the_nearest_words_that_may_be_named(diagonal):
    context = ["word3", "word4"]
    expected = [key for key, _ in diagonal.substitutes("word1", context, topn=4)]
    ax = plot.plot_contexts(diagonal, "word1", [context])
    assert {text.get_text() for text in labels_of(ax)} == {"word1", *expected}
    allowed = diagonal.index_to_key[30:]
    ax = plot.plot_contexts(diagonal, "word1", [context], landmarks=allowed, neighbours=3)
    assert {text.get_text() for text in labels_of(ax)} - {"word1"} <= set(allowed)


def widths(ax):
    return [patch.width for patch in ax.patches]


@pytest.fixture(scope="module")
def english():
    return densvec.load("english")


def test_words_of_real_text_differ_visibly(english):
    words = ["violin", "instrument"]
    true = widths(plot.plot_words(english, words, radii="true"))
    ax = plot.plot_words(english, words)
    shown = widths(ax)
    assert max(true) / min(true) < 1.1 < 1.3 < max(shown) / min(shown)
    assert any("radii by the rank" in text.get_text() for text in ax.texts)


def test_contexts_of_real_text_differ_visibly(english):
    contexts = ["the bank raised its interest rates", "along the bank of the river"]
    ax = plot.plot_contexts(english, "bank", contexts)
    prior, *posteriors = widths(ax)
    for width, context in zip(posteriors, contexts, strict=True):
        change = english.infer(context, word="bank").entropy() - english.density("bank").entropy()
        assert width == pytest.approx(prior * np.exp(change / 2), rel=1e-3)
    labels = {text.get_text() for text in ax.texts}
    assert not labels & {"banks", "river", "interest"}


def test_variances_that_differ_are_drawn_as_they_are():
    wv = KeyedDensities.from_arrays(["a", "b"], np.eye(2), log_variances=np.log([[1.0], [4.0]]))
    assert sorted(widths(plot.plot_words(wv, ["a", "b"]))) == pytest.approx([2, 4])
    with pytest.raises(ValueError, match="radii='big'"):
        plot.plot_words(wv, ["a", "b"], radii="big")


def test_ten_words_have_ten_colours():
    assert len(set(COLOURS)) == len(COLOURS) >= 10
