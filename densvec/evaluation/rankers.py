"""Rankers of substitutes: scores of candidates for a word in its context, for many windows at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np

from densvec.evaluation.lexicon import FloatArray, Lexicon, by_blocks, kl_divergence, unit
from densvec.text.thinning import log_frequencies
from densvec.types import Indices

__all__ = ["RANKERS", "Targets", "posteriors", "scores_of", "usable_rankers"]


@dataclass(frozen=True)
class Targets:
    """Targets, their context words and their candidates, as rows of the vocabulary, laid end to end."""

    centres: Indices  # (windows,)
    contexts: Indices  # (context words of all windows,)
    context_offsets: Indices  # (windows + 1,)
    candidates: Indices  # (candidates of all windows,)
    candidate_offsets: Indices  # (windows + 1,)
    sentences: Indices  # (known words of all sentences,) the targets among them
    sentence_offsets: Indices  # (windows + 1,)
    places: Indices  # (windows,) where each target stands in its sentence

    @classmethod
    def build(
        cls,
        centres: Sequence[int],
        contexts: Sequence[Sequence[int]],
        candidates: Sequence[Sequence[int]],
        sentences: Sequence[tuple[Sequence[int], Sequence[int]]] | None = None,
    ) -> Targets:
        """Lay lists of rows end to end; a sentence is what stands before its target and what stands after it.

        Without sentences the contexts are all there is, and stand before their targets.
        """
        if sentences is None:
            sentences = [(context, ()) for context in contexts]
        whole = [
            [*before, centre, *after] for centre, (before, after) in zip(centres, sentences, strict=True)
        ]
        places = np.array([len(before) for before, _ in sentences], dtype=np.intp)
        return cls(
            np.array(centres, dtype=np.intp),
            *_ragged(contexts),
            *_ragged(candidates),
            *_ragged(whole),
            places,
        )

    @property
    def window_of_candidate(self) -> Indices:
        """Which window each candidate belongs to."""
        return np.repeat(np.arange(len(self.centres)), np.diff(self.candidate_offsets))


def _ragged(lists: Sequence[Sequence[int]]) -> tuple[Indices, Indices]:
    offsets = np.array([0, *accumulate(map(len, lists))], dtype=np.intp)
    return np.fromiter(chain.from_iterable(lists), dtype=np.intp), offsets


def posteriors(lexicon: Lexicon, windows: Targets) -> tuple[FloatArray, FloatArray]:
    """Posterior means and log-variances of the targets in their contexts; with no context, the prior."""
    encoder, lv = lexicon.encoder, lexicon.log_variances
    assert encoder is not None  # usable_rankers has checked both
    assert lv is not None
    contexts, offsets, weights = _read(lexicon, windows)
    means = lexicon.means[windows.centres].astype(np.float64)
    log_variances = lv[windows.centres].astype(np.float64)
    lengths = np.diff(offsets)
    has_context = lengths > 0
    if has_context.any():
        offsets = np.concatenate([[0], np.cumsum(lengths[has_context])])
        centres = windows.centres[has_context]
        priors = (lexicon.means[centres], lv[centres])
        told = () if weights is None else (weights,)
        means[has_context], log_variances[has_context] = encoder.posteriors(
            centres, contexts, offsets, priors, *told
        )
    return means, log_variances


def _read(lexicon: Lexicon, windows: Targets) -> tuple[Indices, Indices, FloatArray | None]:
    """Rows, offsets and weights of what the model's encoder reads, by its own definition if it has one."""
    reading = getattr(lexicon.encoder, "reading", None)
    if reading is None or not reading.thinned:
        return windows.contexts, windows.context_offsets, None
    keep = getattr(lexicon.wv, "expandos", {}).get("keep", np.ones(len(lexicon)))[windows.sentences]
    starts, stops = windows.sentence_offsets[:-1], windows.sentence_offsets[1:]
    spans = reading.spans(starts + windows.places, starts, stops, np.maximum(keep, 1e-3))
    rows, offsets, weights = spans.rows(windows.sentences)
    return rows, offsets, weights


def _encoder(lexicon: Lexicon, windows: Targets) -> FloatArray:
    """What ``wv.substitutes`` ranks by: the posterior, emphasised, and how frequent the candidates are."""
    means, log_variances = posteriors(lexicon, windows)
    reading, counts = getattr(lexicon.encoder, "reading", None), lexicon.counts()
    emphasis, frequency = getattr(reading, "emphasis", 1.0), getattr(reading, "frequency", 0.0)
    priors = lexicon.means[windows.centres]
    scores = _minus_kl(lexicon, windows, priors + emphasis * (means - priors), log_variances)
    if frequency and counts is not None:
        keep = getattr(lexicon.wv, "expandos", {}).get("keep")
        scores += frequency * log_frequencies(counts, keep)[windows.candidates]
    return scores


