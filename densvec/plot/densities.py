"""Densities as ellipses: words, and one word in several contexts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from densvec.gaussian import Gaussian
from densvec.plot.axes import COLOURS, GREY, INK, blank_axes, dark, draw_arrow, fit_view
from densvec.plot.ellipses import Plane, are_exaggerated, draw_ellipse, note_radii
from densvec.plot.labels import Label, place_labels
from densvec.questions.inference import placed_tokens

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.keyed import KeyedDensities

Context: TypeAlias = "str | Sequence[str] | tuple[str | Sequence[str], int]"


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
    logs = densities.log_determinant
    factors, ax = np.ones(len(words)), blank_axes(ax)
    if len(words) > 1 and are_exaggerated(logs / densities.mean.shape[-1], radii):
        ranks = np.searchsorted(np.sort(wv.generality(range(len(wv)))), logs) / len(wv)
        factors = 0.5 + ranks
        note_radii(ax, "radii by the rank of the variance among all words, from half to one and a half")
    labels = []
    for i in np.argsort(-logs, kind="stable"):  # wide densities first: they would hide narrow ones
        colour = COLOURS[i % len(COLOURS)]
        draw_ellipse(ax, plane, densities[i], colour, alpha=0.13, factor=float(factors[i]))
        point = plane.points(densities.mean[i])
        ax.plot(*point, ".", color=colour, markersize=6)
        labels.append(Label(words[i], point[0], point[1], dark(colour), size=10, weight="bold"))
    fit_view(ax)
    place_labels(ax, labels)
    return ax


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
    pairs = [(word, *placed_tokens(wv, *context)) for context in named.values()]
    nearest: list[list[str]] = [[] for _ in named]
    if neighbours:
        rankings = wv.substitutes_batch(pairs, landmarks, neighbours)
        nearest = [[key for key, _ in ranking] for ranking in rankings]
    marks = list(dict.fromkeys(itertools.chain.from_iterable(nearest)))
    prior = wv.density(word)
    posteriors = wv.infer_posteriors(pairs)
    # The landmarks are the map on which the posteriors move.
    travellers = [] if len(marks) > 2 else list(posteriors.mean)
    plane = Plane.fitted(np.array([prior.mean, *travellers, *(wv.density(marks).mean if marks else [])]))
    changes = posteriors.entropy() - prior.entropy()
    factors, variances, ax = np.ones(len(named)), posteriors.variance, blank_axes(ax)
    if are_exaggerated(np.array([0.0, *(2 * changes / prior.mean.shape[-1])]), radii):
        factors = np.clip(np.exp(changes / 2), 0.3, 2.0)
        variances = np.broadcast_to(prior.variance, variances.shape)
        note_radii(ax, "radii by the entropy: a nat less is a radius of 61 %")
    start = plane.points(prior.mean)
    handles = [draw_ellipse(ax, plane, prior, INK, alpha=0.04, linestyle="--")]
    handles[0].set_label(f"{word} out of context")
    labels = [Label(word, start[0], start[1], INK, size=11, weight="bold")]
    arrows = []
    for i, name in enumerate(named):
        colour = COLOURS[i % len(COLOURS)]
        end = plane.points(posteriors.mean[i])
        drawn = Gaussian(posteriors.mean[i], variances[i])
        handles.append(draw_ellipse(ax, plane, drawn, colour, alpha=0.25, factor=float(factors[i])))
        handles[-1].set_label(name)
        arrows.append(start + np.linspace(0.1, 1, 20)[:, None] * (end - start))
        draw_arrow(ax, start, end, colour)
    for key in marks:
        owners = [i for i, keys in enumerate(nearest) if key in keys]
        colour = COLOURS[owners[0] % len(COLOURS)] if len(owners) == 1 else GREY
        x, y = plane.points(wv.density(key).mean)
        ax.plot(x, y, "o", color=colour, markersize=3.5)
        labels.append(Label(key, x, y, dark(colour), size=9))
    ax.plot(*start, "o", color=INK, markersize=5)
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.01), frameon=False, fontsize=9)
    fit_view(ax)
    place_labels(ax, labels, avoid=np.concatenate(arrows))
    return ax


def _named_contexts(
    contexts: Mapping[str, Context] | Iterable[Context],
) -> dict[str, tuple[str | Sequence[str], int | None]]:
    """Return (tokens, position or None) by name; a context without a name is named by its words."""
    if isinstance(contexts, str):
        raise TypeError(f"contexts={contexts!r} is one string: give a list of contexts")
    if isinstance(contexts, Mapping):
        return {str(name): _placed(context) for name, context in contexts.items()}
    placed = map(_placed, contexts)
    return {each[0] if isinstance(each[0], str) else " ".join(each[0]): each for each in placed}


def _placed(context: Any) -> tuple[str | Sequence[str], int | None]:
    """Return a context and the position of the word in it, None if it has none."""
    is_placed = len(context) == 2 and isinstance(context[1], (int, np.integer))
    return (context[0], context[1]) if is_placed else (context, None)
