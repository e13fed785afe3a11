"""The files of a corpus: which they are, how they are opened, and the reader that gives their sentences."""

from __future__ import annotations

import codecs
import glob
import inspect
import logging
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, cast

from densvec.files.streams import faults_named, is_remote, local_path, open_binary
from densvec.text import kinds
from densvec.text._text import MAX_SENTENCE_LENGTH, TextReader
from densvec.text.text_reading import TextReading
from densvec.types import CorpusFile, PathLike, Source

logger = logging.getLogger(__name__)

#: Words per block when a corpus is iterated in Python: enough that the cost per block is negligible, and few enough
#: that their strings are still in the cache when they are yielded.
_BLOCK_WORDS = 2_000

#: Bytes that are decoded at once.
_PIECE = 1 << 18


def is_files(corpus: object) -> bool:
    """Return whether a corpus is given by the names of files, instead of by its sentences.

    Examples
    --------
    >>> is_files("a.txt"), is_files(["a.txt", "b.txt"]), is_files([["a", "sentence"]])
    (True, True, False)
    """
    each: Sequence[Any] = corpus if isinstance(corpus, (list, tuple)) else [corpus]
    return len(each) > 0 and all(isinstance(one, (str, os.PathLike)) for one in each)


def corpus_names(corpus_file: object) -> list[str]:
    """Return the paths, directories, globs or URIs given as a corpus file; TypeError if it is something else.

    Examples
    --------
    >>> corpus_names("a.txt")
    ['a.txt']
    >>> corpus_names(["b.txt.gz", "more/*.txt"])
    ['b.txt.gz', 'more/*.txt']
    """
    if isinstance(corpus_file, (list, tuple)) and not corpus_file:
        raise ValueError("corpus_file is an empty list: give at least one path")
    if isinstance(corpus_file, (str, os.PathLike)):
        return [os.fspath(corpus_file)]
    if is_files(corpus_file):
        return [os.fspath(path) for path in cast("Sequence[str]", corpus_file)]
    raise TypeError(
        f"corpus_file must be a path (a file, a directory or a pattern such as 'texts/*.gz') or a list of paths, not "
        f"{corpus_file!r}; pass an open file as LineSentence(file)"
    )


def corpus_paths(
    corpus_file: CorpusFile,
    encoding: str = "utf-8",
    column: str | None = None,
    left_out: list[str] | None = None,
) -> list[str]:
    """Return the files of a corpus in the order in which they are read.

    A directory stands for the files in it and a pattern for those that match it, in alphabetical order; a list keeps
    its order. A path that exists is never taken as a pattern. Of a directory, hidden files are left out, and so are
    directories in it and files that are no text, which are logged, or added to `left_out`; a file that is named itself
    and is no text is a ValueError. Tables are text if a `column` of theirs is asked for.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> directory = Path(tempfile.mkdtemp())
    >>> for name in ("b.txt", "a.txt", "c.gz"):
    ...     _ = (directory / name).write_text("")
    >>> [Path(path).name for path in corpus_paths(directory)]
    ['a.txt', 'b.txt', 'c.gz']
    >>> [Path(path).name for path in corpus_paths([directory / "c.gz", directory / "*.txt"])]
    ['c.gz', 'a.txt', 'b.txt']
    """
    found: list[str] = []
    for name in corpus_names(corpus_file):
        files = _files(name)
        several = files != [name]
        for path in files:
            why = _refusal(path, encoding, column, several)
            if why is None:
                found.append(path)
            elif not several:
                raise ValueError(f"{path} is {why}")
            elif left_out is not None:
                left_out.append(f"{path} is {why}")
            elif path not in _told:
                _told.add(path)
                logger.warning("left out: %s is %s", path, why)
        if several and not found:
            raise ValueError(f"there is no text in {name}: {path} is {why}")
    return found


def _refusal(path: str, encoding: str, column: str | None, listed: bool) -> str | None:
    """Return what a file is if it is no text; nothing is known of pipes and remote ones, nor if it cannot be opened."""
    if listed and os.path.isdir(path):
        return (
            f"a folder in a folder: name it, too, or give a pattern in quotes, '{os.path.dirname(path)}/**'"
        )
    try:
        data = kinds.beginning(path)
    except (OSError, ValueError, ImportError):
        return None  # whoever reads it says what is wrong
    return None if data is None else kinds.refusal(path, data, encoding=encoding, column=column)


