"""Pictures of densities: matplotlib axes in, axes out.

Ellipses are drawn at one standard deviation, in the plane that shows most of what is drawn (its first two
principal components). Colours are those of Okabe and Ito, which colour-blind people can tell apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from densvec.gaussian import Gaussian
from densvec.plot.labels import Label, place_labels
from densvec.types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from densvec.keyed import KeyedDensities

__all__ = ["COLOURS", "plot_contexts", "plot_entailment", "plot_entropy", "plot_generality", "plot_words"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6A3D9A", "#7F7F7F")
"""Okabe and Ito's palette, without its yellow, which white paper swallows, and with two more."""

Context: TypeAlias = "str | Sequence[str] | tuple[str | Sequence[str], int]"

_GREY, _INK = "#888888", "#222222"


@dataclass(frozen=True)
class Plane:
    """A plane through high-dimensional space: `origin` (D,) and two orthonormal `directions` (D, 2)."""

    origin: Floats
    directions: Floats

    @classmethod
    def fitted(cls, means: Floats) -> Plane:
        """Return the plane that shows most of the differences between these points (principal components).

        Examples
        --------
        >>> plane = Plane.fitted(np.array([[0.0, 0, 0], [4, 0, 0], [0, 2, 0]]))
        >>> abs(plane.directions[2]).round(6)  # the third dimension is not needed
        array([0., 0.])
        """
        points = np.asarray(means, dtype=np.float64)
        origin = points.mean(axis=0)
        axes = np.linalg.svd(points - origin)[2]  # (D, D), the most important first
        axes = axes[:2] if len(axes) > 1 else np.concatenate([axes, [[0.0]]])
        # Which way an axis points is arbitrary: the first point goes to the lower left, so pictures repeat.
        signs = np.where(axes @ (points[0] - origin) > 0, -1.0, 1.0)
        return cls(origin, (axes * signs[:, None]).T)

    def points(self, means: Floats) -> Floats:
        """Return where points fall in the plane, (..., 2)."""
        projected: Floats = (np.asarray(means, dtype=np.float64) - self.origin) @ self.directions
        return projected

    def covariance(self, density: Gaussian) -> Floats:
        """Return the covariance, (2, 2), that one density has in the plane."""
        variance = np.broadcast_to(density.variance, density.mean.shape).astype(np.float64)
        covariance: Floats = (self.directions * variance[:, None]).T @ self.directions
        return covariance


