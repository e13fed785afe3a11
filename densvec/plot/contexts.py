"""One word in several contexts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from densvec.gaussian import Gaussian
from densvec.plot.axes import COLOURS, GREY, INK, blank_axes, dark, fit_view
from densvec.plot.labels import Label, place_labels
from densvec.plot.plane import Plane, draw_ellipse
from densvec.plot.sizes import entropy_factors, note_radii

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.keyed import KeyedDensities


__all__ = ["Context", "plot_contexts"]

Context: TypeAlias = "str | Sequence[str] | tuple[str | Sequence[str], int]"


def plot_contexts(
    wv: KeyedDensities,
    word: str,
    contexts: Mapping[str, Context] | Iterable[Context],
    ax: Axes | None = None,
    *,
    neighbours: int = 4,
    landmarks: Iterable[str] | None = None,
    radii: str = "auto",
) -> Axes:
    """Draw what a word means in several contexts.

    The posteriors are shaded ellipses, with an arrow to each from the prior, and named by a few of the words
    nearest to them.

    Parameters
    ----------
    wv : KeyedDensities
        With an encoder.
    word : str
        The word.
    contexts : mapping or iterable
        The contexts, each a token list or a string of tokens, or a pair of a sentence and the word's position in
        it; or a mapping to these from the names to use in the legend.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    neighbours : int, optional
        How many of the words nearest to each posterior to draw as landmarks.
    landmarks : iterable of str, optional
        The words that may be landmarks; by default all except those of the contexts and other forms of the word.
    radii : {"auto", "true", "scaled"}, optional
        How large ellipses are: one standard deviation (``"true"``), or that of the prior times e to the power of half
        the change in entropy (``"scaled"``). In real text, contexts often change the variance only by hundredths; then
        ``"auto"`` exaggerates, and the picture says so.

    Examples
    --------
    >>> ax = plot_contexts(wv, "animal", {"with a dog": ["dog"], "with a cat": ["cat"]}, neighbours=1)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['animal out of context', 'with a dog', 'with a cat']
    """
    named = _named_contexts(contexts)
    if not named:
        raise ValueError("no contexts to draw: give at least one")
    candidates = None if landmarks is None else list(landmarks)
    nearest = []
    for tokens, position in named.values():
        ranking = (
            wv.substitutes(
                word,
                tokens,
                candidates,
                neighbours,
                exclude_inflections=candidates is None,
                position=position,
                exclude_context=candidates is None,
            )
            if neighbours
            else []
        )
        nearest.append([key for key, _ in ranking])
    marks = list(dict.fromkeys(itertools.chain.from_iterable(nearest)))
    prior = wv.density(word)
    posteriors = wv.infer_posteriors([(word, *context) for context in named.values()])
    # The landmarks are the map on which the posteriors move.
    travellers = [] if len(marks) > 2 else list(posteriors.mean)
    plane = Plane.fitted(np.array([prior.mean, *travellers, *(wv.density(marks).mean if marks else [])]))
    factors = entropy_factors(prior, posteriors, radii)
    ax = blank_axes(ax)
    start = plane.points(prior.mean)
    handles = [draw_ellipse(ax, plane, prior, INK, alpha=0.04, linestyle="--")]
    handles[0].set_label(f"{word} out of context")
    labels = [Label(word, start[0], start[1], INK, size=11, weight="bold")]
    arrows = []
    for i, name in enumerate(named):
        colour = COLOURS[i % len(COLOURS)]
        end = plane.points(posteriors.mean[i])
        drawn = posteriors[i] if factors is None else Gaussian(posteriors[i].mean, prior.variance)
        factor = 1.0 if factors is None else float(factors[i])
        handles.append(draw_ellipse(ax, plane, drawn, colour, alpha=0.25, factor=factor))
        handles[-1].set_label(name)
        arrows.append(start + np.linspace(0.1, 1, 20)[:, None] * (end - start))
        ax.annotate(
            "",
            xy=(end[0], end[1]),
            xytext=(start[0], start[1]),
            arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 3, "shrinkB": 0},
        )
    for key in marks:
        owners = [i for i, keys in enumerate(nearest) if key in keys]
        colour = COLOURS[owners[0] % len(COLOURS)] if len(owners) == 1 else GREY
        x, y = plane.points(wv.density(key).mean)
        ax.plot(x, y, "o", color=colour, markersize=3.5)
        labels.append(Label(key, x, y, dark(colour), size=9))
    ax.plot(*start, "o", color=INK, markersize=5)
    ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.01), frameon=False, fontsize=9, ncols=1
    )
    fit_view(ax)
    if factors is not None:
        note_radii(ax, "radii by the entropy: a nat less is a radius of 61 %")
    place_labels(ax, labels, avoid=np.concatenate(arrows))
    return ax


def _named_contexts(
    contexts: Mapping[str, Context] | Iterable[Context],
) -> dict[str, tuple[str | Sequence[str], int | None]]:
    """Return (tokens, position or None) by name; a context without a name is named by its words."""
    if isinstance(contexts, str):
        raise TypeError(f"contexts={contexts!r} is one string: give a list of contexts")
    named = isinstance(contexts, Mapping)
    pairs: Iterable[tuple[str | None, Any]] = (
        contexts.items() if isinstance(contexts, Mapping) else ((None, context) for context in contexts)
    )
    found: dict[str, tuple[str | Sequence[str], int | None]] = {}
    for name, context in pairs:
        tokens: Any = context
        position: int | None = None
        if len(context) == 2 and isinstance(context[1], (int, np.integer)):
            tokens, position = context
        text = tokens if isinstance(tokens, str) else " ".join(tokens)
        found[str(name) if named else text] = (tokens, position)
    return found
