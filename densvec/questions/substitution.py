"""Words that could stand in a word's place in a context."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.distances.ranking import best
from densvec.gaussian import Gaussian
from densvec.questions.inference import placed_tokens
from densvec.questions.lookup import rows_among, rows_of
from densvec.text.spelling import is_inflection
from densvec.types import Floats, Found, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities
    from densvec.questions.beside import Beside

_USUAL = 4
"""A substitute can also stand where the word usually stands, which counts like so many places besides this one."""

_TOGETHER = 16
"""Words whose substitutes are sought in one pass over the vocabulary, which bounds the memory for their scores."""


def substitutes(
    wv: KeyedDensities,
    word: Any,
    context: str | Sequence[str],
    candidates: Iterable[Any] | None = None,
    topn: int | None = 10,
    exclude_inflections: bool = True,
    *,
    position: int | None = None,
    emphasis: float = 1.0,
    exclude_context: bool = True,
) -> Found:
    """Rank the words that could replace a word in its context, by Bayes' rule.

    The score of a word s is the logarithm of p(meaning | s) · p(before | s) · p(after | s) · p(s), up to a constant:
    −KL[q‖prior of s], where q is the posterior; how much more often than by chance the words directly before and
    after stand beside s (`beside`, which knows frequent words); and the share of the text that s is. A search of the
    whole vocabulary also asks whether s stands where the word usually does, so that it has its part of speech.
    What the model does not know, such as words beside or counts, is left out.

    Parameters
    ----------
    word : str or int
        The word to replace, which is never among its substitutes.
    context : str or sequence of str
        A sentence with the word, which may be marked, [[word]]. A list without the word is a bag of words; a string
        without it is read as one, too, with a warning.
    candidates : iterable of str, optional
        The words to rank, all of them but the word itself; unknown ones are left out. By default the whole
        vocabulary.
    topn : int or None, optional
        How many to return; None for all.
    exclude_inflections : bool, optional
        Whether a search of the vocabulary leaves out other regular (English) forms of the word, such as its plural.
    position : int, optional
        Where the word stands, if `context` is its sentence.
    emphasis : float, optional
        How far q's mean lies from the word's prior, as a multiple of the way to the posterior's: less than 1 keeps to
        what the word usually means, more than 1 to what the context says.
    exclude_context : bool, optional
        Whether it leaves out the words of the context. Posteriors are drawn towards the words they have read, but a
        sentence seldom says the same thing twice.

    Examples
    --------
    >>> wv.substitutes("dog", ["cat", "animal"], topn=2, exclude_context=False)
    [('animal', -2.52...), ('cat', -3.10...)]
    """
    options: dict[str, Any] = {"emphasis": emphasis, "exclude_context": exclude_context}
    return substitutes_batch(
        wv, [(word, context, position)], candidates, topn, exclude_inflections, **options
    )[0]


def substitutes_batch(
    wv: KeyedDensities,
    pairs: Iterable[Sequence[Any]],
    candidates: Iterable[Any] | None = None,
    topn: int | None = 10,
    exclude_inflections: bool = True,
    *,
    emphasis: float = 1.0,
    exclude_context: bool = True,
    posteriors: Gaussian | None = None,
) -> list[Found]:
    """Rank the substitutes of many words in their contexts at once; the arguments are those of :meth:`substitutes`.

    Parameters
    ----------
    pairs : iterable of (word, context) or (word, context, position)
        Each as in :meth:`substitutes`.
    posteriors : Gaussian, optional
        The words' posteriors, if they are known already.

    Examples
    --------
    >>> found = wv.substitutes_batch([("dog", "the dog and the animal"), ("car", "a car", 1)], topn=1)
    >>> [[word for word, _ in each] for each in found]
    [['cat'], ['animal']]
    """
    if not 0 <= emphasis < np.inf:
        raise ValueError(f"emphasis={emphasis} is not a finite number of at least 0")
    asked = [_question(wv, *pair) for pair in pairs]
    if not asked:
        return []
    rows = np.array(rows_of(wv, (word for word, _, _ in asked)))
    if posteriors is None:
        posteriors = wv.infer_posteriors(asked)
    priors = wv.vectors[rows]
    means = (priors + np.float32(emphasis) * (posteriors.mean - priors)).astype(priors.dtype)
    sought = Gaussian(means, posteriors.variance.reshape(len(rows), -1))
    ranked = None if candidates is None else rows_among(wv, candidates)
    familiar = _familiarity(wv)
    found = []
    for first in range(0, len(asked), _TOGETHER):
        part = slice(first, first + _TOGETHER)
        scores = np.asarray(wv.most_similar_batch(sought[part], None, metric="kl")) + familiar
        if wv.beside is not None:
            places = _places(wv.beside, asked[part])
            if candidates is None:
                places += _USUAL * wv.beside.usual_places(rows[part])
            scores += wv.beside.scores(places)
        for score, row, (_, tokens, _) in zip(scores, rows[part], asked[part], strict=True):
            barred = set(tokens) if exclude_context and candidates is None else set()
            forms = exclude_inflections and candidates is None
            found.append(_best(wv, score, int(row), barred, ranked, topn, forms))
    return found


def _question(
    wv: KeyedDensities, word: Any, context: Any, position: int | None = None
) -> tuple[Any, Sequence[Any], int | None]:
    """Return a word, the tokens of its context, and where it stands among them."""
    if type(word).__hash__ is None:  # a list, or a Series
        raise TypeError(
            f"a word is expected first, and its sentence second: got {str(word)[:80]}; substitutes_batch takes many "
            "pairs of them"
        )
    tokens, position = placed_tokens(wv, context, position)
    if position is None and word in tokens:
        if list(tokens).count(word) == 1:
            position = list(tokens).index(word)
    elif position is None and isinstance(context, str):
        warnings.warn(
            f"{word!r} does not stand in {context!r}, which is read as a bag of words: mark the word that stands in "
            "its place, [[…]], or give a list of words",
            UserWarning,
            stacklevel=4,
        )
    return word, tokens, position


def _places(beside: Beside, asked: Sequence[tuple[Any, Sequence[Any], int | None]]) -> Floats:
    """Return the directions of the places asked about."""
    places = []
    for _, tokens, position in asked:
        before = tokens[position - 1] if position else None
        after = tokens[position + 1] if position is not None and position + 1 < len(tokens) else None
        places.append(beside.place(before, after))
    return np.array(places)


def _familiarity(wv: KeyedDensities) -> Any:
    """Return the logarithm of the share of the text that each word is; 0 where counts are unknown."""
    if "count" not in wv.expandos:
        return 0.0
    counts = np.maximum(wv.expandos["count"].astype(np.float64), 1)
    return np.log(counts / counts.sum())


def _best(
    wv: KeyedDensities,
    scores: Floats,
    own: int,
    barred: set[Any],
    ranked: Integers | None,
    topn: int | None,
    exclude_inflections: bool,
) -> Found:
    """Return the best of some rows, or of all, without the word itself, its forms and words that are barred."""
    if ranked is not None:
        scores = scores[ranked]
    word, wanted, reach = wv.index_to_key[own], len(wv) if topn is None else topn, 0
    while True:
        reach = min(len(scores), 4 * reach or wanted + len(barred) + 20)
        found: Found = []
        for i in best(scores, reach):
            key = wv.index_to_key[i if ranked is None else ranked[i]]
            form = key == word or (exclude_inflections and is_inflection(str(key), str(word)))
            if not form and key not in barred:
                found.append((key, float(scores[i])))
        if len(found) >= wanted or reach == len(scores):
            return found[:wanted]
