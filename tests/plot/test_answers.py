"""Occurrences coloured by sense, ways between models, and trees."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
from densvec import KeyedDensities, compare, plot
from densvec.gaussian import Gaussian
from densvec.questions.senses import Sense, Senses
from densvec.questions.taxonomy import Taxonomy
from densvec.text.concordance import Occurrence


def made_senses(centres, count=40):
    """Return senses whose occurrences lie about the given centres."""
    rng = np.random.default_rng(1)
    points = np.concatenate([centre + rng.normal(size=(count, len(centre))) * 0.3 for centre in centres])
    labels = np.repeat(np.arange(len(centres)), count)
    senses = [
        Sense(
            "kiwi", i, 1 / len(centres), Gaussian(points[labels == i].mean(axis=0), 1.0), [(f"w{i}", 1.0)], []
        )
        for i in range(len(centres))
    ]
    items = [Occurrence(["kiwi"], 0)] * len(points)
    return Senses("kiwi", senses, items, labels, Gaussian(points, np.ones((len(points), 1))))


@pytest.mark.parametrize("number", [1, 2, 3])
def test_occurrences_are_coloured_by_sense_and_apart(number):
    centres = 4 * np.eye(6)[:number]
    ax = plot.plot_senses(made_senses(centres))
    assert len(ax.collections) == number
    colours = {tuple(each.get_facecolor()[0]) for each in ax.collections}
    assert len(colours) == number
    clouds = [np.asarray(each.get_offsets()) for each in ax.collections]
    assert all(len(cloud) == 40 for cloud in clouds)
    middles = [cloud.mean(axis=0) for cloud in clouds]
    for i in range(number):  # nearly all occurrences are nearest to the middle of their own cloud
        nearest = np.linalg.norm(clouds[i][:, None] - middles, axis=2).argmin(axis=1)
        assert np.mean(nearest == i) > 0.95
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[0] == f"kiwi 1 ({100 / number:.0f} %): w0"


def test_a_single_occurrence_can_be_drawn(wv):
    ax = plot.plot_senses(wv.senses("dog", [["the", "dog"]]))
    assert len(ax.collections) == 1


def test_the_way_of_a_word_is_an_arrow_between_its_neighbours():
    rng = np.random.default_rng(1)
    words = [f"w{i}" for i in range(50)]
    vectors = rng.normal(size=(50, 6)).astype(np.float32)
    moved = vectors.copy()
    moved[0] = -vectors[0]
    first, second = (
        KeyedDensities.from_arrays(words, table, log_variances=np.zeros((50, 1), dtype=np.float32))
        for table in (vectors, moved)
    )
    comparison = compare(first, second, min_count=1)
    ax = plot.plot_shift(comparison, "w0", topn=3, names=("old", "new"))
    texts = [text.get_text() for text in ax.texts]
    neighbours = {other for wv in (first, second) for other, _ in wv.most_similar("w0", topn=3)}
    assert set(texts) - {""} == {"w0 (old)", "w0 (new)", *neighbours}
    arrow = ax.texts[-1]
    ends = [line.get_xydata()[0] for line in ax.lines[:2]]
    assert arrow.xyann == pytest.approx(ends[0])
    assert arrow.xy == pytest.approx(ends[1])


def test_a_tree_has_every_word_right_of_what_it_stands_under():
    words = ("animal", "apple", "bird", "fruit", "owl", "penguin")
    tree = Taxonomy(words, (None, "fruit", "animal", None, "bird", "bird"), (None, 0.9, 0.8, None, 0.7, 0.6))
    ax = plot.plot_taxonomy(tree)
    places = {text.get_text(): text.get_position() for text in ax.texts}
    assert set(places) == set(words)
    for word, parent in zip(tree.words, tree.parents, strict=True):
        if parent is not None:
            assert places[word][0] == places[parent][0] + 1
    rows = [places[word] for word in words]
    assert len(set(rows)) == len(rows)
    assert places["owl"][1] < places["bird"][1] < places["penguin"][1]
    assert len(ax.lines) == 4
