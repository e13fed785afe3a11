"""Raw text: files as people write them, with capitals and punctuation, as sequences of token lists."""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from densvec.files.streams import faults_named, open_binary
from densvec.text import kinds
from densvec.text._raw import Tokeniser
from densvec.text._text import MAX_SENTENCE_LENGTH, TextReader
from densvec.text.source import (
    AsFile,
    TextCorpus,
    corpus_paths,
    decoded,
    is_files,
    log_once,
    source_opener,
)
from densvec.text.text_reading import REGEX, TextReading
from densvec.types import Source

_SAMPLE, _LONG_SAMPLE = 1 << 18, 1 << 22
"""How many bytes are looked at to guess the kind of a text, and its encoding: an accent may be rare."""

Tokenize = str | Callable[[str], Iterable[str]]


class RawText(TextCorpus):
    r"""Text that was not tokenised: its words in lower case, sentence by sentence.

    A word is a run of letters, marks and digits of any script with at least one letter; apostrophes, hyphens and
    underscores inside it belong to it (*don't*, *well-known*). Sentences end at full stops, question and exclamation
    marks (not after initials and abbreviations such as *Mr.*, nor before a lower-case letter), and at blank lines.

    Chinese, Japanese, Thai, Lao, Khmer and Burmese do not put spaces between words: give a segmenter as `tokenize`,
    such as ``jieba.lcut``, ``lambda line: MeCab.Tagger("-Owakati").parse(line).split()`` or
    ``pythainlp.word_tokenize``.

    Parameters
    ----------
    source : path, open file, or list of them
        As in :class:`LineSentence <densvec.corpora.LineSentence>`; for a directory, all files in alphabetical order,
        without hidden ones and without those that are no text (they are named in the log).
    tokenize : {"simple", "auto", "none"}, str or callable, optional
        ``"simple"`` as above, in native code; ``"none"``: words are separated by white space, sentences by line ends;
        ``"auto"``: each file that looks tokenised already is read so, the others as with ``"simple"``;
        ``"regex:…"``: words are what the regular expression finds in each line; or a function that takes a line and
        returns its words.
    lower : bool, optional
        Whether to put words in lower case.
    keep_numbers : bool, optional
        For ``"simple"``, whether words without letters are kept: 1999, 3.14.
    encoding : str, optional
        How characters are encoded: ``"utf-8"``, ``"cp1252"`` (Windows, Western Europe), ``"latin-1"``, …; a byte-order
        mark at the beginning of a file goes before.
    wrapped : bool, optional
        For ``"simple"``, whether sentences continue across line ends, as in books with lines of equal length; by
        default the beginning of the text decides.
    max_sentence_length : int, optional
        Longer sentences are cut into pieces of this many words.
    errors : str, optional
        What to do with bytes that are not in this encoding: "replace", "ignore" or "strict".
    column : str, optional
        In which column of tables the text is: CSV files, and lines of JSON.
    gutenberg : bool, optional
        Whether head and foot of Project Gutenberg's books are left out; by default where a file begins with one.

    HTML and XML are recognised; their text is read.

    Examples
    --------
    >>> import io
    >>> text = "Mr. Kiwi isn't ripe. It's a bird,\na well-known one!".encode()
    >>> list(RawText(io.BytesIO(text), wrapped=True))
    [['mr', 'kiwi', "isn't", 'ripe'], ["it's", 'a', 'bird', 'a', 'well-known', 'one']]
    >>> list(RawText(io.BytesIO(text), tokenize=r"regex:\w+", lower=False))[1]
    ['a', 'well', 'known', 'one']
    """

    def __init__(
        self,
        source: Source | list[Source],
        *,
        tokenize: Tokenize = "simple",
        lower: bool = True,
        keep_numbers: bool = False,
        encoding: str = "utf-8",
        wrapped: bool | None = None,
        max_sentence_length: int = MAX_SENTENCE_LENGTH,
        errors: str = "replace",
        column: str | None = None,
        gutenberg: bool | None = None,
    ) -> None:
        if (
            isinstance(tokenize, str)
            and tokenize not in ("simple", "auto", "none")
            and not tokenize.startswith(REGEX)
        ):
            raise ValueError(
                f"tokenize={tokenize!r}: use 'simple', 'auto', 'none', 'regex:…' or a function of a line"
            )
        self.source = source
        self.tokenize = tokenize
        self.lower = lower
        self.keep_numbers = keep_numbers
        self.encoding = codecs.lookup(encoding).name
        self.wrapped = wrapped
        self.column = column
        self.gutenberg = gutenberg
        self._split = _splitter(tokenize)
        files = _listed(source, self.encoding, column)
        super().__init__(files, max_sentence_length, errors=errors)
        self._sources = [source_opener(each, open_binary) for each in files]

    def __repr__(self) -> str:
        source = self.source
        if isinstance(source, list) and len(source) > 1:
            return f"{type(self).__name__}([{source[0]!r} and {len(source) - 1:,} more])"
        return f"{type(self).__name__}({source!r})"

    @classmethod
    def like(cls, source: Any, reading: TextReading) -> RawText:
        """Return a text whose words are found as a model's :attr:`text_reading` says.

        Examples
        --------
        >>> import io
        >>> list(RawText.like(io.BytesIO(b"He left."), TextReading("simple", lower=True)))
        [['he', 'left']]
        """
        return cls(source, **reading.header())

    @property
    def text_reading(self) -> TextReading | None:
        """How words are found, for the model that is trained on this text; None if a function finds them."""
        if not isinstance(self.tokenize, str):
            return None
        return TextReading(
            self.tokenize, self.lower, self.keep_numbers, self.encoding, self.wrapped, self.column
        )

    def reader(self) -> TextReader:
        """Return a reader of the tokenised text from its start."""
        sources = [
            (name, lambda name=name, opener=opener: self._open(name, opener))
            for name, opener in self._sources
        ]
        return TextReader(sources, errors=self.errors, max_sentence_length=self.max_sentence_length)

    def lines_of(self) -> None:
        """Return None: the words are still to be found."""

    def sample(self) -> str:
        """Return the beginning of the text, as it is."""
        if not self._sources:
            return ""
        with faults_named(self._sources[0][0]):
            return _decoded(_first_bytes(self._sources[0][1]), self.encoding)

    def _open(self, name: str, opener: Callable[[], Any]) -> Any:
        """Open one file as tokenised UTF-8."""
        with faults_named(name):
            data = _first_bytes(opener, _LONG_SAMPLE)  # looked at first: an open file is read from its start
        mark, encoding = kinds.byte_order_mark(data)
        if encoding is None and self.errors == "replace":
            encoding = kinds.likely_encoding(data, self.encoding)
            if encoding != self.encoding:
                log_once("%s is not UTF-8, and read as cp1252: if that is wrong, say its encoding", name)
        encoding = encoding or self.encoding
        file, text = opener(), _decoded(data[:_SAMPLE], encoding)
        while mark > 0 and (skipped := file.read(mark)):
            mark -= len(skipped)
        stage = self._stage(name, data, text)
        if stage is not None:
            text = "\n".join(stage(iter(text.splitlines())))
        tokenize, lower = self.tokenize, self.lower
        if tokenize == "auto":
            tokenize = "simple" if looks_raw(text) or stage is not None else "none"
            lower = lower and (tokenize == "simple" or text != text.lower())
        split = self._split or (str.split if tokenize == "none" and lower else None)
        if tokenize == "none" and not (stage or split or encoding != "utf-8" or self.errors == "strict"):
            return file
        pieces = decoded(file, encoding, self.errors, name)
        if stage is not None:
            pieces = (f"{line}\n" for line in stage(_lines(pieces)))
        if split is not None:
            pieces = _split_lines(_lines(pieces), split, lower)
        elif tokenize == "simple":
            wrapped = looks_wrapped(text) if self.wrapped is None else self.wrapped
            tokeniser = Tokeniser(lower=self.lower, keep_numbers=self.keep_numbers, line_ends=not wrapped)
            pieces = _tokenised(pieces, tokeniser)
        return AsFile(pieces, file)

    def _stage(self, name: str, data: bytes, text: str) -> Callable[[Iterator[str]], Iterator[str]] | None:
        """Return what makes the lines of a file lines of text; None if they are that."""
        if kinds.is_markup(data):
            return kinds.markup
        if self.column is not None and kinds.is_table(name, data):
            of = self.column
            return lambda lines: kinds.column(lines, name, of, name)
        if self.gutenberg or (self.gutenberg is None and kinds.has_boilerplate(text)):
            return kinds.without_boilerplate
        return None


