"""Pictures of regressions on meanings: how much covariates matter, paths over time, words between two groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from densvec.plot.axes import COLOURS, GREY, INK, new_axes, open_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.questions.paths import Path
    from densvec.questions.regression import Coefficient, Regression


def plot_norms(coefficients: Sequence[Coefficient], ax: Axes | None = None) -> Axes:
    """Draw how long coefficients are, with their intervals; those of a q-value below .05 are filled.

    Parameters
    ----------
    coefficients : sequence of Coefficient
        The result of :func:`densvec.regress`, or some of it.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure, as high as it needs.

    Examples
    --------
    >>> from densvec import regress
    >>> table = {"text": ["a dog and a cat", "a dog in a car"] * 6, "by": ["ann", "bob"] * 6}
    >>> ax = plot_norms(regress(wv, "dog", table, text="text", formula="by"))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['by[T.bob]']
    """
    if ax is None:
        ax = new_axes(None)
        ax.figure.canvas.figure.set_size_inches(6.4, 1.2 + 0.28 * len(coefficients))
    several = len({each.word for each in coefficients}) > 1
    for row, each in enumerate(coefficients):
        face = COLOURS[0] if each.q_value < 0.05 else "white"
        ax.plot([each.low, each.high], [row, row], color=COLOURS[0], linewidth=1.5)
        ax.plot(each.norm, row, "o", color=COLOURS[0], markerfacecolor=face, markersize=6)
    names = [f"{each.word}: {each.name}" if several else each.name for each in coefficients]
    ax.set_yticks(range(len(coefficients)), names, color=INK)
    ax.set_ylim(len(coefficients) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("difference of meaning (norm of the coefficient)")
    open_frame(ax)
    return ax


def plot_path(paths: Path | Sequence[Path], ax: Axes | None = None) -> Axes:
    """Draw how the meaning of one or more words changes along a covariate, with bands.

    Parameters
    ----------
    paths : Path, or sequence of Path
        Results of :meth:`Regression.path <densvec.questions.regression.Regression.path>`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from densvec import regress
    >>> table = {"text": ["a dog and a cat", "a dog in a car"] * 6, "year": [1990, 2000] * 6}
    >>> ax = plot_path(regress(wv, "dog", table, text="text", formula="year").path("year"))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('year', 'distance from the first')
    """
    ax = new_axes(ax)
    several = list(paths) if isinstance(paths, Sequence) else [paths]
    for path, colour in zip(several, COLOURS * len(several), strict=False):
        ax.fill_between(path.values, path.low, path.high, color=colour, alpha=0.18, linewidth=0)
        ax.plot(path.values, path.positions, "o-", color=colour, markersize=4, label=path.word)
    axis = several[0].axis
    ax.set_xlabel(several[0].column)
    ax.set_ylabel("distance from the first" if axis is None else f"{axis[0]}  ←   →  {axis[1]}")
    if len(several) > 1:
        ax.legend(frameon=False)
    open_frame(ax)
    return ax


def plot_telling(regression: Regression, name: str, ax: Axes | None = None, *, topn: int = 8) -> Axes:
    """Draw words on an axis between two groups: how much nearer they are to a word in the one than in the other.

    Parameters
    ----------
    regression : Regression
        The result of :func:`densvec.regress` for one word.
    name : str
        A column of the design matrix, such as ``"party[T.right]"``.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    topn : int, optional
        How many words of each side.

    Examples
    --------
    >>> from densvec import regress
    >>> table = {"text": ["a dog and a cat", "a dog in a car"] * 6, "by": ["ann", "bob"] * 6}
    >>> ax = plot_telling(regress(wv, "dog", table, text="text", formula="by"), "by[T.bob]", topn=1)
    >>> [text.get_text() for text in ax.texts]
    ['car', 'cat']
    """
    if ax is None:
        ax = new_axes(None)
        ax.figure.canvas.figure.set_size_inches(6.4, 1.2 + 0.44 * topn)
    more, less = regression.telling(name, topn)
    ordered = [*more, *reversed(less)]
    for row, (word, gap) in enumerate(ordered):
        colour = COLOURS[1 if gap > 0 else 0]
        ax.plot([0, gap], [row, row], color=colour, linewidth=1.2, alpha=0.6)
        ax.plot(gap, row, "o", color=colour, markersize=5)
        ax.annotate(
            word,
            (gap, row),
            xytext=(np.sign(gap) * 6, 0),
            textcoords="offset points",
            ha="left" if gap > 0 else "right",
            va="center",
            color=INK,
            fontsize=9,
        )
    ax.axvline(0, color=GREY, linewidth=0.8)
    ax.set_yticks([])
    ax.set_ylim(len(ordered) - 0.4, -0.6)
    ax.margins(x=0.25)
    ax.set_xlabel(f"{regression.word}: cosine with more of {name}, minus that with less")
    open_frame(ax)
    ax.spines["left"].set_visible(False)
    return ax
