"""Labels in pictures, put where they do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from densvec.plot.fonts import families_for
from densvec.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Label", "place_labels"]

# Where a label may go: directions from its point, the best first, at distances in points (1/72 inch).
_DIRECTIONS = [(1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8)]
_DISTANCES = (5, 9, 14, 20, 28, 38, 50)
_SWEEPS = 4  # how often each label may be moved to a better place
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


def place_labels(ax: Axes, labels: Sequence[Label], avoid: npt.ArrayLike = ()) -> list[Any]:
    """Write labels beside their points where they cover neither each other nor other points, given room.

    They are placed one after another, each where it costs least, a few times over. Limits and size of the axes should
    be final: the places are chosen for how the figure looks now. `avoid` are more points to leave uncovered, (n, 2).

    Returns
    -------
    list of matplotlib Annotation
        In the order of `labels`.
    """
    if not labels:
        return []
    figure = ax.figure.canvas.figure  # the whole one, even if the axes are in a subfigure
    figure.draw_without_rendering()  # lets a layout engine move the axes before positions are read
    pixels = figure.dpi / 72
    annotations = [_write(ax, label) for label in labels]
    sizes = [np.array(annotation.get_window_extent().size) + pixels for annotation in annotations]
    anchors = ax.transData.transform([(label.x, label.y) for label in labels])
    frame = np.array(ax.get_window_extent().extents)
    more = np.asarray(avoid, dtype=np.float64).reshape(-1, 2)
    middles = np.concatenate([anchors, ax.transData.transform(more)]) if len(more) else anchors
    points = np.concatenate([middles - 3 * pixels, middles + 3 * pixels], axis=1)  # (n, 4): x0, y0, x1, y1
    boxes = np.full((len(labels), 4), np.nan)
    places: list[_Place] = []
    for sweep in range(_SWEEPS):
        for i in range(len(labels)):
            taken = np.delete(boxes, i, axis=0) if sweep else boxes[:i]
            place = _best_place(anchors[i], sizes[i], pixels, frame, taken, np.delete(points, i, axis=0))
            boxes[i] = place.box
            places[i : i + 1] = [place]
    for annotation, label, place in zip(annotations, labels, places, strict=True):
        annotation.set_position(tuple(place.offset / pixels))
        if place.distance >= _LEADER_FROM:
            _draw_leader(ax, label, place.offset / pixels)
    return annotations


def _write(ax: Axes, label: Label) -> Any:
    return ax.annotate(
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
        fontfamily=families_for(label.text),
    )


def _draw_leader(ax: Axes, label: Label, offset: Floats) -> None:
    """Join a distant label to its point with a line."""
    style = {
        "arrowstyle": "-",
        "color": label.colour,
        "alpha": 0.5,
        "linewidth": 0.6,
        "shrinkA": 6,
        "shrinkB": 3,
    }
    ax.annotate("", (label.x, label.y), tuple(offset), textcoords="offset points", arrowprops=style)


class _Place(NamedTuple):
    """The offset of a label's centre from its point and its box, both in pixels, and its distance in points."""

    offset: Floats
    box: Floats
    distance: float


def _best_place(
    anchor: Floats, size: Floats, pixels: float, frame: Floats, taken: Floats, points: Floats
) -> _Place:
    """Return the place that costs least."""
    least, best = np.inf, None
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
            if cost < least:
                least, best = cost, _Place(offset, box, distance)
    assert best is not None
    return best


def _overlaps(box: Floats, others: Floats) -> Floats:
    """Return the areas that a box shares with others, each x0, y0, x1, y1."""
    if not len(others):
        return np.zeros(0)
    width = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0])
    height = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1])
    areas: Floats = np.maximum(width, 0) * np.maximum(height, 0)
    return areas
