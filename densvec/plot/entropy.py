"""The entropy of a posterior as its context grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from densvec.plot.axes import COLOURS, GREY, new_axes, open_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.keyed import KeyedDensities


__all__ = ["plot_entropy"]


def plot_entropy(wv: KeyedDensities, word: str, context: str | Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw how the entropy of a word's posterior changes as its context grows, word by word.

    Parameters
    ----------
    wv : KeyedDensities
        With an encoder.
    word : str
        The word.
    context : str or sequence of str
        The context words in the order in which they are added; unknown ones are left out.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> ax = plot_entropy(wv, "animal", "dog cat")
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['(no context)', '+ dog', '+ cat']
    """
    tokens = context.split() if isinstance(context, str) else list(context)
    known = [token for token in tokens if token in wv]
    posteriors = wv.infer_posteriors([(word, known[:n]) for n in range(len(known) + 1)])
    entropies = posteriors.entropy()
    ax = new_axes(ax)
    steps = np.arange(len(entropies))
    ax.axhline(entropies[0], color=GREY, linewidth=1, linestyle="--")
    ax.plot(steps, entropies, "o-", color=COLOURS[0], linewidth=2)
    ax.set_xticks(steps, ["(no context)", *(f"+ {token}" for token in known)])
    ax.tick_params(axis="x", length=0)
    if len(steps) > 4:
        ax.tick_params(axis="x", rotation=35)
        for label in ax.get_xticklabels():
            label.set_horizontalalignment("right")
            label.set_rotation_mode("anchor")
    ax.set_ylabel(f"entropy of {word} (nats)")
    ax.margins(x=0.06, y=0.12)
    open_frame(ax)
    return ax
