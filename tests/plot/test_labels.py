"""Labels can be read."""

import matplotlib as mpl
import numpy as np

mpl.use("agg")
import matplotlib.pyplot as plt

from densvec import plot
from densvec.plot.labels import Label, place_labels
from tests.plot.cases import boxes, overlapping


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


def test_labels_fit_in_subfigures(diagonal):
    figure = plt.figure(figsize=(10, 4), layout="constrained")
    for part in figure.subfigures(1, 2):
        plot.plot_words(diagonal, diagonal.index_to_key[:6], part.subplots())
    figure.draw_without_rendering()
