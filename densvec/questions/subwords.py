"""Densities of unknown words from their spelling: the densities of known words that share character n-grams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.gaussian import Gaussian
from densvec.questions.lookup import known_log_variances
from densvec.questions.spelling_model import SpellingIndex, SpellingModel
from densvec.types import Floats

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["density_from_spelling", "density_with_spelling", "with_subwords"]


def with_subwords(
    wv: KeyedDensities, min_n: int = 2, max_n: int = 6, min_words: int = 1, *, seed: int = 0
) -> Any:
    """Return these densities with a model of spelling, so that unknown words can have a density too.

    Character n-grams, hashed like fastText's, are weighed by how much the words that share them agree, and a
    word's density is a regression on the known words that are spelt most alike (a Gaussian process, or kriging).
    Nothing else changes: the tables are shared, an unknown word is a KeyError as before, and
    :meth:`density_from_spelling` is what to ask. Saving stores the n-grams in the same file.

    Parameters
    ----------
    min_n, max_n : int, optional
        Lengths of the n-grams, the marks of a word's beginning and end included.
    min_words : int, optional
        An n-gram must occur in this many known words; more make the file smaller and the guesses worse.
    seed : int, optional
        Seeds the choice of the words that are held out.

    Returns
    -------
    KeyedDensities

    Examples
    --------
    >>> spelling = wv.with_subwords()
    >>> spelling.density_from_spelling("doggy").dimension
    2
    >>> "doggy" in spelling
    False
    """
    if not 1 <= min_n <= max_n:
        raise ValueError(f"min_n={min_n} and max_n={max_n}: expected 1 <= min_n <= max_n")
    if min_words < 1:
        raise ValueError(f"min_words={min_words}: at least 1 is needed")
    log_variances = known_log_variances(wv)
    if len(wv) < 2:
        raise ValueError(f"spelling is learnt from known words, and there are {len(wv)}: two are too few")
    made = type(wv).from_arrays(
        wv.index_to_key,
        wv.vectors,
        log_variances=log_variances,
        encoder=wv.encoder,
        context_vectors=wv.context_vectors,
        attributes=wv.expandos,
        window=wv.window,
        index=wv.key_to_index,
    )
    made.subwords = SpellingModel.fit(
        [str(key) for key in wv.index_to_key],
        wv.vectors,
        log_variances,
        wv.expandos.get("count"),
        (min_n, max_n),
        min_words,
        seed,
    )
    return made


def density_from_spelling(wv: KeyedDensities, word_or_words: str | Iterable[str]) -> Gaussian:
    """Return the density of a word by its spelling alone, known or not; of several as a batch.

    The less the spelling says, the wider the density: the variance grows by the error with which the means of
    held-out words were guessed, given how much like known words they are spelt. What the model itself knows of
    a word is left out; :meth:`density_with_spelling` combines the two.

    Examples
    --------
    >>> spelling = wv.with_subwords()
    >>> spelling.density_from_spelling(["doggy", "catty"])
    <2 spherical Gaussians in 2 dimensions>
    """
    return _spelt(wv, word_or_words, combine=False)


def density_with_spelling(wv: KeyedDensities, word_or_words: str | Iterable[str]) -> Gaussian:
    """Return the density of a word by what is known of it and by its spelling; of several as a batch.

    The two are combined by their precision. A word that was seen a few times only is drawn towards what its
    spelling says, a frequent word stays where it is, and an unknown word has its spelling alone. Without counts,
    known words stay as they are. ``wv[word]`` is always the word's own mean.

    Examples
    --------
    >>> spelling = wv.with_subwords()
    >>> spelling.density_with_spelling(["dog", "doggy"])
    <2 spherical Gaussians in 2 dimensions>
    """
    return _spelt(wv, word_or_words, combine=True)


def _spelt(wv: KeyedDensities, word_or_words: str | Iterable[str], combine: bool) -> Gaussian:
    model = wv.subwords
    if model is None:
        raise ValueError(
            "there is no model of spelling here: wv = wv.with_subwords() fits one in less than a minute"
        )
    alone = isinstance(word_or_words, str)
    words: list[str] = [str(word_or_words)] if alone else list(word_or_words)
    own = np.array([wv.get_index(word, -1) for word in words], dtype=np.int64)
    counts = wv.expandos.get("count")
    log_variances = known_log_variances(wv)
    guess = model.guess(_spelling_index(wv, model), words, own, wv.vectors, log_variances, counts)
    if not combine:
        found = model.spelt(guess)
    else:
        known = np.flatnonzero(own >= 0)
        rows = own[known]
        seen: Floats = np.full(len(known), np.inf) if counts is None else counts[rows].astype(np.float64)
        found = model.combined(guess, known, wv.vectors[rows], log_variances[rows], seen)
    dtype: Any = wv.vectors.dtype
    density = Gaussian(found[0].astype(dtype), found[1].astype(dtype))
    return density[0] if alone else density


def _spelling_index(wv: KeyedDensities, model: SpellingModel) -> SpellingIndex:
    """Return which known words have which n-grams, computed when it is first needed."""
    derived = wv._derived
    if derived.spelling is None or derived.spelling.model is not model:
        derived.spelling = model.index([str(key) for key in wv.index_to_key])
    return derived.spelling
