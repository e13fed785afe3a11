"""Words in context: posteriors from the encoder."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from densvec.checks import KEY_TYPES, refuse_bytes
from densvec.encoder import Encoder
from densvec.gaussian import Gaussian
from densvec.questions.lookup import known_log_variances, rows_of, words_of
from densvec.reading import Reading
from densvec.types import Floats, Integers

if TYPE_CHECKING:
    from densvec.keyed import KeyedDensities

_MARK = re.compile(r"\[\[(.+?)\]\]")

_WORDS_AT_ONCE = 1 << 20
"""The most words of windows laid out together, which bounds the memory for long texts and wide windows."""

Keep = Callable[[Any, Integers], Floats]
"""How much each of some rows counts."""

_LEAST_KEEP = 1e-3
"""No word counts less than this; otherwise windows would go on for ever among words that count for nothing."""


@overload
def infer(
    wv: KeyedDensities,
    context: str | Sequence[str],
    *,
    word: Any = None,
    position: int | None = None,
    skip_unknown: bool = False,
    return_positions: Literal[False] = False,
) -> Gaussian: ...


@overload
def infer(
    wv: KeyedDensities,
    context: str | Sequence[str],
    *,
    word: Any = None,
    position: int | None = None,
    skip_unknown: bool = False,
    return_positions: Literal[True],
) -> tuple[Gaussian, Integers]: ...


def infer(
    wv: KeyedDensities,
    context: str | Sequence[str],
    *,
    word: Any = None,
    position: int | None = None,
    skip_unknown: bool = False,
    return_positions: bool = False,
) -> Gaussian | tuple[Gaussian, Integers]:
    """Infer the posterior density of a word in its context, or of every word of a sentence.

    A context is read as training reads it (`densvec.reading.Reading`): unknown words are skipped, frequent ones
    count with the probability of being kept when text is thinned, near ones count more than far ones, and the
    window extends until the words on a side add up to `window`. Without any known context the posterior is the
    prior. Any number of threads may ask at once.

    Parameters
    ----------
    context : str or sequence of str
        Tokens, or a text, whose words are found as in the text that the model was trained on (`wv.text_reading`;
        between white space, if that is unknown). If `word` occurs in them they are its sentence, or
        its paragraph, and a window is read around each place where it stands; a word within reach of several
        places counts from the nearest. Otherwise they are a bag of words, all of which are read; the more there
        are, the less each further one changes. A word in double brackets, as in ``"a ripe [[kiwi]]"``, is the one
        asked about. With `word`, several sentences in a list give a batch.
    word : str or int, optional
        The centre word.
    position : int, optional
        Where the word stands in `context`, if only that place is meant. The word is the token there unless
        `word` is given.
    skip_unknown : bool, optional
        For a whole sentence, whether to skip unknown tokens, which get no row, instead of raising a KeyError.
    return_positions : bool, optional
        For a whole sentence, whether to return also the positions of the tokens that the rows stand for.

    Returns
    -------
    Gaussian
        One density; for a whole sentence (neither `word` nor `position`) a batch with one for each token,
        each inferred from its own window.
    positions : numpy.ndarray of int
        With `return_positions`: where the token of each row stands in the sentence.

    Examples
    --------
    >>> wv.infer("cat animal", word="dog")
    Gaussian(mean=[2.5, 1.5], variance=[0.4493])
    >>> wv.infer("the dog and the cat", position=1) == wv.infer(["cat"], word="dog")
    True
    >>> wv.infer("the [[dog]] and the cat") == wv.infer(["cat"], word="dog")
    True
    >>> wv.infer(["the dog and the cat", "a dog"], word="dog")
    <2 spherical Gaussians in 2 dimensions>
    >>> wv.infer(["dog", "cat", "car"])
    <3 spherical Gaussians in 2 dimensions>
    >>> wv.infer("the dog and the cat", skip_unknown=True, return_positions=True)
    (<2 spherical Gaussians in 2 dimensions>, array([1, 4]))
    """
    if word is not None and _several(context):
        if position is not None:
            raise ValueError(
                "position is a place in one sentence: with several, mark the word in each, [[word]]"
            )
        return wv.infer_posteriors([(word, sentence) for sentence in context])
    tokens, position = placed_tokens(wv, context, position)
    if word is None and position is None:
        found: Gaussian | tuple[Gaussian, Integers] = wv.infer_sentences(
            [tokens], skip_unknown=skip_unknown, return_positions=return_positions
        )[0]
        return found
    if return_positions:
        raise ValueError("return_positions is for whole sentences: leave out word and position")
    if word is None:
        assert position is not None
        word = tokens[_checked_position(tokens, position)]
    return wv.infer_posteriors([(word, tokens, position)])[0]


def infer_posteriors(wv: KeyedDensities, pairs: Iterable[Sequence[Any]]) -> Gaussian:
    """Infer the posterior densities of many words in their contexts at once, as a batch in the order of the pairs.

    Parameters
    ----------
    pairs : iterable of (word, context) or (word, context, position)
        Each as in :meth:`infer`.

    Examples
    --------
    >>> wv.infer_posteriors([("dog", "cat animal"), ("car", [])])
    <2 spherical Gaussians in 2 dimensions>
    """
    questions = [_question(wv, *pair) for pair in pairs]
    words = [word for word, _, _ in questions]
    centres = _rows_or_minus_one(wv, words)
    if centres.min(initial=0) < 0:
        centres = np.array(rows_of(wv, words), dtype=np.int64)  # numbers of rows, or a KeyError
    return posteriors_of(wv, centres, *_contexts(wv, questions, centres, reading_of(wv), keep_of))


def read_around(wv: KeyedDensities, sentence: str | Sequence[str], position: int) -> tuple[Integers, Floats]:
    """Return which words of a sentence are read around a position, and how much each of them counts.

    Parameters
    ----------
    sentence : str or sequence of str
        Tokens, or a text, as :meth:`infer` takes it; unknown ones are skipped.
    position : int
        Where the centre word stands.

    Returns
    -------
    positions : numpy.ndarray of int
        Positions of the words that are read, in order.
    weights : numpy.ndarray of float
        The weights a_j of `densvec.reading.Reading`, before the sum saturates.

    Examples
    --------
    >>> positions, weights = wv.read_around("the dog and the cat", 1)
    >>> positions, weights
    (array([4]), array([1.]))
    """
    tokens, place = placed_tokens(wv, sentence, position)
    assert place is not None
    rows = _rows_or_minus_one(wv, tokens)
    rows[place] = 0  # it is not read, known or not
    known = np.flatnonzero(rows >= 0)
    centre = np.searchsorted(known, [place])
    ends = np.array([0]), np.array([len(known)])
    spans = reading_of(wv).spans(centre, *ends, keep_of(wv, rows[known]))
    order = np.argsort(spans.places)
    return known[spans.places[order]], spans.weights[order]


def _question(
    wv: KeyedDensities, word: Any, context: Any, position: int | None = None
) -> tuple[Any, Sequence[Any], int | None]:
    """Return a word, the tokens of its context and its place among them."""
    refuse_bytes(word)
    if not isinstance(word, KEY_TYPES):
        raise TypeError(f"{word!r} is not a word: a pair is (word, context)")
    tokens, position = placed_tokens(wv, context, position)
    return word, tokens, position


def read_contexts(
    wv: KeyedDensities, pairs: Iterable[Sequence[Any]], reading: Reading, keep: Keep
) -> tuple[Integers, Integers, Floats]:
    """Return the words that are read of contexts: rows, where those of each context begin and end, and weights.

    Contexts are given as to :meth:`infer_posteriors`, but the word may be unknown, or None for a bag of words.
    """
    questions = [_question(wv, "" if word is None else word, *rest) for word, *rest in pairs]
    centres = [-1 if word == "" else wv.get_index(word, -1) for word, _, _ in questions]
    return _contexts(wv, questions, np.array(centres, dtype=np.int64), reading, keep)


def _contexts(
    wv: KeyedDensities,
    questions: Sequence[tuple[Any, Sequence[Any], int | None]],
    centres: Integers,
    reading: Reading,
    keep: Keep,
) -> tuple[Integers, Integers, Floats]:
    """Return what is read of texts, around the words asked about where they stand there."""
    rows = _rows_or_minus_one(wv, itertools.chain.from_iterable(tokens for _, tokens, _ in questions))
    ends = np.cumsum([0, *(len(tokens) for _, tokens, _ in questions)])
    owners = np.repeat(np.arange(len(questions)), np.diff(ends))
    positions = np.array([-1 if place is None else place for _, _, place in questions], dtype=np.int64)
    asked = np.zeros(len(rows), dtype=bool)
    asked[ends[:-1][positions >= 0] + positions[positions >= 0]] = True
    if reading.thinned:
        asked |= (rows >= 0) & (rows == centres[owners]) & (positions[owners] < 0)
        for i in np.flatnonzero((centres < 0) & (positions < 0)).tolist():
            word, tokens, _ = questions[i]
            asked[ends[i] : ends[i + 1]] = [token == word for token in tokens]
    known = (rows >= 0) | asked
    rows, asked, owners = rows[known], asked[known], owners[known]
    weights = keep(wv, rows)
    near, of_near = reading.around(asked, owners, weights)
    bags = np.flatnonzero(~np.isin(owners, owners[asked]))
    places = np.concatenate([near, bags])
    order = np.argsort(places, kind="stable")
    lengths = np.bincount(owners[places], minlength=len(questions))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return rows[places[order]], offsets, np.concatenate([of_near, weights[bags]])[order]


@overload
def infer_sentences(
    wv: KeyedDensities,
    sentences: Iterable[str | Sequence[str]],
    *,
    skip_unknown: bool = False,
    return_positions: Literal[False] = False,
) -> list[Gaussian]: ...
@overload
def infer_sentences(
    wv: KeyedDensities,
    sentences: Iterable[str | Sequence[str]],
    *,
    skip_unknown: bool = False,
    return_positions: bool,
) -> list[Any]: ...
def infer_sentences(
    wv: KeyedDensities,
    sentences: Iterable[str | Sequence[str]],
    *,
    skip_unknown: bool = False,
    return_positions: bool = False,
) -> list[Any]:
    """Infer the posterior densities of every word of many sentences at once, each from its own window.

    Parameters
    ----------
    sentences : iterable of str or sequence of str
        Each a list of tokens, or a text, as :meth:`infer` takes it.
    skip_unknown : bool, optional
        Whether to skip unknown tokens, which get no row, instead of raising a KeyError.
    return_positions : bool, optional
        Whether to return also which tokens the rows stand for.

    Returns
    -------
    list of Gaussian
        One batch for each sentence, with one density for each token; with `return_positions` each is a
        pair of a batch and the positions of its tokens.

    Examples
    --------
    >>> [len(batch) for batch in wv.infer_sentences(["dog cat", "the animal"], skip_unknown=True)]
    [2, 1]
    """
    rows = [_sentence_rows(wv, context_tokens(wv, sentence), skip_unknown) for sentence in sentences]
    known = [row[row >= 0] for row in rows]
    ends = np.cumsum([0, *map(len, known)])
    tokens = np.concatenate([np.empty(0, dtype=np.int64), *known])
    batches = [
        posteriors_of(wv, tokens[first:last], *_windows(wv, tokens, ends, first, last))
        for first, last in _portions(wv, tokens, ends)
    ]
    posteriors = batches[0] if len(batches) == 1 else _joined(batches)
    found = [posteriors[start:stop] for start, stop in itertools.pairwise(ends.tolist())]
    if not return_positions:
        return found
    return list(zip(found, (np.flatnonzero(row >= 0) for row in rows), strict=True))


def known_encoder(wv: KeyedDensities) -> Encoder:
    """Return the encoder, or say that there is none."""
    if wv.encoder is None:
        raise ValueError(
            "there is no encoder here, so nothing can be inferred from context: train a BayesianSkipGram "
            "or load a saved one (word2vec files have no encoder)"
        )
    return wv.encoder


def _portions(wv: KeyedDensities, tokens: Integers, ends: Integers) -> Iterator[tuple[int, int]]:
    """Yield runs of positions whose windows have a bounded number of words in all, or of one position."""
    positions = np.arange(len(tokens))
    sentence = np.searchsorted(ends, positions, side="right") - 1
    sizes = reading_of(wv).sizes(positions, ends[sentence], ends[sentence + 1], keep_of(wv, tokens))
    held = np.concatenate([[0], np.cumsum(1 + sizes)])
    first = 0
    while True:
        last = int(np.searchsorted(held, held[first] + _WORDS_AT_ONCE, side="right")) - 1
        last = max(last, min(first + 1, len(tokens)))
        yield first, last
        if last == len(tokens):
            return
        first = last


def _windows(
    wv: KeyedDensities, tokens: Integers, ends: Integers, first: int, last: int
) -> tuple[Integers, Integers, Floats]:
    """Return what is read around the positions from `first` to `last` of sentences: rows, offsets and weights."""
    positions = np.arange(first, last)
    sentence = np.searchsorted(ends, positions, side="right") - 1
    starts, stops = ends[sentence], ends[sentence + 1]
    low, high = (int(starts[0]), int(stops[-1])) if len(positions) else (0, 0)
    text = tokens[low:high]
    spans = reading_of(wv).spans(positions - low, starts - low, stops - low, keep_of(wv, text))
    return spans.rows(text)


def reading_of(wv: KeyedDensities) -> Reading:
    """Return how contexts are read, over windows of this object's size."""
    reading = known_encoder(wv).reading
    return reading if reading.window == wv.window else replace(reading, window=wv.window)


