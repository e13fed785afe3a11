"""Divergences of pairs that entail and of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from densvec.plot.axes import COLOURS, new_axes, open_frame
from densvec.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.keyed import KeyedDensities


__all__ = ["plot_entailment"]


def plot_entailment(
    wv: KeyedDensities,
    pairs: Iterable[tuple[str, str]],
    others: Iterable[tuple[str, str]],
    ax: Axes | None = None,
) -> Axes:
    """Draw histograms of KL[a‖b] for pairs in which `a` entails `b` and for others (the paper's Figure 5).

    Parameters
    ----------
    wv : KeyedDensities
        With variances.
    pairs, others : iterable of (str, str)
        Pairs that entail, and pairs that do not; those with an unknown word are left out.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> ax = plot_entailment(wv, [("dog", "animal"), ("cat", "animal")], [("animal", "dog"), ("dog", "car")])
    >>> ax.get_xlabel()
    'KL[a‖b]'
    """
    groups = {"a entails b": _divergences(wv, pairs), "other pairs": _divergences(wv, others)}
    for name, values in groups.items():
        if not len(values):
            raise ValueError(f"there is no pair of known words for {name!r}")
    everything = np.concatenate(list(groups.values()))
    # The last bin takes what lies beyond: a few huge divergences would squeeze all others into the first.
    top = float(np.quantile(everything, 0.98)) or 1.0
    bins = np.linspace(min(0.0, float(everything.min())), top, 31)
    ax = new_axes(ax)
    heights = []
    for (name, values), colour in zip(groups.items(), (COLOURS[0], COLOURS[1]), strict=True):
        shares = np.histogram(np.minimum(values, top), bins)[0] / len(values)
        ax.stairs(shares, bins, fill=True, color=colour, alpha=0.3)
        ax.stairs(shares, bins, color=colour, linewidth=1.5, label=f"{name} ({len(values):,})")
        median = min(float(np.median(values)), top)
        ax.axvline(median, color=colour, linewidth=1.5, linestyle=":")
        heights.append(shares.max())
    ax.set_ylim(0, 1.08 * max(heights))
    ax.set_xlim(bins[0], bins[-1])
    ax.set_xlabel("KL[a‖b]")
    ax.set_ylabel("share of pairs")
    ax.legend(frameon=False, title="dotted: medians", alignment="left")
    open_frame(ax)
    return ax


def _divergences(wv: KeyedDensities, pairs: Iterable[tuple[str, str]]) -> Floats:
    """Return KL[a‖b] of the pairs whose words are known."""
    known = [(a, b) for a, b in pairs if a in wv and b in wv]
    if not known:
        return np.empty(0)
    return wv.density([a for a, _ in known]).kl(wv.density([b for _, b in known]))