def recorded_paths(corpus_file: CorpusFile) -> str | list[str]:
    """Return what a model's file records about its corpus: the path of its file, or the paths of all its files.

    Examples
    --------
    >>> recorded_paths("text.txt")
    'text.txt'
    >>> recorded_paths(["text.txt", "more.txt"])
    ['text.txt', 'more.txt']
    """
    if isinstance(corpus_file, (str, os.PathLike)):
        name = os.fspath(corpus_file)
        return name if _files(name) == [name] else corpus_paths(name, left_out=[])
    return corpus_paths(corpus_file, left_out=[])


def _files(name: str) -> list[str]:
    if is_remote(name):
        return [name]
    path = local_path(name)
    if os.path.isdir(path):
        found = [
            entry.path
            for entry in os.scandir(path)
            if (entry.is_file() or entry.is_dir()) and not entry.name.startswith(".")
        ]
        if not found:
            raise ValueError(f"corpus_file={name!r} is a directory without files")
        return sorted(found)
    if not os.path.lexists(path) and glob.has_magic(path):
        found = [match for match in glob.glob(path, recursive=True) if os.path.isfile(match)]
        if not found:
            raise FileNotFoundError(f"corpus_file={name!r} matches no file")
        return sorted(found)
    return [name]


class _Borrowed:
    """An open handle of the user's, read from its start and never closed."""

    def __init__(self, handle: Any) -> None:
        handle.seek(0)
        self._handle = handle

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes, also from a handle opened in text mode."""
        data = self._handle.read(max(1, size // 4))
        return data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data

    def close(self) -> None:
        """Leave the handle open for its owner."""


def has_mark(path: PathLike) -> bool:
    """Return whether a local file begins with a byte-order mark."""
    if is_remote(path) or not os.path.isfile(local_path(path)):
        return False
    with faults_named(path), open_binary(path) as file:
        return kinds.byte_order_mark(file.read(4))[0] > 0


def open_text(path: PathLike) -> Any:
    """Open a text for reading as UTF-8: what a byte-order mark says is heeded."""
    file: Any = open_binary(path)
    if not has_mark(path):
        return file
    length, encoding = kinds.byte_order_mark(file.read(4))
    file.seek(length)
    return file if encoding in (None, "utf-8") else AsFile(decoded(file, encoding, "replace"), file)


def source_opener(
    source: Source, open_path: Callable[[PathLike], Any] = open_text
) -> tuple[str, Callable[[], Any]]:
    """Return a source's name and the function that opens it."""
    if isinstance(source, (str, os.PathLike)):
        path = source
        return os.fspath(path), lambda: open_path(path)
    if hasattr(source, "seek") and hasattr(source, "read"):
        return str(getattr(source, "name", source)), lambda: _Borrowed(source)
    raise TypeError(f"a corpus is a path or an open file that supports seek(0), not {source!r}")


def decoded(file: Any, encoding: str, errors: str, name: str = "") -> Iterator[str]:
    """Yield the text of a file; what could not be decoded is logged under the file's `name`."""
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    own = "\ufffd".encode(encoding, "ignore")  # how the text itself says "replaced"
    replaced, end = 0, b""
    while True:
        data = file.read(_PIECE)
        text = decoder.decode(data, final=not data)
        replaced += text.count("\ufffd")
        if own:
            replaced -= (end + data).count(own)
            end = (end + data)[1 - len(own) :]
        yield text
        if not data:
            break
    if name:
        log_replaced(replaced, name, encoding.upper())


