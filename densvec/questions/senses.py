"""Senses of a word: its occurrences in a corpus, clustered by what the encoder makes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from densvec.gaussian import Gaussian
from densvec.questions.lookup import cosines_with, rows_of
from densvec.questions.neighbourhood import nearness
from densvec.questions.sense_count import Usual, induce
from densvec.questions.surroundings import Surroundings
from densvec.text.concordance import Occurrence, sample_occurrences
from densvec.types import Corpus, Floats, Found, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["Sense", "Senses", "density_of_all", "senses", "telling_words"]

_OTHERS, _OCCURRENCES = 300, 50
"""How many words of like frequency to compare with, and in how many occurrences: they show how words differ."""

_COMPARED, _MANY = 60, 300
"""How many of them are looked at in more occurrences, and in how many: they show how far one word falls apart."""


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
        word: str,
        senses: list[Sense],
        occurrences: list[Occurrence],
        labels: Integers,
        posteriors: Gaussian,
        locate: Callable[[Occurrence], int] | None = None,
    ) -> None:
        self._locate = locate
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
        number = 0 if self._locate is None else self._locate(Occurrence(tokens, position))
        return self._senses[number]

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._senses))

    def __repr__(self) -> str:
        return f"<{len(self)} senses of {self.word!r} in {len(self.occurrences)} occurrences>"

    def _repr_html_(self) -> str:
        from densvec.files.html import table

        rows = [(f"{sense.share:.0%}", ", ".join(word for word, _ in sense.nearest)) for sense in self]
        return table(repr(self).strip("<>"), ["share", "words near it"], rows)


def senses(
    wv: KeyedDensities,
    word: str,
    corpus: Corpus,
    max_occurrences: int = 1000,
    *,
    number: int | None = None,
    max_senses: int = 3,
    significance: float = 0.5,
    topn: int = 8,
    examples: int = 3,
    seed: int = 0,
    show_progress: bool | None = None,
) -> Senses:
    """Find the senses of a word in a corpus, and how many there are.

    The word's occurrences are sampled, and described by their surroundings: what the encoder makes of them, the
    means of the words around, and the words right beside. In a space in which other words of like frequency
    differ most from each other and least from themselves, they are clustered by mixtures of Gaussians. The
    number of senses, one to three, follows from how near the word is to others, also beside how near these are to
    each other (a word with several senses lies between them), and from how much better several senses
    explain its occurrences than one does, all compared with what is usual for the other words.

    Parameters
    ----------
    word : str
        A known word.
    corpus : path, list of paths, or iterable of token lists
        Where to look; it is read once.
    max_occurrences : int, optional
        The most occurrences to sample.
    number : int, optional
        How many senses to find, if you know; by default the number is found as well. There are fewer if one
        would have less than ten occurrences.
    max_senses : int, optional
        The most senses to find; more than three are never found unless `number` says so.
    significance : float, optional
        How doubtful a further sense may be, from 0 to 1: the smaller, the fewer senses.
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
        If it does not occur in the corpus, or if `number` is less than 1.

    Examples
    --------
    >>> corpus = [["the", "dog", "and", "the", "cat"], ["a", "dog", "in", "a", "car"]]
    >>> senses = wv.senses("dog", corpus)
    >>> len(senses), senses[0].share
    (1, 1.0)
    >>> senses.assign("my dog and cat").number
    0
    """
    wv.get_index(word)
    if number is not None and number < 1:
        raise ValueError(f"number={number}: a word has at least one sense; give 1 or more")
    others = _others(wv, word, seed)
    limits = {other: _MANY if place < _COMPARED else _OCCURRENCES for place, other in enumerate(others)}
    found = sample_occurrences(
        corpus, [word, *others], limits | {word: max_occurrences}, seed=seed, show_progress=show_progress
    )
    items = found.pop(word)
    if not items:
        raise ValueError(
            f"{word!r} does not occur in the corpus: look at its spelling there (case, for example), or give "
            "another corpus"
        )
    posteriors = wv.infer_posteriors([(word, each.tokens, each.position) for each in items])
    around = Surroundings(wv)
    counts = np.asarray(wv.expandos.get("count", np.ones(len(wv))), dtype=np.float64)
    usual = Usual(
        [around(other, found[other]) for other in others],
        nearness(wv, others),
        counts[rows_of(wv, others)],
        compared=_COMPARED,
        seed=seed,
    )
    points = around(word, items)
    labels, mixed = induce(
        points,
        usual,
        max_senses,
        significance,
        seed,
        near=nearness(wv, [word])[0],
        count=float(counts[wv.get_index(word)]),
        number=number,
    )
    order = np.argsort(-np.bincount(labels), kind="stable")
    labels = np.argsort(order)[labels]
    if mixed is None or usual.space is None:
        centres = points.mean(axis=0, keepdims=True)
        return _described(wv, word, items, labels, posteriors, points, centres, None, topn, examples)
    space, mixed = usual.space, mixed.ordered(order)

    def locate(occurrence: Occurrence) -> int:
        return int(mixed.most_likely(space(around(word, [occurrence])))[0])

    return _described(
        wv, word, items, labels, posteriors, space(points), mixed.centres, locate, topn, examples
    )


def _others(wv: KeyedDensities, word: str, seed: int) -> list[str]:
    """Return words of about the same frequency, which are neighbours in the order of the rows."""
    row = wv.get_index(word)
    reach = max(4 * _OTHERS, row // 2)
    names = [
        key
        for key in wv.index_to_key[max(0, row - reach) : row + reach]
        if key != word and isinstance(key, str) and key.isalpha()
    ]
    rng = np.random.default_rng(seed)
    return [names[i] for i in rng.permutation(len(names))[:_OTHERS]]


def _described(
    wv: KeyedDensities,
    word: str,
    items: list[Occurrence],
    labels: Integers,
    posteriors: Gaussian,
    points: Floats,
    centres: Floats,
    locate: Callable[[Occurrence], int] | None,
    topn: int,
    examples: int,
) -> Senses:
    """Say what clusters are, whose centres are given; the largest is the first."""
    means = posteriors.mean.astype(np.float64)
    nearest = telling_words(
        wv, word, np.array([means[labels == i].mean(axis=0) for i in range(len(centres))]), topn
    )
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
    return Senses(word, senses, items, labels, posteriors, locate)


def telling_words(wv: KeyedDensities, word: str, centres: Floats, topn: int) -> list[Found]:
    """Return for each sense the words that are near it and nearer than to the other senses."""
    own = wv.get_index(word)
    units = centres / np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-30)
    cosines = np.array([cosines_with(wv, unit.astype(wv.vectors.dtype), slice(None)) for unit in units])
    found: list[Found] = []
    for i, scores in enumerate(cosines):
        others = np.delete(cosines, i, axis=0)
        telling = scores + (scores - others.max(axis=0)) if len(others) else scores.copy()
        telling[own] = -np.inf
        best = np.argsort(-telling, kind="stable")[:topn]
        found.append([(wv.index_to_key[row], float(telling[row])) for row in best if row != own])
    return found


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
