"""The words that a context suggests, most probable first."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from densvec.gaussian import Gaussian
from densvec.questions.lookup import known_log_variances
from densvec.text.thinning import keep_probabilities, noise_weights
from densvec.types import Floats, Found

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

logger = logging.getLogger(__name__)


def predict_output_word(
    wv: KeyedDensities,
    context_words_list: Sequence[str | int],
    topn: int = 10,
    *,
    sample: float | None = None,
    average: bool = True,
) -> Found | None:
    """Return the words that a context suggests, most probable first.

    With an encoder, a word is probable if it is frequent in the thinned text, if the context moves its
    posterior q little from its prior, and if q is near to the context words:
    p(w | context) ∝ p(w) · exp(−KL[q‖p(z | w)] − mean_j KL[q‖p(z | c_j)]), the terms of the objective
    that a `densvec.BayesianSkipGram` is trained with. With context vectors, which a `densvec.SkipGram`
    has, the probabilities are gensim's: the softmax, over the vocabulary, of the product of a word's
    context vector with the mean of the surrounding words' vectors.

    Parameters
    ----------
    context_words_list : sequence of str or int
        The context words, or their rows; unknown ones are skipped.
    topn : int, optional
        How many words to return.
    sample : float, optional
        Threshold above which frequent words were thinned in training; only used with an encoder. By default the
        probabilities of being kept that the words came with, or 1e-4 where there are none.
    average : bool, optional
        Whether to take the mean of the vectors around a word, or their sum; only used with context vectors.

    Returns
    -------
    list of (str, float), or None
        Words and probabilities; None, and a warning in the log, if no context word is known.

    Examples
    --------
    >>> [word for word, _ in wv.predict_output_word(["dog", "cat"], topn=1)]
    ['animal']
    """
    if not len(wv) or (wv.encoder is None and wv.context_vectors is None):
        raise RuntimeError(
            "there are no words with an encoder or context vectors here: build the model's vocabulary and "
            "train it first"
        )
    known = [wv.get_index(word) for word in context_words_list if word in wv]
    if not known:
        logger.warning("all the context words are unknown to the model")
        return None
    if wv.encoder is not None:
        scores = _posterior_scores(wv, known, sample)
    else:
        vectors = wv.vectors[known].astype(np.float64)
        scores = wv.context_vectors @ (vectors.mean(0) if average else vectors.sum(0))
    probabilities = np.exp(scores - scores.max())
    probabilities /= probabilities.sum()
    best = np.argsort(-probabilities, kind="stable")[:topn]
    return [(wv.index_to_key[i], float(probabilities[i])) for i in best]


def _posterior_scores(wv: KeyedDensities, known: list[int], sample: float | None) -> Floats:
    """Return log p(w | context) of every word, up to a constant, from the posteriors of all words."""
    assert wv.encoder is not None
    means, log_variances, words = wv.vectors, known_log_variances(wv), len(wv)
    offsets = np.arange(words + 1) * len(known)
    if sample is None and "keep" in wv.expandos:
        keep = wv.expandos["keep"].astype(np.float64)
    else:
        keep = keep_probabilities(wv.expandos["count"], 1e-4 if sample is None else sample)
    weights = np.tile(keep[known], words) if wv.encoder.reading.thinned else None
    inferred = wv.encoder.posteriors(
        np.arange(words), known * words, offsets, (means, log_variances), weights
    )
    posteriors = _gaussian(*inferred)
    scores = -posteriors.kl(_gaussian(means, log_variances))
    for row in known:
        scores -= posteriors.kl(_gaussian(means[row], log_variances[row])) / len(known)
    scores += np.log(noise_weights(wv.expandos["count"], "subsampled", keep))
    return scores


def _gaussian(means: Floats, log_variances: Floats) -> Gaussian:
    return Gaussian(means, np.exp(log_variances))
