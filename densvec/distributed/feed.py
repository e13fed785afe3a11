"""The chunks of one rank's pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from densvec._corpus import Chunk
from densvec.distributed.ledger import Ledger
from densvec.text.feed import Chunks, Feed

__all__ = ["PiecesFeed"]

#: Opens a piece by its number, leaving out its first chunks.
OpenPiece = Callable[[int, int], Feed]


class PiecesFeed(Chunks):
    """Yields the chunks of some pieces, one piece after another, as a `Feed` does for a whole corpus.

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
                return feed, taken
            if not self._closed:  # otherwise this may not be its end
                self._ledger.ended(self._piece, self._taken)
                self._feed = None
        return None

    def chunk(self, taken: Any) -> Chunk:
        """Return the chunk of what `take` returned, made by the feed of its piece."""
        feed, rest = taken
        chunk: Chunk = feed.chunk(rest)
        return chunk

    def close(self) -> None:
        """Stop reading; `take` returns None from now on."""
        self._closed = True
        if self._feed is not None:
            self._feed.close()
