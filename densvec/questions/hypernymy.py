"""Whether one word is a kind of another: a score of nearness and direction together, and searches by it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from densvec.checks import KEY_TYPES
from densvec.distances.ranking import best
from densvec.distances.table import row_blocks
from densvec.distances.vectors import unit_rows
from densvec.gaussian import Gaussian
from densvec.questions.kinds import (
    kinds_of,
    probabilities_of,
    probabilities_of_all,
    said_in,
    singular_rows,
)
from densvec.questions.lookup import (
    check_paired,
    cosines_with,
    densities_of,
    known_log_variances,
    one_density,
    row_or_rows,
    rows_among,
    rows_of,
)
from densvec.questions.taxonomy import Taxonomy, build_taxonomy
from densvec.tables import derived
from densvec.text.spelling import is_inflection
from densvec.types import Floats, Found, Integers, Key, Many

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

_SAID = 0.25
"""The power of the probability that a text says so, which is otherwise much smaller than the parts of the score."""

_SHORTLIST = 1000
"""So many words, the best by their densities, are looked up in what the text says when kinds of a word are sought."""


@dataclass(frozen=True)
class HypernymyScale:
    """How much the words of a model differ: the scale on which two of them are near, or one is more general.

    All three are moments over pairs of distinct words drawn from running text, so a word counts as often as it
    occurs; without counts every word counts the same.

    Attributes
    ----------
    cosine : float
        Mean cosine of two words.
    cosine_spread : float
        Standard deviation of it.
    generality_spread : float
        Standard deviation of the difference of two words' generality, per dimension.
    said : float
        What the text makes of the score of a pair by chance; 1 if it is not known what the text says.
    """

    cosine: float
    cosine_spread: float
    generality_spread: float
    said: float = 1.0

    @classmethod
    def of(cls, means: Floats, log_variances: Floats, counts: Any = None) -> HypernymyScale:
        """Measure the scale of a table of densities.

        Examples
        --------
        >>> HypernymyScale.of(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.0], [2.0]]))
        HypernymyScale(cosine=0.0, cosine_spread=0.0, generality_spread=2.0, said=1.0)
        """
        share = np.ones(len(means)) if counts is None else np.asarray(counts, dtype=np.float64)
        if not share.sum() > 0:
            share = np.ones(len(means))
        share = share / max(share.sum(), 1.0)
        first, second = np.zeros(means.shape[1]), np.zeros((means.shape[1], means.shape[1]))
        for rows in row_blocks(0, len(means), means.shape[1]):
            units = unit_rows(means[rows])
            weighted = units * share[rows, None]
            first += weighted.sum(axis=0)
            second += weighted.T @ units
        generality = log_variances.mean(axis=1, dtype=np.float64)
        centred = generality - share @ generality
        same = float(share @ share)  # the share of pairs that are one word twice, which say nothing
        different = 1.0 - same
        if different < 1e-12:
            return cls(0.0, 0.0, 0.0)
        # The mean of the cosine is ‖E u‖², that of its square ‖E u uᵀ‖²; a word is at cosine 1 to itself.
        mean = (first @ first - same) / different
        square = ((second**2).sum() - same) / different
        variance = 2.0 * (share @ centred**2) / different
        spread = float(np.sqrt(max(square - mean**2, 0.0)))
        return cls(float(mean), spread, float(np.sqrt(max(variance, 0.0))))

    @property
    def chance(self) -> float:
        """The score of an average pair of words, neither more general than the other."""
        return 0.25 * (1.0 + self.cosine) / 2.0 * self.said

    def relatedness(self, cosine: Any) -> Floats:
        """Return the share of pairs of words that are less near than those of the given cosines."""
        return share_below(np.asarray(cosine, dtype=np.float64) - self.cosine, self.cosine_spread)

    def score(self, cosine: Any, difference: Any) -> Floats:
        """Return the score of pairs, from their cosine and how much more general the second word is."""
        nearness = (1.0 + np.asarray(cosine, dtype=np.float64)) / 2.0
        wider = share_below(np.asarray(difference, dtype=np.float64), self.generality_spread)
        return nearness * self.relatedness(cosine) * wider


def share_below(difference: Floats, spread: float) -> Floats:
    """Return the share of a normal population of mean 0 that is below each value; half of one without spread."""
    if not spread > 0:
        return np.full(np.shape(difference), 0.5)
    from scipy.special import ndtr  # takes longer to import than a model to load

    share: Floats = ndtr(difference / spread)
    return share


@overload
def hypernymy(wv: KeyedDensities, a: Key, b: Key) -> float: ...
@overload
def hypernymy(wv: KeyedDensities, a: Many, b: Any) -> Floats: ...
@overload
def hypernymy(wv: KeyedDensities, a: Any, b: Many) -> Floats: ...
@overload
def hypernymy(wv: KeyedDensities, a: Any, b: Any) -> Any: ...
def hypernymy(wv: KeyedDensities, a: Any, b: Any) -> Any:
    """Return how far `a` is a kind of `b`, between 0 and 1.

    The score is a product: the nearness (1 + cosine)/2 of the two words; the share of all pairs of words that are less
    near; the share of all pairs that differ less in generality in this direction; and, if the model has counted what
    its text says ("animals such as dogs"; `kinds`), the fourth root of the probability that it says that a word
    like `a` is a kind of `b`. The scale of both shares is the model's own (:attr:`hypernymy_scale`). The score ranks
    pairs. It is not a probability: how many pairs really stand in this relation depends on how they were chosen.

    Parameters
    ----------
    a, b : str, int, Gaussian or list of keys
        The specific and the general one; two lists are compared pair by pair. What the text says is only known of
        keys `b`, not of densities.

    Returns
    -------
    float, or numpy.ndarray if one of them is a list

    Examples
    --------
    >>> wv.hypernymy("dog", "animal") > wv.hypernymy("animal", "dog")
    True
    >>> wv.hypernymy("dog", "animal") > wv.hypernymy("dog", "car")
    True
    >>> wv.hypernymy("dog", ["animal", "car"]).round(2)
    array([0.64, 0.  ])
    """
    specific, general = densities_of(wv, a), densities_of(wv, b)
    check_paired(specific, general)
    units = unit_rows(specific.mean)
    cosine = np.einsum("...i,...i->...", units, unit_rows(general.mean))
    difference = (general.log_determinant - specific.log_determinant) / wv.vector_size
    score = wv.hypernymy_scale.score(cosine, difference)
    said = said_in(wv)
    if said is not None and not (
        isinstance(b, Gaussian) or (isinstance(b, np.ndarray) and b.dtype.kind == "f")
    ):
        rows = np.broadcast_to(row_or_rows(wv, b), score.shape)
        pairs = np.broadcast_to(units, (*score.shape, wv.vector_size)).reshape(-1, wv.vector_size)
        score = score * probabilities_of(wv, said, pairs, rows.ravel()).reshape(score.shape) ** _SAID
    return score if score.ndim else float(score)


def scale_of(wv: KeyedDensities) -> HypernymyScale:
    """How much the words of this model differ in nearness and generality."""
    said = said_in(wv)
    return replace(_scale(wv), said=1.0 if said is None else float(said.shares @ said.shares) ** _SAID)


@derived
def _scale(wv: KeyedDensities) -> HypernymyScale:
    return HypernymyScale.of(wv.vectors, known_log_variances(wv), wv.expandos.get("count"))


def hypernyms(
    wv: KeyedDensities,
    word: Any,
    topn: int | None = 10,
    *,
    candidates: Iterable[Any] | None = None,
    restrict_vocab: int | None = None,
    exclude_inflections: bool = True,
) -> Found:
    """Return what a word is most likely a kind of, best first.

    Words are ranked by their :meth:`hypernymy`. Where nobody has counted what the text says, that is hardly enough, and
    they are ranked by its product with their cosine, with the cosine of what stands right beside both (`beside`), which
    makes them the same part of speech, and with the fourth root of their frequency.

    Parameters
    ----------
    word : str, int or Gaussian
        A key, or a density such as a posterior.
    topn : int or None, optional
        How many to return; None for all.
    candidates : iterable of str, optional
        The words to rank, such as the nouns of a lexicon; unknown ones are left out. By default the whole
        vocabulary.
    restrict_vocab : int, optional
        Rank only the first rows, which are the most frequent words.
    exclude_inflections : bool, optional
        Whether to leave out other regular (English) forms of the word, such as its plural.

    Returns
    -------
    list of (str, float)
        Words and their :meth:`hypernymy`.

    Examples
    --------
    >>> [word for word, _ in wv.hypernyms("dog", topn=2)]
    ['animal', 'cat']
    """
    return _by_hypernymy(wv, word, 1.0, topn, candidates, restrict_vocab, exclude_inflections)


def hyponyms(
    wv: KeyedDensities,
    word: Any,
    topn: int | None = 10,
    *,
    candidates: Iterable[Any] | None = None,
    restrict_vocab: int | None = None,
    exclude_inflections: bool = True,
) -> Found:
    """Return what is most likely a kind of a word, best first; the arguments are those of :meth:`hypernyms`.

    Words are ranked by their :meth:`hypernymy` and the fourth root of their frequency, so these numbers need not fall
    from each word to the next. What the text says is looked up for the thousand words that are best by their densities,
    and for those of which it says that they are kinds of this one; their plurals are left out like forms of the word.

    Examples
    --------
    >>> [word for word, _ in wv.hyponyms("animal", topn=2)]
    ['dog', 'cat']
    """
    return _by_hypernymy(wv, word, -1.0, topn, candidates, restrict_vocab, exclude_inflections)


def taxonomy(wv: KeyedDensities, words: Iterable[Any]) -> Taxonomy:
    """Arrange words in a tree, which prints as indented text, each under the one that it is most likely a kind of.

    Pairs are taken by falling :meth:`hypernymy`, unless they would close a circle. A word that is a kind of none of
    the others by more than chance stands at the top.

    Parameters
    ----------
    words : iterable of str
        At least one, each of them known.

    Examples
    --------
    >>> print(wv.taxonomy(["dog", "cat", "animal", "car"]))
    animal
      cat
      dog
    car
    """
    keys = [wv.index_to_key[row] for row in dict.fromkeys(rows_of(wv, words))]
    if not keys:
        raise ValueError("a taxonomy needs at least one word: got none")
    densities = wv.density(keys)
    units = unit_rows(densities.mean)
    generality = densities.log_determinant / wv.vector_size
    scores = wv.hypernymy_scale.score(units @ units.T, generality[None, :] - generality[:, None])
    said = said_in(wv)
    if said is not None:
        pairs = np.repeat(units, len(keys), axis=0)
        rows = np.tile(rows_of(wv, keys), len(keys))
        scores *= probabilities_of(wv, said, pairs, rows).reshape(scores.shape) ** _SAID
    return build_taxonomy(keys, scores, generality, wv.hypernymy_scale.chance)


def _by_hypernymy(
    wv: KeyedDensities,
    word: Any,
    sign: float,
    topn: int | None,
    candidates: Iterable[Any] | None,
    restrict_vocab: int | None,
    exclude_inflections: bool,
) -> Found:
    """Rank words above (sign 1) or below (sign −1) a word."""
    density = one_density(wv, word)
    if candidates is None:
        rows = np.arange(len(wv) if restrict_vocab is None else min(restrict_vocab, len(wv)))
    else:
        rows = rows_among(wv, candidates)
    unit = unit_rows(density.mean)
    generality = known_log_variances(wv)[rows].mean(axis=1, dtype=np.float64)
    own = float(density.log_determinant) / wv.vector_size
    cosines = cosines_with(wv, unit, rows)
    scores = wv.hypernymy_scale.score(cosines, sign * (generality - own))
    said = said_in(wv)
    row = wv.get_index(word) if isinstance(word, KEY_TYPES) else -1
    if said is not None and sign > 0:
        asked = rows if candidates is None else singular_rows(wv, rows)
        scores *= probabilities_of_all(wv, said, unit)[asked] ** _SAID
        ranks = scores
    elif said is not None and row >= 0:
        listed = np.isin(rows, kinds_of(said, singular_rows(wv, [row])[0]))
        listed[best(scores, len(rows) if topn is None else min(len(rows), max(_SHORTLIST, 2 * topn)))] = True
        rows, scores = rows[listed], scores[listed]
        if candidates is None and exclude_inflections:
            singular = singular_rows(wv, rows) == rows
            rows, scores = rows[singular], scores[singular]
        units = unit_rows(wv.vectors[rows])
        scores *= probabilities_of(wv, said, units, np.full(len(rows), row)) ** _SAID
        ranks = scores * _usual(wv, rows)
    else:
        ranks = scores * np.maximum(cosines, 0) * _usual(wv, rows)
        if wv.beside is not None and row >= 0:
            ranks *= wv.beside.likeness(row)[rows]
    name = wv.index_to_key[row] if row >= 0 else None
    found: Found = []
    wanted = len(rows) if topn is None else topn
    for i in best(ranks, min(len(rows), 4 * wanted + 10) if topn is not None else len(rows)):
        key = wv.index_to_key[rows[i]]
        other_form = exclude_inflections and name is not None and is_inflection(str(key), str(name))
        if key != name and not other_form:
            found.append((key, float(scores[i])))
    return found[:wanted]


def _usual(wv: KeyedDensities, rows: Integers) -> Floats:
    """Return the fourth root of how often words occur, as it is that of the probability that they are a word's kind."""
    counts = wv.expandos.get("count", np.ones(len(wv)))
    usual: Floats = np.maximum(counts[rows], 1.0) ** _SAID
    return usual