def _tokenised(pieces: Iterator[str], tokeniser: Tokeniser) -> Iterator[str]:
    for piece in pieces:
        yield tokeniser.feed(piece)
    yield tokeniser.feed("", final=True)


def _split_lines(lines: Iterator[str], split: Callable[[str], Iterable[str]], lower: bool) -> Iterator[str]:
    """Yield lines that a function splits into words, these between spaces."""
    for line in lines:
        words = ("_".join(word.split()) for word in split(line.lower() if lower else line))
        yield " ".join(filter(None, words)) + "\n"


def _splitter(tokenize: Tokenize) -> Callable[[str], Iterable[str]] | None:
    if not isinstance(tokenize, str):
        return tokenize
    if not tokenize.startswith(REGEX):
        return None
    pattern = re.compile(tokenize.removeprefix(REGEX))
    return lambda line: (match[0] for match in pattern.finditer(line))


def _listed(source: Any, encoding: str, column: str | None) -> list[Any]:
    """Return the files that a source stands for, open ones too."""
    if is_files(source):
        return list(corpus_paths(source, encoding, column))
    if isinstance(source, (list, tuple)):
        return [file for each in source for file in _listed(each, encoding, column)]
    return [source]


def _first_bytes(opener: Callable[[], Any], size: int = _SAMPLE) -> bytes:
    """Return the first bytes of a file, to the last whole line."""
    file = opener()
    try:
        data = b""
        while len(data) < size and (more := file.read(size - len(data))):
            data += more
    finally:
        file.close()
    return data[: data.rfind(b"\n") + 1] if len(data) == size and b"\n" in data else data


