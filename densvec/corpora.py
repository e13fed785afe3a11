"""Corpora on disk as re-iterable sequences of token lists, named and behaving as in gensim."""

from __future__ import annotations

import os

from densvec.text._text import MAX_SENTENCE_LENGTH
from densvec.text.concordance import Occurrence, occurrences
from densvec.text.raw import RawText
from densvec.text.source import TextCorpus, check_corpus, corpus_paths
from densvec.types import PathLike, Source

__all__ = [
    "LineSentence",
    "Occurrence",
    "PathLineSentences",
    "RawText",
    "Text8Corpus",
    "check_corpus",
    "occurrences",
]


class LineSentence(TextCorpus):
    r"""A file with one sentence per line, its words separated by whitespace.

    Parameters
    ----------
    source : path or open file
        Plain, gzip, bz2, xz or zstd (before Python 3.14 with backports.zstd), local or anything that smart_open
        reads, or an open handle that supports ``seek(0)``.
    max_sentence_length : int
        Longer lines are cut into sentences of this many words.
    limit : int, optional
        Read only the first `limit` lines.
    errors : str
        What to do with bytes that are not UTF-8: "replace" (by U+FFFD), "ignore", "strict" or any other name
        known to :func:`codecs.lookup_error`. They are counted and logged once.

    Examples
    --------
    >>> import io
    >>> corpus = LineSentence(io.BytesIO(b"the kiwi is a bird\nthe kiwi is ripe"))
    >>> list(corpus)
    [['the', 'kiwi', 'is', 'a', 'bird'], ['the', 'kiwi', 'is', 'ripe']]
    >>> len(list(corpus))   # it can be iterated again
    2
    """

    def __init__(
        self,
        source: Source,
        max_sentence_length: int = MAX_SENTENCE_LENGTH,
        limit: int | None = None,
        *,
        errors: str = "replace",
    ) -> None:
        super().__init__([source], max_sentence_length, limit, errors)
        self.source = source

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"


class PathLineSentences(TextCorpus):
    """All files of a directory, in alphabetical order, each as :class:`LineSentence` reads it.

    Sub-directories are left out. A path to one file works too.

    Parameters
    ----------
    source : path
        The directory.
    max_sentence_length : int
        Longer lines are cut into sentences of this many words.
    limit : int, optional
        Read only the first `limit` lines of each file.
    errors : str
        What to do with bytes that are not UTF-8, as in :class:`LineSentence`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> directory = Path(tempfile.mkdtemp())
    >>> _ = (directory / "b.txt").write_text("second file")
    >>> _ = (directory / "a.txt").write_text("first file")
    >>> list(PathLineSentences(directory))
    [['first', 'file'], ['second', 'file']]
    """

    def __init__(
        self,
        source: PathLike,
        max_sentence_length: int = MAX_SENTENCE_LENGTH,
        limit: int | None = None,
        *,
        errors: str = "replace",
    ) -> None:
        self.source = os.fspath(source)
        if not os.path.exists(self.source):
            raise ValueError(f"{self.source!r} is neither a file nor a directory")
        super().__init__(corpus_paths(self.source), max_sentence_length, limit, errors)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"


class Text8Corpus(TextCorpus):
    """A file that is one long run of words, such as text8, cut into sentences of equal length.

    Parameters
    ----------
    fname : path or open file
        The file; line ends in it are whitespace like any other.
    max_sentence_length : int
        Words in each sentence but the last.
    errors : str
        What to do with bytes that are not UTF-8, as in :class:`LineSentence`.

    Examples
    --------
    >>> import io
    >>> list(Text8Corpus(io.BytesIO(b"one two three four five"), max_sentence_length=2))
    [['one', 'two'], ['three', 'four'], ['five']]
    """

    newlines = False

    def __init__(
        self, fname: Source, max_sentence_length: int = MAX_SENTENCE_LENGTH, *, errors: str = "replace"
    ) -> None:
        super().__init__([fname], max_sentence_length, errors=errors)
        self.fname = fname

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.fname!r})"
