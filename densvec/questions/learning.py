"""New words from a few sentences: their contexts are read by the encoder, and combined as evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from densvec.distances.vectors import unit
from densvec.gaussian import Gaussian
from densvec.questions.inference import known_encoder
from densvec.questions.lookup import filled_norms, known_log_variances, words_of
from densvec.text.thinning import keep_probabilities
from densvec.types import Floats

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

__all__ = ["infer_new", "learn", "neutral_posteriors"]

_THINNING = 1e-3
"""The threshold for thinning frequent words of a context, whose probabilities are their weights; ten times that of
training. Chosen on words of wiki17m."""


def learn(
    wv: KeyedDensities, word: str, sentences: Iterable[str | Sequence[str]] | str, *, replace: bool = False
) -> Gaussian:
    """Give a new word a density from sentences in which it occurs, and add it.

    The encoder reads every context of the word with a neutral centre word, and its answer is combined with the
    average of the surrounding words. Each occurrence is evidence: the more there are, the narrower the density.

    Parameters
    ----------
    word : str
        The new word.
    sentences : iterable of str or of sequences of str
        Sentences with the word in them, as strings of tokens separated by white space or as lists of
        tokens; one sentence may be given alone.
    replace : bool, optional
        Whether to learn a word again that is known already, instead of raising an error.

    Returns
    -------
    Gaussian
        The density, which the word has from now on: it can be searched and compared at once.

    Examples
    --------
    >>> small = wv.vectors_for_all(["animal", "dog", "cat", "car"])
    >>> small.encoder = wv.encoder
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
    places = [(each, i) for each in split for i, token in enumerate(each) if token == word]
    if not split:
        raise ValueError(f"there are no sentences to learn {word!r} from: give at least one")
    if not places:
        raise ValueError(
            f"{word!r} does not occur in the {len(split)} sentences: a sentence must contain the word itself, as "
            "one of its tokens"
        )
    contexts = [
        ([token for token in each if token != word], sum(token != word for token in each[:i]))
        for each, i in places
    ]
    read = [(c, i) for c, i in contexts if any(token in wv.key_to_index for token in c)]
    if not read:
        raise ValueError(f"none of the words around {word!r} is known, so nothing can be learnt from them")
    density = wv.infer_new(read)
    log_variance = np.log(density.variance)
    wv.add_vectors([word], density.mean[None], replace=True, log_variances=log_variance[None])
    return density


def infer_new(wv: KeyedDensities, contexts: Sequence[tuple[Sequence[str], int]]) -> Gaussian:
    """Return the density of an unknown word from contexts, without adding it.

    Parameters
    ----------
    contexts : sequence of (tokens, position)
        Sentences without the word, and where it stood: before the token at that position.

    Examples
    --------
    >>> wv.infer_new([(["the", "dog", "chased", "a"], 4)]).dimension
    2
    """
    posteriors = neutral_posteriors(wv, contexts)
    count = len(contexts)
    means = posteriors.mean.astype(np.float64)
    # A single context is best read as the average of its words; the more contexts there are, the more weight
    # the encoder gets, which was trained on many.
    said = unit(_around(wv, contexts)) + 0.5 * (1.0 - 1.0 / count) * unit(means.mean(axis=0))
    mean = unit(said) * float(np.median(filled_norms(wv)))
    typical = known_log_variances(wv).astype(np.float64).mean(axis=0)
    # The more the occurrences agree, the better we know where the mean lies; around it, the word's meaning
    # varies as a typical word's does.
    if count > 1:
        scatter = means.var(axis=0, ddof=1)
    else:
        scatter = np.zeros_like(mean) + posteriors.variance.mean(dtype=np.float64)
    width = posteriors.variance.shape[-1]
    spread = scatter.mean(keepdims=True) if width == 1 else scatter
    variance = np.exp(typical) + np.maximum(spread, posteriors.variance.mean(axis=0)) / count
    dtype: Any = wv.vectors.dtype
    return Gaussian(mean.astype(dtype), variance.astype(dtype))


def _around(wv: KeyedDensities, contexts: Sequence[tuple[Sequence[str], int]]) -> Floats:
    """Return the average mean of the surrounding words; frequent and distant ones count less."""
    counts = wv.expandos.get("count")
    keep = np.ones(len(wv)) if counts is None else keep_probabilities(np.asarray(counts), _THINNING)
    reach = 2 * wv.window
    total: Floats = np.zeros(wv.vector_size)
    for tokens, position in contexts:
        before, after = (
            [row for token in side if (row := wv.key_to_index.get(token, -1)) >= 0][:reach]
            for side in (list(tokens[:position])[::-1], tokens[position:])
        )
        rows = np.array([*before, *after], dtype=np.int64)
        distances = np.array([*range(1, len(before) + 1), *range(1, len(after) + 1)])
        weights = keep[rows] * (1 - distances / (reach + 1))
        if len(rows):
            total += weights @ wv.vectors[rows].astype(np.float64) / weights.sum()
    return total


def neutral_posteriors(wv: KeyedDensities, contexts: Sequence[tuple[Sequence[str], int]]) -> Gaussian:
    """Return the posteriors, in the contexts, of a word that has no meaning of its own."""
    neutral = "\0new"
    # Only the surrounding words are needed: a small table of them, with the neutral word as its last row.
    around = dict.fromkeys(token for tokens, _ in contexts for token in tokens if token in wv.key_to_index)
    rows = np.array([wv.key_to_index[token] for token in around], dtype=np.int64)
    log_variances = known_log_variances(wv)
    typical = log_variances.mean(axis=0, keepdims=True)
    made = type(wv).from_arrays(
        [*around, neutral],
        np.concatenate([wv.vectors[rows], np.zeros((1, wv.vector_size), dtype=wv.vectors.dtype)]),
        log_variances=np.concatenate([log_variances[rows], typical]),
        encoder=known_encoder(wv).with_rows(rows).with_rows_appended(1),
        attributes={
            name: np.append(values[rows], np.ones(1, dtype=values.dtype))
            for name, values in wv.expandos.items()
            if name in ("count", "keep")
        },
        window=wv.window,
    )
    questions = [
        (neutral, [*tokens[:position], neutral, *tokens[position:]], position)
        for tokens, position in contexts
    ]
    return made.infer_posteriors(questions)
