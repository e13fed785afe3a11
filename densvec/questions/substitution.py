"""Words that could stand in a word's place in a context."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.distances.ranking import best
from densvec.gaussian import Gaussian
from densvec.questions.inference import context_tokens, reading_of
from densvec.questions.lookup import rows_of
from densvec.reading import MOST_EMPHASIS
from densvec.text.spelling import is_inflection
from densvec.text.thinning import log_frequencies
from densvec.types import Floats, Found, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["substitutes", "substitutes_of"]

_SPARE = 10
"""How many more candidates than asked for are scored again exactly, to correct what rounding misplaced."""

_TOGETHER = 16
"""Words whose substitutes are sought in one pass over the vocabulary, which bounds the memory for their scores."""


def substitutes(
    wv: KeyedDensities,
    word: Any,
    context: str | Sequence[str],
    candidates: Iterable[Any] | None = None,
    topn: int | None = 10,
    exclude_inflections: bool = False,
    *,
    position: int | None = None,
    emphasis: float | None = None,
    frequency: float | None = None,
    exclude_context: bool = False,
) -> Found:
    """Rank the words that could replace a word in its context, by log p(s) − KL[q‖prior of the substitute s].

    Here q is the posterior, with its mean moved `emphasis` times as far from the prior's as the context moved
    it. The score is Bayes' rule, up to a constant: how probable it is that what is meant, q, is said by s.

    Parameters
    ----------
    word : str or int
        The word to replace, which is never among its substitutes.
    context : str or sequence of str
        As in :meth:`infer`.
    candidates : iterable of str, optional
        The words to rank; unknown ones are left out. By default the whole vocabulary.
    topn : int or None, optional
        How many to return; None for all.
    exclude_inflections : bool, optional
        Whether to leave out other regular (English) forms of the word, such as its plural.
    position : int, optional
        Where the word stands, if `context` is its sentence.
    emphasis : float, optional
        How much the context weighs against the word: 1 ranks by the posterior as it is, as in the paper; larger
        values give the context more weight. By default the encoder's `reading.emphasis`, 1.5 for the models of
        this package.
    frequency : float, optional
        How much it counts that s is a frequent word: log p(s), its share of the thinned text, is multiplied by
        this. 0 ranks by the divergence alone, as in the paper. By default the encoder's `reading.frequency`, 1 for
        the models of this package. Words without counts are ranked by the divergence alone.
    exclude_context : bool, optional
        Whether to leave out the words of the context itself. Posteriors are drawn towards the words they have
        read, but a sentence seldom says the same thing twice.

    Examples
    --------
    >>> wv.substitutes("dog", "cat animal", topn=2)
    [('cat', -1.499...), ('animal', -1.611...)]
    """
    posterior = wv.infer(context, word=word, position=position)
    own = wv.index_to_key[wv.get_index(word)]
    taken = set(context_tokens(wv, context)) if exclude_context else set()
    if candidates is None:
        return substitutes_of(
            wv, [own], posterior, [taken], topn, exclude_inflections, emphasis=emphasis, frequency=frequency
        )[0]
    rows = [wv.get_index(key) for key in dict.fromkeys(candidates) if key in wv]
    sought = _emphasised(wv, [own], posterior, emphasis)
    ranked = _ranked(wv, sought, np.array(rows, dtype=np.int64), _familiarity(wv, frequency))
    return _fit(own, taken, ranked, exclude_inflections)[: len(wv) if topn is None else topn]


def substitutes_of(
    wv: KeyedDensities,
    words: Sequence[Any],
    posteriors: Gaussian,
    contexts: Sequence[Collection[Any]],
    topn: int | None,
    exclude_inflections: bool,
    *,
    emphasis: float | None = None,
    frequency: float | None = None,
) -> list[Found]:
    """Return the substitutes of words, given their posteriors and the words that may not replace them.

    The posteriors are a batch, or one.
    """
    sought = _emphasised(wv, words, posteriors, emphasis)
    familiarity = _familiarity(wv, frequency)
    if sought.mean.ndim == 1:
        scores = wv.most_similar(sought, metric="kl", topn=None)
        return [_best(wv, scores, sought, familiarity, words[0], contexts[0], topn, exclude_inflections)]
    found = []
    for first in range(0, len(words), _TOGETHER):
        part = sought[first : first + _TOGETHER]
        scored = wv.most_similar_batch(part, None, metric="kl")
        for i, scores in enumerate(scored, first):
            found.append(
                _best(wv, scores, sought[i], familiarity, words[i], contexts[i], topn, exclude_inflections)
            )
    return found


def _best(
    wv: KeyedDensities,
    scores: Floats,
    sought: Gaussian,
    familiarity: Floats | None,
    word: Any,
    context: Collection[Any],
    topn: int | None,
    exclude_inflections: bool,
) -> Found:
    """Return the best words by their divergences' scores, which may be rounded, and their familiarity."""
    wanted = len(wv) if topn is None else topn
    if familiarity is not None:
        scores = scores + familiarity
    reach = wanted + 1 + len(context)
    while True:
        ranked = _ranked(wv, sought, best(scores, min(reach + _SPARE, len(scores))), familiarity)
        left = _fit(word, context, ranked[:reach], exclude_inflections)
        if len(left) >= wanted or reach >= len(wv):
            return left[:wanted]
        reach *= 4


def _ranked(wv: KeyedDensities, sought: Gaussian, rows: Integers, familiarity: Floats | None) -> Found:
    """Return the keys of rows and their exact scores, best first."""
    if not len(rows):
        return []
    scores = 0.0 - sought.kl(wv.density(rows.tolist()))
    if familiarity is not None:
        scores = scores + familiarity[rows]
    return [(wv.index_to_key[rows[i]], float(scores[i])) for i in np.argsort(-scores, kind="stable")]


def _emphasised(
    wv: KeyedDensities, words: Sequence[Any], posteriors: Gaussian, emphasis: float | None
) -> Gaussian:
    """Return posteriors whose means lie further from the priors of their words: a batch, or that of one word."""
    if emphasis is None:
        emphasis = reading_of(wv).emphasis
    elif not 1 <= emphasis <= MOST_EMPHASIS:
        raise ValueError(f"emphasis={emphasis} is not between 1 and {MOST_EMPHASIS:g}")
    if emphasis == 1:
        return posteriors
    priors = wv.vectors[rows_of(wv, words)]
    means = priors + np.float32(emphasis) * (posteriors.mean - priors)
    return Gaussian(means.reshape(posteriors.mean.shape), posteriors.variance)


def _familiarity(wv: KeyedDensities, frequency: float | None) -> Floats | None:
    """Return what each word's score gains by its frequency; None where nothing is known of it."""
    if frequency is None:
        frequency = reading_of(wv).frequency
    elif not 0 <= frequency < np.inf:
        raise ValueError(f"frequency={frequency} is not a finite number of at least 0")
    if frequency == 0 or "count" not in wv.expandos:
        return None
    if wv._derived.log_frequencies is None:
        wv._derived.log_frequencies = log_frequencies(wv.expandos["count"], wv.expandos.get("keep"))
    return frequency * wv._derived.log_frequencies


def _fit(own: Any, context: Collection[Any], found: Found, exclude_inflections: bool) -> Found:
    """Return the words that may replace one: not in its context and, if asked, none of its inflections."""
    return [
        (key, score)
        for key, score in found
        if key != own
        and key not in context
        and not (exclude_inflections and is_inflection(str(key), str(own)))
    ]
