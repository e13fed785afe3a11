"""A tree of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from densvec.plot.axes import COLOURS, INK, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.questions.taxonomy import Taxonomy


__all__ = ["plot_taxonomy"]

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