def keep_of(wv: KeyedDensities, rows: Integers) -> Floats:
    """Return the probability that training keeps each of these words; 1 if the encoder treats all words alike."""
    if not reading_of(wv).thinned or "keep" not in wv.expandos:
        return np.ones(len(rows))
    kept: Floats = np.maximum(wv.expandos["keep"][rows].astype(np.float64), _LEAST_KEEP)
    return kept


def posteriors_of(
    wv: KeyedDensities,
    centres: Integers,
    contexts: Integers,
    offsets: Integers,
    weights: Floats | None = None,
) -> Gaussian:
    """Return the posteriors of windows of rows; the prior where there is no context."""
    encoder, log_priors = known_encoder(wv), known_log_variances(wv)
    priors = (wv.vectors[centres], log_priors[centres])
    means, log_variances = encoder.posteriors(centres, contexts, offsets, priors, weights)
    alone = np.flatnonzero(offsets[1:] == offsets[:-1])
    if len(alone):
        means[alone] = wv.vectors[centres[alone]]
        log_variances[alone] = log_priors[centres[alone]]
    return Gaussian(means, np.exp(log_variances))


def _checked_position(tokens: Sequence[Any], position: int) -> int:
    if not 0 <= position < len(tokens):
        raise IndexError(f"position={position} is outside the sentence, which has {len(tokens)} tokens")
    return position


