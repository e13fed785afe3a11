"""Labels that do not cover each other, in fonts that have their characters."""

from __future__ import annotations

import functools
import warnings
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


def families_for(text: str) -> list[str]:
    """Return the font families for a text: matplotlib's own, and one with the characters that it lacks.

    If no installed font has all characters, a warning says what to install, and boxes are drawn.

    Examples
    --------
    >>> import matplotlib
    >>> families_for("kiwi") == matplotlib.rcParams["font.family"]
    True
    """
    import matplotlib as mpl

    own = list(mpl.rcParams["font.family"])
    missing = frozenset(character for character in text if ord(character) > 0x24F and not character.isspace())
    return own if not missing else [*own, *_families_with(missing, tuple(own))]


@functools.lru_cache(maxsize=1024)
def _families_with(characters: frozenset[str], own: tuple[str, ...]) -> list[str]:
    """Return the name of a family with these characters; empty if the usual ones have them, or none does."""
    from matplotlib import font_manager

    if characters <= _characters_of(font_manager.findfont(font_manager.FontProperties(family=list(own)))):
        return []
    for font in sorted(
        font_manager.fontManager.ttflist, key=lambda font: ("Noto" not in font.name, font.name)
    ):
        is_plain = font.weight == 400 and font.style == "normal" and "LastResort" not in font.fname
        if is_plain and characters <= _characters_of(font.fname):
            return [font.name]
    warnings.warn(
        f"no font on this machine has {''.join(sorted(characters))[:20]!r}: install one (Debian: apt install "
        "fonts-noto-cjk fonts-noto-core), delete matplotlib's font cache, and draw again",
        UserWarning,
        stacklevel=2,
    )
    return []


@functools.lru_cache(maxsize=512)
def _characters_of(path: str) -> frozenset[str]:
    from matplotlib import ft2font

    try:
        return frozenset(map(chr, ft2font.FT2Font(path).get_charmap()))
    except (OSError, RuntimeError):  # a damaged font
        return frozenset()
