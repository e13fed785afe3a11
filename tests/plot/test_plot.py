"""Pictures: what is drawn, where, and that labels can be read."""

import itertools
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
import matplotlib.pyplot as plt
from matplotlib.colors import to_rgb

from conftest import example_densities
from densvec import Gaussian, KeyedDensities, plot
from densvec.encoder import Encoder
from densvec.plot.labels import Label, place_labels


@pytest.fixture
def wv():
    return example_densities()


@pytest.fixture
def diagonal():
    """Many words in ten dimensions, with an encoder and diagonal variances."""
    rng = np.random.default_rng(1)
    words = [f"word{i}" for i in range(60)]
    wv = KeyedDensities(10, covariance="diagonal")
    wv.add_vectors(
        words,
        rng.normal(size=(60, 10)),
        extras={"count": np.geomspace(10_000, 5, 60).astype(np.int64)},
        log_variances=rng.normal(size=(60, 10)),
    )
    shapes = [(60, 4), (4, 6), (4, 6), (6, 10), (10,), (6, 10), (10,)]
    wv.encoder = Encoder(*(rng.normal(size=shape).astype(np.float32) for shape in shapes))
    return wv


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def boxes(annotations):
    """Return the boxes of texts, in pixels."""
    return [text.get_window_extent() for text in annotations]


def overlapping(annotations):
    return [(a, b) for a, b in itertools.combinations(boxes(annotations), 2) if a.overlaps(b)]


def labels_of(ax):
    return [text for text in ax.texts if text.get_text()]


# The plane


def test_the_plane_keeps_distances_of_points_that_lie_in_one():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(6, 2)) @ rng.normal(size=(2, 30)) + 5
    plane = plot.Plane.fitted(points)
    seen = plane.points(points)
    for i, j in itertools.combinations(range(6), 2):
        assert np.linalg.norm(seen[i] - seen[j]) == pytest.approx(np.linalg.norm(points[i] - points[j]))


def test_a_density_in_the_plane_has_the_covariance_of_its_projected_samples():
    rng = np.random.default_rng(3)
    density = Gaussian(rng.normal(size=5), rng.uniform(0.1, 3, size=5))
    plane = plot.Plane.fitted(rng.normal(size=(4, 5)))
    samples = plane.points(density.sample(200_000, seed=4))
    np.testing.assert_allclose(plane.covariance(density), np.cov(samples.T), atol=0.03)


@pytest.mark.parametrize("dimension", [1, 2])
def test_words_in_few_dimensions_can_be_drawn(dimension):
    wv = KeyedDensities(dimension, covariance="spherical")
    wv.add_vectors(["a", "b"], np.eye(2, dimension), log_variances=np.zeros((2, 1)))
    assert len(plot.plot_words(wv, ["a", "b"]).patches) == 2
    assert len(plot.plot_words(wv, ["a"]).patches) == 1


# Words and contexts


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


@pytest.mark.parametrize(
    "call", [lambda wv: plot.plot_words(wv, []), lambda wv: plot.plot_contexts(wv, "dog", [])]
)
def test_nothing_to_draw_is_an_error(wv, call):
    with pytest.raises(ValueError, match="give at least one"):
        call(wv)


# The other figures


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


def test_histograms_hold_every_known_pair_once(diagonal):
    words = diagonal.index_to_key
    pairs = [(words[i], words[i + 1]) for i in range(20)] + [("unknown", words[0])]
    others = [(words[i], words[i + 30]) for i in range(30)]
    ax = plot.plot_entailment(diagonal, pairs, others)
    for patch in ax.patches:
        assert patch.get_data().values.sum() == pytest.approx(1)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "a entails b (20)",
        "other pairs (30)",
    ]
    with pytest.raises(ValueError, match="other pairs"):
        plot.plot_entailment(diagonal, pairs, [("unknown", "words")])


def test_entropy_starts_at_the_prior_and_leaves_out_unknown_words(diagonal):
    ax = plot.plot_entropy(diagonal, "word1", ["word2", "unknown", "word3"])
    line = ax.lines[-1].get_ydata()
    assert line[0] == pytest.approx(float(diagonal.density("word1").entropy()))
    assert line[2] == pytest.approx(float(diagonal.infer(["word2", "word3"], "word1").entropy()), rel=1e-5)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["(no context)", "+ word2", "+ word3"]


# Labels


def test_labels_of_a_crowd_do_not_overlap():
    rng = np.random.default_rng(5)
    figure, ax = plt.subplots(figsize=(6, 4.5))
    points = rng.normal(size=(25, 2)) * 0.4
    points[:5] *= 0.1  # several nearly in one place
    ax.plot(*points.T, ".")
    ax.margins(0.1)
    annotations = place_labels(ax, [Label(f"label{i}", x, y, "black") for i, (x, y) in enumerate(points)])
    figure.draw_without_rendering()
    assert not overlapping(annotations)
    frame = ax.get_window_extent()
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes(annotations))


def test_labels_of_words_do_not_overlap(diagonal):
    ax = plot.plot_words(diagonal, diagonal.index_to_key[:15])
    ax.figure.draw_without_rendering()
    assert not overlapping(labels_of(ax))


def test_labels_fit_in_subfigures(diagonal):
    figure = plt.figure(figsize=(10, 4), layout="constrained")
    for part in figure.subfigures(1, 2):
        plot.plot_words(diagonal, diagonal.index_to_key[:6], part.subplots())
    figure.draw_without_rendering()


def test_colours_can_be_told_apart_and_read():
    """Lightness differs between neighbours in the order of use, and text in dark variants stands out on white."""

    def luminance(colour):
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    for colour in plot.COLOURS:
        assert 1.05 / (luminance(plot._dark(colour)) + 0.05) > 4.5  # WCAG AA
    assert len(set(plot.COLOURS)) == len(plot.COLOURS)


def test_importing_needs_no_matplotlib():
    code = "import densvec.plot, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
