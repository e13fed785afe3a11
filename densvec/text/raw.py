"""Raw text: files as people write them, with capitals and punctuation, as sequences of token lists."""

from __future__ import annotations

import codecs
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from densvec.files.streams import faults_named
from densvec.text._raw import Tokenised
from densvec.text._text import MAX_SENTENCE_LENGTH, TextReader
from densvec.text.source import TextCorpus, log_replaced
from densvec.types import Source

__all__ = ["RawText", "looks_raw", "looks_unspaced", "looks_wrapped"]

_SAMPLE = 1 << 18  # how many bytes are looked at to guess the kind of a text
_REGEX = "regex:"

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
        As in :class:`LineSentence <densvec.corpora.LineSentence>`; for a directory, all files in alphabetical order.
    tokenize : {"simple", "none"}, str or callable, optional
        ``"simple"`` as above, in native code; ``"none"``: words are separated by white space, sentences by line ends;
        ``"regex:…"``: words are what the regular expression finds in each line; or a function that takes a line and
        returns its words.
    lower : bool, optional
        Whether to put words in lower case.
    keep_numbers : bool, optional
        For ``"simple"``, whether words without letters are kept: 1999, 3.14.
    encoding : str, optional
        How characters are encoded: ``"utf-8"``, ``"cp1252"`` (Windows, Western Europe), ``"latin-1"``, …
    wrapped : bool, optional
        For ``"simple"``, whether sentences continue across line ends, as in books with lines of equal length; by
        default the beginning of the text decides.
    max_sentence_length : int, optional
        Longer sentences are cut into pieces of this many words.
    errors : str, optional
        What to do with bytes that are not in this encoding: "replace", "ignore" or "strict".

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
    ) -> None:
        if (
            isinstance(tokenize, str)
            and tokenize not in ("simple", "none")
            and not tokenize.startswith(_REGEX)
        ):
            raise ValueError(
                f"tokenize={tokenize!r}: use 'simple', 'none', 'regex:…' or a function of a line"
            )
        self.source = source
        self.tokenize = tokenize
        self.lower = lower
        self.keep_numbers = keep_numbers
        self.encoding = codecs.lookup(encoding).name
        self.wrapped = wrapped
        self._split = str.split if tokenize == "none" and lower else _splitter(tokenize)
        super().__init__(_files(source), max_sentence_length, errors=errors)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"

    def reader(self) -> TextReader:
        """Return a reader of the tokenised text from its start."""
        sources = [(name, lambda opener=opener: self._open(opener)) for name, opener in self._sources]
        return TextReader(sources, errors=self.errors, max_sentence_length=self.max_sentence_length)

    def lines_of(self) -> None:
        """Return None: the words are still to be found."""

    def sample(self) -> str:
        """Return the beginning of the text, as it is."""
        if not self._sources:
            return ""
        with faults_named(self._sources[0][0]):
            return self._beginning(self._sources[0][1])

    def _beginning(self, opener: Callable[[], Any]) -> str:
        file = opener()
        try:
            return _first_bytes(file).decode(self.encoding, "replace")
        finally:
            file.close()

    def _open(self, opener: Callable[[], Any]) -> Any:
        """Open one file as tokenised UTF-8."""
        wrapped = self.wrapped
        if (
            wrapped is None and self.tokenize == "simple"
        ):  # looked at first: an open file is read from its start
            wrapped = looks_wrapped(self._beginning(opener))
        file = opener()
        if self._split is not None:
            return _SplitInPython(_lines(file, self.encoding, self.errors), self._split, self.lower, file)
        if self.encoding != "utf-8" or self.errors == "strict":
            file = _Transcoded(file, self.encoding, self.errors)
        if self.tokenize == "none":
            return file
        return Tokenised(
            file,
            lower=self.lower,
            keep_numbers=self.keep_numbers,
            line_ends=not wrapped,
            count_invalid=lambda invalid: log_replaced(invalid, self),
        )


class _Transcoded:
    """A file in another encoding, read as UTF-8."""

    def __init__(self, file: Any, encoding: str, errors: str) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; none only at the end."""
        while True:
            data = self._file.read(max(1, size // 4))  # no character takes more than four times its bytes
            text = self._decoder.decode(data, final=not data)
            if text or not data:
                return text.encode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class _SplitInPython:
    """Lines that a function splits into words, read as a file of tokenised text."""

    def __init__(
        self, lines: Iterator[str], split: Callable[[str], Iterable[str]], lower: bool, file: Any
    ) -> None:
        self._lines, self._split, self._lower, self._file = lines, split, lower, file
        self._left = b""

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes."""
        parts, total = [self._left], len(self._left)
        while total < size:
            line = next(self._lines, None)
            if line is None:
                break
            words = ("_".join(word.split()) for word in self._split(line.lower() if self._lower else line))
            parts.append(" ".join(filter(None, words)).encode("utf-8", "surrogatepass") + b"\n")
            total += len(parts[-1])
        data = b"".join(parts)
        self._left = data[size:]
        return data[:size]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _splitter(tokenize: Tokenize) -> Callable[[str], Iterable[str]] | None:
    if not isinstance(tokenize, str):
        return tokenize
    if not tokenize.startswith(_REGEX):
        return None
    pattern = re.compile(tokenize.removeprefix(_REGEX))
    return lambda line: (match[0] for match in pattern.finditer(line))


def _files(source: Any) -> list[Any]:
    """Return the files that a source stands for."""
    if isinstance(source, (list, tuple)):
        return [file for each in source for file in _files(each)]
    if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
        paths = (os.path.join(source, name) for name in sorted(os.listdir(source)))
        return [path for path in paths if os.path.isfile(path)]
    return [source]


def _first_bytes(file: Any) -> bytes:
    """Return the first bytes of a file, to the last whole line."""
    data = b""
    while len(data) < _SAMPLE and (more := file.read(_SAMPLE - len(data))):
        data += more
    return data[: data.rfind(b"\n") + 1] if len(data) == _SAMPLE and b"\n" in data else data


def _lines(file: Any, encoding: str, errors: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    left = ""
    while data := file.read(1 << 18):
        *lines, left = (left + decoder.decode(data)).split("\n")
        yield from lines
    yield left + decoder.decode(b"", final=True)


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
