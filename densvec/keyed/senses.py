"""Senses of a word: its occurrences in a corpus, clustered by what the encoder makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from densvec.concordance import Corpus, Occurrence, sample_occurrences
from densvec.gaussian import Gaussian
from densvec.keyed.lookup import Lookup
from densvec.keyed.search import Found
from densvec.types import Floats, Integers

__all__ = [
    "Sense",
    "Senses",
    "SensesOfWords",
    "Usual",
    "density_of_all",
    "induce",
    "main_spread",
    "split_in_two",
]

_CONTROLS = 60
"""How many words of like frequency to compare with: their occurrences show how much any word's vary."""

_COMPARED = 200
"""The most occurrences of a word that are looked at to see how much they vary."""

_FEWEST = 10
"""A sense has at least this many occurrences."""


@dataclass(frozen=True)
class Sense:
    """One sense of a word.

    Attributes
    ----------
    word : str
    number : int
        From 0, the most frequent sense first.
    share : float
        Share of the occurrences that have it.
    density : Gaussian
        The mean of their posteriors; its variance is their spread plus their own variances.
    nearest : list of (str, float)
        Words near this sense and not near the others, best first.
    examples : list of Occurrence
        The most typical occurrences.
    """

    word: str
    number: int
    share: float
    density: Gaussian
    nearest: Found
    examples: list[Occurrence]

    def __str__(self) -> str:
        words = " ".join(word for word, _ in self.nearest)
        lines = [f"{self.word} {self.number + 1}  {100 * self.share:.0f} %  {words}"]
        return "\n".join([*lines, *(f"  {each.line()}" for each in self.examples)])


class Senses(Sequence[Sense]):
    """The senses of a word, the most frequent first.

    Attributes
    ----------
    word : str
    occurrences : list of Occurrence
        The occurrences that they were found in.
    labels : numpy.ndarray of int
        The sense of each.
    posteriors : Gaussian
        The posterior of each.
    """

    def __init__(
        self,
        wv: Any,
        word: str,
        senses: list[Sense],
        occurrences: list[Occurrence],
        labels: Integers,
        posteriors: Gaussian,
    ) -> None:
        self._wv = wv
        self.word = word
        self._senses = senses
        self.occurrences = occurrences
        self.labels = labels
        self.posteriors = posteriors

    @overload
    def __getitem__(self, index: int) -> Sense: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sense]: ...
    def __getitem__(self, index: Any) -> Any:
        """Return a sense."""
        return self._senses[index]

    def __len__(self) -> int:
        return len(self._senses)

    def __iter__(self) -> Iterator[Sense]:
        return iter(self._senses)

    def assign(self, sentence: str | Sequence[str], position: int | None = None) -> Sense:
        """Return the sense that the word has in a sentence.

        Parameters
        ----------
        sentence : str or sequence of str
            Tokens, or a string of them separated by white space.
        position : int, optional
            Where the word stands; by default where it first occurs.
        """
        tokens = sentence.split() if isinstance(sentence, str) else list(sentence)
        if position is None:
            if self.word not in tokens:
                raise ValueError(
                    f"{self.word!r} is not in the sentence {' '.join(tokens)[:60]!r}: give its position"
                )
            position = tokens.index(self.word)
        posterior = self._wv.infer_posteriors([(self.word, tokens, position)])
        centres = np.array([sense.density.mean for sense in self._senses], dtype=np.float64)
        points = np.asarray(posterior.mean, dtype=np.float64)
        return self._senses[int(((points - centres) ** 2).sum(axis=1).argmin())]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._senses))

    def __repr__(self) -> str:
        return f"<{len(self)} senses of {self.word!r} in {len(self.occurrences)} occurrences>"

    def _repr_html_(self) -> str:
        from densvec.html import table

        rows = [(f"{sense.share:.0%}", ", ".join(word for word, _ in sense.nearest)) for sense in self]
        return table(repr(self).strip("<>"), ["share", "words near it"], rows)


