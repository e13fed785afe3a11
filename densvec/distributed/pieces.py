"""A corpus in pieces: whether all ranks have the same, the chunks of one rank's pieces, and which are trained."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from densvec._corpus import Block, Chunk
from densvec.distributed.group import Group, RankError
from densvec.files.streams import is_remote, local_path
from densvec.text.feed import Chunks, Feed
from densvec.text.pieces import Piece, chunk_number

#: Opens a piece by its number, leaving out its first chunks.
OpenPiece = Callable[[int, int], Feed]

#: Bytes that are read at once for a checksum.
BLOCK = 1 << 20


def agree_on_text(group: Group, pieces: list[Piece], threads: int) -> dict[str, int]:
    """Return how a corpus is cut and what is in it; RankError on all ranks unless they have the same.

    Each rank reads all of it, about a gigabyte in a second with each of its threads. Remote files are not read.
    """
    cut = {"pieces": len(pieces), "bytes": sum(piece.size for piece in pieces)}
    group.check_same("corpus", cut)
    with ThreadPoolExecutor(threads, "densvec-checksum") as pool:
        sums = group.together(lambda: list(pool.map(_checksum, pieces)))
    every = group.gather(sums) if group.size > 1 else [sums]
    for rank, others in enumerate(every):
        for piece, first, other in zip(pieces, every[0], others, strict=True):
            if first != other:
                span = f" between the bytes {piece.start:,} and {piece.stop:,}" if piece.stop else ""
                raise RankError(
                    f"rank {rank} has other text than rank 0 in {piece.path!r}{span}, but ranks train one "
                    "model together: give them the same files"
                )
    return {**cut, "checksum": zlib.crc32(b"".join(each.to_bytes(4, "little") for each in sums))}


def _checksum(piece: Piece) -> int:
    """Return a checksum of the bytes of a piece, as they are on the disk."""
    if is_remote(piece.path):
        return 0
    found, left = 0, piece.size
    with open(local_path(piece.path), "rb", buffering=0) as file:
        file.seek(piece.start)
        while left > 0 and (block := file.read(min(BLOCK, left))):
            found, left = zlib.crc32(block, found), left - len(block)
    return found


class PiecesFeed(Chunks):
    """Yields the chunks of some pieces, one piece after another, as a `Feed` does for a whole corpus.

    The number of a chunk is unique in the epoch and follows from its piece, so that its randomness does not depend on
    the rank that trains it.

    Parameters
    ----------
    pieces : iterable of int
        The numbers of the pieces.
    open_piece : callable
        Opens a piece by its number, leaving out a number of chunks.
    ledger : Ledger
        What is trained of the pieces already is left out; it is told how many chunks a piece has.
    """

    def __init__(self, pieces: Iterable[int], open_piece: OpenPiece, ledger: Ledger) -> None:
        self._pieces: Iterator[int] = iter(list(pieces))
        self._open = open_piece
        self._ledger = ledger
        self._feed: Feed | None = None  # of the piece that is being read
        self._piece = self._taken = 0  # its number, and how many chunks of it were trained or taken
        self._closed = False

    def take(self) -> Any:
        """Return what the next chunk is made of; None at the end. One thread at a time calls it."""
        while not self._closed:
            if self._feed is None:
                piece = next(self._pieces, None)
                if piece is None:
                    return None
                self._piece, self._taken = piece, self._ledger.chunks(piece)
                self._feed = self._open(piece, self._taken)
            feed = self._feed
            taken = feed.take()
            if taken is not None:
                self._taken += 1
                return feed, self._piece, taken
            if not self._closed:  # otherwise this may not be its end
                self._ledger.ended(self._piece, self._taken)
                self._feed = None
        return None

    def chunk(self, taken: Any) -> Chunk:
        """Return the chunk of what `take` returned, with its number in the epoch."""
        feed, piece, rest = taken
        block = feed.block(rest)
        block = Block(
            block.ids,
            block.sentences,
            number=chunk_number(piece, block.number),
            words=block.words,
            words_before=block.words_before,
            examples=block.examples,
        )
        chunk: Chunk = feed.sampler.sample(block, feed.epoch)
        return chunk

    def close(self) -> None:
        """Stop reading; `take` returns None from now on."""
        self._closed = True
        if self._feed is not None:
            self._feed.close()


class Ledger:
    """Which pieces of an epoch are done, and how many chunks of those that are begun; threads may share it.

    Chunks are trained in order, so a number says which ones are.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.trained(5)
    >>> ledger.trained(5)
    >>> ledger.document()
    {'done': [], 'begun': {'5': 2}}
    >>> ledger.ended(5, 3)  # it has three
    >>> ledger.trained(5)
    >>> ledger.document()
    {'done': [5], 'begun': {}}
    """

    def __init__(self, document: Mapping[str, Any] | None = None) -> None:
        document = document or {"done": [], "begun": {}}
        self._done: set[int] = set(document["done"])
        self._begun = {int(piece): int(chunks) for piece, chunks in document["begun"].items()}
        self._lengths: dict[int, int] = {}
        self._lock = threading.Lock()

    def chunks(self, piece: int) -> int:
        """Return how many chunks of a piece are trained."""
        with self._lock:
            return self._begun.get(piece, 0)

    def trained(self, piece: int) -> None:
        """Count a trained chunk."""
        with self._lock:
            self._begun[piece] = self._begun.get(piece, 0) + 1
            self._complete(piece)

    def ended(self, piece: int, chunks: int) -> None:
        """Note how many chunks a piece has, which is known once it is read."""
        with self._lock:
            self._lengths[piece] = chunks
            self._complete(piece)

    def document(self) -> dict[str, Any]:
        """Return it as JSON."""
        with self._lock:
            begun = {str(piece): chunks for piece, chunks in sorted(self._begun.items())}
            return {"done": sorted(self._done), "begun": begun}

    def _complete(self, piece: int) -> None:
        if self._begun.get(piece, 0) == self._lengths.get(piece):
            self._done.add(piece)
            self._begun.pop(piece, None)


def merged(documents: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the ledger of all ranks from those of each."""
    done: set[int] = set()
    begun: dict[str, int] = {}
    for document in documents:
        done.update(document["done"])
        begun.update(document["begun"])
    return {"done": sorted(done), "begun": begun}
