"""New words from a few sentences: what the words of the sentences are on average, seen from where words lie."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.checks import counted
from densvec.distances.vectors import unit
from densvec.gaussian import Gaussian
from densvec.questions.lookup import kept_shares, variation_of, words_of
from densvec.tables import filled_norms
from densvec.types import Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

_THINNING = 1e-5
"""The threshold for thinning the words of a sentence, whose probabilities of being kept are their weights."""

_LEAST = 1e-12
"""The typical variance where none are known, so that a variance is positive."""


def learn(
    wv: KeyedDensities, word: str, sentences: Iterable[str | Sequence[str]] | str, *, replace: bool = False
) -> Gaussian:
    """Give a new word a density from sentences in which it occurs, and add it.

    The mean follows from the average of the words of the sentences, frequent ones counting little. Words that stand
    around a word differ from the usual the more in a direction, the more words differ there at all; so the average
    is divided by that (Khodak et al., 2018, fit such a map to a corpus). The more words are read, and the
    more they agree, the narrower is the density.

    Parameters
    ----------
    word : str
        The new word.
    sentences : iterable of str or of sequences of str
        Sentences with the word in them, as strings of tokens separated by white space or as lists of
        tokens; one sentence may be given alone.
    replace : bool, optional
        Whether to learn a word again that is known already, instead of raising an error. :meth:`unlearn` does not bring
        back what it was.

    Returns
    -------
    Gaussian
        The density, which the word has from now on: it can be searched and compared at once. Where there are only
        means, as in vectors of gensim, that is its mean, and the variance says what the sentences leave open.

    Examples
    --------
    >>> small = wv.vectors_for_all(["animal", "dog", "cat", "car"])
    >>> small.learn("wug", ["the wug chased a dog", "a wug and a cat"]).dimension
    2
    >>> "wug" in small
    True
    """
    if word in wv and not replace:
        raise ValueError(f"{word!r} is known already; give replace=True to learn it again")
    if isinstance(sentences, str):
        sentences = [sentences]
    split = [words_of(wv, each) if isinstance(each, str) else list(each) for each in sentences]
    if not split:
        raise ValueError(f"there are no sentences to learn {word!r} from: give at least one")
    if not any(word in each for each in split):
        raise ValueError(
            f"{word!r} does not occur in {counted(len(split), 'sentence')}: a sentence must contain the word itself, "
            "as one of its tokens"
        )
    around = [[token for token in each if token != word] for each in split if word in each]
    density = learnt(wv, around)
    if density is None:
        raise ValueError(f"none of the words around {word!r} is known, so nothing can be learnt from them")
    spread = None if wv.log_variances is None else np.log(density.variance)[None]
    wv.add_vectors([word], density.mean[None], replace=True, log_variances=spread)
    return density


def learnt(wv: KeyedDensities, sentences: Sequence[Sequence[str]]) -> Gaussian | None:
    """Return the density of a word that stands in the sentences, which are given without it; None if no word is known.

    Examples
    --------
    >>> learnt(wv, [["the", "chased", "a", "dog"]]).dimension
    2
    """
    known = [row for each in sentences for token in each if (row := wv.key_to_index.get(token, -1)) >= 0]
    if not known:
        return None
    rows: Integers = np.array(known, dtype=np.int64)
    weights = kept_shares(wv, _THINNING)[rows]
    if not weights.any():
        weights = np.ones(len(rows))
    weights = weights / weights.sum()
    _, sizes, axes = variation_of(wv)
    # Directions in which words hardly differ say little, so the mean variance is added to each.
    points = (wv.vectors[rows].astype(np.float64) @ axes) / (sizes + sizes.mean())
    said = weights @ points
    length = float(np.median(filled_norms(wv)))
    # How much of the mean's squared length the words leave open: all of it, if they have nothing in common.
    square = float(said @ said)
    error = float(weights**2 @ ((points - said) ** 2).sum(axis=1))
    open_share = error / (error + square) if error + square > 0 else 1.0
    known_spreads = (
        np.log(_LEAST) if wv.log_variances is None else wv.log_variances.mean(axis=0, dtype=np.float64)
    )
    variance = np.atleast_1d(np.exp(known_spreads) + length**2 / wv.vector_size * open_share)
    dtype: Any = wv.vectors.dtype
    return Gaussian((axes @ unit(said) * length).astype(dtype), variance.astype(dtype))
