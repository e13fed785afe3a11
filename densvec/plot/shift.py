"""How a word moves between its neighbours, from one model to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from densvec.plot.axes import COLOURS, GREY, blank_axes, dark, fit_view
from densvec.plot.labels import Label, place_labels
from densvec.plot.plane import Plane

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.questions.comparison import ModelComparison


__all__ = ["plot_shift"]


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
    before, after = (set(side[:topn]) for side in comparison[word].nearest)
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
    style = {"arrowstyle": "-|>", "color": GREY, "linewidth": 2, "shrinkA": 4, "shrinkB": 4}
    ax.annotate("", xy=tuple(end), xytext=tuple(start), arrowprops=style)
    return ax