class SensesOfWords(Lookup):
    """Senses, found in text."""

    def senses(
        self,
        word: str,
        corpus: Corpus,
        max_occurrences: int = 1000,
        *,
        max_senses: int = 8,
        significance: float = 0.2,
        topn: int = 8,
        examples: int = 3,
        seed: int = 0,
        show_progress: bool | None = None,
    ) -> Senses:
        """Find the senses of a word in a corpus, and how many there are.

        The word's occurrences are sampled and their posteriors inferred. They are split in two if they vary along
        one direction more than those of other words of like frequency do (at most the share `significance` of those
        varies as much), and the parts are split again in the same way, compared with parts of those words.

        Parameters
        ----------
        word : str
            A known word.
        corpus : path, list of paths, or iterable of token lists
            Where to look; it is read once.
        max_occurrences : int, optional
            The most occurrences to sample.
        max_senses : int, optional
            The most senses to find.
        significance : float, optional
            How certain a split must be: the smaller, the fewer senses.
        topn : int, optional
            How many nearest words to list for each sense.
        examples : int, optional
            How many typical occurrences to list for each sense.
        seed : int, optional
            Seeds the samples and the clustering.
        show_progress : bool or None, optional
            Whether to show a progress bar; None for only in a terminal.

        Returns
        -------
        Senses
            A sequence of :class:`Sense`, the most frequent first; at least one.

        Raises
        ------
        KeyError
            If the word is unknown.
        ValueError
            If it does not occur in the corpus.

        Examples
        --------
        >>> corpus = [["the", "dog", "and", "the", "cat"], ["a", "dog", "in", "a", "car"]]
        >>> senses = wv.senses("dog", corpus)
        >>> len(senses), senses[0].share
        (1, 1.0)
        >>> senses.assign("my dog and cat").number
        0
        """
        whole = self._whole
        self.get_index(word)
        controls = self._controls(word, seed)
        found = sample_occurrences(
            corpus, [word, *controls], max_occurrences, seed=seed, show_progress=show_progress
        )
        items = found.pop(word)
        if not items:
            raise ValueError(
                f"{word!r} does not occur in the corpus: look at its spelling there (case, for example), or give "
                "another corpus"
            )
        posteriors = whole.infer_posteriors([(word, each.tokens, each.position) for each in items])
        points = posteriors.mean.astype(np.float64)
        others = [
            whole.infer_posteriors(
                [
                    (other, each.tokens, each.position)
                    for each in (theirs[i] for i in _evenly(len(theirs), _COMPARED))
                ]
            )
            for other, theirs in found.items()
            if len(theirs) >= 2 * _FEWEST
        ]
        usual = Usual([batch.mean.astype(np.float64) for batch in others], seed)
        labels = induce(points, usual, max_senses, significance, seed)
        return self._described(word, items, labels, posteriors, topn, examples)

    def _controls(self, word: str, seed: int) -> list[str]:
        """Return words of about the same frequency, which are neighbours in the order of the rows."""
        row = self.get_index(word)
        names = [
            key
            for key in self.index_to_key[max(0, row - 400) : row + 400]
            if key != word and isinstance(key, str) and key.isalpha()
        ]
        rng = np.random.default_rng(seed)
        return [names[i] for i in rng.permutation(len(names))[:_CONTROLS]]

    def _described(
        self,
        word: str,
        items: list[Occurrence],
        labels: Integers,
        posteriors: Gaussian,
        topn: int,
        examples: int,
    ) -> Senses:
        """Put clusters in the order of their size and say what they are."""
        sizes = np.bincount(labels)
        order = np.argsort(-sizes, kind="stable")
        labels = np.argsort(order)[labels]
        points = posteriors.mean.astype(np.float64)
        centres = np.array([points[labels == i].mean(axis=0) for i in range(len(order))])
        nearest = self._telling(word, centres, topn)
        senses = []
        for i, centre in enumerate(centres):
            members = np.flatnonzero(labels == i)
            squares = (points[members] - centre) ** 2
            typical = members[np.argsort(squares.sum(axis=1), kind="stable")]
            density = density_of_all(posteriors[members])
            lines: dict[str, Occurrence] = {}
            for j in typical:
                lines.setdefault(items[j].line(), items[j])
                if len(lines) >= examples:
                    break
            share = len(members) / len(labels)
            senses.append(Sense(word, i, share, density, nearest[i], list(lines.values())))
        return Senses(self._whole, word, senses, items, labels, posteriors)

    def _telling(self, word: str, centres: Floats, topn: int) -> list[Found]:
        """Return for each sense the words that are near it and nearer than to the other senses."""
        own = self.get_index(word)
        units = centres / np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-30)
        cosines = np.array([self._cosines(unit.astype(self.vectors.dtype), slice(None)) for unit in units])
        found: list[Found] = []
        for i, scores in enumerate(cosines):
            others = np.delete(cosines, i, axis=0)
            telling = scores + (scores - others.max(axis=0)) if len(others) else scores.copy()
            telling[own] = -np.inf
            best = np.argsort(-telling, kind="stable")[:topn]
            found.append([(self.index_to_key[row], float(telling[row])) for row in best if row != own])
        return found


