"""Senses of a word: its occurrences in a corpus, clustered by what stands around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, cast, overload

import numpy as np

from densvec.gaussian import Gaussian
from densvec.questions.lookup import text_reading_of, whitened
from densvec.statistics.clusters import kmeans
from densvec.text.concordance import Occurrence, given_occurrences, sample_occurrences
from densvec.types import Corpus, Floats, Found, Indices, Integers

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from densvec.keyed import KeyedDensities

_FEWEST = 10
"""A sense has at least this many occurrences."""

_APART = 3.55
"""Senses are more than this many standard deviations apart, along the line between their centres. The halves of an
even spread are √12 = 3.46 apart: with somewhat more, there are fewer occurrences between senses than in them."""

_THINNING, _THINNING_BESIDE = 1e-5, 1e-3
"""The thresholds for thinning what stands around a word, and right beside it, where function words tell something."""

_BESIDE = 3
"""Words of thinned text that are read on either side to see what stands right beside a word."""

_RARE = 5e-6
"""Words that are rarer than one in 200,000 do not tell a reader what a sense is."""

_RESTARTS = 5
"""How often k-means starts."""

Words: TypeAlias = "list[str] | tuple[str, ...]"
Places: TypeAlias = "Corpus | Sequence[Occurrence | tuple[Sequence[str], int]]"


class Options(TypedDict, total=False):
    """The keyword arguments of `senses`."""

    number: int | None
    max_senses: int
    topn: int
    examples: int
    seed: int
    show_progress: bool | None


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
    note : str or None
        What is missing, if nothing can be said about how many senses there are.
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
        self.note: str | None = None
        if not len(occurrences):
            self.note = f"{word!r} does not occur"
        elif len(occurrences) < 2 * _FEWEST:
            counted = _counted(len(occurrences), "occurrence")
            self.note = f"too few to tell senses apart: {counted}; {2 * _FEWEST} are needed"

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
        return "\n\n".join([*map(str, self._senses), *([self.note] if self.note else [])])

    def __repr__(self) -> str:
        counts = _counted(len(self), "sense"), _counted(len(self.occurrences), "occurrence")
        return f"<{counts[0]} of {self.word!r} in {counts[1]}>"

    def _repr_html_(self) -> str:
        from densvec.files.html import table

        rows = [(f"{sense.share:.0%}", ", ".join(word for word, _ in sense.nearest)) for sense in self]
        return table(repr(self).strip("<>"), ["share", "words near it"], rows)


def _counted(count: int, name: str) -> str:
    return f"{count} {name}{'s' * (count != 1)}"


@overload
def senses(
    wv: KeyedDensities, word: str, corpus: Places, max_occurrences: int = ..., **how: Unpack[Options]
) -> Senses: ...
@overload
def senses(
    wv: KeyedDensities, word: Words, corpus: Places, max_occurrences: int = ..., **how: Unpack[Options]
) -> dict[str, Senses]: ...
def senses(
    wv: KeyedDensities,
    word: Any,
    corpus: Places,
    max_occurrences: int = 1000,
    *,
    number: int | None = None,
    max_senses: int = 3,
    topn: int = 8,
    examples: int = 3,
    seed: int = 0,
    show_progress: bool | None = None,
) -> Any:
    """Find the senses of a word in a corpus, and how many there are.

    An occurrence is described by what the words around it say (:meth:`context_mean`), and by the words right beside
    it, left and right. The descriptions are clustered by k-means, into as many senses as can be told apart: along the
    line between any two of them, they are farther apart than the halves of an even spread would be.

    Parameters
    ----------
    word : str or list of str
        A known word, or several, for which the corpus is read once.
    corpus : path, list of paths, iterable of token lists, or list of (tokens, position)
        Where to look; it is read once. Or the occurrences themselves, each a sentence and where the word stands in it,
        in whatever form. With several words, an occurrence is one of the word that stands there.
    max_occurrences : int, optional
        The most occurrences to sample from a corpus. Occurrences that are given are all used.
    number : int, optional
        How many senses to find, if you know; by default the number is found as well. There are fewer if one
        would have less than ten occurrences.
    max_senses : int, optional
        The most senses to find.
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
    Senses, or dict of str to Senses for several words
        A sequence of :class:`Sense`, the most frequent first; at least one. Its `note` says so if there are too
        few occurrences to tell senses apart. Of several words, one that does not occur has no sense; if the only word
        does not occur, that is a ValueError.

    Examples
    --------
    >>> corpus = [["the", "dog", "and", "the", "cat"], ["a", "dog", "in", "a", "car"]]
    >>> senses = wv.senses("dog", corpus)
    >>> len(senses), senses[0].share
    (1, 1.0)
    >>> senses.note
    'too few to tell senses apart: 2 occurrences; 20 are needed'
    >>> senses.assign("my dog and cat").number
    0
    >>> wv.senses("dog", [(["a", "dog", "in", "a", "car"], 1)])
    <1 sense of 'dog' in 1 occurrence>
    >>> wv.senses(["dog", "cat"], corpus)["cat"]
    <1 sense of 'cat' in 1 occurrence>
    """
    words = [word] if isinstance(word, str) else list(word)
    for each in words:
        wv.get_index(each)
    for name, value in (("number", number), ("max_senses", max_senses)):
        if value is not None and value < 1:
            raise ValueError(f"{name}={value}: a word has at least one sense; give 1 or more")
    given = given_occurrences(corpus)
    if given is not None:
        found = {name: [each for each in given if name == word or each.word == name] for name in words}
    else:
        corpus = cast("Corpus", corpus)
        found = sample_occurrences(
            corpus,
            words,
            max_occurrences,
            seed=seed,
            text_reading=text_reading_of(wv),
            show_progress=show_progress,
        )
    if isinstance(word, str) and not found[word]:
        raise ValueError(
            f"{word!r} does not occur in the corpus: look at its spelling there (case, for example), or give "
            "another corpus"
        )
    answers = {
        each: _senses_of(wv, each, found[each], number, max_senses, topn, examples, seed) for each in words
    }
    return answers[word] if isinstance(word, str) else answers


def _senses_of(
    wv: KeyedDensities,
    word: str,
    items: list[Occurrence],
    number: int | None,
    most: int,
    topn: int,
    examples: int,
    seed: int,
) -> Senses:
    """Find the senses of a word in its occurrences."""
    posteriors = wv.infer_posteriors([(word, each.tokens, each.position) for each in items])
    if not items:
        return Senses(word, [], items, np.zeros(0, dtype=np.int64), posteriors)
    points = describe(wv, word, items)
    labels = _clustered(points, number, most, seed)
    order = np.argsort(-np.bincount(labels), kind="stable")
    labels = np.argsort(order)[labels]
    centres = np.array([points[labels == i].mean(axis=0) for i in range(labels.max() + 1)])
    said = wv.context_means([(word, each.tokens, each.position) for each in items], sample=_THINNING)
    nearest = telling_words(
        wv, word, np.array([said[labels == i].mean(axis=0) for i in range(len(centres))]), topn
    )
    found = []
    for i in range(len(centres)):
        members = np.flatnonzero(labels == i)
        typical = most_typical(points[members], [items[j] for j in members], examples)
        share, density = len(members) / len(items), density_of_all(posteriors[members])
        found.append(Sense(word, i, share, density, nearest[i], typical))

    def locate(occurrence: Occurrence) -> int:
        return int(((centres - describe(wv, word, [occurrence])) ** 2).sum(axis=1).argmin())

    return Senses(word, found, items, labels, posteriors, locate)


def most_typical(points: Floats, items: Sequence[Occurrence], count: int) -> list[Occurrence]:
    """Return the occurrences whose points are nearest to the mean of all, without repetitions."""
    lines: dict[str, Occurrence] = {}
    for i in np.argsort(((points - points.mean(axis=0)) ** 2).sum(axis=1), kind="stable"):
        lines.setdefault(items[i].line(), items[i])
    return list(lines.values())[:count]


def describe(wv: KeyedDensities, word: str, items: Sequence[Occurrence]) -> Floats:
    """Return what stands around occurrences of a word, (n, 3 D): around it, and right beside it, left and right.

    These are directions of weighted averages of words (:func:`~densvec.questions.lookup.whitened`). Each side counts a
    quarter in the squared distance of two occurrences.

    Examples
    --------
    >>> describe(wv, "dog", [Occurrence(["the", "dog", "and", "the", "cat"], 1)]).shape
    (1, 6)
    """
    pairs = [(word, each.tokens, each.position) for each in items]
    left = [(word, tokens[: place + 1], place) for word, tokens, place in pairs]
    right = [(word, tokens[place:], 0) for word, tokens, place in pairs]
    beside = [
        whitened(wv, wv.context_means(side, sample=_THINNING_BESIDE, reach=_BESIDE)) for side in (left, right)
    ]
    around = whitened(wv, wv.context_means(pairs, sample=_THINNING))
    return np.concatenate([around, *(side / 2 for side in beside)], axis=1)


def _clustered(points: Floats, number: int | None, most: int, seed: int) -> Integers:
    """Return the sense of each occurrence."""
    labels: Integers = np.zeros(len(points), dtype=np.int64)
    for parts in range(2, (number or most) + 1):
        if len(points) < parts * _FEWEST:
            break
        found = kmeans(points, parts, restarts=_RESTARTS, seed=seed)
        if np.bincount(found, minlength=parts).min() < _FEWEST:
            continue
        if number is not None or _separation(points, found) > _APART:
            labels = found
    return labels


def _separation(points: Floats, labels: Integers) -> float:
    """Return how many standard deviations the two clusters that are nearest to each other are apart.

    What stands right beside the word is left out, which depends on grammar as much as on meaning.
    """
    points = points[:, : points.shape[1] // 3]
    parts = [points[labels == i] for i in range(labels.max() + 1)]
    least = np.inf
    for i, first in enumerate(parts):
        for second in parts[:i]:
            line = first.mean(axis=0) - second.mean(axis=0)
            along = first @ line, second @ line
            deviation = np.sqrt((along[0].var() + along[1].var()) / 2)
            least = min(least, (along[0].mean() - along[1].mean()) / max(deviation, 1e-30))
    return float(least)


def telling_words(wv: KeyedDensities, word: str, centres: Floats, topn: int) -> list[Found]:
    """Return for each sense the words that are near it and nearer than to the other senses, leaving out rare ones."""
    rows = listed_rows(wv, [word])
    cosines = whitened(wv, centres) @ whitened(wv, wv.vectors[rows]).T
    found: list[Found] = []
    for i, scores in enumerate(cosines):
        others = np.delete(cosines, i, axis=0)
        telling = scores + (scores - others.max(axis=0)) if len(others) else scores
        best = np.argsort(-telling, kind="stable")[:topn]
        found.append([(wv.index_to_key[rows[j]], float(telling[j])) for j in best])
    return found


def listed_rows(wv: KeyedDensities, words: Sequence[Any]) -> Indices:
    """Return the rows of the words that are not too rare to tell a reader something, without some."""
    listed = np.ones(len(wv), dtype=bool)
    if "count" in wv.expandos:
        counts = np.asarray(wv.expandos["count"], dtype=np.float64)
        listed = counts >= _RARE * counts.sum()
    listed[[wv.get_index(word) for word in words]] = False
    return np.flatnonzero(listed)


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
