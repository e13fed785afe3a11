"""Pictures of answers: a word's senses, its shift between two models, a taxonomy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from densvec.plot.axes import COLOURS, GREY, INK, blank_axes, dark, draw_arrow, fit_view, new_axes
from densvec.plot.ellipses import Plane
from densvec.plot.labels import Label, place_labels
from densvec.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.questions.comparison import ModelComparison
    from densvec.questions.senses import Senses
    from densvec.questions.taxonomy import Taxonomy


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
    ['dog 1 (100 %): car']
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
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), frameon=False, fontsize=9)
    fit_view(ax)
    place_labels(ax, labels)
    return ax


def _plane(points: Floats, centres: Floats) -> Plane:
    """Return the plane of the senses' centres; directions that these leave open are the occurrences' main ones."""
    # A weight of 1000 lets the centres decide first, and the occurrences only what these leave open.
    return Plane.fitted(
        np.concatenate([1000 * (centres - centres.mean(axis=0)), points - points.mean(axis=0)])
    )


def plot_shift(
    comparison: ModelComparison,
    word: str,
    ax: Axes | None = None,
    *,
    topn: int = 6,
    names: tuple[str, str] = ("first", "second"),
) -> Axes:
    """Draw how a word moved between two models: an arrow from its neighbours in the first to those in the second.

    Parameters
    ----------
    comparison : ModelComparison
        The result of :func:`densvec.compare`.
    word : str
        The word.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    topn : int, optional
        How many neighbours of each model to draw. Those of both are grey.
    names : (str, str), optional
        What to call the two models.

    Examples
    --------
    >>> from densvec import compare
    >>> ax = plot_shift(compare(wv, wv, min_count=1), "dog", names=("1990s", "2020s"))
    >>> [text.get_text() for text in ax.texts][:2]
    ['dog (1990s)', 'dog (2020s)']
    """
    found, places = comparison.path(word, topn)
    before, after = ({name for name, _ in side[:topn]} for side in comparison[word].nearest)
    plane = Plane.fitted(places)
    points = plane.points(places)
    ax = blank_axes(ax)
    start, end = points[0], points[1]
    labels = []
    for i, (point, name) in enumerate(zip((start, end), names, strict=True)):
        ax.plot(*point, "o", color=COLOURS[i], markersize=6)
        labels.append(Label(f"{word} ({name})", point[0], point[1], dark(COLOURS[i]), size=11, weight="bold"))
    for name, point in zip(found[2:], points[2:], strict=True):
        colour = GREY if name in before and name in after else COLOURS[0 if name in before else 1]
        ax.plot(*point, "o", color=colour, markersize=3.5)
        labels.append(Label(name, point[0], point[1], dark(colour), size=9))
    fit_view(ax)
    place_labels(ax, labels, avoid=start + (end - start) * [[0.25], [0.5], [0.75]])
    draw_arrow(ax, start, end, GREY)
    return ax


_ROW = 0.26
"""Inches that a word needs, from top to bottom."""


def plot_taxonomy(tree: Taxonomy, ax: Axes | None = None) -> Axes:
    """Draw a tree of words from left to right, the most general ones on the left.

    The stronger the line, the better a word is a kind of the one it stands under.

    Parameters
    ----------
    tree : Taxonomy
        The result of :meth:`KeyedDensities.taxonomy`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure, as high as the words need.

    Examples
    --------
    >>> ax = plot_taxonomy(wv.taxonomy(["dog", "cat", "animal"]))
    >>> sorted(text.get_text() for text in ax.texts)
    ['animal', 'cat', 'dog']
    """
    nodes = list(tree.walk())
    if ax is None:
        ax = new_axes(None)
        leaves = sum(not tree.children(word) for _, word in nodes)
        ax.figure.canvas.figure.set_size_inches(
            2.0 + 1.6 * max(depth for depth, _ in nodes), 0.4 + _ROW * leaves
        )
    heights = _heights(tree)
    depths = {word: depth for depth, word in nodes}
    for word, parent, score in zip(tree.words, tree.parents, tree.scores, strict=True):
        if parent is None:
            continue
        x, y = depths[parent], heights[parent]
        bend = x + 0.75
        strength = 0.5 if score is None else min(max(score, 0.0), 1.0)
        ax.plot(
            [x, bend, bend, x + 1],
            [y, y, heights[word], heights[word]],
            color=COLOURS[0],
            linewidth=0.5 + 2 * strength,
            alpha=0.6,
            solid_joinstyle="round",
            zorder=1,
        )
    for depth, word in nodes:
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        ax.text(depth, heights[word], word, color=INK, va="center", fontsize=9, bbox=box, zorder=2)
    ax.set_xlim(-0.1, max(depth for depth, _ in nodes) + 0.9)
    ax.set_ylim(max(heights.values()) + 0.7, -0.7)
    ax.set_axis_off()
    return ax


def _heights(tree: Taxonomy) -> dict[str, float]:
    """Return the row of each word: leaves one after another, the others in the middle of their children."""
    heights: dict[str, float] = {}
    rows = 0
    for _, word in reversed(list(tree.walk())):  # from the bottom up: children before their parents
        children = tree.children(word)
        if children:
            heights[word] = sum(heights[child] for child in (children[0], children[-1])) / 2
        else:
            heights[word] = float(rows)
            rows += 1
    return {word: rows - 1 - height for word, height in heights.items()}