def main_spread(points: Floats) -> float:
    """Return the variance of points along the direction in which they vary most.

    Examples
    --------
    >>> line = np.linspace(-1.0, 1.0, 101)[:, None] * [3.0, 4.0]
    >>> round(main_spread(line), 1)
    8.5
    """
    if len(points) < 2:
        return 0.0
    centred = points - points.mean(axis=0)
    return float(np.linalg.eigvalsh(centred.T @ centred)[-1] / len(points))


def density_of_all(posteriors: Gaussian) -> Gaussian:
    """Return the density of many posteriors: the mean of their means, and how far these spread with their variances.

    Examples
    --------
    >>> density_of_all(Gaussian([[0.0, 0.0], [2.0, 2.0]], [[1.0], [3.0]]))
    Gaussian(mean=[1., 1.], variance=[3.])
    """
    mean = posteriors.mean.mean(axis=0, dtype=np.float64)
    squares = (posteriors.mean - mean) ** 2
    spread = squares.mean(keepdims=True)[0] if posteriors.is_spherical else squares.mean(axis=0)
    variance = posteriors.variance.mean(axis=0, dtype=np.float64) + spread
    dtype: Any = posteriors.mean.dtype
    return Gaussian(mean.astype(dtype), variance.astype(dtype))


def split_in_two(points: Floats, seed: int = 0) -> Integers:
    """Return the two halves that points fall apart into best, by k-means: 0 or 1 for each.

    Examples
    --------
    >>> labels = split_in_two(np.array([[0.0], [0.1], [5.0], [5.1]]))
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    from densvec.evaluation.clusters import kmeans

    if len(points) < 2:
        return np.zeros(len(points), dtype=np.int64)
    return kmeans(points, 2, restarts=5, seed=seed)


class Usual:
    """Words, by their occurrences, that tell how far those of a word fall apart as a rule; and their parts.

    What falls apart is measured by :func:`main_spread`. Fewer points seem to vary more along their main direction
    than they do, so two words are compared in equally many occurrences.

    Parameters
    ----------
    words : list of numpy.ndarray, each (n, D)
        The occurrences of each word; words that have too few of them to be split are left out.
    seed : int, optional
        Of the clustering in parts.
    """

    def __init__(self, words: Sequence[Floats], seed: int = 0) -> None:
        self.whole = [_some(points, _COMPARED) for points in words if len(points) >= 2 * _FEWEST]
        halves = (points[split_in_two(points, seed) == i] for points in self.whole for i in (0, 1))
        self.parts = [half for half in halves if len(half) >= 2 * _FEWEST]

    def share_beyond(self, points: Floats, *, part: bool) -> float:
        """Return the share of words, or of their parts, that fall apart at least as far as points do."""
        points = _some(points, _COMPARED)
        spreads: dict[int, float] = {}
        beyond = []
        for other in self.parts if part else self.whole:
            size = min(len(points), len(other))
            if size not in spreads:
                spreads[size] = main_spread(_some(points, size))
            beyond.append(main_spread(_some(other, size)) >= spreads[size])
        return float(np.mean(beyond)) if beyond else 1.0


def _evenly(length: int, count: int) -> Integers:
    """Return at most `count` places among `length`, evenly spaced."""
    return np.linspace(0, length - 1, min(length, count)).astype(np.int64)


def _some(points: Floats, count: int) -> Floats:
    """Return at most `count` of the points, evenly spaced among them."""
    return points[_evenly(len(points), count)]


def induce(points: Floats, usual: Usual, most: int = 8, significance: float = 0.2, seed: int = 0) -> Integers:
    """Return the sense of each point: points are split in two as long as a part falls apart far enough.

    Far enough is further than all but the share `significance` of other words do. Parts are compared with parts
    of other words; there are more of them, so more chances to be wrong, and a sixteenth of that share is allowed.
    """
    labels = np.zeros(len(points), dtype=np.int64)
    waiting, number = [0], 1
    while waiting and number < most:
        part = waiting.pop(0)
        members = np.flatnonzero(labels == part)
        if len(members) < 2 * _FEWEST:
            continue
        is_part = number > 1
        if usual.share_beyond(points[members], part=is_part) > significance / (16 if is_part else 1):
            continue
        halves = split_in_two(points[members], seed)
        if min(np.bincount(halves, minlength=2)) < _FEWEST:
            continue
        labels[members[halves == 1]] = number
        waiting += [part, number]
        number += 1
    return labels
