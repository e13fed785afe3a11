"""Generality against frequency."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from densvec.plot.axes import COLOURS, INK, new_axes, open_frame
from densvec.plot.labels import Label, place_labels
from densvec.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.keyed import KeyedDensities


def plot_generality(
    wv: KeyedDensities, ax: Axes | None = None, *, words: Iterable[str] | None = None, topn: int | None = None
) -> Axes:
    """Draw the generality of all words against their frequency (the paper's Figure 6).

    Parameters
    ----------
    wv : KeyedDensities
        With variances and counts.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    words : iterable of str, optional
        Words to name; by default those that are most and least general for their frequency.
    topn : int, optional
        Draw only this many words, the most frequent ones.

    Examples
    --------
    >>> ax = plot_generality(wv, words=["animal"])
    >>> ax.get_xscale(), ax.texts[0].get_text()
    ('log', 'r = 0.66')
    """
    counts = wv.expandos.get("count")
    if counts is None:
        raise ValueError("generality against frequency needs counts: these densities have none")
    rows = np.flatnonzero(np.asarray(counts) > 0)
    rows = rows[np.argsort(-counts[rows], kind="stable")][:topn]
    if not len(rows):
        raise ValueError("no word has a count: there is nothing to draw")
    frequency = np.asarray(counts)[rows].astype(np.float64)
    generality = wv.generality([int(row) for row in rows])
    ax = new_axes(ax)
    dense = len(rows) > 2000
    ax.scatter(
        frequency,
        generality,
        s=4 if dense else 12,
        color=COLOURS[0],
        alpha=0.15 if dense else 0.5,
        linewidths=0,
        rasterized=dense,
    )
    ax.set_xscale("log")
    ax.set_xlabel("frequency")
    ax.set_ylabel("generality (log-determinant of the covariance)")
    open_frame(ax)
    correlation, residuals = _regression(np.log(frequency), generality)
    ax.text(0.98, 0.03, f"r = {correlation:.2f}", transform=ax.transAxes, ha="right", color=INK)
    if words is None:
        order = np.argsort(residuals, kind="stable")
        chosen = list(dict.fromkeys([*order[-6:][::-1].tolist(), *order[:6].tolist()]))
    else:
        place = {int(row): i for i, row in enumerate(rows)}
        chosen = [place[index] for word in words if (index := wv.get_index(word)) in place]
    labels = []
    for i in chosen:
        ax.plot(frequency[i], generality[i], "o", color=COLOURS[1], markersize=4)
        labels.append(Label(str(wv.index_to_key[rows[i]]), frequency[i], generality[i], INK, size=9))
    ax.margins(0.08)
    place_labels(ax, labels)
    return ax


def _regression(x: Floats, y: Floats) -> tuple[float, Floats]:
    """Return Pearson's correlation, and the residuals of y from the regression line."""
    terms = np.column_stack([np.ones(len(x)), x])
    with np.errstate(invalid="ignore"):
        return float(np.corrcoef(x, y)[0, 1]), y - terms @ np.linalg.lstsq(terms, y, rcond=None)[0]