def _decoded(data: bytes, encoding: str) -> str:
    mark, said = kinds.byte_order_mark(data)
    return data[mark:].decode(said or encoding, "replace")


def _lines(pieces: Iterator[str]) -> Iterator[str]:
    left = ""
    for piece in pieces:
        *lines, left = (left + piece).split("\n")
        yield from lines
    yield left


_ENDS_CLAUSE = re.compile(r"\w[.,;:!?][\"'”’)\]]*\s")


def looks_raw(text: str) -> bool:
    """Return whether punctuation sticks to the words of a text, as it does before text is tokenised.

    Examples
    --------
    >>> looks_raw("He left, they say. Nobody knows why."), looks_raw("he left they say nobody knows why")
    (True, False)
    """
    words = len(text.split())
    return words > 0 and len(_ENDS_CLAUSE.findall(text + "\n")) > 0.02 * words


def looks_wrapped(text: str) -> bool:
    r"""Return whether lines are wrapped, as in books with lines of equal length, instead of ending with sentences.

    Examples
    --------
    >>> looks_wrapped("It was a dark and\nstormy night; the rain\nfell in torrents.\n")
    True
    >>> looks_wrapped("It was a dark and stormy night.\nThe rain fell in torrents.\n")
    False
    """
    lines = [line.strip() for line in text.splitlines()]
    inside = [(line, after) for line, after in itertools.pairwise(lines) if line and after]
    if not inside or max(len(line) for line, _ in inside) > 120:
        return False
    going_on = sum((line[-1].isalpha() or line[-1] in ",;-") and after[0].islower() for line, after in inside)
    return going_on > len(inside) / 2


_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]{6,}"
)


def looks_unspaced(text: str) -> bool:
    """Return whether a text is in a script without spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese.

    Examples
    --------
    >>> looks_unspaced("我们今天去学校学习中文课程"), looks_unspaced("我们 今天 去 学校"), looks_unspaced("we go")
    (True, False, False)
    """
    return sum(map(len, _UNSPACED.findall(text))) > 0.3 * len(text)
