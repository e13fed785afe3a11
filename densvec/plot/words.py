"""Words as ellipses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from densvec.plot.axes import COLOURS, blank_axes, dark, fit_view
from densvec.plot.labels import Label, place_labels
from densvec.plot.plane import Plane, draw_ellipse
from densvec.plot.sizes import note_radii, rank_factors

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.keyed import KeyedDensities


__all__ = ["plot_words"]


def plot_words(
    wv: KeyedDensities, words: Iterable[str], ax: Axes | None = None, *, radii: str = "auto"
) -> Axes:
    """Draw the priors of words as ellipses, in the plane that shows most of their differences.

    Parameters
    ----------
    wv : KeyedDensities
        With variances.
    words : iterable of str
        The words, ideally between 2 and 20.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    radii : {"auto", "true", "scaled"}, optional
        How large ellipses are: one standard deviation (``"true"``), or exaggerated by the rank of the word's variance
        among all words (``"scaled"``). In real text, variances often differ only by hundredths, so that true
        circles all look alike; then ``"auto"`` exaggerates, and the picture says so.

    Examples
    --------
    >>> ax = plot_words(wv, ["animal", "dog", "cat", "car"])
    >>> len(ax.patches)
    4
    """
    words = list(words)
    if not words:
        raise ValueError("no words to draw: give at least one")
    densities = wv.density(words)
    plane = Plane.fitted(densities.mean)
    factors = rank_factors(wv, densities, radii)
    ax = blank_axes(ax)
    labels = []
    # Wide densities first, so that they do not hide narrow ones.
    for i in np.argsort(-densities.log_determinant, kind="stable"):
        colour = COLOURS[i % len(COLOURS)]
        draw_ellipse(
            ax, plane, densities[i], colour, alpha=0.13, factor=1.0 if factors is None else float(factors[i])
        )
        point = plane.points(densities.mean[i])
        ax.plot(*point, ".", color=colour, markersize=6)
        labels.append(Label(words[i], point[0], point[1], dark(colour), size=10, weight="bold"))
    fit_view(ax)
    if factors is not None:
        note_radii(ax, "radii by the rank of the variance among all words, from half to one and a half")
    place_labels(ax, labels)
    return ax