class AsFile:
    """Pieces of text as a binary file in UTF-8; closing it closes the file that they come from."""

    def __init__(self, pieces: Iterator[str], file: Any) -> None:
        self._pieces, self._left, self.close = pieces, b"", file.close

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; none only at the end."""
        parts, total = [self._left], len(self._left)
        while total < size and (piece := next(self._pieces, None)) is not None:
            parts.append(piece.encode("utf-8", "surrogatepass"))
            total += len(parts[-1])
        data = b"".join(parts)
        self._left = data[size:]
        return data[:size]


class TextCorpus:
    """Files whose lines are sentences of words between white space; every pass reads them from their start."""

    newlines = True  # whether the end of a line ends a sentence

    @property
    def text_reading(self) -> TextReading | None:
        """How words are found, for the model that is trained on this text."""
        return TextReading()

    def __init__(
        self,
        input_files: Sequence[Any],
        max_sentence_length: int = MAX_SENTENCE_LENGTH,
        limit: int | None = None,
        errors: str = "replace",
    ) -> None:
        self.input_files = list(input_files)
        self.max_sentence_length = max_sentence_length
        self.limit = limit
        self.errors = errors
        self._sources = [source_opener(each) for each in self.input_files]
        self._warned = False

    def reader(self) -> TextReader:
        """Return a reader of the whole corpus from its start."""
        return TextReader(
            self._sources,
            errors=self.errors,
            max_sentence_length=self.max_sentence_length,
            newlines=self.newlines,
            limit=self.limit,
        )

    def lines_of(self) -> CorpusFile | None:
        """Return the files whose lines, split at white space, are all that the corpus is; None if it is more."""
        settings = (self.newlines, self.limit, self.errors, self.max_sentence_length)
        if settings != (True, None, "replace", MAX_SENTENCE_LENGTH) or not is_files(self.input_files):
            return None
        return cast("str", self.input_files[0]) if len(self.input_files) == 1 else self.input_files

    def __iter__(self) -> Generator[list[str], None, None]:
        reader = self.reader()
        try:
            while (block := reader.next_block(_BLOCK_WORDS)) is not None:
                yield from block.sentences()
        finally:
            reader.close()
        log_replaced(reader.replaced, self)


_told: set[object] = set()  # files that were warned about


def log_once(message: str, path: str) -> None:
    """Warn of something about a file, once."""
    if (message, path) not in _told:
        _told.add((message, path))
        logger.warning(message, path)


def log_replaced(replaced: int, corpus: object, encoding: str = "UTF-8") -> None:
    """Warn about byte sequences that were not in an encoding, once for each corpus or file."""
    is_file = isinstance(corpus, (str, os.PathLike))
    if replaced <= 0 or (corpus in _told if is_file else getattr(corpus, "_warned", False)):
        return
    if is_file:
        _told.add(corpus)
    elif isinstance(corpus, TextCorpus):
        corpus._warned = True
    logger.warning(
        "%s: %d byte sequences were not %s and were replaced or dropped; if the text is from Windows or in "
        "Latin-1, read it with encoding='cp1252' (RawText, or --encoding on the command line)",
        corpus,
        replaced,
        encoding,
    )


def text_reader(corpus: object, max_sentence_length: int = MAX_SENTENCE_LENGTH) -> TextReader | None:
    """Return a reader that gives the sentences of `corpus` without iterating it in Python, if it has one.

    A subclass that iterates in its own way has none.
    """
    if (
        isinstance(corpus, TextCorpus)
        and type(corpus).__iter__ is TextCorpus.__iter__
        and corpus.max_sentence_length <= max_sentence_length
    ):
        return corpus.reader()
    return None


def file_reader(path: CorpusFile, max_sentence_length: int = MAX_SENTENCE_LENGTH) -> TextReader:
    """Return a reader of a `corpus_file`, or of all its files one after the other: one sentence per line."""
    openers = [source_opener(each) for each in corpus_paths(path)]
    return TextReader(openers, max_sentence_length=max_sentence_length)


def as_files(sentences: Any, corpus_file: CorpusFile | None) -> tuple[Any, CorpusFile | None]:
    """Return a corpus as files, if its sentences are no more than the lines of files.

    Examples
    --------
    >>> from densvec.corpora import LineSentence
    >>> as_files(LineSentence("text.txt"), None)
    (None, 'text.txt')
    >>> as_files([["a", "b"]], None)
    ([['a', 'b']], None)
    """
    if isinstance(sentences, TextCorpus) and type(sentences).__iter__ is TextCorpus.__iter__:
        files = sentences.lines_of()
        if files is not None:
            return None, files
    return sentences, corpus_file


def reading_of(sentences: Any, corpus_file: CorpusFile | None) -> TextReading | None:
    """Return how the words of a corpus are found; None for token lists, which do not say.

    Examples
    --------
    >>> reading_of(None, "text.txt").tokenize, reading_of([["a", "b"]], None)
    ('none', None)
    """
    if corpus_file is not None:
        return TextReading()
    reading = getattr(sentences, "text_reading", None)
    return reading if isinstance(reading, TextReading) else None


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
