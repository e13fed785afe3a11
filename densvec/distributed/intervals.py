"""How many words ranks train between two exchanges, and in chunks of what size."""

from __future__ import annotations

__all__ = ["chunk_words", "default_words"]

#: Words between two exchanges for each worker of a rank, unless set: with two ranks, and with many. Fewer keep quality,
#: more save time.
WORDS_OF_TWO, LEAST_WORDS = 100_000, 5000


def default_words(ranks: int) -> int:
    """Return how many words each worker of a rank trains between two exchanges: fewer, the more ranks there are.

    Examples
    --------
    >>> [default_words(ranks) for ranks in (2, 3, 4, 8)]
    [100000, 19753, 6250, 5000]
    """
    return max(LEAST_WORDS, 16 * WORDS_OF_TWO // ranks**4)


def chunk_words(words: int, most: int) -> int:
    """Return how large chunks are, of which whole ones have so many words: ranks meet between two chunks.

    Examples
    --------
    >>> [chunk_words(words, 10_000) for words in (2500, 12_500, 100_000)]
    [2500, 6250, 10000]
    """
    count = max(1, -(-words // most))
    return max(1, -(-words // count))
