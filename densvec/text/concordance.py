"""A concordancer: the occurrences of words in a corpus, sampled, each with its sentence."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from densvec.text.raw import RawText
from densvec.text.source import is_files
from densvec.text.text_reading import TextReading
from densvec.types import Corpus, CorpusFile


@dataclass(frozen=True)
class Occurrence:
    """A word where it occurs.

    Attributes
    ----------
    tokens : list of str
        The sentence.
    position : int
        Where the word stands in it.

    Examples
    --------
    >>> kiwi = Occurrence(["a", "ripe", "kiwi", "tastes", "sweet"], 2)
    >>> kiwi.text
    'a ripe [[kiwi]] tastes sweet'
    >>> print(kiwi.line(10))
        a ripe  kiwi  tastes swe
    """

    tokens: Sequence[str]
    position: int

    @property
    def word(self) -> str:
        """The word itself."""
        return self.tokens[self.position]

    @property
    def text(self) -> str:
        """The sentence with the word in brackets."""
        return " ".join(f"[[{t}]]" if i == self.position else t for i, t in enumerate(self.tokens))

    def line(self, width: int = 40) -> str:
        """Return a line of a concordance: the word with `width` characters on each side of it."""
        before = " ".join(self.tokens[max(0, self.position - width) : self.position])[-width:]
        after = " ".join(self.tokens[self.position + 1 : self.position + 1 + width])[:width]
        return f"{before:>{width}}  {self.word}  {after}".rstrip()


def sentences_of(
    corpus: Corpus, *, text_reading: TextReading | None = None, show_progress: bool | None = False
) -> Iterator[Sequence[str]]:
    """Yield the sentences of a text: of files, or of an iterable of token lists.

    Parameters
    ----------
    corpus : path, list of paths, or iterable of token lists
        A file, a directory, a pattern or several of them; read once, from beginning to end.
    text_reading : TextReading, optional
        How words are found in files; by default between white space, with one sentence per line.
    show_progress : bool or None, optional
        Whether to show a progress bar; None for only in a terminal.

    Examples
    --------
    >>> list(sentences_of([["a", "ripe", "kiwi"]]))
    [['a', 'ripe', 'kiwi']]
    """
    sentences = cast("Iterable[Sequence[str]]", corpus)
    if is_files(corpus):
        sentences = RawText.like(cast("CorpusFile", corpus), text_reading or TextReading())
    if show_progress is None:
        show_progress = sys.stderr is not None and sys.stderr.isatty()
    if show_progress:
        from tqdm.auto import tqdm

        sentences = tqdm(sentences, desc="reading", unit=" sentences", leave=False)
    yield from sentences


def occurrences(
    corpus: Corpus,
    word: str,
    max_occurrences: int | None = None,
    *,
    seed: int = 0,
    text_reading: TextReading | None = None,
    show_progress: bool | None = False,
) -> list[Occurrence]:
    """Find the occurrences of a word, all of them or a uniform sample.

    Parameters
    ----------
    corpus : path, list of paths, or iterable of token lists
        As :func:`sentences_of` takes it.
    word : str
        The word, exactly as it is spelt in the corpus.
    max_occurrences : int, optional
        Keep at most this many, each occurrence with the same chance; memory does not grow with the corpus.
    seed : int, optional
        Seeds the sample.
    text_reading : TextReading, optional
        As :func:`sentences_of` takes it: ``wv.text_reading`` is how a model's own text was read.
    show_progress : bool or None, optional
        Whether to show a progress bar; None for only in a terminal.

    Returns
    -------
    list of Occurrence
        In the order of the corpus; empty if the word does not occur.

    Examples
    --------
    >>> found = occurrences([["a", "ripe", "kiwi"], ["the", "kiwi", "digs"]], "kiwi")
    >>> [(each.position, each.tokens[0]) for each in found]
    [(2, 'a'), (1, 'the')]
    """
    found = sample_occurrences(
        corpus, [word], max_occurrences, seed=seed, text_reading=text_reading, show_progress=show_progress
    )
    return found[word]


def sample_occurrences(
    corpus: Corpus,
    words: Iterable[str] | Mapping[str, str],
    max_occurrences: int | None = None,
    *,
    seed: int = 0,
    text_reading: TextReading | None = None,
    show_progress: bool | None = False,
) -> dict[str, list[Occurrence]]:
    """Find the occurrences of several words in one pass, as :func:`occurrences` does for one.

    A mapping as `words` says of each form which word it is a form of.

    Examples
    --------
    >>> found = sample_occurrences([["a", "ripe", "kiwi"]], ["kiwi", "ripe", "owl"])
    >>> {word: len(items) for word, items in found.items()}
    {'kiwi': 1, 'ripe': 1, 'owl': 0}
    >>> sample_occurrences([["two", "kiwis"]], {"kiwi": "kiwi", "kiwis": "kiwi"})["kiwi"][0].word
    'kiwis'
    """
    word_of = dict(words) if isinstance(words, Mapping) else {word: word for word in words}
    if max_occurrences is not None and max_occurrences < 1:
        raise ValueError(f"max_occurrences={max_occurrences}: give at least 1, or None for all")
    kept: dict[str, list[tuple[int, Occurrence]]] = {word: [] for word in word_of.values()}
    seen = dict.fromkeys(kept, 0)
    dice = {word: random.Random(f"{seed} {word}") for word in kept}  # independent of the other words
    wanted = frozenset(word_of)
    for sentence in sentences_of(corpus, text_reading=text_reading, show_progress=show_progress):
        if isinstance(sentence, str):
            raise TypeError(
                f"a corpus is a path, a list of paths, or an iterable of token lists: got the text {sentence[:40]!r}; "
                "split it into words"
            )
        if wanted.isdisjoint(sentence):
            continue
        for position, token in enumerate(sentence):
            if token not in wanted:
                continue
            word = word_of[token]
            number = seen[word]
            seen[word] += 1
            items = kept[word]
            if max_occurrences is None or len(items) < max_occurrences:
                items.append((number, Occurrence(sentence, position)))
            else:
                place = dice[word].randrange(number + 1)
                if place < max_occurrences:
                    items[place] = (number, Occurrence(sentence, position))
    return {
        word: [item for _, item in sorted(items, key=lambda pair: pair[0])] for word, items in kept.items()
    }


def given_occurrences(corpus: Any) -> list[Occurrence] | None:
    """Return the occurrences in a list of them, each as (tokens, position) or an `Occurrence`; None for a corpus.

    Examples
    --------
    >>> given_occurrences([(["a", "ripe", "kiwi"], 2)])[0].word
    'kiwi'
    >>> given_occurrences([["a", "ripe", "kiwi"]]) is None
    True
    """
    if isinstance(corpus, (str, bytes)) or not isinstance(corpus, Sequence) or not len(corpus):
        return None
    first = corpus[0]
    if not isinstance(first, Occurrence) and not (
        isinstance(first, tuple) and len(first) == 2 and isinstance(first[1], (int, np.integer))
    ):
        return None
    items = [each if isinstance(each, Occurrence) else Occurrence(*each) for each in corpus]
    for each in items:
        if not 0 <= each.position < len(each.tokens):
            raise IndexError(
                f"position={each.position} is outside its sentence, which has {len(each.tokens)} tokens"
            )
    return items
