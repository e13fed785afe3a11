"""Occurrences of a word, coloured by sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from densvec.plot.axes import COLOURS, blank_axes, dark, fit_view
from densvec.plot.labels import Label, place_labels
from densvec.plot.plane import Plane
from densvec.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.questions.senses import Senses


__all__ = ["plot_senses"]


def plot_senses(senses: Senses, ax: Axes | None = None, *, topn: int = 5) -> Axes:
    """Draw the posteriors of a word's occurrences, coloured by sense.

    The plane is the one that shows most of the differences between the senses and, where these need only a line
    or none, most of what else tells the occurrences apart.

    Parameters
    ----------
    senses : Senses
        The result of :meth:`KeyedDensities.senses`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    topn : int, optional
        How many of the words that distinguish a sense the legend lists.

    Examples
    --------
    >>> corpus = [["the", "dog", "and", "the", "cat"], ["a", "dog", "in", "a", "car"]]
    >>> ax = plot_senses(wv.senses("dog", corpus), topn=1)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['dog 1 (100 %): animal']
    """
    points = senses.posteriors.mean.astype(np.float64)
    centres = np.array([sense.density.mean for sense in senses], dtype=np.float64)
    plane = _plane(points, centres)
    ax = blank_axes(ax)
    labels = []
    flat = plane.points(points)
    for sense, centre in zip(senses, plane.points(centres), strict=True):
        colour = COLOURS[sense.number % len(COLOURS)]
        mine = flat[senses.labels == sense.number]
        words = " ".join(str(word) for word, _ in sense.nearest[:topn])
        name = f"{sense.word} {sense.number + 1}"
        legend = f"{name} ({100 * sense.share:.0f} %): {words}"
        ax.scatter(mine[:, 0], mine[:, 1], s=12, color=colour, alpha=0.5, linewidths=0, label=legend)
        ax.plot(*centre, "o", color=dark(colour), markersize=6)
        labels.append(Label(name, centre[0], centre[1], dark(colour), size=11, weight="bold"))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), frameon=False, fontsize=9, ncols=1)
    fit_view(ax)
    place_labels(ax, labels)
    return ax


def _plane(points: Floats, centres: Floats) -> Plane:
    """Return the plane of the senses' centres, filled up with the main directions of the occurrences."""
    origin = points.mean(axis=0)
    axes = list(_directions(centres)[: min(2, len(centres) - 1)])
    for axis in axes:
        points = points - np.outer((points - origin) @ axis, axis)
    axes += list(_directions(points)[: 2 - len(axes)])
    while len(axes) < 2:  # words of one dimension, or a single occurrence
        axes.append(np.zeros(points.shape[1]))
    return Plane(origin, np.array(axes).T)


def _directions(points: Floats) -> Floats:
    """Return the principal directions of points, the most important first."""
    directions: Floats = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2]
    return directions
