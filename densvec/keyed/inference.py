"""Words in context: posteriors from the encoder, and the words that could stand there instead."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from densvec.encoder import Encoder
from densvec.gaussian import Gaussian
from densvec.keyed.lookup import Lookup
from densvec.keyed.search import Found
from densvec.text.inflections import is_inflection
from densvec.types import Floats, Integers

__all__ = ["Inference"]

_POSITIONS_AT_ONCE = 1 << 16
"""Positions of sentences whose windows are laid out together, which bounds the memory of long texts."""


class Inference(Lookup):
    """Posterior densities of words in their contexts."""

    def infer(
        self,
        context: str | Sequence[str],
        word: Any = None,
        position: int | None = None,
        *,
        skip_unknown: bool = False,
    ) -> Gaussian:
        """Infer the posterior density of a word in its context, or of every word of a sentence.

        Unknown context words are skipped before windows are formed, as in training. With no known context the
        posterior is the prior. Any number of threads may ask at once.

        Parameters
        ----------
        context : str or sequence of str
            Tokens, or a string of them separated by white space.
        word : str or int, optional
            The centre word. All of `context` is its context, wherever the word itself may be in it, unless
            `position` is given.
        position : int, optional
            Where the word stands in `context`, which then is its sentence: its context is the `window` known
            tokens on each side, without itself. The word is the token there unless `word` is given.
        skip_unknown : bool, optional
            For a whole sentence, whether unknown tokens get no row instead of a KeyError.

        Returns
        -------
        Gaussian
            One density; for a whole sentence (neither `word` nor `position`) a batch with one for each token,
            each inferred from its own window.

        Raises
        ------
        KeyError
            If a word to infer is unknown.

        Examples
        --------
        >>> wv.infer("cat animal", word="dog")
        Gaussian(mean=[2.5, 1.5], variance=[0.4493])
        >>> wv.infer("the dog and the cat", position=1) == wv.infer(["cat"], word="dog")
        True
        >>> wv.infer(["dog", "cat", "car"])
        <3 spherical Gaussians in 2 dimensions>
        """
        tokens = _tokens(context)
        if word is None and position is None:
            return self.infer_sentences([tokens], skip_unknown=skip_unknown)[0]
        if word is None:
            assert position is not None
            word = tokens[self._checked_position(tokens, position)]
        return self.infer_posteriors([(word, tokens, position)])[0]

    def infer_posteriors(self, pairs: Iterable[Sequence[Any]]) -> Gaussian:
        """Infer the posterior densities of many words in their contexts at once.

        Parameters
        ----------
        pairs : iterable of (word, context) or (word, context, position)
            Each as in :meth:`infer`.

        Returns
        -------
        Gaussian
            A batch, in the order of the pairs.

        Examples
        --------
        >>> wv.infer_posteriors([("dog", "cat animal"), ("car", [])])
        <2 spherical Gaussians in 2 dimensions>
        """
        words, contexts = [], []
        for pair in pairs:
            context = pair[1]
            if isinstance(context, str):
                context = context.split()
            elif not isinstance(context, (list, tuple)):
                context = list(context)
            if len(pair) > 2 and pair[2] is not None:
                context = self._window_of(context, pair[2])
            words.append(pair[0])
            contexts.append(context)
        centres = self._rows_or_minus_one(words)
        if centres.min(initial=0) < 0:
            centres = np.array(self._rows(words), dtype=np.int64)  # numbers of rows, or a KeyError
        rows = self._rows_or_minus_one(itertools.chain.from_iterable(contexts))
        # Offsets into the known ones among the context words.
        known = rows >= 0
        before = np.concatenate([[0], np.cumsum(known)])
        offsets = before[np.cumsum([0, *map(len, contexts)])]
        return self._posteriors(centres, rows[known], offsets)

    def infer_sentences(
        self, sentences: Iterable[str | Sequence[str]], *, skip_unknown: bool = False
    ) -> list[Gaussian]:
        """Infer the posterior densities of every word of many sentences at once, each from its own window.

        Parameters
        ----------
        sentences : iterable of str or sequence of str
            Each a list of tokens, or a string of them separated by white space.
        skip_unknown : bool, optional
            Whether unknown tokens get no row instead of a KeyError.

        Returns
        -------
        list of Gaussian
            One batch for each sentence, with one density for each of its tokens.

        Examples
        --------
        >>> [len(batch) for batch in wv.infer_sentences(["dog cat", "the animal"], skip_unknown=True)]
        [2, 1]
        """
        known = [self._sentence_rows(_tokens(sentence), skip_unknown) for sentence in sentences]
        ends = np.cumsum([0, *map(len, known)])
        tokens = np.concatenate([np.empty(0, dtype=np.int64), *known])
        batches = []
        for first in range(0, max(len(tokens), 1), _POSITIONS_AT_ONCE):
            last = min(first + _POSITIONS_AT_ONCE, len(tokens))
            batches.append(
                self._posteriors(tokens[first:last], *_windows(tokens, ends, first, last, self.window))
            )
        posteriors = batches[0] if len(batches) == 1 else _joined(batches)
        return [posteriors[start:stop] for start, stop in itertools.pairwise(ends.tolist())]

    def substitutes(
        self,
        word: Any,
        context: str | Sequence[str],
        candidates: Iterable[Any] | None = None,
        topn: int | None = 10,
        exclude_inflections: bool = False,
        *,
        position: int | None = None,
    ) -> Found:
        """Rank what could stand for a word in its context, by −KL[posterior‖prior of the substitute].

        Parameters
        ----------
        word : str or int
            The word to replace, which is never among its substitutes.
        context : str or sequence of str
            As in :meth:`infer`.
        candidates : iterable of str, optional
            The words to rank, unknown ones being left out; the whole vocabulary if not given.
        topn : int or None, optional
            How many to return; None for all.
        exclude_inflections : bool, optional
            Whether to leave out other regular (English) forms of the word, such as its plural.
        position : int, optional
            Where the word stands, if `context` is its sentence.

        Examples
        --------
        >>> wv.substitutes("dog", "cat animal", topn=2)
        [('cat', -1.499...), ('animal', -1.611...)]
        """
        posterior = self.infer(context, word, position)
        own = self.index_to_key[self.get_index(word)]
        if candidates is not None:
            known = [key for key in dict.fromkeys(candidates) if key in self]
            ranked = self._rank(posterior, known)
        else:
            ranked = None
        wanted = len(self) if topn is None else topn
        reach = wanted + 1
        while True:
            found = (
                ranked if ranked is not None else self._whole.most_similar(posterior, metric="kl", topn=reach)
            )
            left = [
                (key, score)
                for key, score in found
                if key != own and not (exclude_inflections and is_inflection(str(key), str(own)))
            ]
            if len(left) >= wanted or ranked is not None or reach >= len(self):
                return left[:wanted]
            reach *= 4

    def _rank(self, posterior: Gaussian, keys: list[Any]) -> Found:
        """Return keys and scores, best first."""
        if not keys:
            return []
        scores = 0.0 - posterior.kl(self.density(keys))
        order = np.argsort(-scores, kind="stable")
        return [(keys[i], float(scores[i])) for i in order]

    def _known_encoder(self) -> Encoder:
        """Return the encoder, or say that there is none."""
        if self.encoder is None:
            raise ValueError(
                "there is no encoder here, so nothing can be inferred from context: train a BayesianSkipGram "
                "or load a saved one (word2vec files have no encoder)"
            )
        return self.encoder

    def _posteriors(self, centres: Integers, contexts: Integers, offsets: Integers) -> Gaussian:
        """Return the posteriors of windows of rows; the prior where there is no context."""
        encoder, log_priors = self._known_encoder(), self._known_log_variances()
        priors = (self.vectors[centres], log_priors[centres])
        means, log_variances = encoder.posteriors(centres, contexts, offsets, priors)
        alone = np.flatnonzero(offsets[1:] == offsets[:-1])
        if len(alone):
            means[alone] = self.vectors[centres[alone]]
            log_variances[alone] = log_priors[centres[alone]]
        return Gaussian(means, np.exp(log_variances))

    def _checked_position(self, tokens: Sequence[Any], position: int) -> int:
        if not 0 <= position < len(tokens):
            raise IndexError(f"position={position} is outside the sentence, which has {len(tokens)} tokens")
        return position

    def _window_of(self, tokens: Sequence[Any], position: int) -> list[Any]:
        """Return the `window` known tokens on each side of a position."""
        self._checked_position(tokens, position)
        before = [token for token in tokens[:position] if token in self.key_to_index]
        after = [token for token in tokens[position + 1 :] if token in self.key_to_index]
        return before[max(len(before) - self.window, 0) :] + after[: self.window]

    def _sentence_rows(self, tokens: Sequence[Any], skip_unknown: bool) -> Integers:
        """Return the rows of the tokens of a sentence."""
        rows = self._rows_or_minus_one(tokens)
        known = rows >= 0
        if not skip_unknown and not known.all():
            unknown = sorted({str(token) for token, row in zip(tokens, rows, strict=True) if row < 0})
            raise KeyError(
                f"unknown words in the sentence: {', '.join(unknown[:5])}; leave them out or give "
                "skip_unknown=True"
            )
        return rows[known]

    def _rows_or_minus_one(self, tokens: Iterable[Any]) -> Integers:
        """Return the rows of tokens, -1 for unknown ones."""
        return np.fromiter(map(self.key_to_index.get, tokens, itertools.repeat(-1)), dtype=np.int64)


def _tokens(context: str | Sequence[str]) -> Sequence[str]:
    return context.split() if isinstance(context, str) else list(context)


def _windows(
    tokens: Integers, ends: Integers, first: int, last: int, window: int
) -> tuple[Integers, Integers]:
    """Return contexts and offsets of the full windows of the positions from `first` to `last`."""
    positions = np.arange(first, last)
    sentence = np.searchsorted(ends, positions, side="right") - 1
    steps = np.concatenate([np.arange(-window, 0), np.arange(1, window + 1)])
    places = positions[:, None] + steps  # (positions, 2 window)
    inside = (places >= ends[sentence][:, None]) & (places < ends[sentence + 1][:, None])
    offsets = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    return tokens[places[inside]], offsets


def _joined(batches: list[Gaussian]) -> Gaussian:
    means: Floats = np.concatenate([batch.mean for batch in batches])
    return Gaussian(means, np.concatenate([batch.variance for batch in batches]))