def _posterior(lexicon: Lexicon, windows: Targets) -> FloatArray:
    """The paper's ranking: by the divergence from the posterior as it is."""
    return _minus_kl(lexicon, windows, *posteriors(lexicon, windows))


def _prior(lexicon: Lexicon, windows: Targets) -> FloatArray:
    assert lexicon.log_variances is not None
    return _minus_kl(lexicon, windows, lexicon.means[windows.centres], lexicon.log_variances[windows.centres])


def _minus_kl(lexicon: Lexicon, windows: Targets, means: FloatArray, log_variances: FloatArray) -> FloatArray:
    """−KL from each window's density to the priors of its candidates."""
    lv = lexicon.log_variances
    assert lv is not None
    window, candidate = windows.window_of_candidate, windows.candidates

    def block(rows: slice) -> FloatArray:
        return -kl_divergence(
            means[window[rows]],
            log_variances[window[rows]],
            lexicon.means[candidate[rows]],
            lv[candidate[rows]],
        )

    return by_blocks(block, len(candidate))


def _out_of_context(lexicon: Lexicon, windows: Targets) -> FloatArray:
    return lexicon.cosine(windows.candidates, windows.centres[windows.window_of_candidate])


def _random(lexicon: Lexicon, windows: Targets) -> FloatArray:
    return np.random.default_rng(0).random(len(windows.candidates))


def _add(lexicon: Lexicon, windows: Targets, context_table: FloatArray) -> FloatArray:
    """Cosine of a candidate with (target + mean of the context), all as unit vectors."""
    lengths = np.diff(windows.context_offsets)
    context = np.zeros((len(lengths), lexicon.means.shape[1]))
    filled = lengths > 0
    if filled.any():
        units = unit(context_table[windows.contexts])
        context[filled] = (
            np.add.reduceat(units, windows.context_offsets[:-1][filled], axis=0) / lengths[filled, None]
        )
    query = unit(unit(lexicon.means[windows.centres]) + context)
    window, candidate = windows.window_of_candidate, windows.candidates

    def block(rows: slice) -> FloatArray:
        scores: FloatArray = np.einsum("ij,ij->i", unit(lexicon.means[candidate[rows]]), query[window[rows]])
        return scores

    return by_blocks(block, len(candidate))


def _mult(lexicon: Lexicon, windows: Targets, context_table: FloatArray) -> FloatArray:
    """Log of (cos(s, w) + 1)/2 times the geometric mean over the context of (cos(s, c) + 1)/2."""
    scores = np.zeros(len(windows.candidates))
    for i, centre in enumerate(windows.centres):
        rows = slice(windows.candidate_offsets[i], windows.candidate_offsets[i + 1])
        context = windows.contexts[windows.context_offsets[i] : windows.context_offsets[i + 1]]
        candidates = unit(lexicon.means[windows.candidates[rows]])
        scores[rows] = _log_positive_cosine(candidates @ unit(lexicon.means[centre]))
        if len(context):
            scores[rows] += _log_positive_cosine(candidates @ unit(context_table[context]).T).mean(axis=1)
    return scores


def _log_positive_cosine(cosine: FloatArray) -> FloatArray:
    # The floor keeps the log finite for opposite vectors, where rounding may even give a cosine below -1.
    result: FloatArray = np.log(np.maximum((cosine + 1) / 2, 1e-12))
    return result


def _with_inputs(
    function: Callable[[Lexicon, Targets, FloatArray], FloatArray],
) -> Callable[[Lexicon, Targets], FloatArray]:
    return lambda lexicon, windows: function(lexicon, windows, lexicon.means)


def _with_outputs(
    function: Callable[[Lexicon, Targets, FloatArray], FloatArray],
) -> Callable[[Lexicon, Targets], FloatArray]:
    def ranker(lexicon: Lexicon, windows: Targets) -> FloatArray:
        assert lexicon.context_vectors is not None
        return function(lexicon, windows, lexicon.context_vectors)

    return ranker


RANKERS: dict[str, Callable[[Lexicon, Targets], FloatArray]] = {
    "encoder": _encoder,
    "posterior": _posterior,
    "add": _with_inputs(_add),
    "mult": _with_inputs(_mult),
    "add_output": _with_outputs(_add),
    "mult_output": _with_outputs(_mult),
    "out_of_context": _out_of_context,
    "prior": _prior,
    "random": _random,
}


def usable_rankers(lexicon: Lexicon) -> list[str]:
    """Names of the rankers for which the model has what they need."""
    lacking: set[str] = set()
    if lexicon.log_variances is None:
        lacking |= {"encoder", "posterior", "prior"}
    if lexicon.encoder is None:
        lacking |= {"encoder", "posterior"}
    if lexicon.context_vectors is None:
        lacking |= {"add_output", "mult_output"}
    return [name for name in RANKERS if name not in lacking]


def scores_of(name: str, lexicon: Lexicon, windows: Targets) -> FloatArray:
    """Score every candidate of every window, higher is better."""
    return RANKERS[name](lexicon, windows)
