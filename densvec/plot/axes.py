"""Colours, and axes as the pictures need them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from densvec.checks import needs
from densvec.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#6A3D9A",
    "#7F7F7F",
    "#8C510A",
    "#8F9A00",
    "#B2005F",
    "#000000",
)
"""Okabe and Ito's palette, without its yellow, which is hard to see on white paper, and with six more."""

GREY, INK = "#888888", "#222222"


def new_axes(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    made: Axes = needs("matplotlib.pyplot", "plot").subplots(figsize=(6.4, 4.6), layout="constrained")[1]
    return made


def blank_axes(ax: Axes | None) -> Axes:
    """Return axes for a map: equal scales and no ticks, since the coordinates have no meaning of their own."""
    ax = new_axes(ax)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_color("#cccccc")
    return ax


def open_frame(ax: Axes) -> None:
    """Remove the frame's top and right sides."""
    ax.spines[["top", "right"]].set_visible(False)


def fit_view(ax: Axes) -> None:
    """Fit the limits to everything drawn, with a margin."""
    ax.autoscale_view()
    ax.margins(0.06)


def draw_arrow(ax: Axes, start: Floats, end: Floats, colour: str) -> None:
    """Draw an arrow between two points."""
    style = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 3, "shrinkB": 0}
    ax.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=style)


def dark(colour: str) -> Any:
    """Return a darker shade of a colour, for text that is readable on white."""
    from matplotlib.colors import to_rgb

    return tuple(0.65 * channel for channel in to_rgb(colour))
