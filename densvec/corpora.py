"""Corpora on disk as re-iterable sequences of token lists, named and behaving as in gensim."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator
from typing import Any

from densvec.text._text import MAX_SENTENCE_LENGTH, TextReader
from densvec.text.concordance import Occurrence, occurrences
from densvec.text.pieces import corpus_names, corpus_paths
from densvec.text.raw import RawText
from densvec.text.source import TextCorpus, log_replaced, source_opener
from densvec.types import CorpusFile, PathLike, Source

__all__ = [
    "BrownCorpus",
    "LineSentence",
    "Occurrence",
    "PathLineSentences",
    "RawText",
    "Text8Corpus",
    "as_files",
    "check_corpus",
    "file_reader",
    "log_replaced",
    "occurrences",
    "text_reader",
]


class LineSentence(TextCorpus):
    r"""A file with one sentence per line, its words separated by whitespace.

    Parameters
    ----------
    source : path or open file
        Plain, gzip, bz2, xz or zstd (if the zstandard package is installed), local or anything that
        smart_open reads, or an open handle that supports ``seek(0)``.
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
        self.source = source
        self.max_sentence_length = max_sentence_length
        self.limit = limit
        self.errors = errors
        source_opener(source)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"

    def reader(self) -> TextReader:
        """Return a reader of the whole file from its start."""
        return TextReader(
            [source_opener(self.source)],
            errors=self.errors,
            max_sentence_length=self.max_sentence_length,
            limit=self.limit,
        )


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
        self.max_sentence_length = max_sentence_length
        self.limit = limit
        self.errors = errors
        if os.path.isfile(self.source):
            self.input_files = [self.source]
        elif os.path.isdir(self.source):
            paths = (os.path.join(self.source, name) for name in sorted(os.listdir(self.source)))
            self.input_files = [path for path in paths if os.path.isfile(path)]
        else:
            raise ValueError(f"{self.source!r} is neither a file nor a directory")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"

    def reader(self) -> TextReader:
        """Return a reader of all files, one after the other."""
        return TextReader(
            [source_opener(path) for path in self.input_files],
            errors=self.errors,
            max_sentence_length=self.max_sentence_length,
            limit=self.limit,
        )


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

    def __init__(
        self, fname: Source, max_sentence_length: int = MAX_SENTENCE_LENGTH, *, errors: str = "replace"
    ) -> None:
        self.fname = fname
        self.max_sentence_length = max_sentence_length
        self.errors = errors
        source_opener(fname)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.fname!r})"

    def reader(self) -> TextReader:
        """Return a reader of the whole file from its start."""
        return TextReader(
            [source_opener(self.fname)],
            errors=self.errors,
            max_sentence_length=self.max_sentence_length,
            newlines=False,
        )


class BrownCorpus:
    """The Brown corpus as NLTK ships it: a directory of files whose tokens are ``word/tag``.

    Yields ``word/tg`` with the word in lower case and the tag cut to its first two letters; tokens that do
    not have one tag made of letters (punctuation) are left out, and so are sentences without any other.

    Parameters
    ----------
    dirname : path
        The directory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> directory = Path(tempfile.mkdtemp())
    >>> _ = (directory / "ca01").write_text("The/at kiwi/nn-hl is/bez ripe/jj ./.")
    >>> list(BrownCorpus(directory))
    [['the/at', 'kiwi/nn', 'is/be', 'ripe/jj']]
    """

    def __init__(self, dirname: PathLike) -> None:
        self.dirname = os.fspath(dirname)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.dirname!r})"

    def __iter__(self) -> Iterator[list[str]]:
        for name in sorted(os.listdir(self.dirname)):
            path = os.path.join(self.dirname, name)
            if not os.path.isfile(path):
                continue
            for sentence in LineSentence(path):
                parts = [token.split("/") for token in sentence]
                tokens = [
                    f"{part[0].lower()}/{part[1][:2]}"
                    for part in parts
                    if len(part) == 2 and part[1][:2].isalpha()
                ]
                if tokens:
                    yield tokens


def text_reader(corpus: object, max_sentence_length: int = MAX_SENTENCE_LENGTH) -> TextReader | None:
    """Return a reader that gives the sentences of `corpus` without iterating it in Python, if it has one.

    Subclasses may iterate as they like, so only the classes themselves qualify.
    """
    if (
        type(corpus) in (LineSentence, PathLineSentences, RawText, Text8Corpus)
        and isinstance(corpus, TextCorpus)
        and corpus.max_sentence_length <= max_sentence_length
    ):
        return corpus.reader()
    return None


def file_reader(
    path: CorpusFile,
    *,
    errors: str = "replace",
    max_sentence_length: int = MAX_SENTENCE_LENGTH,
) -> TextReader:
    """Return a reader of a `corpus_file`, or of all its files one after the other: one sentence per line."""
    return TextReader(
        [source_opener(each) for each in corpus_paths(path)],
        errors=errors,
        max_sentence_length=max_sentence_length,
    )


def as_files(sentences: Any, corpus_file: CorpusFile | None) -> tuple[Any, CorpusFile | None]:
    """Return a corpus as files, if its sentences are no more than the lines of files.

    Examples
    --------
    >>> as_files(LineSentence("text.txt"), None)
    (None, 'text.txt')
    >>> as_files([["a", "b"]], None)
    ([['a', 'b']], None)
    """
    if (
        type(sentences) in (LineSentence, PathLineSentences)
        and (sentences.limit, sentences.errors) == (None, "replace")
        and sentences.max_sentence_length == MAX_SENTENCE_LENGTH
    ):
        if isinstance(sentences, PathLineSentences):
            return None, list(sentences.input_files)
        if isinstance(sentences.source, (str, os.PathLike)):
            return None, sentences.source
    return sentences, corpus_file


def check_corpus(sentences: Iterable[Any] | None, corpus_file: CorpusFile | None, passes: int = 1) -> None:
    """Raise TypeError unless exactly one corpus is given and it can be iterated `passes` times.

    Examples
    --------
    >>> check_corpus([["a", "b"]], None, passes=6)
    >>> check_corpus((line.split() for line in ["a b"]), None, passes=6)
    Traceback (most recent call last):
        ...
    TypeError: a generator can only be read once, but training needs 6 passes over the corpus...
    """
    if sentences is None and corpus_file is None:
        raise TypeError("either sentences or corpus_file must be given")
    if sentences is not None and corpus_file is not None:
        raise TypeError("sentences and corpus_file must not both be given")
    if corpus_file is not None:
        corpus_names(corpus_file)
    if sentences is not None:
        _check_iterable(sentences, passes)


def _check_iterable(sentences: object, passes: int) -> None:
    if isinstance(sentences, (str, os.PathLike)):
        name = os.fspath(sentences)
        raise TypeError(
            f"sentences={name[:80]!r} is one string, not sentences: give a file as corpus_file={name[:200]!r} or "
            "RawText(path), and a text as a list of lists of words"
        )
    if not hasattr(sentences, "__iter__") and not hasattr(sentences, "__getitem__"):
        raise TypeError(f"sentences must be an iterable of token lists, not {type(sentences).__name__}")
    # An iterator whose __iter__ is written in Python may start again; those of the language itself never do.
    if passes > 1 and isinstance(sentences, Iterator) and not inspect.isfunction(type(sentences).__iter__):
        raise TypeError(
            f"a {type(sentences).__name__} can only be read once, but training needs {passes} passes over "
            "the corpus: use a list, or an object whose __iter__ starts again"
        )