def plot_words(wv: KeyedDensities, words: Iterable[str], ax: Axes | None = None) -> Axes:
    """Draw the priors of words as ellipses, in the plane that shows most of their differences.

    Parameters
    ----------
    wv : KeyedDensities
        With variances.
    words : iterable of str
        The words, best between 2 and 20.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

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
    ax = _blank_axes(ax)
    labels = []
    # Wide densities first, so that they do not hide narrow ones.
    for i in np.argsort(-densities.log_determinant, kind="stable"):
        colour = COLOURS[i % len(COLOURS)]
        _draw_ellipse(ax, plane, densities[i], colour, alpha=0.13)
        point = plane.points(densities.mean[i])
        ax.plot(*point, ".", color=colour, markersize=6)
        labels.append(Label(words[i], point[0], point[1], _dark(colour), size=10, weight="bold"))
    _fit_view(ax)
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
        it; as a mapping, each by the name that the legend is to give it.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.
    neighbours : int, optional
        How many of the words nearest to each posterior to draw as landmarks.
    landmarks : iterable of str, optional
        The words that may serve as landmarks; by default all.

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
            wv.substitutes(word, tokens, candidates, neighbours, position=position) if neighbours else []
        )
        nearest.append([key for key, _ in ranking])
    marks = list(dict.fromkeys(itertools.chain.from_iterable(nearest)))
    prior = wv.density(word)
    posteriors = wv.infer_posteriors([(word, *context) for context in named.values()])
    # The landmarks are the map, on which the posteriors travel.
    travellers = [] if len(marks) > 2 else list(posteriors.mean)
    plane = Plane.fitted(np.array([prior.mean, *travellers, *(wv.density(marks).mean if marks else [])]))
    ax = _blank_axes(ax)
    start = plane.points(prior.mean)
    handles = [_draw_ellipse(ax, plane, prior, _INK, alpha=0.04, linestyle="--")]
    handles[0].set_label(f"{word} out of context")
    labels = [Label(word, start[0], start[1], _INK, size=11, weight="bold")]
    arrows = []
    for i, name in enumerate(named):
        colour = COLOURS[i % len(COLOURS)]
        end = plane.points(posteriors.mean[i])
        handles.append(_draw_ellipse(ax, plane, posteriors[i], colour, alpha=0.25))
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
        colour = COLOURS[owners[0] % len(COLOURS)] if len(owners) == 1 else _GREY
        x, y = plane.points(wv.density(key).mean)
        ax.plot(x, y, "o", color=colour, markersize=3.5)
        labels.append(Label(key, x, y, _dark(colour), size=9))
    ax.plot(*start, "o", color=_INK, markersize=5)
    ax.legend(
        handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.01), frameon=False, fontsize=9, ncols=1
    )
    _fit_view(ax)
    place_labels(ax, labels, avoid=np.concatenate(arrows))
    return ax


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
        Draw only the so many most frequent words.

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
    ax = _axes(ax)
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
    _open_frame(ax)
    correlation, residuals = _regression(np.log(frequency), generality)
    ax.text(0.98, 0.03, f"r = {correlation:.2f}", transform=ax.transAxes, ha="right", color=_INK)
    if words is None:
        order = np.argsort(residuals, kind="stable")
        chosen = list(dict.fromkeys([*order[-6:][::-1].tolist(), *order[:6].tolist()]))
    else:
        place = {int(row): i for i, row in enumerate(rows)}
        chosen = [place[index] for word in words if (index := wv.get_index(word)) in place]
    labels = []
    for i in chosen:
        ax.plot(frequency[i], generality[i], "o", color=COLOURS[1], markersize=4)
        labels.append(Label(str(wv.index_to_key[rows[i]]), frequency[i], generality[i], _INK, size=9))
    ax.margins(0.08)
    place_labels(ax, labels)
    return ax


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
    ax = _axes(ax)
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
    _open_frame(ax)
    return ax


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
    ax = _axes(ax)
    steps = np.arange(len(entropies))
    ax.axhline(entropies[0], color=_GREY, linewidth=1, linestyle="--")
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
    _open_frame(ax)
    return ax


def _axes(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('pictures need matplotlib: run  pip install "densvec[plot]"') from error
    return plt.subplots(figsize=(6.4, 4.6), layout="constrained")[1]


def _blank_axes(ax: Axes | None) -> Axes:
    """Return axes for a map: the same scale both ways, and no ticks, since its numbers mean nothing."""
    ax = _axes(ax)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_color("#cccccc")
    return ax


def _open_frame(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def _draw_ellipse(
    ax: Axes, plane: Plane, density: Gaussian, colour: str, alpha: float, linestyle: str = "-"
) -> Any:
    """Add the ellipse of one standard deviation, and return it."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Ellipse

    values, vectors = np.linalg.eigh(plane.covariance(density))
    width, height = 2 * np.sqrt(np.maximum(values, 0))
    ellipse = Ellipse(
        tuple(plane.points(density.mean)),
        width,
        height,
        angle=float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))),
        facecolor=to_rgba(colour, alpha),
        edgecolor=to_rgba(colour, 0.9),
        linewidth=1.5,
        linestyle=linestyle,
    )
    ax.add_patch(ellipse)
    return ellipse


def _fit_view(ax: Axes) -> None:
    ax.autoscale_view()
    ax.margins(0.06)


def _dark(colour: str) -> Any:
    """Return a colour as text needs it: dark enough to be read on white."""
    from matplotlib.colors import to_rgb

    return tuple(0.65 * channel for channel in to_rgb(colour))


def _named_contexts(
    contexts: Mapping[str, Context] | Iterable[Context],
) -> dict[str, tuple[str | Sequence[str], int | None]]:
    """Return (tokens, position or None) by name; a context without a name goes by its words."""
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


def _divergences(wv: KeyedDensities, pairs: Iterable[tuple[str, str]]) -> Floats:
    """Return KL[a‖b] of the pairs whose words are known."""
    known = [(a, b) for a, b in pairs if a in wv and b in wv]
    if not known:
        return np.empty(0)
    return wv.density([a for a, _ in known]).kl(wv.density([b for _, b in known]))


def _regression(x: Floats, y: Floats) -> tuple[float, Floats]:
    """Return Pearson's correlation, and what is left of y when a line through x explains it."""
    x, y = x - x.mean(), y - y.mean()
    spread_x, spread_y = float(x @ x), float(y @ y)
    if not spread_x or not spread_y:
        return float("nan"), y
    slope = float(x @ y) / spread_x
    return slope * (spread_x / spread_y) ** 0.5, y - slope * x
