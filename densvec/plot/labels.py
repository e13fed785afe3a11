"""Labels that do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from densvec.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Where a label may go: directions from its point, the best first, at distances in points (1/72 inch).
_DIRECTIONS = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (0.8, 0.8), (-0.8, 0.8), (0.8, -0.8), (-0.8, -0.8)])
_DISTANCES = np.array([5, 9, 14, 20, 28, 38, 50])
_PREFERENCES = (0.08 * _DISTANCES[:, None] + 0.02 * np.arange(len(_DIRECTIONS))).ravel()
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
    places = np.zeros(len(labels), dtype=int)
    for sweep in range(_SWEEPS):
        for i in range(len(labels)):
            tried = np.tile(anchors[i] + _offsets(sizes[i], pixels), 2)
            tried += np.concatenate([-sizes[i], sizes[i]]) / 2  # a box for each place
            taken = np.delete(boxes, i, axis=0) if sweep else boxes[:i]
            places[i] = _cheapest(tried, frame, taken, np.delete(points, i, axis=0))
            boxes[i] = tried[places[i]]
    for annotation, label, size, place in zip(annotations, labels, sizes, places, strict=True):
        offset = _offsets(size, pixels)[place] / pixels
        annotation.set_position(tuple(offset))
        if _DISTANCES[place // len(_DIRECTIONS)] >= _LEADER_FROM:
            _draw_leader(ax, label, offset)
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


def _offsets(size: Floats, pixels: float) -> Floats:
    """Return where the middle of a label may be, seen from its point: in pixels, (places, 2)."""
    offsets: Floats = _DISTANCES[:, None, None] * pixels * _DIRECTIONS + np.sign(_DIRECTIONS) * size / 2
    return offsets.reshape(-1, 2)


def _cheapest(tried: Floats, frame: Floats, taken: Floats, points: Floats) -> int:
    """Return the index of the box that covers least, sticks out of the frame least, and is nearest."""
    area = float(np.prod(tried[0, 2:] - tried[0, :2]))
    covered = _overlaps(tried, taken).sum(axis=1) / area
    hidden = (_overlaps(tried, points) > 0).sum(axis=1)
    outside = 1 - _overlaps(tried, frame[None])[:, 0] / area
    return int(np.argmin(20 * covered + 5 * hidden + 30 * outside + _PREFERENCES))


def _overlaps(boxes: Floats, others: Floats) -> Floats:
    """Return the areas, (n, m), that boxes share with others, each x0, y0, x1, y1."""
    upper = np.minimum(boxes[:, None, 2:], others[:, 2:])
    lower = np.maximum(boxes[:, None, :2], others[:, :2])
    areas: Floats = np.maximum(upper - lower, 0).prod(axis=2)
    return areas
