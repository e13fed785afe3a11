"""Labels in pictures, put where they do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec._arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Label", "place_labels"]

# Where a label may go: directions from its point, the best first, at distances in points (1/72 inch).
_DIRECTIONS = [(1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8)]
_DISTANCES = (5, 9, 14, 20, 28, 38, 50)
_LEADER_FROM = 14  # from this distance on, a thin line joins a label to its point


@dataclass(frozen=True)
class Label:
    """A text and the point, in data coordinates, that it names."""

    text: str
    x: float
    y: float
    colour: Any
    size: float = 9
    weight: str = "normal"


def place_labels(ax: Axes, labels: Sequence[Label]) -> list[Any]:
    """Write labels beside their points where they cover neither each other nor other points, given room.

    They are placed one after another, each at the place that costs least. Limits and size of the axes should
    be final: the places are chosen for how the figure looks now.

    Returns
    -------
    list of matplotlib Annotation
        In the order of `labels`.
    """
    figure: Any = ax.figure
    while hasattr(figure, "parent"):  # out of nested subfigures
        figure = figure.figure
    figure.draw_without_rendering()  # lets a layout engine move the axes before positions are read
    pixels = figure.dpi / 72
    anchors = ax.transData.transform([(label.x, label.y) for label in labels]) if labels else np.empty((0, 2))
    frame = np.array(ax.get_window_extent().extents)
    points = np.concatenate([anchors - 3 * pixels, anchors + 3 * pixels], axis=1)  # (n, 4): x0, y0, x1, y1
    taken = np.empty((0, 4))
    annotations = []
    for i, label in enumerate(labels):
        annotation = ax.annotate(
            label.text,
            (label.x, label.y),
            xytext=(0, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            color=label.colour,
            fontsize=label.size,
            fontweight=label.weight,
            zorder=10,
        )
        size = np.array(annotation.get_window_extent().size) + pixels
        offset, box, distance = _best_place(
            anchors[i], size, pixels, frame, taken, np.delete(points, i, axis=0)
        )
        if distance >= _LEADER_FROM:
            annotation.remove()
            annotation = ax.annotate(
                label.text,
                (label.x, label.y),
                xytext=tuple(offset / pixels),
                textcoords="offset points",
                ha="center",
                va="center",
                color=label.colour,
                fontsize=label.size,
                fontweight=label.weight,
                zorder=10,
                arrowprops={
                    "arrowstyle": "-",
                    "color": label.colour,
                    "alpha": 0.5,
                    "linewidth": 0.6,
                    "shrinkB": 3,
                },
            )
        else:
            annotation.set_position(tuple(offset / pixels))
        taken = np.vstack([taken, box])
        annotations.append(annotation)
    return annotations


def _best_place(
    anchor: Floats, size: Floats, pixels: float, frame: Floats, taken: Floats, points: Floats
) -> tuple[Floats, Floats, float]:
    """Return the cheapest place: offset of the label's centre from its point, its box, and its distance."""
    best: tuple[float, Any] = (np.inf, None)
    area = float(size[0] * size[1])
    for distance in _DISTANCES:
        for preference, (dx, dy) in enumerate(_DIRECTIONS):
            direction = np.array([dx, dy])
            offset = direction * (distance * pixels) + np.sign(direction) * size / 2
            box = np.concatenate([anchor + offset - size / 2, anchor + offset + size / 2])
            outside = area - _overlaps(box, frame[None])[0]
            cost = (
                20 * _overlaps(box, taken).sum() / area
                + 5 * (_overlaps(box, points) > 0).sum()
                + 30 * outside / area
                + 0.08 * distance
                + 0.02 * preference
            )
            if cost < best[0]:
                best = (cost, (offset, box, distance))
    offset, box, distance = best[1]
    return offset, box, distance


def _overlaps(box: Floats, others: Floats) -> Floats:
    """Return the areas that a box shares with others, each x0, y0, x1, y1."""
    if not len(others):
        return np.zeros(0)
    width = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0])
    height = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1])
    areas: Floats = np.maximum(width, 0) * np.maximum(height, 0)
    return areas
