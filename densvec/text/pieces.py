"""A corpus of files in pieces, which several processes divide among themselves."""

from __future__ import annotations

import heapq
import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO, Any

from densvec.files.streams import is_plain, is_remote, local_path
from densvec.text._text import TextReader
from densvec.text.source import corpus_paths, has_mark, open_text
from densvec.types import CorpusFile

#: Bytes of a piece: large enough that opening one costs little, small enough that ranks end their epochs together.
LEAST_BYTES, MOST_BYTES = 1 << 15, 1 << 24

#: Pieces that a corpus is cut into if their sizes allow it.
PIECES = 512

#: Bits of a chunk's number that count the chunks of a piece; those above are the piece's own number.
CHUNK_BITS = 24
_CHUNKS = 1 << CHUNK_BITS


@dataclass(frozen=True)
class Piece:
    """A part of a corpus: a whole file, or the lines of a plain one that begin in a range of bytes."""

    path: str
    size: int  # in bytes, as they are on the disk
    start: int = 0
    stop: int | None = None  # None: the whole file

    def reader(self) -> TextReader:
        """Return a reader of the piece."""
        start, stop = 0, None
        if self.stop is not None:
            with open(local_path(self.path), "rb") as file:
                start, stop = _line_start(file, self.start), _line_start(file, self.stop)

        def open_piece() -> Any:
            return open_text(self.path) if stop is None else ByteRange(local_path(self.path), start, stop)

        return TextReader([(self.path, open_piece)], offset=start)


class ByteRange:
    """The bytes [start, stop) of a file, as a file."""

    def __init__(self, path: str | os.PathLike[str], start: int, stop: int) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by close()
        self._file.seek(start)
        self._left = stop - start

    def readinto(self, view: memoryview) -> int:
        """Read into `view`; 0 at the end of the range."""
        n = self._file.readinto(view[: max(0, self._left)]) or 0
        self._left -= n
        return n

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _line_start(file: IO[bytes], offset: int) -> int:
    """Return where the first line at or after a byte begins; the end if there is none."""
    if offset == 0:
        return 0
    file.seek(offset - 1)
    while block := file.read(1 << 16):
        if b"\n" in block:
            return file.tell() - len(block) + block.index(b"\n") + 1
    return file.tell()


def pieces_of(corpus_file: CorpusFile, piece_bytes: int | None = None) -> list[Piece]:
    r"""Cut a corpus into pieces; which ones depends on its files alone.

    Plain files are cut, where lines begin, into ranges of about equal size; compressed and remote ones stay whole,
    and so do those that begin with a byte-order mark.

    Parameters
    ----------
    corpus_file : path or list of paths
        The corpus, as `corpus_paths` takes it.
    piece_bytes : int, optional
        Size of a piece; by default such that there are about 512 of them, from 32 KiB to 16 MiB.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "text.txt"
    >>> _ = path.write_text("one line\n" * 10)
    >>> [(piece.start, piece.stop) for piece in pieces_of(path, piece_bytes=40)]
    [(0, 30), (30, 60), (60, 90)]
    """
    paths = corpus_paths(corpus_file)
    sizes = [0 if is_remote(path) else os.path.getsize(local_path(path)) for path in paths]
    if piece_bytes is None:
        piece_bytes = min(MOST_BYTES, max(LEAST_BYTES, sum(sizes) // PIECES))
    pieces = []
    for path, size in zip(paths, sizes, strict=True):
        if not is_remote(path) and is_plain(path) and not has_mark(path):
            n = max(1, -(-size // piece_bytes))
            bounds = [i * size // n for i in range(n + 1)]
            pieces += [Piece(path, stop - start, start, stop) for start, stop in itertools.pairwise(bounds)]
        else:
            pieces.append(Piece(path, size))
    return pieces


def neighbours(pieces: Sequence[Piece], parts: int) -> list[list[Piece]]:
    """Divide pieces, in their order, into parts of about the same number of bytes.

    Examples
    --------
    >>> [len(part) for part in neighbours([Piece("a.gz", 30), Piece("b.gz", 10), Piece("c.gz", 10)], 2)]
    [1, 2]
    """
    sizes = [max(1, piece.size) for piece in pieces]
    divided: list[list[Piece]] = [[] for _ in range(parts)]
    before = 0
    for piece, size in zip(pieces, sizes, strict=True):
        divided[parts * before // sum(sizes)].append(piece)
        before += size
    return divided


def deal(
    sizes: Sequence[int], hands: int, numbers: Iterable[int] | None = None, ahead: int = 0
) -> list[list[int]]:
    """Deal out pieces: the largest first, each to the hand that has least; then sort every hand.

    Parameters
    ----------
    sizes : sequence of int
        The sizes of all pieces.
    hands : int
        How many to share them among.
    numbers : iterable of int, optional
        Deal out only these.
    ahead : int
        How much the first hand has done before the others begin. It is given that much of the first pieces.

    Examples
    --------
    >>> deal([10, 10, 10, 10, 10], 2)
    [[0, 2, 4], [1, 3]]
    >>> deal([30, 10, 10, 10], 2)
    [[0], [1, 2, 3]]
    >>> deal([10, 10, 10, 10, 10, 10], 2, ahead=20)
    [[0, 1, 2, 4], [3, 5]]
    """
    wanted = list(range(len(sizes)) if numbers is None else numbers)
    first, taken = 0, 0
    while taken < ahead and first < len(wanted):
        taken += max(1, sizes[wanted[first]])
        first += 1
    dealt = [wanted[:first]] + [[] for _ in range(1, hands)]
    least = [(taken - ahead if hand == 0 else 0, hand) for hand in range(hands)]
    heapq.heapify(least)
    for number in sorted(wanted[first:], key=lambda i: (-sizes[i], i)):
        load, hand = heapq.heappop(least)
        dealt[hand].append(number)
        heapq.heappush(least, (load + max(1, sizes[number]), hand))
    return [sorted(hand) for hand in dealt]


def chunk_number(piece: int, chunk: int) -> int:
    """Return the number of a chunk of a piece, unlike any other of the epoch: what is random depends on it.

    The piece is added to the low bits too, so that every 16th chunk, whose loss is measured, is not always a piece's
    first.

    Examples
    --------
    >>> piece_of(chunk_number(3, 7))
    (3, 7)
    """
    return piece << CHUNK_BITS | (chunk + piece) % _CHUNKS


def piece_of(number: int) -> tuple[int, int]:
    """Return piece and chunk of a number that `chunk_number` made."""
    piece = number >> CHUNK_BITS
    return piece, (number - piece) % _CHUNKS