def _sentence_rows(wv: KeyedDensities, tokens: Sequence[Any], skip_unknown: bool) -> Integers:
    """Return the rows of the tokens of a sentence, -1 for unknown ones."""
    rows = _rows_or_minus_one(wv, tokens)
    known = rows >= 0
    if not skip_unknown and not known.all():
        unknown = sorted({str(token) for token, row in zip(tokens, rows, strict=True) if row < 0})
        raise KeyError(
            f"unknown words in the sentence: {', '.join(unknown[:5])}; leave them out or give "
            "skip_unknown=True"
        )
    return rows


def _rows_or_minus_one(wv: KeyedDensities, tokens: Iterable[Any]) -> Integers:
    """Return the rows of tokens, -1 for unknown ones."""
    return np.fromiter(map(wv.key_to_index.get, tokens, itertools.repeat(-1)), dtype=np.int64)


def context_tokens(wv: KeyedDensities, context: str | Sequence[str]) -> Sequence[str]:
    """Return the words of a context, which may be a text."""
    return marked_tokens(wv, context)[0]


def placed_tokens(
    wv: KeyedDensities, context: str | Sequence[str], position: int | None
) -> tuple[Sequence[str], int | None]:
    """Return the words of a context, and the place in it that is asked about: that of a mark, if none is given.

    In a text, a position counts what stands between white space.

    Examples
    --------
    >>> placed_tokens(wv, "the dog and the cat", 1)
    (['the', 'dog', 'and', 'the', 'cat'], 1)
    """
    if position is None:
        return marked_tokens(wv, context)
    if isinstance(context, str) and "[[" not in context:
        pieces = context.split()
        place = _checked_position(pieces, position)
        before, word = words_of(wv, " ".join(pieces[:place])), "_".join(words_of(wv, pieces[place]))
        return [*before, word or pieces[place], *words_of(wv, " ".join(pieces[place + 1 :]))], len(before)
    tokens, _ = marked_tokens(wv, context)
    return tokens, _checked_position(tokens, position)


def marked_tokens(wv: KeyedDensities, context: str | Sequence[str]) -> tuple[Sequence[str], int | None]:
    """Return the words of a context, and the place of the word in double brackets, if there is one.

    Examples
    --------
    >>> marked_tokens(wv, "a ripe [[kiwi]] tastes sweet")
    (['a', 'ripe', 'kiwi', 'tastes', 'sweet'], 2)
    """
    refuse_bytes(context)
    if _several(context):
        raise TypeError(
            "several sentences are given where one is expected: ask about one after the other, or about all at once "
            "with infer_posteriors([(word, sentence), ...])"
        )
    several = "{} words are in double brackets: mark the one that is asked about"
    if isinstance(context, str):
        found = list(_MARK.finditer(context))
        if not found:
            return words_of(wv, context), None
        if len(found) > 1:
            raise ValueError(several.format(len(found)))
        before, after = words_of(wv, context[: found[0].start()]), words_of(wv, context[found[0].end() :])
        word = "_".join(words_of(wv, found[0][1])) or found[0][1]
        return [*before, word, *after], len(before)
    if not isinstance(context, (list, tuple)):
        context = list(context)
    marks = [i for i, token in enumerate(context) if isinstance(token, str) and _MARK.fullmatch(token)]
    if not marks:
        return context, None
    if len(marks) > 1:
        raise ValueError(several.format(len(marks)))
    tokens, place = list(context), marks[0]
    tokens[place] = tokens[place][2:-2]
    return tokens, place


def _several(context: Any) -> bool:
    """Return whether sentences are given, in a list (or a column of a table) instead of one sentence."""
    return not isinstance(context, str) and any(
        " " in each if isinstance(each, str) else isinstance(each, (list, tuple)) for each in context
    )


def _joined(batches: list[Gaussian]) -> Gaussian:
    means: Floats = np.concatenate([batch.mean for batch in batches])
    return Gaussian(means, np.concatenate([batch.variance for batch in batches]))
